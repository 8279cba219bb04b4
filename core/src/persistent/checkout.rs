//! The checkout of a Persistent Dir: its files in the session, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{self, OFlags};
use rustix::io::Errno;

use super::declared::Declared;
use super::row::Row;
use crate::error::{Code, Error, Result};
use crate::flush::changed_folders;
use crate::index::{self, DirKey, DirRecord};
use crate::path::{HarnessPath, Root};
use crate::root::{Links, RootDir};
use crate::session::Session;
use crate::stamp::Stamp;
use crate::{sync, sys};

/// From this many changed files on the whole file system is flushed in one call.
const MAX_SINGLE: usize = 64;

/// What is known of a dir's files, and what has changed of that since it was last saved. Its holder holds the checkout's
/// lock.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) session: Arc<Session>,
    pub(crate) dir: Declared,
    /// The harness path of the dir.
    pub(crate) name: String,
    key: DirKey,
    /// `None`: never loaded.
    pub(crate) record: Option<DirRecord>,
    /// By their paths in the dir.
    pub(crate) rows: BTreeMap<String, Row>,
    unsaved: BTreeSet<String>,
}

impl Checkout {
    pub(crate) fn open(session: &Arc<Session>, index: usize) -> Result<Self> {
        let dir = session.host.dirs.get(index).cloned();
        let dir = dir.ok_or_else(|| Error::new(Code::InvalidOption, "There is no such Persistent Dir"))?;
        let name = dir.path().to_string();
        let host = &session.host;
        let found = host.index.read(|connection| index::dir(connection, session.instance, &name))?;
        let (mut key, mut record, mut rows) = (DirKey::default(), None, BTreeMap::new());
        if let Some((known, found)) = found {
            (key, record) = (known, Some(found));
            rows = match host.checkouts.take(key.id, key.revision) {
                Some(rows) => rows,
                None => host.index.read(|connection| index::checkout(connection, key.id))?.into_iter().collect(),
            };
        }
        Ok(Self { session: Arc::clone(session), dir, name, key, record, rows, unsaved: BTreeSet::new() })
    }

    /// The harness path of a path in the dir.
    pub(crate) fn harness_path(&self, path: &str) -> HarnessPath {
        let below = path.split('/').map(str::to_owned);
        HarnessPath { root: Root::Persistent, segments: self.dir.segments.iter().cloned().chain(below).collect() }
    }

    /// Whether the checkout's folder is the one that was opened. One that was removed or replaced would look as if all
    /// were deleted.
    pub(crate) fn check_folder(&self) -> Result<()> {
        let folder = self.root().folder();
        let there = self.session.root(Root::Persistent).open_folder(&self.dir.segments, Links::Refuse);
        if there.is_ok_and(|there| crate::lock::names(there, ".", folder)) {
            return Ok(());
        }
        let text = format!(
            "The checkout of {} was removed or replaced (ENOENT). Nothing was sent. Open the session anew.",
            self.name
        );
        Err(Error::at(Code::NotFound, &self.name, text))
    }

    pub(crate) fn root(&self) -> &RootDir {
        self.session.root_of(&self.dir.path())
    }

    /// Of a path, to change it.
    pub(crate) fn row_mut(&mut self, path: &str) -> &mut Row {
        self.unsaved.insert(path.to_owned());
        self.rows.entry(path.to_owned()).or_default()
    }

    /// Records what has changed. `flushed`: it is on the disk when this returns.
    pub(crate) fn save(&mut self, flushed: bool) -> Result<()> {
        let Some(record) = &self.record else { return Ok(()) };
        let flushed = flushed && self.session.flushes();
        let void = Row::default();
        let write = |connection: &rusqlite::Connection| {
            let key = index::put_dir(connection, self.session.instance, &self.name, record)?;
            for path in &self.unsaved {
                index::put_path(connection, key.id, path, self.rows.get(path).unwrap_or(&void))?;
            }
            Ok(key)
        };
        self.key = self.session.host.index.write_through(flushed, write)?;
        self.unsaved.clear();
        self.rows.retain(|_, row| !row.is_void());
        Ok(())
    }

    /// As [`Self::save`], when there is anything to save.
    pub(crate) fn save_rows(&mut self) -> Result<()> {
        if self.unsaved.is_empty() { Ok(()) } else { self.save(false) }
    }

    /// Something is about to reach a store that cannot tell by itself that it has changed: other sessions of this dataDir
    /// look before they send what is theirs.
    pub(crate) fn outdate_others(&self) -> Result<()> {
        let Some(record) = self.record.as_ref().filter(|record| record.cursor.is_none()) else { return Ok(()) };
        let outdate =
            |connection: &rusqlite::Connection| index::outdate_others(connection, self.key, &self.name, &record.source);
        self.session.host.index.write_waiting(outdate)
    }

    /// Forgets all that is known.
    pub(crate) fn forget(&mut self) -> Result<()> {
        let (session, name) = (&self.session, &self.name);
        let forget = |connection: &rusqlite::Connection| index::drop_dir(connection, session.instance, name);
        self.session.host.index.write_through(self.session.flushes(), forget)?;
        self.record = None;
        self.rows.clear();
        self.unsaved.clear();
        Ok(())
    }

    /// Flushes the files that have changed, and the folders on the way to them: a shell that wrote them did not. Our own
    /// writes did, or will with the session's flush.
    pub(crate) fn flush_pending(&self) -> Result<()> {
        if !self.session.flushes() {
            return Ok(());
        }
        let mut changed = Vec::new();
        for (path, row) in self.rows.iter().filter(|(_, row)| row.since.is_some()) {
            let full = self.harness_path(path);
            if !row.seen.is_none_or(|seen| self.is_ours(&full, seen.stamp)) {
                changed.push(full);
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        let wrap = |errno| Error::from_errno(errno, &self.name, "flushing");
        if sys::HAS_SYNC_DISK && changed.len() > MAX_SINGLE {
            return sys::sync_disk(self.root().folder()).map_err(wrap);
        }
        let mut folders = BTreeSet::new();
        let mut open = Vec::new();
        for full in changed {
            match self.root().open(&full.segments, OFlags::RDONLY, Links::Refuse) {
                Ok(file) => open.push(file),
                // Gone; a link or a socket in its place.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => {}
                Err(errno) => return Err(wrap(errno)),
            }
            folders.extend(changed_folders(&full, self.dir.segments.len()).map(|(_, segments)| segments));
        }
        let flush = |file: &OwnedFd| match fs::fsync(file) {
            // Something that cannot be flushed in its place.
            Err(Errno::INVAL) => Ok(()),
            other => other,
        };
        sync::all(&open, flush).map_err(wrap)?;
        self.flush_folders(&folders)
    }

    /// Whether a write of this library made the file what it is.
    fn is_ours(&self, full: &HarnessPath, stamp: Stamp) -> bool {
        let (session, name) = (&self.session, full.to_string());
        let row = session.host.index.read(|connection| index::row(connection, session.instance, &name));
        row.is_ok_and(|row| row.is_some_and(|facts| facts.stamp == stamp))
    }

    /// Flushes folders, by their segments.
    pub(super) fn flush_folders(&self, folders: &BTreeSet<Vec<String>>) -> Result<()> {
        if !self.session.flushes() {
            return Ok(());
        }
        let wrap = |errno| Error::from_errno(errno, &self.name, "flushing");
        if sys::HAS_SYNC_DISK && folders.len() > MAX_SINGLE {
            return sys::sync_disk(self.root().folder()).map_err(wrap);
        }
        // A folder that is gone needs no flush.
        let open: Vec<OwnedFd> =
            folders.iter().filter_map(|segments| self.root().open_folder(segments, Links::Refuse).ok()).collect();
        sync::all(&open, |folder: &OwnedFd| sys::sync_folder(folder)).map_err(wrap)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Just as in the database: the next operation need not read it again.
        if self.unsaved.is_empty() && self.record.is_some() {
            self.session.host.checkouts.put(self.key.id, self.key.revision, std::mem::take(&mut self.rows));
        }
    }
}
