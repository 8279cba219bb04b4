//! The journal of a commit, in the source itself: whoever locks the source next can finish what was begun.
//!
//! In `.little-harness/`: `<id>.journal` while the commit is applied, `<id>.undo` while it is taken back, `<id>.done` when
//! all of it stands and its sender has not recorded that yet; and for each a folder with staged and displaced files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, SystemTime};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, Dir, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::super::declared::RESERVED;
use super::steps;
use crate::error::{Code, Error, Result};
use crate::root::open_name;
use crate::stage::random_name;
use crate::{sys, trash};

/// How long a `.done` mark waits for its sender.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);
const VERSION: u32 = 1;

/// What a commit changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Journal {
    version: u32,
    /// The folder of staged and displaced files.
    pub(crate) folder: String,
    pub(crate) entries: Vec<JournalEntry>,
    /// Paths that were neither base nor new when somebody else finished it.
    #[serde(default)]
    pub(crate) left: BTreeSet<String>,
}

/// One change. Digests are 64 hex digits; `None`: no file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JournalEntry {
    pub(crate) path: String,
    pub(crate) base: Option<String>,
    pub(crate) new: Option<String>,
    /// In the folder: first the new content, then what was displaced.
    pub(crate) staged: String,
}

/// What state a commit is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Journal,
    Undo,
    Done,
}

impl State {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Undo => "undo",
            Self::Done => "done",
        }
    }

    fn name(self, id: &str) -> String {
        format!("{id}.{}", self.suffix())
    }
}

/// `.little-harness` in a source.
#[derive(Debug)]
pub(crate) struct Journals(OwnedFd);

impl Journals {
    /// Opens it; `None`: nobody has committed yet.
    pub(crate) fn open(source: BorrowedFd<'_>) -> rustix::io::Result<Option<Self>> {
        match open_name(source, RESERVED, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => Ok(Some(Self(folder))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Opens it, making it where it is missing.
    pub(crate) fn make(source: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        steps::step()?;
        if sys::make_folder(source, RESERVED)? {
            steps::sync_folder(source)?;
        }
        open_name(source, RESERVED, OFlags::RDONLY | OFlags::DIRECTORY).map(Self)
    }

    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Writes a journal, on the disk when this returns.
    pub(crate) fn write(&self, id: &str, state: State, journal: &Journal) -> Result<()> {
        let text =
            serde_json::to_vec(journal).map_err(|error| Error::new(Code::IoError, format!("journal: {error}")))?;
        let temp = format!("{}.tmp", random_name());
        self.write_text(&temp, &text, &state.name(id)).map_err(|errno| failed(errno, "writing")).inspect_err(|_| {
            let _ = steps::unlink(&self.0, &temp);
        })
    }

    fn write_text(&self, temp: &str, text: &[u8], name: &str) -> rustix::io::Result<()> {
        steps::step()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.0, temp, flags, Mode::RUSR | Mode::WUSR)?);
        steps::step()?;
        file.write_all(text).map_err(|error| crate::error::errno_of(&error))?;
        steps::sync_file(&file)?;
        steps::rename(&self.0, temp, &self.0, name)?;
        steps::sync_folder(self.0.as_fd())
    }

    /// Moves a commit from one state to the next, on the disk when this returns.
    pub(crate) fn turn(&self, id: &str, from: State, to: State) -> Result<()> {
        let turned = steps::rename(&self.0, &from.name(id), &self.0, &to.name(id));
        turned.and_then(|()| steps::sync_folder(self.0.as_fd())).map_err(|errno| failed(errno, "writing"))
    }

    pub(crate) fn read(&self, id: &str, state: State) -> Result<Option<Journal>> {
        let mut file = match open_name(&self.0, &state.name(id), OFlags::RDONLY) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(errno, "reading")),
        };
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(|error| failed(crate::error::errno_of(&error), "reading"))?;
        match serde_json::from_slice::<Journal>(&text) {
            Ok(journal) if journal.version == VERSION => Ok(Some(journal)),
            _ => {
                let text = format!(
                    "{RESERVED}/{} in the source is no journal of this version: it was left by a commit that was interrupted. Look at it, then remove it.",
                    state.name(id)
                );
                Err(Error::new(Code::IoError, text))
            }
        }
    }

    /// Forgets a commit; what cannot be removed is found again.
    pub(crate) fn remove(&self, id: &str, state: State) -> Result<()> {
        match steps::unlink(&self.0, &state.name(id)) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(failed(errno, "removing")),
        }
    }

    /// Ids of the commits in that state.
    pub(crate) fn ids(&self, state: State) -> Result<Vec<String>> {
        let suffix = format!(".{}", state.suffix());
        let mut ids: Vec<String> =
            self.names()?.iter().filter_map(|name| name.strip_suffix(&suffix)).map(str::to_owned).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether a commit was interrupted.
    pub(crate) fn has_unfinished(&self) -> Result<bool> {
        Ok(self.names()?.iter().any(|name| {
            [State::Journal, State::Undo].iter().any(|state| name.ends_with(&format!(".{}", state.suffix())))
        }))
    }

    /// Removes what nobody needs any more: the folders and drafts of commits that were interrupted before they had a
    /// journal or after they were done, and marks that waited too long. Only with the lock alone.
    pub(crate) fn sweep(&self) -> Result<()> {
        let names = self.names()?;
        for name in names {
            // Folders and drafts have random names of ours; what else somebody keeps here is theirs.
            let stem = name.strip_suffix(".tmp").unwrap_or(&name);
            if stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                trash::unlink_tree(self.0.as_fd(), &name);
            } else if name.strip_suffix(".done").is_some() && self.is_old(&name) {
                let _ = fs::unlinkat(&self.0, name.as_str(), fs::AtFlags::empty());
            }
        }
        Ok(())
    }

    fn is_old(&self, name: &str) -> bool {
        let Ok(file) = open_name(&self.0, name, OFlags::RDONLY) else { return false };
        let modified = File::from(file).metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > MAX_AGE))
    }

    fn names(&self) -> Result<Vec<String>> {
        let entries = Dir::read_from(&self.0).map_err(|errno| failed(errno, "reading"))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        Ok(names.filter(|name| !matches!(name.as_str(), "." | "..")).collect())
    }
}

impl Journal {
    pub(crate) fn new(folder: String, entries: Vec<JournalEntry>) -> Self {
        Self { version: VERSION, folder, entries, left: BTreeSet::new() }
    }
}

fn failed(errno: Errno, doing: &str) -> Error {
    Error::from_errno(errno, "the journal in the source", doing)
}
