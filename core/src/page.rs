//! Pages of a listing, with how much there is in all.

use std::sync::Arc;

use crate::cancel::Cancel;
use crate::error::Result;
use crate::list::{Entry, ListOptions};
use crate::path::Use;
use crate::root::Links;
use crate::session::Session;

/// Entries that are looked at together.
const BATCH: usize = 1_024;

/// Which entries.
#[derive(Debug, Clone, Default)]
pub struct PageOptions {
    /// The whole tree.
    pub recursive: bool,
    /// Glob on the path below the listed folder.
    pub pattern: Option<String>,
    /// So many are left out at the beginning.
    pub offset: u64,
    /// At most so many.
    pub limit: u64,
}

/// A part of a listing.
#[derive(Debug, Clone)]
pub struct Page {
    /// The folder, as on the disk.
    pub path: String,
    /// In the order of the paths' bytes; without what the index knows.
    pub entries: Vec<Entry>,
    /// Of all pages.
    pub total: u64,
}

impl Session {
    /// A page of a listing.
    pub fn page(self: &Arc<Self>, path: &str, options: &PageOptions, cancel: &Cancel) -> Result<Page> {
        let list =
            ListOptions { recursive: options.recursive, pattern: options.pattern.clone(), ..ListOptions::default() };
        let mut listing = self.list(path, &list, cancel.clone())?.plain();
        let mut page = Page { path: self.located(path)?, entries: Vec::new(), total: 0 };
        loop {
            let batch = listing.next_batch(BATCH)?;
            if batch.is_empty() {
                return Ok(page);
            }
            for entry in batch {
                if page.total >= options.offset && (page.entries.len() as u64) < options.limit {
                    page.entries.push(entry);
                }
                page.total += 1;
            }
        }
    }

    /// A path as on the disk.
    pub(crate) fn located(&self, path: &str) -> Result<String> {
        let path = self.resolve(path, Use::List)?;
        Ok(self.root_of(&path).locate(&path, Links::FollowInside).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open;

    #[test]
    fn pages_put_together_give_the_listing() {
        let open = open();
        std::fs::create_dir_all(open.file("d")).expect("folder");
        for n in 0..25 {
            open.put(&format!("d/{n}.txt"), b"x");
            open.put(&format!("{n}.md"), b"x");
        }
        for (recursive, pattern, total) in [
            (true, None, 51),
            (false, None, 26),
            (true, Some("**/*.txt"), 25),
            (true, Some("*.md"), 25),
            (true, Some("none"), 0),
        ] {
            let mut all = Vec::new();
            loop {
                let options =
                    PageOptions { recursive, pattern: pattern.map(str::to_owned), offset: all.len() as u64, limit: 7 };
                let page = open.session.page("/session/", &options, &Cancel::new()).expect("page");
                assert_eq!((page.total, page.path.as_str()), (total, "/session"));
                if page.entries.is_empty() {
                    break;
                }
                all.extend(page.entries.into_iter().map(|entry| entry.path));
            }
            assert!(all.is_sorted() && all.len() as u64 == total, "{pattern:?}");
        }
    }
}
