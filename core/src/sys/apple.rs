//! macOS. Built from the documented calls; not run by the project's own tests yet.

use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::{Errno, Result};

use super::DiskKind;

/// A handle that stands for a folder.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Not there: the component walk is used.
pub(crate) fn open_beneath(_root: impl AsFd, _path: &Path, _flags: OFlags, _follow: bool) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// There is no such call.
pub(crate) fn has_open_beneath(_folder: impl AsFd) -> bool {
    false
}

/// Not there: temps have names.
pub(crate) fn open_unnamed(_folder: impl AsFd) -> Result<OwnedFd> {
    Err(Errno::OPNOTSUPP)
}

/// Not there.
pub(crate) fn link_unnamed(_file: impl AsFd, _folder: impl AsFd, _name: &str) -> Result<()> {
    Err(Errno::OPNOTSUPP)
}

/// Gives the owner all rights on a folder, whatever its mode keeps from us now; never through a link.
pub(crate) fn grant_owner(parent: impl AsFd, name: impl rustix::path::Arg) -> Result<()> {
    rustix::fs::chmodat(parent, name, rustix::fs::Mode::RWXU, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
}

/// Not asked yet; a mount on another device is still seen when a tree is removed.
pub(crate) fn has_mount_below(_path: &Path) -> bool {
    false
}

/// Not asked yet.
pub(crate) fn is_mount(_parent: impl AsFd, _name: &str) -> bool {
    false
}

/// Whether [`sync_disk`] works.
pub(crate) const HAS_SYNC_DISK: bool = false;

/// Not there: the caller flushes each file.
pub(crate) fn sync_disk(_folder: impl AsFd) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Not asked yet.
pub(crate) fn disk_kind(_folder: impl AsFd) -> Result<DiskKind> {
    Ok(DiskKind::Local)
}
