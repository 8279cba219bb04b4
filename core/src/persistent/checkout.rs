//! The checkout of a Persistent Dir: its files in the session, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustix::fs::{self, FileType, OFlags};
use rustix::io::Errno;

use super::declared::{Declared, RESERVED};
use super::row::{Held, Row, Seen};
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::error::{Code, Error, Result, errno_of};
use crate::flush::changed_folders;
use crate::index::{self, DirRecord};
use crate::path::{HarnessPath, Root};
use crate::root::{Links, RootDir};
use crate::session::Session;
use crate::stamp::Stamp;
use crate::sys;
use crate::tree::{self, Found};

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
    id: i64,
    /// `None`: never loaded.
    pub(crate) record: Option<DirRecord>,
    /// By their paths in the dir.
    pub(crate) rows: BTreeMap<String, Row>,
    unsaved: BTreeSet<String>,
}

/// What stands at a path and is no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A link, a FIFO, a socket, a device: never followed or sent.
    NotRegular,
    /// A file whose name no path can hold.
    Unnameable,
}

impl Odd {
    /// Why it cannot be committed.
    pub(crate) fn error(self, path: &str) -> Error {
        let (code, text) = match self {
            Self::NotRegular => (
                Code::NotRegularFile,
                format!(
                    "{path} is a link or a special file, not a regular file: neither it nor a deletion is committed. Replace or remove it."
                ),
            ),
            Self::Unnameable => {
                (Code::InvalidPath, format!("{path} has a name that no path can hold: it is not committed. Rename it."))
            }
        };
        Error::at(code, path, text)
    }
}

/// What was found at one path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Looked {
    Nothing,
    File(Seen),
    Folder,
    /// Something that is neither, or is below such a thing.
    Other,
}

impl Looked {
    pub(crate) fn seen(self) -> Option<Seen> {
        match self {
            Self::File(seen) => Some(seen),
            _ => None,
        }
    }
}

impl Checkout {
    pub(crate) fn open(session: &Arc<Session>, index: usize) -> Result<Self> {
        let dir = session.host.dirs.get(index).cloned();
        let dir = dir.ok_or_else(|| Error::new(Code::InvalidOption, "There is no such Persistent Dir"))?;
        let name = dir.path().to_string();
        let found = session.host.index.read(|connection| {
            let Some((id, record)) = index::dir(connection, session.instance, &name)? else { return Ok(None) };
            Ok(Some((id, record, index::checkout(connection, id)?)))
        })?;
        let (id, record, rows) = found.map_or((0, None, Vec::new()), |(id, record, rows)| (id, Some(record), rows));
        Ok(Self {
            session: Arc::clone(session),
            dir,
            name,
            id,
            record,
            rows: rows.into_iter().collect(),
            unsaved: BTreeSet::new(),
        })
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
        let text =
            format!("The checkout of {} was removed or replaced. Nothing was sent. Open the session anew.", self.name);
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
            let id = index::put_dir(connection, self.session.instance, &self.name, record)?;
            for path in &self.unsaved {
                index::put_path(connection, id, path, self.rows.get(path).unwrap_or(&void))?;
            }
            Ok(id)
        };
        self.id = self.session.host.index.write_through(flushed, write)?;
        self.unsaved.clear();
        self.rows.retain(|_, row| !row.is_void());
        Ok(())
    }

    /// As [`Self::save`], when there is anything to save.
    pub(crate) fn save_rows(&mut self) -> Result<()> {
        if self.unsaved.is_empty() { Ok(()) } else { self.save(false) }
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

    /// Looks at all files: by their stamps, and at their contents where those have moved. Gives what is no content and
    /// stands where content was or could be.
    pub(crate) fn scan(&mut self, cancel: &Cancel) -> Result<BTreeMap<String, Odd>> {
        self.check_folder()?;
        let now = now_millis();
        let (mut odd, mut met) = (BTreeMap::new(), Vec::new());
        let folder = self.root().folder();
        let skip = self.dir.local.then_some(RESERVED);
        let mut moved = Vec::new();
        tree::visit(folder, &self.name, skip, &mut |found: &Found<'_>| {
            if found.kind != FileType::RegularFile {
                // One that is new is nobody's content; its own name is no reason to keep a commit.
                if found.nameable {
                    odd.insert(found.path.to_owned(), Odd::NotRegular);
                }
            } else if !found.nameable {
                odd.insert(found.path.to_owned(), Odd::Unnameable);
            } else {
                let stamp = Stamp::of(found.stat);
                let row = self.rows.get(found.path);
                if row.and_then(|row| row.seen).is_none_or(|seen| seen.fresh || seen.stamp != stamp) {
                    moved.push(found.path.to_owned());
                } else {
                    met.push(found.path.to_owned());
                }
            }
            Ok(())
        })?;
        for path in moved {
            cancel.check()?;
            match self.look(&path, cancel)? {
                Looked::File(seen) => {
                    if self.rows.get(&path).and_then(|row| row.seen) != Some(seen) {
                        self.row_mut(&path).seen = Some(seen);
                    }
                    met.push(path);
                }
                Looked::Nothing | Looked::Folder | Looked::Other => {}
            }
        }
        if !odd.is_empty() {
            self.add_hidden(&mut odd);
        }
        met.sort_unstable();
        let gone: Vec<String> = self
            .rows
            .iter()
            .filter(|(path, row)| row.seen.is_some() && met.binary_search(path).is_err())
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            self.row_mut(&path).seen = None;
        }
        self.end_conflicts(&odd, now);
        self.note_changes(&odd, now);
        self.tell_new_odd(&odd);
        Ok(odd)
    }

    /// What lies below a link in the place of a folder is hidden, not deleted.
    fn add_hidden(&self, odd: &mut BTreeMap<String, Odd>) {
        let above_is_odd =
            |path: &str| path.match_indices('/').any(|(at, _)| odd.get(&path[..at]) == Some(&Odd::NotRegular));
        let hidden: Vec<String> = self
            .rows
            .iter()
            .filter(|(path, row)| row.base.is_some() && above_is_odd(path))
            .map(|(path, _)| path.clone())
            .collect();
        odd.extend(hidden.into_iter().map(|path| (path, Odd::NotRegular)));
    }

    /// A conflict is over where the checkout has become what the store holds.
    fn end_conflicts(&mut self, odd: &BTreeMap<String, Odd>, now: i64) {
        let theirs = |row: &Row| row.theirs.as_ref().and_then(|theirs| theirs.held.clone());
        let over: Vec<(String, Option<Held>)> = self
            .rows
            .iter()
            .filter(|(path, row)| row.is_conflict() && !odd.contains_key(*path))
            .map(|(path, row)| (path.clone(), row.ours(), theirs(row)))
            .filter(|(_, ours, theirs)| {
                ours.map(|ours| ours.digest) == theirs.as_ref().map(|theirs| theirs.version.digest)
            })
            .map(|(path, _, theirs)| (path, theirs))
            .collect();
        for (path, held) in over {
            self.row_mut(&path).advance(held, now);
        }
    }

    /// Notes since when each path has an uncommitted change.
    fn note_changes(&mut self, odd: &BTreeMap<String, Odd>, now: i64) {
        let changed = |path: &str, row: &Row| {
            row.change().is_some() || row.is_conflict() || (odd.contains_key(path) && row.base.is_some())
        };
        let stale: Vec<(String, bool)> = self
            .rows
            .iter()
            .map(|(path, row)| (path, row, changed(path, row) || odd.get(path) == Some(&Odd::Unnameable)))
            .filter(|(_, row, changed)| row.since.is_some() != *changed)
            .map(|(path, _, changed)| (path.clone(), changed))
            .collect();
        for (path, changed) in stale {
            self.row_mut(&path).note_change(changed, now);
        }
        for (path, what) in odd {
            if *what == Odd::Unnameable && !self.rows.contains_key(path) {
                self.row_mut(path).note_change(true, now);
            }
        }
    }

    /// One event for each link and special file that is nobody's content.
    fn tell_new_odd(&self, odd: &BTreeMap<String, Odd>) {
        for (path, what) in odd {
            let known = self.rows.get(path).is_some_and(|row| row.base.is_some());
            if *what == Odd::NotRegular && !known {
                self.session.tell_odd(&self.harness_path(path).to_string());
            }
        }
    }

    /// Flushes the files that have changed, and the folders on the way to them: a shell that wrote them did not.
    pub(crate) fn flush_pending(&self) -> Result<()> {
        let changed: Vec<HarnessPath> =
            self.rows.iter().filter(|(_, row)| row.since.is_some()).map(|(path, _)| self.harness_path(path)).collect();
        if changed.is_empty() || !self.session.flushes() {
            return Ok(());
        }
        let wrap = |errno| Error::from_errno(errno, &self.name, "flushing");
        if sys::HAS_SYNC_DISK && changed.len() > MAX_SINGLE {
            return sys::sync_disk(self.root().folder()).map_err(wrap);
        }
        let mut folders = BTreeSet::new();
        for full in changed {
            match self.root().open(&full.segments, OFlags::RDONLY, Links::Refuse).and_then(fs::fsync) {
                // Deleted; a link, a socket or something else that cannot be flushed in its place.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO | Errno::INVAL) => {}
                Err(errno) => return Err(wrap(errno)),
            }
            folders.extend(changed_folders(&full, self.dir.segments.len()).map(|(_, segments)| segments));
        }
        self.flush_folders(&folders)
    }

    /// Looks at one path, and at its content where its stamp proves nothing.
    pub(crate) fn look(&self, path: &str, cancel: &Cancel) -> Result<Looked> {
        let full = self.harness_path(path);
        let root = self.root();
        let file = match root.open(&full.segments, OFlags::RDONLY, Links::Refuse) {
            Ok(file) => file,
            // ENOTDIR: a file stands where a folder would be, so nothing is there; that file shows at its own path.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Looked::Nothing),
            // A link in its place or on the way; a socket.
            Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => return Ok(Looked::Other),
            Err(errno) => return Err(Error::from_errno(errno, &full, "reading")),
        };
        let stat = fs::fstat(&file).map_err(|errno| Error::from_errno(errno, &full, "reading"))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(Looked::Folder),
            _ => return Ok(Looked::Other),
        }
        let stamp = Stamp::of(&stat);
        if let Some(seen) = self.rows.get(path).and_then(|row| row.seen)
            && seen.stamp == stamp
            && !seen.fresh
        {
            return Ok(Looked::File(seen));
        }
        let fresh = stamp.is_fresh();
        let again = file.try_clone().map_err(|error| Error::from_errno(errno_of(&error), &full, "reading"))?;
        // A write of ours has hashed it already.
        let digest = self.session.digest_of(&full, file, stamp, cancel)?;
        let after = fs::fstat(&again).map_err(|errno| Error::from_errno(errno, &full, "reading"))?;
        // Written to while it was read: the next look reads it again.
        let fresh = fresh || Stamp::of(&after) != stamp;
        Ok(Looked::File(Seen { stamp, fresh, digest }))
    }
}
