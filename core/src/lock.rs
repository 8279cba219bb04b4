//! File locks: flock only, so that the kernel frees them when the holder dies and no other close in the process drops
//! them (STORAGE, "Locks"). Never waits: a lock that is held is an error that [`Error::is_held`] knows.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result, errno_of};
use crate::root::open_name;

/// A lock file that one process holds at a time, and in it one thread.
#[derive(Debug)]
pub(crate) struct LockFile {
    name: &'static str,
    what: &'static str,
    /// The open lock file. The mutex is the lock among our own threads, who hold it shortly.
    file: Mutex<File>,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked<'a>(MutexGuard<'a, File>);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file would free it as well; nothing can be done about a failure here.
        let _ = self.0.unlock();
    }
}

impl LockFile {
    /// Opens `name` in `folder`, making it where it is missing. `what` names the lock in errors.
    pub(crate) fn open(folder: impl AsFd, name: &'static str, what: &'static str) -> Result<Self> {
        let file = open_or_make(folder, name).map_err(|errno| Error::from_errno(errno, what, "opening"))?;
        Ok(Self { name, what, file: Mutex::new(File::from(file)) })
    }

    /// Takes the lock if nobody has it. `folder` is where it was opened: that it still holds the locked file is checked.
    pub(crate) fn try_lock(&self, folder: BorrowedFd<'_>) -> Result<Locked<'_>> {
        // Among our own threads the lock is held for the time of a rename and a row, so waiting is right; but a thread
        // that panicked while holding it left nothing half-done that the next holder would not look at anew.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        lock_now(&file, self.what)?;
        if !names(folder, self.name, &*file) {
            // Replaced since we opened it: lock the one that others see.
            let present = open_or_make(folder, self.name).map_err(|errno| match errno {
                // The folder itself is gone.
                Errno::NOENT => Error::new(crate::error::Code::Closed, "The session was deleted; open it anew."),
                other => Error::from_errno(other, self.what, "opening"),
            })?;
            *file = File::from(present);
            lock_now(&file, self.what)?;
        }
        Ok(Locked(file))
    }

    /// The same, without waiting for our own threads either.
    pub(crate) fn try_lock_at_once(&self) -> Result<Locked<'_>> {
        let file = match self.file.try_lock() {
            Ok(file) => file,
            Err(TryLockError::WouldBlock) => return Err(Error::held(self.what)),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        lock_now(&file, self.what)?;
        Ok(Locked(file))
    }
}

/// A lock that its holder carries around: of a turn, of the staging of messages. Freed when it is dropped.
#[derive(Debug)]
pub struct HeldLock(File);

impl HeldLock {
    /// Takes the lock file `name` in `folder` if nobody has it, in this process or another.
    pub(crate) fn try_take(folder: impl AsFd, name: &str, what: &str) -> Result<Self> {
        Self::try_take_as(folder, name, what, true)
    }

    /// The same; unless `alone`, together with others that take it so.
    pub(crate) fn try_take_as(folder: impl AsFd, name: &str, what: &str, alone: bool) -> Result<Self> {
        loop {
            let file = open_or_make(&folder, name).map_err(|errno| Error::from_errno(errno, what, "opening"))?;
            let file = File::from(file);
            told(if alone { file.try_lock() } else { file.try_lock_shared() }, what)?;
            if names(&folder, name, &file) {
                return Ok(Self(file));
            }
        }
    }
}

impl HeldLock {
    /// A short text that the lock file keeps.
    pub(crate) fn noted(&self) -> Option<String> {
        let mut text = String::new();
        (&self.0).rewind().ok()?;
        (&self.0).read_to_string(&mut text).ok()?;
        (!text.is_empty()).then_some(text)
    }

    /// Keeps a text in the lock file, in place of the one before.
    pub(crate) fn note(&self, text: &str, flushed: bool) -> Result<()> {
        if self.noted().unwrap_or_default() == text {
            return Ok(());
        }
        let written =
            self.0.set_len(0).and_then(|()| (&self.0).rewind()).and_then(|()| (&self.0).write_all(text.as_bytes()));
        let written = if flushed { written.and_then(|()| self.0.sync_all()) } else { written };
        written.map_err(|error| Error::from_errno(errno_of(&error), "a lock file", "writing"))
    }
}

fn lock_now(file: &File, what: &str) -> Result<()> {
    told(file.try_lock(), what)
}

fn told(locked: std::result::Result<(), std::fs::TryLockError>, what: &str) -> Result<()> {
    match locked {
        Ok(()) => Ok(()),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::held(what)),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::from_errno(errno_of(&error), what, "locking")),
    }
}

fn open_or_make(folder: impl AsFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::RUSR | Mode::WUSR;
    let file = fs::openat(folder, name, OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)?;
    if fs::fstat(&file)?.st_mode & 0o7777 != 0o600 {
        fs::fchmod(&file, mode)?;
    }
    Ok(file)
}

/// Whether `name` in `folder` is still the file that `file` is open on.
pub(crate) fn names(folder: impl AsFd, name: &str, file: impl AsFd) -> bool {
    let (Ok(there), Ok(open)) = (fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW), fs::fstat(file)) else {
        return false;
    };
    (there.st_dev, there.st_ino) == (open.st_dev, open.st_ino)
}

/// Opens a folder and locks it, if nobody has; `None` when somebody does.
pub(crate) fn lock_folder(parent: impl AsFd, name: &str) -> rustix::io::Result<Option<File>> {
    let folder = File::from(open_name(parent, name, OFlags::RDONLY | OFlags::DIRECTORY)?);
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(errno_of(&error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn folder() -> (tempfile::TempDir, File) {
        let dir = tempfile::tempdir().expect("tempdir");
        let open = File::open(dir.path()).expect("open");
        (dir, open)
    }

    #[test]
    fn held_by_one_at_a_time() {
        let (_dir, open) = folder();
        let one = LockFile::open(&open, "a.lock", "The lock").expect("one");
        let two = LockFile::open(&open, "a.lock", "The lock").expect("two");
        let held = one.try_lock(open.as_fd()).expect("free");
        assert!(two.try_lock(open.as_fd()).expect_err("held").is_held());
        assert!(one.try_lock_at_once().expect_err("held").is_held());
        drop(held);
        two.try_lock(open.as_fd()).expect("freed");
    }

    #[test]
    fn a_replaced_lock_file_is_locked_anew() {
        let (dir, open) = folder();
        let one = LockFile::open(&open, "a.lock", "The lock").expect("one");
        std::fs::remove_file(dir.path().join("a.lock")).expect("remove");
        let held = one.try_lock(open.as_fd()).expect("made anew");
        let two = LockFile::open(&open, "a.lock", "The lock").expect("two");
        assert!(two.try_lock(open.as_fd()).expect_err("the same one").is_held());
        drop(held);
    }

    #[test]
    fn a_deleted_folder_says_so() {
        let (dir, open) = folder();
        let one = LockFile::open(&open, "a.lock", "The lock").expect("one");
        std::fs::remove_dir_all(dir.path()).expect("remove");
        assert_eq!(one.try_lock(open.as_fd()).expect_err("gone").code, crate::error::Code::Closed);
    }
}
