//! Every change that a commit makes to a source, one system call each: here tests let it fail, or die, at each of them.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Mode};
use rustix::io::{Errno, Result};

use crate::{sync, sys};

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "in tests it fails")]
pub(crate) const fn step() -> Result<()> {
    Ok(())
}

/// Whether the process has died, so that nobody cleans up.
#[cfg(not(test))]
pub(crate) const fn died() -> bool {
    false
}

#[cfg(test)]
pub(crate) use fault::{is_dead as died, step};

pub(crate) fn exchange(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    step()?;
    sys::exchange(from, from_name, to, to_name)
}

/// Moves a name to one that must not exist.
pub(crate) fn rename_new(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    step()?;
    match sys::rename_new(&from, from_name, &to, to_name) {
        // No such flag on this file system: link without replacing does the same in two steps.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::linkat(&from, from_name, to, to_name, AtFlags::empty())?;
            step()?;
            fs::unlinkat(from, from_name, AtFlags::empty())
        }
        other => other,
    }
}

pub(crate) fn rename(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    step()?;
    fs::renameat(from, from_name, to, to_name)
}

pub(crate) fn link(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    step()?;
    fs::linkat(from, from_name, to, to_name, AtFlags::empty())
}

pub(crate) fn unlink(folder: impl AsFd, name: &str) -> Result<()> {
    step()?;
    fs::unlinkat(folder, name, AtFlags::empty())
}

pub(crate) fn remove_folder(folder: impl AsFd, name: &str) -> Result<()> {
    step()?;
    fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

pub(crate) fn make_folder(folder: impl AsFd, name: &str, mode: Mode) -> Result<()> {
    step()?;
    fs::mkdirat(folder, name, mode)
}

pub(crate) fn sync_folder(folder: BorrowedFd<'_>) -> Result<()> {
    step()?;
    sys::sync_folder(folder)
}

/// Several at the same time; in tests each is a step of its own.
pub(crate) fn sync_files(files: &[OwnedFd]) -> Result<()> {
    files.iter().try_for_each(|_| step())?;
    sync::all(files, |file: &OwnedFd| fs::fsync(file))
}

pub(crate) fn sync_folders(folders: &[OwnedFd]) -> Result<()> {
    folders.iter().try_for_each(|_| step())?;
    sync::all(folders, |folder: &OwnedFd| sys::sync_folder(folder))
}

pub(crate) fn sync_file(file: impl AsFd) -> Result<()> {
    step()?;
    fs::fsync(file)
}

/// The mode, and the owner where we may, of the file that is replaced.
pub(crate) fn dress(file: impl AsFd, like: &fs::Stat) -> Result<()> {
    let now = fs::fstat(&file)?;
    let alike = |stat: &fs::Stat| (stat.st_mode, stat.st_uid, stat.st_gid);
    if alike(&now) == alike(like) {
        return Ok(());
    }
    step()?;
    fs::fchmod(&file, Mode::from_raw_mode(like.st_mode & 0o7777))?;
    let (uid, gid) = (fs::Uid::from_raw(like.st_uid), fs::Gid::from_raw(like.st_gid));
    match fs::fchown(&file, Some(uid), Some(gid)) {
        // Only root may give files away.
        Err(Errno::PERM) => Ok(()),
        Ok(()) => fs::fchmod(&file, Mode::from_raw_mode(like.st_mode & 0o7777)), // chown takes set-id bits away
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
pub(crate) mod fault {
    //! The fault seam: counts the steps of this thread, and lets one fail or all from one on.

    use std::cell::Cell;

    use rustix::io::{Errno, Result};

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Fault {
        None,
        /// The k-th step fails; the next ones work.
        FailAt(u64),
        /// The process dies before the k-th step: nothing happens any more.
        DieAt(u64),
    }

    thread_local! {
        static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// Arms the seam; the count starts anew.
    pub(crate) fn arm(fault: Fault) {
        FAULT.set(fault);
        COUNT.set(0);
    }

    /// Steps since it was armed.
    pub(crate) fn count() -> u64 {
        COUNT.get()
    }

    /// Whether the process has died as far as the seam is concerned.
    pub(crate) fn is_dead() -> bool {
        matches!(FAULT.get(), Fault::DieAt(at) if COUNT.get() >= at)
    }

    pub(crate) fn step() -> Result<()> {
        let count = COUNT.get() + 1;
        COUNT.set(count);
        match FAULT.get() {
            Fault::FailAt(at) if count == at => Err(Errno::IO),
            Fault::DieAt(at) if count >= at => Err(Errno::IO),
            _ => Ok(()),
        }
    }
}
