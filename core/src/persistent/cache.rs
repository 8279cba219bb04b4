//! What is known of the dirs that were used lately, so that each turn of a busy session does not read it all again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use super::row::Row;

/// Most rows that a host keeps: about 25 MB.
const MAX_ROWS: usize = 65_536;

/// By the time of their last use, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<VecDeque<Cached>>);

#[derive(Debug)]
struct Cached {
    /// The dir's number in the database.
    dir: i64,
    /// Of its rows: another process that changes them makes it another one.
    revision: i64,
    rows: BTreeMap<String, Row>,
}

impl Cache {
    /// The rows of a dir, if they are those of this revision. They are taken: whoever has them may change them.
    pub(crate) fn take(&self, dir: i64, revision: i64) -> Option<BTreeMap<String, Row>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|cached| cached.dir == dir)?;
        let cached = all.remove(at)?;
        (cached.revision == revision).then_some(cached.rows)
    }

    /// Keeps rows that are just as in the database.
    pub(crate) fn put(&self, dir: i64, revision: i64, rows: BTreeMap<String, Row>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|cached| cached.dir != dir);
        all.push_back(Cached { dir, revision, rows });
        let mut sum: usize = all.iter().map(|cached| cached.rows.len()).sum();
        while sum > MAX_ROWS {
            let Some(oldest) = all.pop_front() else { return };
            sum -= oldest.rows.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> BTreeMap<String, Row> {
        (0..count).map(|number| (number.to_string(), Row::default())).collect()
    }

    #[test]
    fn keeps_what_was_used_last() {
        let cache = Cache::default();
        cache.put(1, 1, rows(40_000));
        cache.put(2, 1, rows(20_000));
        assert!(cache.take(2, 2).is_none(), "changed since");
        cache.put(3, 1, rows(30_000));
        assert!(cache.take(1, 1).is_none(), "the oldest had to go");
        assert_eq!(cache.take(3, 1).map(|rows| rows.len()), Some(30_000));
        assert!(cache.take(3, 1).is_none(), "taken");
    }
}
