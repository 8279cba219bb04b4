//! Applying a commit to a source, entry by entry, and taking it back.

use std::collections::BTreeSet;
use std::fs::File;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::journal::JournalEntry;
use super::steps;
use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::root::open_name;
use crate::stamp::Stamp;
use crate::tree;

/// Folders that are open at once to be flushed.
const MAX_OPEN: usize = 64;

/// The file or folder that an entry is about.
#[derive(Debug)]
pub(crate) enum Target {
    Nothing,
    File(Box<Stat>),
    /// A folder, a link, a special file.
    Other,
}

/// Why an entry was not applied.
#[derive(Debug)]
pub(crate) enum NotApplied {
    /// The source does not hold the base there.
    Conflict,
    Failed(Errno),
}

impl From<Errno> for NotApplied {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// A source that is being changed, and the folder with what goes in and comes out.
#[derive(Debug)]
pub(crate) struct Applying<'a> {
    pub(crate) source: BorrowedFd<'a>,
    pub(crate) staging: BorrowedFd<'a>,
    /// Of new folders.
    pub(crate) mode: Mode,
    /// In which names have changed: to be flushed.
    pub(crate) touched: BTreeSet<String>,
}

impl Applying<'_> {
    /// The folder that holds `path`; `None`: it is not there, or no folder.
    fn parent(&self, path: &str) -> rustix::io::Result<Option<OwnedFd>> {
        let mut folder = open_name(self.source, ".", OFlags::RDONLY | OFlags::DIRECTORY)?;
        let Some((above, _)) = path.rsplit_once('/') else { return Ok(Some(folder)) };
        for segment in above.split('/') {
            folder = match open_name(&folder, segment, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(next) => next,
                // Missing, a file, a link.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(errno) => return Err(errno),
            };
        }
        Ok(Some(folder))
    }

    /// The same, made where it is missing.
    fn make_parent(&mut self, path: &str) -> Result<OwnedFd, NotApplied> {
        let mut folder = open_name(self.source, ".", OFlags::RDONLY | OFlags::DIRECTORY)?;
        let Some((above, _)) = path.rsplit_once('/') else { return Ok(folder) };
        let mut at = 0;
        for segment in above.split('/') {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let next = match open_name(&folder, segment, flags) {
                Err(Errno::NOENT) => {
                    steps::make_folder(&folder, segment, self.mode)?;
                    self.touched.insert(above[..at].trim_end_matches('/').to_owned());
                    open_name(&folder, segment, flags)
                }
                other => other,
            };
            folder = match next {
                Ok(next) => next,
                // Other content stands where a folder has to be.
                Err(Errno::NOTDIR | Errno::LOOP) => return Err(NotApplied::Conflict),
                Err(errno) => return Err(errno.into()),
            };
            at += segment.len() + 1;
        }
        Ok(folder)
    }

    /// What stands at `path`.
    pub(crate) fn target(&self, path: &str) -> rustix::io::Result<Target> {
        let Some(parent) = self.parent(path)? else { return Ok(Target::Nothing) };
        match fs::statat(&parent, leaf(path), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Ok(Target::File(Box::new(stat)))
            }
            Ok(_) => Ok(Target::Other),
            Err(Errno::NOENT) => Ok(Target::Nothing),
            Err(errno) => Err(errno),
        }
    }

    /// The digest of the file at `path`; `None`: no regular file.
    pub(crate) fn digest(&self, path: &str) -> rustix::io::Result<Option<Digest>> {
        self.parent(path)?.map_or(Ok(None), |parent| digest_in(parent.as_fd(), leaf(path)))
    }

    /// Applies one entry. What stands there must be its base: `expected` is its stamp when that was compared, and whether
    /// that stamp proves nothing.
    pub(crate) fn apply(&mut self, entry: &JournalEntry, expected: Option<(Stamp, bool)>) -> Result<(), NotApplied> {
        let (path, name) = (entry.path.as_str(), leaf(&entry.path));
        if entry.new.is_none() {
            let Some(parent) = self.parent(path)? else { return Ok(()) };
            match steps::rename(&parent, name, self.staging, &entry.staged) {
                Ok(()) => {}
                Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
            self.touch(path);
            if !self.is_base(entry, &entry.staged, expected)? {
                steps::rename_new(self.staging, &entry.staged, &parent, name)?;
                return Err(NotApplied::Conflict);
            }
            return Ok(());
        }
        let parent = self.make_parent(path)?;
        self.touch(path);
        if entry.base.is_some() {
            return self.replace(entry, &parent, expected);
        }
        for _ in 0..2 {
            match steps::rename_new(self.staging, &entry.staged, &parent, name) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            // Folders without files are no content; deletions before this one may have left some.
            match open_name(&parent, name, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(folder) if tree::is_empty(&folder) => remove_folders(&parent, name)?,
                _ => return Err(NotApplied::Conflict),
            }
        }
        Err(NotApplied::Conflict)
    }

    fn replace(
        &self,
        entry: &JournalEntry,
        parent: &OwnedFd,
        expected: Option<(Stamp, bool)>,
    ) -> Result<(), NotApplied> {
        let name = leaf(&entry.path);
        let Ok(there) = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return Err(NotApplied::Conflict) };
        if FileType::from_raw_mode(there.st_mode) != FileType::RegularFile {
            return Err(NotApplied::Conflict);
        }
        match steps::exchange(self.staging, &entry.staged, parent, name) {
            Ok(()) => {
                if self.is_base(entry, &entry.staged, expected)? {
                    return Ok(());
                }
                steps::exchange(self.staging, &entry.staged, parent, name)?;
                Err(NotApplied::Conflict)
            }
            Err(Errno::NOENT) => Err(NotApplied::Conflict),
            // This file system has no exchange: a second name keeps what is replaced.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let old = old_name(entry);
                match steps::link(parent, name, self.staging, &old) {
                    // Left there by a try that was interrupted.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                if !self.is_base(entry, &old, None)? {
                    steps::unlink(self.staging, &old)?;
                    return Err(NotApplied::Conflict);
                }
                Ok(steps::rename(self.staging, &entry.staged, parent, name)?)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Takes one entry back, if it was applied.
    pub(crate) fn undo(&mut self, entry: &JournalEntry) -> rustix::io::Result<()> {
        let (path, name) = (entry.path.as_str(), leaf(&entry.path));
        let base = entry.base.as_deref();
        let staged = digest_in(self.staging, &entry.staged)?.map(|digest| digest.to_string());
        if entry.new.is_none() {
            if staged.as_deref() != base {
                return Ok(());
            }
            let parent = match self.make_parent(path) {
                Ok(parent) => parent,
                Err(NotApplied::Failed(errno)) => return Err(errno),
                // Somebody has made a file of its folder: what was deleted is theirs to bring back.
                Err(NotApplied::Conflict) => return Ok(()),
            };
            self.touch(path);
            return match steps::rename_new(self.staging, &entry.staged, &parent, name) {
                Err(Errno::EXIST) => Ok(()),
                other => other,
            };
        }
        if self.digest(path)?.map(|digest| digest.to_string()) != entry.new {
            return Ok(());
        }
        let Some(parent) = self.parent(path)? else { return Ok(()) };
        self.touch(path);
        if base.is_none() {
            // Not applied: another program has the same content there.
            if staged == entry.new {
                return Ok(());
            }
            return steps::rename(&parent, name, self.staging, &entry.staged);
        }
        if staged.as_deref() == base {
            return steps::exchange(self.staging, &entry.staged, &parent, name);
        }
        let old = old_name(entry);
        if digest_in(self.staging, &old)?.map(|digest| digest.to_string()).as_deref() == base {
            return steps::rename(self.staging, &old, &parent, name);
        }
        Ok(())
    }

    /// Removes the folders that deletions have left empty.
    pub(crate) fn prune(&self, path: &str) {
        let mut path = path;
        while let Some((above, _)) = path.rsplit_once('/') {
            let Ok(Some(parent)) = self.parent(above) else { return };
            if steps::remove_folder(&parent, leaf(above)).is_err() {
                return; // not empty, or gone
            }
            path = above;
        }
    }

    /// Flushes the folders in which names have changed.
    pub(crate) fn flush(&mut self) -> rustix::io::Result<()> {
        let mut open = Vec::new();
        for folder in std::mem::take(&mut self.touched) {
            let below = if folder.is_empty() { "_".to_owned() } else { format!("{folder}/_") };
            // One that is gone needs no flush.
            open.extend(self.parent(&below)?);
            if open.len() >= MAX_OPEN {
                steps::sync_folders(&std::mem::take(&mut open))?;
            }
        }
        steps::sync_folders(&open)
    }

    fn touch(&mut self, path: &str) {
        self.touched.insert(path.rsplit_once('/').map_or("", |(above, _)| above).to_owned());
    }

    /// Whether what was displaced is the entry's base.
    fn is_base(
        &self,
        entry: &JournalEntry,
        displaced: &str,
        expected: Option<(Stamp, bool)>,
    ) -> rustix::io::Result<bool> {
        let stat = fs::statat(self.staging, displaced, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(false);
        }
        if let Some((stamp, fresh)) = expected
            && !fresh
            && Stamp::of(&stat).same_but_renamed(&stamp)
        {
            return Ok(true);
        }
        Ok(digest_in(self.staging, displaced)?.map(|digest| digest.to_string()) == entry.base)
    }
}

/// Where what an entry replaces is kept on file systems without exchange.
fn old_name(entry: &JournalEntry) -> String {
    format!("{}.old", entry.staged)
}

pub(crate) fn leaf(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Of the regular file `name` in a folder; `None`: there is none.
pub(crate) fn digest_in(folder: BorrowedFd<'_>, name: &str) -> rustix::io::Result<Option<Digest>> {
    let file = match open_name(folder, name, OFlags::RDONLY) {
        Ok(file) => file,
        // Nothing, a link, a socket.
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    match Digest::read(File::from(file), &"the source", &Cancel::new()) {
        Ok((digest, _)) => Ok(Some(digest)),
        Err(_) => Err(Errno::IO),
    }
}

/// Removes a folder that holds only folders.
fn remove_folders(parent: impl AsFd, name: &str) -> rustix::io::Result<()> {
    let folder = open_name(&parent, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let names: Vec<_> = fs::Dir::read_from(&folder)?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
        .filter(|name| !matches!(name.as_str(), "." | ".."))
        .collect();
    for name in names {
        remove_folders(&folder, &name)?;
    }
    steps::remove_folder(parent, name)
}
