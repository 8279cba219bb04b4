//! The look-up by components: one name at a time on folder handles, links resolved here and not by the kernel.

use std::collections::VecDeque;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

use crate::sys::{ALWAYS, FOLDER};

/// As many as the kernel follows.
const MAX_LINKS: usize = 40;

/// One folder further down. ELOOP for a link.
pub(crate) fn step(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    open_last(folder, name, FOLDER)
}

/// Opens `segments` below `root`, refusing links everywhere.
pub(super) fn open(root: BorrowedFd<'_>, segments: &[String], flags: OFlags) -> Result<OwnedFd> {
    let Some((last, above)) = segments.split_last() else { return reopen(root, flags) };
    let mut folder: Option<OwnedFd> = None;
    for name in above {
        folder = Some(step(folder.as_ref().map_or(root, AsFd::as_fd), name)?);
    }
    open_last(folder.as_ref().map_or(root, AsFd::as_fd), last, flags)
}

/// Opens `segments` below `root`, following relative links that stay beneath it.
pub(super) fn open_following(root: BorrowedFd<'_>, segments: &[String], flags: OFlags) -> Result<OwnedFd> {
    // The folders passed on the way down, so that `..` in a link goes back over handles and never by name.
    let mut passed: Vec<OwnedFd> = Vec::new();
    let mut todo: VecDeque<Vec<u8>> = segments.iter().map(|segment| segment.clone().into_bytes()).collect();
    let mut links = 0;
    let mut flags = flags;
    while let Some(name) = todo.pop_front() {
        let here = passed.last().map_or(root, AsFd::as_fd);
        match name.as_slice() {
            b"" | b"." => continue,
            b".." => {
                // Above the root: the link leaves it.
                passed.pop().ok_or(Errno::XDEV)?;
                continue;
            }
            _ => {}
        }
        let kind = FileType::from_raw_mode(fs::statat(here, &*name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
        if kind == FileType::Symlink {
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP);
            }
            let target = match fs::readlinkat(here, &*name, Vec::new()) {
                // Swapped for something that is no link since it was looked at: look again.
                Err(Errno::INVAL) => {
                    todo.push_front(name);
                    continue;
                }
                other => other?.into_bytes(),
            };
            if target.starts_with(b"/") {
                return Err(Errno::XDEV);
            }
            if todo.is_empty() && (target.ends_with(b"/") || target.ends_with(b"/.")) {
                flags |= OFlags::DIRECTORY;
            }
            for part in target.split(|byte| *byte == b'/').rev() {
                todo.push_front(part.to_vec());
            }
        } else if todo.iter().all(|rest| matches!(rest.as_slice(), b"" | b".")) {
            return open_last(here, &*name, flags);
        } else {
            passed.push(open_last(here, &*name, FOLDER)?);
        }
    }
    reopen(passed.last().map_or(root, AsFd::as_fd), flags)
}

fn reopen(folder: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd> {
    fs::openat(folder, ".", flags | OFlags::CLOEXEC, Mode::empty())
}

fn open_last<P: rustix::path::Arg + Copy>(folder: BorrowedFd<'_>, name: P, flags: OFlags) -> Result<OwnedFd> {
    let extra = if flags.contains(FOLDER) { OFlags::CLOEXEC } else { ALWAYS };
    match fs::openat(folder, name, flags | OFlags::NOFOLLOW | extra, Mode::empty()) {
        // With O_DIRECTORY a link answers ENOTDIR; ELOOP says what it is.
        Err(Errno::NOTDIR) => {
            let link = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            Err(if link { Errno::LOOP } else { Errno::NOTDIR })
        }
        other => other,
    }
}
