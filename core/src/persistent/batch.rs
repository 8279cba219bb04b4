//! Contents on their way into a checkout or a source: named files in a folder of their own, which goes with all that is
//! left in it.

use std::fs::File;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, Mode, OFlags};

use super::local::steps;
use crate::error::{Error, Result};
use crate::path::HarnessPath;
use crate::root::open_name;
use crate::stage::{Staged, random_name};
use crate::{sys, trash};

/// From this many files on the whole file system is flushed in one call.
const MAX_SINGLE: u64 = 64;

/// A folder of staged contents.
#[derive(Debug)]
pub(crate) struct Batch {
    parent: OwnedFd,
    name: String,
    folder: OwnedFd,
    count: u64,
    /// Staged and not flushed.
    unflushed: Vec<String>,
    /// A journal says what becomes of it.
    kept: bool,
}

impl Batch {
    /// Makes one in `parent`.
    pub(crate) fn new(parent: BorrowedFd<'_>) -> Result<Self> {
        Self::named(parent, random_name())
    }

    /// The same with a name that others know.
    pub(crate) fn named(parent: BorrowedFd<'_>, name: String) -> Result<Self> {
        let wrap = |errno| Error::from_errno(errno, "the staging folder", "making");
        steps::step().and_then(|()| sys::make_folder(parent, &name)).map_err(wrap)?;
        let folder = open_name(parent, &name, OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
        let parent = open_name(parent, ".", OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
        Ok(Self { parent, name, folder, count: 0, unflushed: Vec::new(), kept: false })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the folder stays when this is dropped.
    pub(crate) fn keep(&mut self, kept: bool) {
        self.kept = kept;
    }

    /// Removes it now, with all that is left in it.
    pub(crate) fn remove(&mut self) {
        if !steps::died() {
            trash::unlink_tree(self.parent.as_fd(), &self.name);
        }
        self.kept = true;
    }

    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// A name that nothing in it has.
    pub(crate) fn next_name(&mut self) -> String {
        self.count += 1;
        self.count.to_string()
    }

    /// A new empty file; `path` is what it is for.
    pub(crate) fn stage(&mut self, path: &HarnessPath, mode: Mode) -> Result<Staged> {
        let name = self.next_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = steps::step()
            .and_then(|()| fs::openat(&self.folder, name.as_str(), flags, mode))
            .map_err(|errno| Error::from_errno(errno, path, "staging"))?;
        self.unflushed.push(name.clone());
        Ok(Staged::named(File::from(file), name, path.clone()))
    }

    /// Flushes what was staged since the last time: before it gets its place, so that a power cut leaves no empty file.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let wrap = |errno| Error::from_errno(errno, "the staging folder", "flushing");
        let names = std::mem::take(&mut self.unflushed);
        if sys::HAS_SYNC_DISK && names.len() as u64 > MAX_SINGLE {
            return steps::step().and_then(|()| sys::sync_disk(&self.folder)).map_err(wrap);
        }
        let mut open = Vec::new();
        for name in names {
            match open_name(&self.folder, &name, OFlags::RDONLY) {
                Ok(file) => open.push(file),
                // Discarded since.
                Err(rustix::io::Errno::NOENT) => {}
                Err(errno) => return Err(wrap(errno)),
            }
        }
        steps::sync_files(&open).map_err(wrap)
    }

    /// Flushes the names as well: a journal says where they are.
    pub(crate) fn flush_names(&self) -> Result<()> {
        let flushed = steps::sync_folder(self.folder.as_fd()).and_then(|()| steps::sync_folder(self.parent.as_fd()));
        flushed.map_err(|errno| Error::from_errno(errno, "the staging folder", "flushing"))
    }

    /// Lets go of one file.
    pub(crate) fn discard(&mut self, name: &str) {
        let _ = fs::unlinkat(&self.folder, name, fs::AtFlags::empty());
        self.unflushed.retain(|other| other != name);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if !self.kept && !steps::died() {
            trash::unlink_tree(self.parent.as_fd(), &self.name);
        }
    }
}
