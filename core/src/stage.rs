//! Staging: where a file is before it is whole. Nothing here is visible in a managed root.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::error::{Code, Error, Result, errno_of};
use crate::lock::{lock_folder, names};
use crate::path::HarnessPath;
use crate::root::open_name;
use crate::{sys, trash};

/// From this size on a batch is hashed on a second thread while this one writes it.
const OVERLAP_BYTES: usize = 128 * 1024;

/// The staging folder of one host in one session, locked for the host's life so that a sweeper leaves it alone.
#[derive(Debug)]
pub(crate) struct Staging {
    parent: OwnedFd,
    name: String,
    folder: File,
    /// Whether this file system has unnamed files; found out at the first write.
    unnamed: AtomicBool,
}

impl Staging {
    /// Sweeps what dead hosts left in `session`'s staging folder, then makes a new one there.
    pub(crate) fn open(session: impl AsFd) -> Result<Self> {
        let wrap = |errno| Error::from_errno(errno, "the staging folder", "opening");
        sys::make_folder(&session, "staging").map_err(wrap)?;
        let parent = open_name(session, "staging", OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
        // Those of dead hosts: whose lock we get.
        trash::sweep(parent.as_fd());
        // Before it is locked another host's sweep may take it for a leftover: then start over. (A sweep can come
        // between any two steps, but hardly this often; a session that is deleted ends here as well.)
        for _ in 0..64 {
            let name = random_name();
            let locked = sys::make_folder(&parent, &name).and_then(|_| lock_folder(&parent, &name));
            match locked {
                Ok(Some(folder)) if names(&parent, &name, &folder) => {
                    return Ok(Self { parent, name, folder, unnamed: AtomicBool::new(true) });
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(wrap(errno)),
            }
        }
        Err(wrap(Errno::NOENT))
    }

    /// The folder, to move things into and out of.
    #[must_use]
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// A new empty file. `limit`: the most bytes it may get.
    pub(crate) fn stage(&self, path: &HarnessPath, limit: Option<u64>) -> Result<Staged> {
        let (file, name) = self.make().map_err(|errno| Error::from_errno(errno, path, "staging"))?;
        // Whatever the umask took away.
        fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|errno| Error::from_errno(errno, path, "staging"))?;
        let hash = Sha256::new();
        Ok(Staged { file: File::from(file), name, hash, bytes: 0, limit, path: path.clone() })
    }

    fn make(&self) -> rustix::io::Result<(OwnedFd, Option<String>)> {
        if self.unnamed.load(Ordering::Relaxed) {
            match sys::open_unnamed(&self.folder) {
                Ok(file) => return Ok((file, None)),
                // The three ways in which a file system or kernel says that it has no unnamed files.
                Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => self.unnamed.store(false, Ordering::Relaxed),
                Err(errno) => return Err(errno),
            }
        }
        let name = random_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&self.folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
        Ok((file, Some(name)))
    }

    /// Takes a name out of the staging folder; what cannot be removed now goes with the next sweep.
    pub(crate) fn discard(&self, name: &str) {
        let _ = fs::unlinkat(&self.folder, name, AtFlags::empty());
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Empty by now; a leftover is swept when the session is next opened.
        let _ = fs::unlinkat(&self.parent, self.name.as_str(), AtFlags::REMOVEDIR);
    }
}

/// A name that nobody can guess.
#[must_use]
pub(crate) fn random_name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// A file on its way: written, hashed and counted in one pass, not yet visible.
#[derive(Debug)]
pub(crate) struct Staged {
    file: File,
    name: Option<String>,
    hash: Sha256,
    bytes: u64,
    limit: Option<u64>,
    path: HarnessPath,
}

impl Staged {
    /// Takes over a new empty file of that name in some staging folder.
    pub(crate) fn named(file: File, name: String, path: HarnessPath) -> Self {
        Self { file, name: Some(name), hash: Sha256::new(), bytes: 0, limit: None, path }
    }

    /// Appends.
    pub(crate) fn write(&mut self, batch: &[u8]) -> Result<()> {
        let bytes = self.bytes + batch.len() as u64;
        if let Some(limit) = self.limit
            && bytes > limit
        {
            let text = format!("{} would have more than the {limit} bytes that the quota allows a file", self.path);
            return Err(Error::at(Code::QuotaExceeded, &self.path, text));
        }
        let (file, hash) = (&mut self.file, &mut self.hash);
        let written = if batch.len() < OVERLAP_BYTES {
            hash.update(batch);
            file.write_all(batch)
        } else {
            std::thread::scope(|scope| {
                scope.spawn(|| hash.update(batch));
                file.write_all(batch)
            })
        };
        written.map_err(|error| Error::from_errno(errno_of(&error), &self.path, "writing"))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Flushes the content. A failure is final: the kernel may have dropped what it could not write, so a second flush
    /// would lie.
    pub(crate) fn sync(&self) -> Result<()> {
        fs::fsync(&self.file).map_err(|errno| Error::from_errno(errno, &self.path, "flushing"))
    }

    /// Bytes so far.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// sha256 of the bytes so far.
    #[must_use]
    pub(crate) fn digest(&self) -> Digest {
        Digest(self.hash.clone().finalize().into())
    }

    /// The open file.
    #[must_use]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Its name in the staging folder, if it has one.
    pub(crate) fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    /// Its content, when it is at most `limit` bytes.
    pub(crate) fn content(&mut self, limit: u64) -> Option<Vec<u8>> {
        if self.bytes > limit {
            return None;
        }
        let mut content = Vec::new();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        self.file.read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// Drops what was written.
    pub(crate) fn discard(self, staging: &Staging) {
        if let Some(name) = self.name {
            staging.discard(&name);
        }
    }
}
