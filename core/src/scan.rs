//! Counting a tree by its stats, without reading any file.

use std::ops::AddAssign;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags};

use crate::root::open_name;

/// Regular files and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

/// Of everything below `folder`, links not followed. What cannot be read, or vanishes meanwhile, does not count.
pub(crate) fn totals(folder: BorrowedFd<'_>) -> Totals {
    /// Deeper folders (a shell can make them) are left out: a path cannot name what is in them.
    const MAX_DEPTH: usize = 128;
    let mut sum = Totals::default();
    let Ok(top) = open_name(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new) else { return sum };
    let mut open = vec![top];
    loop {
        let depth = open.len();
        let Some(dir) = open.last_mut() else { return sum };
        let Some(entry) = dir.read() else {
            open.pop();
            continue;
        };
        let Ok(entry) = entry else { continue };
        let name = entry.file_name().to_owned();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(here) = dir.fd() else { continue };
        let Ok(stat) = fs::statat(here, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => sum += Totals { files: 1, bytes: stat.st_size.try_into().unwrap_or(0) },
            FileType::Directory if depth < MAX_DEPTH => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(next) = fs::openat(here.as_fd(), &name, flags, fs::Mode::empty()).and_then(Dir::new) {
                    open.push(next);
                }
            }
            _ => {}
        }
    }
}
