//! What a load brings: which paths the store holds, and the contents that are new.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rustix::fs::Mode;

use super::batch::Batch;
use super::checkout::Checkout;
use super::row::{Held, Row};
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::path::{HarnessPath, Use, to_nfc};
use crate::stage::Staged;
use crate::track::Version;

/// A file that the store holds.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) held: Held,
    /// Its name in the batch; `None`: the content is the base's, its version may not be.
    pub(crate) staged: Option<String>,
}

/// A load under way.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) batch: Batch,
    /// What is not given is gone from the store; else it is as it was.
    pub(crate) complete: bool,
    /// Paths whose uncommitted changes yield to what comes.
    pub(crate) discard: BTreeSet<String>,
    pub(crate) given: BTreeMap<String, Given>,
    /// Whose content and version are the base's. Most are: nothing else is kept of them.
    pub(crate) same: HashSet<Box<str>>,
    pub(crate) gone: BTreeSet<String>,
    /// What the store holds and no path can name.
    pub(crate) skipped: u64,
}

/// What to do about a file of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The base has this version.
    No,
    /// Its content is to be given.
    Yes,
    /// No path can name it.
    Unnameable,
}

impl Incoming {
    pub(crate) fn new(checkout: &Checkout, complete: bool, discard: Vec<String>) -> Result<Self> {
        let batch = Batch::new(checkout.session.staging.folder())?;
        let discard = discard.into_iter().collect();
        let (given, gone) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { batch, complete, discard, given, same: HashSet::new(), gone, skipped: 0 })
    }

    /// The store holds `path` with the version that it calls `tag`.
    pub(crate) fn list(&mut self, checkout: &Checkout, path: &str, tag: Option<&str>) -> Wanted {
        if parse(checkout, path).is_err() {
            self.skipped += 1;
            return Wanted::Unnameable;
        }
        let base = checkout.rows.get(path).and_then(|row| row.base.as_ref());
        let same = base.is_some_and(|base| tag.is_some() && base.tag.as_deref() == tag);
        if !same || self.discard.contains(path) {
            return Wanted::Yes;
        }
        self.same.insert(path.into());
        Wanted::No
    }

    /// Begins a content.
    pub(crate) fn begin(&mut self, checkout: &Checkout, path: &str) -> Result<Staged> {
        let full = parse(checkout, path)?;
        self.batch.stage(&full, Mode::RUSR | Mode::WUSR)
    }

    /// A content that was staged.
    pub(crate) fn end(
        &mut self,
        checkout: &Checkout,
        path: &str,
        tag: Option<String>,
        mut staged: Staged,
    ) -> Result<()> {
        let version = Version { bytes: staged.bytes(), digest: staged.digest() };
        let name = staged.name_mut().take().unwrap_or_default();
        drop(staged);
        let name = if self.needs(checkout.rows.get(path), path, version.digest) {
            Some(name)
        } else {
            self.batch.discard(&name);
            None
        };
        self.give(path, Given { held: Held { version, tag }, staged: name })
    }

    /// A whole content.
    pub(crate) fn put(&mut self, checkout: &Checkout, path: &str, bytes: &[u8], tag: Option<String>) -> Result<()> {
        parse(checkout, path)?;
        let digest = Digest::of(bytes);
        if !self.needs(checkout.rows.get(path), path, digest) {
            let version = Version { bytes: bytes.len() as u64, digest };
            return self.give(path, Given { held: Held { version, tag }, staged: None });
        }
        let mut staged = self.begin(checkout, path)?;
        staged.write(bytes)?;
        self.end(checkout, path, tag, staged)
    }

    /// These are gone from the store.
    pub(crate) fn remove(&mut self, checkout: &Checkout, path: &str) -> Result<()> {
        parse(checkout, path)?;
        self.given.remove(path);
        self.same.remove(path);
        self.gone.insert(path.to_owned());
        Ok(())
    }

    /// Whether a content could have to be put somewhere: not when it is the base's.
    fn needs(&self, row: Option<&Row>, path: &str, digest: Digest) -> bool {
        let base = row.and_then(Row::base);
        base.is_none_or(|base| base.digest != digest) || self.discard.contains(path)
    }

    fn give(&mut self, path: &str, given: Given) -> Result<()> {
        self.same.remove(path);
        if self.given.insert(path.to_owned(), given).is_some() {
            return Err(Error::new(Code::InvalidPath, format!("The store gives {path} twice")));
        }
        Ok(())
    }

    /// Refuses files that are folders of others, and names that this disk cannot tell apart.
    pub(crate) fn check_names(&self, folds_case: bool) -> Result<()> {
        for path in self.given.keys() {
            let holds = |above: &&str| self.given.contains_key(*above) || self.same.contains(*above);
            if let Some(above) = path.match_indices('/').map(|(at, _)| &path[..at]).find(holds) {
                return Err(both(above, path));
            }
        }
        // Of those that are the same one may lie below one that is new.
        if !self.given.is_empty() {
            let new = |above: &&str| self.given.contains_key(*above);
            for path in &self.same {
                if let Some(above) = path.match_indices('/').map(|(at, _)| &path[..at]).find(new) {
                    return Err(both(above, path));
                }
            }
        }
        if folds_case {
            check_folded(self.given.keys().map(String::as_str).chain(self.same.iter().map(|path| &**path)))?;
        }
        Ok(())
    }
}

/// Refuses names that a disk cannot tell apart that takes no account of case and Unicode form; those of folders as well,
/// whose files would come to lie in one.
fn check_folded<'a>(paths: impl Iterator<Item = &'a str>) -> Result<()> {
    let names = paths.flat_map(|path| {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(move |at| &path[..at])
    });
    let mut folded = BTreeMap::new();
    for name in names {
        let lower = name.to_lowercase();
        let other = *folded.entry(to_nfc(&lower).unwrap_or(lower)).or_insert(name);
        if other != name {
            let text = format!("The store holds both {other} and {name}, which are one name on this disk");
            return Err(Error::new(Code::InvalidPath, text));
        }
    }
    Ok(())
}

fn both(above: &str, path: &str) -> Error {
    Error::new(Code::InvalidPath, format!("The store holds both {above} and {path}: a file cannot be a folder as well"))
}

/// A path in the dir: relative, plain, and one that the grammar takes.
pub(crate) fn parse(checkout: &Checkout, path: &str) -> Result<HarnessPath> {
    let whole = format!("{}/{path}", checkout.name);
    let parsed = HarnessPath::parse(&whole, Use::Write)?;
    if parsed.to_string() != whole {
        let text = format!("{path:?} is no plain path: no leading slash, no empty segment, no . or ..");
        return Err(Error::at(Code::InvalidPath, &whole, text));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_one_disk_cannot_tell_apart() {
        for (one, other) in [("a", "A"), ("a/x", "A/y"), ("d/a/x", "d/A/y"), ("caf\u{e9}", "cafe\u{301}"), ("a/b", "A")]
        {
            assert!(check_folded([one, other].into_iter()).is_err(), "{one} {other}");
        }
        check_folded(["a/x", "a/y", "b/x", "ab", "a-/x"].into_iter()).expect("apart");
    }
}
