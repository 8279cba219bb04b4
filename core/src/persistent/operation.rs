//! An operation on one Persistent Dir of a session: holds its locks from beginning to end, so that one at a time changes
//! the checkout and, to commit, the source.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustix::fs::Mode;

use super::batch::Batch;
use super::checkout::Checkout;
use super::commit::Commit;
use super::conflict::{Conflict, Side};
use super::incoming::{Incoming, Wanted};
use super::local::LocalStore;
use super::merge::Loaded;
use super::opened::{Kind, Opened, Source, check_not_unmounted, open_source, short};
use super::scan::Odd;
use super::source::Relation;
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::lock::HeldLock;
use crate::read::FileData;
use crate::session::Session;
use crate::stage::Staged;
use crate::track::{Change, Version};

/// An uncommitted change.
#[derive(Debug, Clone)]
pub struct Pending {
    /// In the dir.
    pub path: String,
    /// How the checkout differs from the store.
    pub change: Change,
    /// What the checkout holds.
    pub ours: Option<Version>,
    /// Milliseconds since 1970.
    pub since: i64,
    /// How often it was tried to commit it.
    pub attempts: u32,
    /// Code and message of the last failure, or why it is never sent.
    pub error: Option<(String, String)>,
}

/// An operation under way.
#[derive(Debug)]
pub struct Operation {
    checkout: Checkout,
    index: usize,
    source: Option<Opened>,
    lock: HeldLock,
}

impl Operation {
    /// Begins one. `alone`: to commit, else to load. Held by another: an error to try again on.
    pub fn begin(session: &Arc<Session>, dir: usize, source: Option<&Source>, alone: bool) -> Result<Self> {
        session.check_exists()?;
        let declared = session.host.dirs.get(dir);
        let declared = declared.ok_or_else(|| Error::new(Code::InvalidOption, "There is no such Persistent Dir"))?;
        let name = declared.path().to_string();
        let file = format!("dir-{}.lock", short(&name));
        let lock = HeldLock::try_take(session.folder(), &file, &format!("The Persistent Dir {name}"))?;
        // A delete of the session waits for nothing of this; what it took away meanwhile is found out here.
        session.check_exists()?;
        let mut checkout = Checkout::open(session, dir)?;
        checkout.check_folder()?;
        checkout.adopt_interrupted(&Cancel::new())?;
        let source = source.map(|source| open_source(&mut checkout, &lock, source, alone)).transpose()?;
        Ok(Self { checkout, index: dir, source, lock })
    }

    /// The harness path of the dir.
    #[must_use]
    pub fn name(&self) -> String {
        self.checkout.name.clone()
    }

    /// Nothing was ever loaded, or not from this source.
    #[must_use]
    pub fn never_loaded(&self) -> bool {
        self.checkout.record.is_none() || self.source.as_ref().is_some_and(|source| source.relation != Relation::Same)
    }

    /// A load has to precede the next commit.
    #[must_use]
    pub fn must_load(&self) -> bool {
        self.never_loaded() || self.checkout.record.as_ref().is_some_and(|record| record.must_load)
    }

    /// What the store gave with the last load or commit.
    #[must_use]
    pub fn cursor(&self) -> Option<String> {
        let record = self.checkout.record.as_ref().filter(|_| !self.never_loaded());
        record.and_then(|record| record.cursor.clone())
    }

    /// Loads from a folder.
    pub fn load_local(&mut self, discard: Vec<String>, cancel: &Cancel) -> Result<Loaded> {
        let mut incoming = Incoming::new(&self.checkout, true, discard)?;
        match &self.source {
            Some(source @ Opened { kind: Kind::Local(store), .. }) => {
                store.settle_done(&mut self.checkout)?;
                store.load(&self.checkout, &mut incoming, cancel)?;
                let is_empty = incoming.given.is_empty() && incoming.same.is_empty();
                if is_empty && source.relation != Relation::Same {
                    check_not_unmounted(&self.checkout, source)?;
                }
            }
            Some(Opened { kind: Kind::Missing(..), .. }) => {}
            _ => return Err(Error::new(Code::IoError, format!("{} has no folder to load from", self.checkout.name))),
        }
        self.finish_load(incoming, None, cancel)
    }

    /// Begins a load from another store.
    pub fn begin_load(&self, complete: bool, discard: Vec<String>) -> Result<Load> {
        Ok(Load(Incoming::new(&self.checkout, complete || self.never_loaded(), discard)?))
    }

    /// The store holds `path` with the version that it calls `tag`.
    pub fn list(&self, load: &mut Load, path: &str, tag: Option<&str>) -> Wanted {
        // Another store's versions say nothing here.
        let tag = tag.filter(|_| !self.never_loaded());
        load.0.list(&self.checkout, path, tag)
    }

    /// A whole content.
    pub fn put(&self, load: &mut Load, path: &str, bytes: &[u8], tag: Option<String>) -> Result<()> {
        load.0.put(&self.checkout, path, bytes, tag)
    }

    /// Begins a content that comes in batches.
    pub fn begin_content(&self, load: &mut Load, path: &str) -> Result<Content> {
        load.0.begin(&self.checkout, path).map(Content)
    }

    /// Ends it.
    pub fn end_content(&self, load: &mut Load, path: &str, tag: Option<String>, content: Content) -> Result<()> {
        load.0.end(&self.checkout, path, tag, content.0)
    }

    /// A path is gone from the store.
    pub fn gone(&self, load: &mut Load, path: &str) -> Result<()> {
        load.0.remove(&self.checkout, path)
    }

    /// Publishes what a load gave.
    pub fn end_load(&mut self, load: Load, cursor: Option<String>, cancel: &Cancel) -> Result<Loaded> {
        self.finish_load(load.0, cursor, cancel)
    }

    fn finish_load(&mut self, incoming: Incoming, cursor: Option<String>, cancel: &Cancel) -> Result<Loaded> {
        let Some(source) = &mut self.source else {
            return Err(Error::new(Code::IoError, format!("{} was opened without its source", self.checkout.name)));
        };
        // So that a lost database does not make it everybody's.
        self.lock.note(&source.identity, self.checkout.session.flushes())?;
        let merged = self.checkout.merge(incoming, &source.identity, cursor, cancel);
        match &merged {
            Ok(_) => source.relation = Relation::Same,
            // What is known in memory is half of it.
            Err(_) => self.reopen()?,
        }
        merged
    }

    fn reopen(&mut self) -> Result<()> {
        let session = Arc::clone(&self.checkout.session);
        self.checkout = Checkout::open(&session, self.index)?;
        self.checkout.adopt_interrupted(&Cancel::new())
    }

    /// Scans, and lists what is uncommitted and not in conflict.
    pub fn pending(&mut self, cancel: &Cancel) -> Result<Vec<Pending>> {
        let odd = self.checkout.scan(cancel)?;
        self.checkout.save_rows()?;
        let checkout = &self.checkout;
        let list = checkout.rows.iter().filter_map(|(path, row)| {
            let since = row.since.filter(|_| !row.is_conflict())?;
            let full = checkout.harness_path(path).to_string();
            let refused = match odd.get(path) {
                Some(odd) => Some(odd.error(&full)),
                None if checkout.dir.read_only => Some(read_only(&full)),
                None => None,
            };
            let change = match odd.get(path) {
                Some(Odd::NotRegular) => Change::Updated,
                Some(Odd::Unnameable) => Change::Created,
                None => row.change()?,
            };
            let error = refused.map(|error| (error.code.as_str().to_owned(), error.to_string()));
            let error = error.or_else(|| row.error.clone());
            Some(Pending { path: path.clone(), change, ours: row.ours(), since, attempts: row.attempts, error })
        });
        let mut list: Vec<Pending> = list.collect();
        list.sort_by_key(|pending| pending.since); // those of one moment stay in the order of their paths
        Ok(list)
    }

    /// Stages what is pending, or of that what is at or below `paths`. `None`: nothing is.
    pub fn begin_commit(&mut self, paths: Option<&[String]>, cancel: &Cancel) -> Result<Option<Commit>> {
        if self.checkout.dir.read_only {
            return Err(read_only(&self.checkout.name));
        }
        self.make_source(cancel)?;
        let begun = if let Some(Opened { kind: Kind::Local(store), .. }) = &self.source {
            store.begin_commit(&mut self.checkout, paths, cancel)
        } else {
            let session = Arc::clone(&self.checkout.session);
            let staging = || Batch::new(session.staging.folder());
            let begun = self.checkout.begin_commit(paths, staging, Mode::RUSR | Mode::WUSR, |_| Ok(None), cancel);
            match &begun {
                Ok(Some(commit)) if !commit.entries.is_empty() => self.checkout.outdate_others().and(begun),
                _ => begun,
            }
        };
        if begun.is_err() {
            self.reopen()?;
        }
        begun
    }

    /// Applies a commit to its folder, all or nothing. A conflict: the folder has changed; nothing was applied.
    pub fn apply(&mut self, commit: &mut Commit, cancel: &Cancel) -> Result<()> {
        match self.source.as_mut().map(|source| &mut source.kind) {
            Some(Kind::Local(store)) => store.apply(&mut self.checkout, commit, cancel),
            _ => Err(Error::new(Code::IoError, format!("{} has no folder to commit to", self.checkout.name))),
        }
    }

    /// One change has landed, and the store calls it `tag` now.
    pub fn landed(&mut self, path: &str, tag: Option<String>) -> Result<()> {
        self.checkout.landed(path, tag)
    }

    /// All changes have landed. Without a cursor the old one is void.
    pub fn stored(&mut self, commit: &Commit, cursor: Option<String>, tags: BTreeMap<String, String>) -> Result<()> {
        let must_load = cursor.is_none();
        self.checkout.stored(commit, cursor, must_load, tags)
    }

    /// What has not landed has failed. `unknown`: a load tells whether it has landed all the same.
    pub fn failed(&mut self, code: &str, message: &str, unknown: bool) -> Result<()> {
        self.checkout.failed(code, message, unknown)
    }

    /// An attempt to commit what is at or below `paths`, or all, failed before it could begin.
    pub fn attempt_failed(
        &mut self,
        paths: Option<&[String]>,
        code: &str,
        message: &str,
        cancel: &Cancel,
    ) -> Result<()> {
        self.checkout.attempt_failed(paths, code, message, cancel)
    }

    /// What is pending is on the disk when this returns, whoever wrote it.
    pub fn flush_pending(&mut self, cancel: &Cancel) -> Result<()> {
        self.checkout.scan(cancel)?;
        self.checkout.flush_pending()?;
        self.checkout.save(true)
    }

    /// Paths in conflict.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.checkout.conflicts()
    }

    /// The store's side of a path in conflict; `None`: deleted there.
    pub fn read_theirs(&self, path: &str, cancel: &Cancel) -> Result<Option<FileData>> {
        self.checkout.read_theirs(path, cancel)
    }

    /// Decides a conflict.
    pub fn resolve(&mut self, path: &str, side: Side, cancel: &Cancel) -> Result<()> {
        self.checkout.resolve(path, side, cancel).inspect_err(|_| drop(self.reopen()))
    }

    /// Gives up uncommitted changes. Returns the paths whose content only the store has: load with them.
    pub fn discard(&mut self, paths: Option<&[String]>, cancel: &Cancel) -> Result<Vec<String>> {
        self.checkout.discard(paths, cancel).inspect_err(|_| drop(self.reopen()))
    }

    /// Empties the checkout and forgets its base.
    pub fn reset(&mut self, cancel: &Cancel) -> Result<()> {
        self.checkout.reset(cancel)?;
        // From whatever source the next load comes.
        self.lock.note("", self.checkout.session.flushes())
    }

    /// A first commit makes the folder that was not there.
    fn make_source(&mut self, cancel: &Cancel) -> Result<()> {
        let Some(Opened { kind: Kind::Missing(local, others), .. }) = &self.source else { return Ok(()) };
        let (local, others) = (local.clone(), others.clone());
        self.checkout.scan(cancel)?;
        if !self.checkout.rows.values().any(|row| row.since.is_some()) {
            return Ok(());
        }
        let Some(store) = LocalStore::open(&self.checkout, &local, &others, true, true)? else { return Ok(()) };
        let identity = store.identity().to_owned();
        if let Some(record) = &mut self.checkout.record {
            record.source.clone_from(&identity);
        }
        self.lock.note(&identity, self.checkout.session.flushes())?;
        self.source = Some(Opened { identity, relation: Relation::Same, kind: Kind::Local(store) });
        Ok(())
    }
}

/// A load from a store that the caller speaks to.
#[derive(Debug)]
pub struct Load(Incoming);

/// A content that comes in batches.
#[derive(Debug)]
pub struct Content(Staged);

impl Content {
    /// Appends.
    pub fn push(&mut self, batch: &[u8]) -> Result<()> {
        self.0.write(batch)
    }
}

fn read_only(path: &str) -> Error {
    let text = format!("{path} is in a read-only Persistent Dir: it is never committed. Discard the change.");
    Error::denied(crate::error::Reason::ReadOnly, path, text)
}
