//! What differs between platforms. Each offers the same calls:
//!
//! | Call | Linux | macOS |
//! | --- | --- | --- |
//! | `open_beneath` | `openat2` with BENEATH | not there: the component walk does it |
//! | `FOLDER` | `O_PATH` | a read handle |
//! | `open_unnamed`, `link_unnamed` | `O_TMPFILE`, `linkat` | not there: named temps |
//! | `exchange`, `rename_new` | `renameat2` | `renameatx_np` |
//! | `grant_owner` | through `/proc` | `fchmodat` |
//! | `has_mount_below`, `is_mount` | the mount table, `statx` | by device only |
//! | `sync_disk` | `syncfs` | not there: each file is flushed |
//! | `disk_kind` | by `statfs` magic | local |

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_vendor = "apple")]
pub(crate) use apple::*;

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
compile_error!("little-files runs on Linux and macOS; Windows is not supported yet");

use rustix::fd::AsFd;
use rustix::fs::{self, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, Result};

/// Whether locks and shared memory can be trusted where `dataDir` lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskKind {
    /// A disk of this machine.
    Local,
    /// A network or shared-host file system, by name.
    Shared(&'static str),
}

/// Flags of every open: never inherited, never a terminal, never waiting for a FIFO's other side.
pub(crate) const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// Swaps two names in one step.
pub(crate) fn exchange(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    fs::renameat_with(from, from_name, to, to_name, RenameFlags::EXCHANGE)
}

/// Moves a name to one that must not exist.
pub(crate) fn rename_new(from: impl AsFd, from_name: &str, to: impl AsFd, to_name: &str) -> Result<()> {
    fs::renameat_with(from, from_name, to, to_name, RenameFlags::NOREPLACE)
}

/// A folder of ours: 0700 whatever the umask. One that is there already is left as it is.
/// Returns whether it was made.
pub(crate) fn make_folder(parent: impl AsFd, name: &str) -> Result<bool> {
    match fs::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(false),
        Err(error) => return Err(error),
    }
    // What the umask took away: by handle, for the name may be swapped for a link at any time.
    let stat = fs::statat(&parent, name, fs::AtFlags::SYMLINK_NOFOLLOW)?;
    if stat.st_mode & 0o7777 != 0o700 {
        grant_owner(&parent, name)?;
    }
    Ok(true)
}

/// Flushes a folder's own entries. `folder` may be a handle that cannot be flushed itself.
pub(crate) fn sync_folder(folder: impl AsFd) -> Result<()> {
    let open = fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS, Mode::empty())?;
    match fs::fsync(open) {
        // Some file systems cannot flush a folder and need not.
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}
