//! Linux.

use std::path::Path;

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use super::DiskKind;

/// A handle that only stands for a folder: asks for no permission on it but to pass.
pub(crate) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// Opens below `root`; the kernel keeps the look-up beneath it. `follow`: links are taken while they stay beneath.
pub(crate) fn open_beneath(root: impl AsFd, path: &Path, flags: OFlags, follow: bool) -> Result<OwnedFd> {
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if !follow {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    // EAGAIN: a rename somewhere raced the look-up, so the kernel could not vouch for it. Ordinary under load.
    let mut tries = 0;
    loop {
        match fs::openat2(&root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tries < 8 => tries += 1,
            other => return other,
        }
    }
}

/// Whether the kernel has `openat2` and lets us use it. ENOSYS: before 5.6. EPERM: a container's filter refuses it.
pub(crate) fn has_open_beneath(folder: impl AsFd) -> bool {
    !matches!(open_beneath(folder, Path::new("."), FOLDER | OFlags::CLOEXEC, false), Err(Errno::NOSYS | Errno::PERM))
}

/// A file without a name, which nobody can meet before it is whole. EOPNOTSUPP and EISDIR: this file system has none.
pub(crate) fn open_unnamed(folder: impl AsFd) -> Result<OwnedFd> {
    fs::openat(folder, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
}

/// Gives an unnamed file its first name, which must not exist.
pub(crate) fn link_unnamed(file: impl AsFd, folder: impl AsFd, name: &str) -> Result<()> {
    match fs::linkat(&file, "", &folder, name, AtFlags::EMPTY_PATH) {
        // Without CAP_DAC_READ_SEARCH the kernel answers ENOENT; /proc does the same for everybody.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
            fs::linkat(CWD, link, folder, name, AtFlags::SYMLINK_FOLLOW)
        }
        other => other,
    }
}

/// Gives the owner all rights on a folder, whatever its mode keeps from us now; never through a link.
pub(crate) fn grant_owner(parent: impl AsFd, name: impl rustix::path::Arg) -> Result<()> {
    // A path-only handle asks for no right on the folder; /proc changes what it is open on.
    let folder = fs::openat(parent, name, FOLDER | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    fs::chmodat(CWD, format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU, AtFlags::empty())
}

/// Whether something is mounted below the folder at `path`, as far as the mount table tells.
pub(crate) fn has_mount_below(path: &Path) -> bool {
    let Ok(table) = std::fs::read_to_string("/proc/self/mountinfo") else { return false };
    // The fifth field, with space, tab, line end and backslash as octal.
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    let unescaped =
        |point: &str| point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\");
    points.map(unescaped).any(|point| Path::new(&point).starts_with(path))
}

/// Whether a folder is the top of a mount (kernels before 5.8 cannot say).
pub(crate) fn is_mount(parent: impl AsFd, name: &str) -> bool {
    fs::statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, fs::StatxFlags::empty())
        .is_ok_and(|stat| stat.stx_attributes.contains(fs::StatxAttributes::MOUNT_ROOT))
}

/// Whether [`sync_disk`] works.
pub(crate) const HAS_SYNC_DISK: bool = true;

/// Flushes the whole file system that `folder` lies on.
pub(crate) fn sync_disk(folder: impl AsFd) -> Result<()> {
    // A path-only handle cannot be synced.
    let open = fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    fs::syncfs(open)
}

/// Network and shared-host file systems, by the magic numbers of statfs(2).
pub(crate) fn disk_kind(folder: impl AsFd) -> Result<DiskKind> {
    #[expect(clippy::cast_sign_loss, reason = "a bit pattern, signed on some platforms")]
    let magic = fs::fstatfs(folder)?.f_type as u64;
    Ok(kind_of(magic))
}

fn kind_of(magic: u64) -> DiskKind {
    // Only the low 32 bits are the number; the rest may be the sign.
    match magic & 0xFFFF_FFFF {
        0x6969 => DiskKind::Shared("nfs"),
        0x517B => DiskKind::Shared("smb"),
        0xFE53_4D42 => DiskKind::Shared("smb2"),
        0xFF53_4D42 => DiskKind::Shared("cifs"),
        0x0102_1997 => DiskKind::Shared("9p"),
        // virtiofs answers with the number of FUSE.
        0x6573_5546 => DiskKind::Shared("fuse"),
        _ => DiskKind::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_disks_are_known_by_their_numbers() {
        for (magic, name) in
            [(0x6969, "nfs"), (0x0102_1997, "9p"), (0xFFFF_FFFF_FF53_4D42, "cifs"), (0x6573_5546, "fuse")]
        {
            assert_eq!(kind_of(magic), DiskKind::Shared(name));
        }
        for magic in [
            0xEF53,      /* ext4 */
            0x0102_1994, /* tmpfs */
            0x9123_683E, /* btrfs */
            0x5846_5342, /* xfs */
        ] {
            assert_eq!(kind_of(magic), DiskKind::Local);
        }
    }
}
