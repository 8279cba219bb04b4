//! Finding what has changed in a checkout: by stamps, and by contents where those have moved (STORAGE, "Checkout").

use std::collections::BTreeMap;
use std::sync::Arc;

use rustix::fs::{self, FileType, OFlags};
use rustix::io::Errno;

use super::checkout::Checkout;
use super::declared::RESERVED;
use super::row::{Held, Row, Seen, TheirState};
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::error::{Code, Error, Result, errno_of};
use crate::root::Links;
use crate::stamp::Stamp;
use crate::tree::{self, Found};

/// What stands at a path and is no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A link, a FIFO, a socket, a device: never followed or sent.
    NotRegular,
    /// A file whose name no path can hold, or deeper than paths go.
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
            Self::Unnameable => (
                Code::InvalidPath,
                format!(
                    "{path} has a name that no path can hold, or lies too deep: it is not committed. Rename or move it."
                ),
            ),
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
    /// Looks at all files: by their stamps, and at their contents where those have moved. Gives what is no content and
    /// stands where content was or could be.
    pub(crate) fn scan(&mut self, cancel: &Cancel) -> Result<BTreeMap<String, Odd>> {
        self.check_folder()?;
        let now = now_millis();
        let (mut odd, mut moved) = (BTreeMap::new(), Vec::new());
        let skip = self.dir.local.then_some(RESERVED);
        let session = Arc::clone(&self.session);
        let folder = session.root_of(&self.dir.path()).folder();
        let rows = &mut self.rows;
        for row in rows.values_mut() {
            row.met = false;
        }
        for Found { path, kind, stamp, nameable } in tree::visit(folder, &self.name, skip).whole()? {
            if kind != FileType::RegularFile {
                // One that is new is nobody's content; its own name is no reason to keep a commit.
                if nameable {
                    odd.insert(path, Odd::NotRegular);
                }
                continue;
            }
            if !nameable {
                odd.insert(path, Odd::Unnameable);
                continue;
            }
            let row = rows.get_mut(&path);
            match row.filter(|row| row.seen.is_some_and(|seen| !seen.fresh && seen.stamp == stamp)) {
                Some(row) => row.met = true,
                None => moved.push(path),
            }
        }
        for path in moved {
            cancel.check()?;
            if let Looked::File(seen) = self.look(&path, cancel)? {
                if self.rows.get(&path).and_then(|row| row.seen) != Some(seen) {
                    self.row_mut(&path).seen = Some(seen);
                }
                if let Some(row) = self.rows.get_mut(&path) {
                    row.met = true;
                }
            }
        }
        if !odd.is_empty() {
            self.add_hidden(&mut odd);
        }
        let gone = self.rows.iter().filter(|(_, row)| row.seen.is_some() && !row.met);
        for path in gone.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
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
            self.free_blocked(&path);
        }
    }

    /// Our file no longer hides what theirs have below it: what we have deleted there and they have changed is in conflict.
    fn free_blocked(&mut self, path: &str) {
        let below = format!("{path}/");
        let rows = self.rows.range(below.clone()..).take_while(|(other, _)| other.starts_with(&below));
        let freed: Vec<String> = rows
            .filter(|(_, row)| row.is_blocked() && row.change().is_some())
            .map(|(other, _)| other.clone())
            .collect();
        for other in freed {
            if let Some(theirs) = &mut self.row_mut(&other).theirs {
                theirs.state = TheirState::Conflict;
            }
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

    /// Looks at one path, and at its content where its stamp proves nothing.
    pub(crate) fn look(&self, path: &str, cancel: &Cancel) -> Result<Looked> {
        let full = self.harness_path(path);
        let root = self.root();
        let file = match root.open(&full.segments, OFlags::RDONLY, Links::Refuse) {
            Ok(file) => file,
            // ENOTDIR: a file stands where a folder would be, so nothing is there; that file shows at its own path.
            // ENAMETOOLONG: a name as it is shown, which no file has.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => return Ok(Looked::Nothing),
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
