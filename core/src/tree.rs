//! Visiting all that lies below a folder, by its stats, with no file opened and no link followed.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::path::{MAX_DEPTH, is_valid_name};
use crate::root::open_name;

/// Something below the folder that is no folder itself.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// Relative to the folder, split by slashes. Where a name is none that a path can hold, as it can be shown.
    pub(crate) path: &'a str,
    pub(crate) kind: FileType,
    pub(crate) stat: &'a Stat,
    /// A path can name it.
    pub(crate) nameable: bool,
}

/// Visits in no order; `name` is the folder's, for errors. `skip`: a name at the top that is left out. What vanishes
/// meanwhile is left out too; a folder that cannot be read is an error, for what is in it would look deleted.
pub(crate) fn visit(
    top: BorrowedFd<'_>,
    name: &str,
    skip: Option<&str>,
    visit: &mut dyn FnMut(&Found<'_>) -> Result<()>,
) -> Result<()> {
    struct Frame {
        dir: Dir,
        /// Of the path so far, slash included.
        prefix: usize,
        nameable: bool,
    }
    let mut path = String::new();
    let failed = |path: &str, errno| {
        let at = if path.is_empty() { name.to_owned() } else { format!("{name}/{path}") };
        Error::from_errno(errno, at, "scanning")
    };
    let dir = open_name(top, ".", OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new);
    let mut open = vec![Frame { dir: dir.map_err(|errno| failed("", errno))?, prefix: 0, nameable: true }];
    loop {
        let depth = open.len();
        let Some(frame) = open.last_mut() else { return Ok(()) };
        let entry = match frame.dir.read() {
            None => {
                open.pop();
                continue;
            }
            Some(Ok(entry)) => entry,
            // The folder itself was removed meanwhile.
            Some(Err(Errno::NOENT)) => continue,
            Some(Err(errno)) => return Err(failed(&path[..frame.prefix], errno)),
        };
        let entry_name = entry.file_name();
        if matches!(entry_name.to_bytes(), b"." | b"..") {
            continue;
        }
        let text = entry_name.to_str().ok();
        if frame.prefix == 0 && skip.is_some() && text == skip {
            continue;
        }
        path.truncate(frame.prefix);
        let nameable = frame.nameable && text.is_some_and(is_valid_name);
        path.push_str(&entry_name.to_string_lossy());
        let folder = frame.dir.fd().map_err(|errno| failed(&path, errno))?;
        let mut kind = entry.file_type();
        let stat = match kind {
            FileType::Directory => None,
            _ => match fs::statat(folder, entry_name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(failed(&path, errno)),
            },
        };
        // Some file systems do not say what an entry is.
        kind = stat.as_ref().map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
        if kind == FileType::Directory {
            // Deeper than a path can be (a shell can make that): what is in there no path can name.
            let too_deep = depth >= MAX_DEPTH;
            match enter(folder, entry_name) {
                Ok(_) if too_deep => {}
                Ok(dir) => {
                    path.push('/');
                    let prefix = path.len();
                    open.push(Frame { dir, prefix, nameable });
                }
                // Gone, or swapped for something else: the next visit sees what it is.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(errno) => return Err(failed(&path, errno)),
            }
        } else if let Some(stat) = &stat {
            visit(&Found { path: &path, kind, stat, nameable })?;
        }
    }
}

fn enter(folder: BorrowedFd<'_>, name: &std::ffi::CStr) -> rustix::io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(folder.as_fd(), name, flags, Mode::empty()).and_then(Dir::new)
}

/// Whether nothing but folders lies below `folder`.
pub(crate) fn is_empty(folder: &OwnedFd) -> bool {
    let mut empty = true;
    let visited = visit(folder.as_fd(), "", None, &mut |_| {
        empty = false;
        Ok(())
    });
    empty && visited.is_ok()
}
