//! A managed root as a folder handle, and every open beneath it (promise G1).
//!
//! Whatever a path says, a look-up starts at the handle and cannot leave it: `openat2` with BENEATH, or a walk by
//! components with `O_NOFOLLOW` where the kernel lacks it. All that follows is done on handles with single names.

mod walk;

use std::path::PathBuf;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Error, Reason, Result};
use crate::path::{HarnessPath, to_nfc};
use crate::sys::{self, ALWAYS, FOLDER};

/// How a path is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolver {
    /// In one call, kept beneath the root by the kernel.
    Openat2,
    /// Component by component.
    Walk,
}

/// What a look-up does with symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Refuses them in every component.
    Refuse,
    /// Takes relative ones, at most 40, that stay beneath the root.
    FollowInside,
}

/// The open folder of a managed root, or of a Persistent Dir.
#[derive(Debug)]
pub struct RootDir {
    folder: OwnedFd,
    resolver: Resolver,
    /// How many of a path's first segments the folder itself stands for.
    above: usize,
}

impl RootDir {
    /// Takes over an open folder.
    #[must_use]
    pub fn new(folder: OwnedFd, resolver: Resolver) -> Self {
        Self { folder, resolver, above: 0 }
    }

    /// A folder in a managed root that no look-up leaves either: paths that come here start with `above` segments of its
    /// own.
    #[must_use]
    pub(crate) fn inner(folder: OwnedFd, resolver: Resolver, above: usize) -> Self {
        Self { folder, resolver, above }
    }

    /// How many of a path's first segments the folder itself stands for.
    pub(crate) fn above(&self) -> usize {
        self.above
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Opens what `segments` name.
    pub fn open(&self, segments: &[String], flags: OFlags, links: Links) -> rustix::io::Result<OwnedFd> {
        let segments = segments.get(self.above..).unwrap_or_default();
        if self.resolver == Resolver::Openat2 {
            let path: PathBuf = if segments.is_empty() { ".".into() } else { segments.iter().collect() };
            // O_PATH allows only few flags beside it.
            let flags = if flags.contains(FOLDER) { flags | OFlags::CLOEXEC } else { flags | ALWAYS };
            match sys::open_beneath(&self.folder, &path, flags, links == Links::FollowInside) {
                // Still raced after some tries; or out of the root as far as the kernel can tell, which it also says of a
                // file that was exchanged during the look-up. The walk cannot be raced, and refuses what does lead out. Or
                // longer than the kernel takes at once, which is made by a shell.
                Err(Errno::AGAIN | Errno::XDEV | Errno::NAMETOOLONG) => {}
                other => return other,
            }
        }
        match links {
            Links::Refuse => walk::open(self.folder(), segments, flags),
            Links::FollowInside => walk::open_following(self.folder(), segments, flags),
        }
    }

    /// Opens the folder at `segments` to name things in it.
    pub fn open_folder(&self, segments: &[String], links: Links) -> rustix::io::Result<OwnedFd> {
        self.open(segments, FOLDER, links)
    }

    /// `path` with each component as it stands on the disk: its exact bytes, else its NFC form. A component that is
    /// not there is in NFC, for it is what would be made.
    #[must_use]
    pub fn locate(&self, path: &HarnessPath, links: Links) -> HarnessPath {
        let mut found = path.clone();
        for at in self.above..found.segments.len() {
            let Some(composed) = to_nfc(&found.segments[at]) else { continue };
            let exact = self
                .open_folder(&found.segments[..at], links)
                .and_then(|folder| fs::statat(&folder, found.segments[at].as_str(), AtFlags::SYMLINK_NOFOLLOW));
            if exact.is_err() {
                found.segments[at] = composed;
            }
        }
        found
    }

    /// The folder that holds `path`'s last component; `path` is not the root itself.
    pub fn open_parent(&self, path: &HarnessPath) -> Result<OwnedFd> {
        let above = &path.segments[..path.segments.len().saturating_sub(1)];
        self.open_folder(above, Links::Refuse).map_err(|errno| refused_link(errno, path, "opening"))
    }

    /// The same, with folders made where they are missing. Returns how many levels, counted from the root, were there
    /// already.
    pub fn make_parent(&self, path: &HarnessPath) -> Result<(OwnedFd, usize)> {
        let above = &path.segments[..path.segments.len().saturating_sub(1)];
        match self.open_folder(above, Links::Refuse) {
            Err(Errno::NOENT) => {}
            other => return Ok((other.map_err(|errno| refused_link(errno, path, "opening"))?, above.len())),
        }
        let wrap = |errno| refused_link(errno, path, "making folders for");
        let mut folder = self.open_folder(&[], Links::Refuse).map_err(wrap)?;
        let mut had = self.above;
        for (level, name) in above.iter().enumerate().skip(self.above) {
            let next = match walk::step(folder.as_fd(), name) {
                Err(Errno::NOENT) => sys::make_folder(&folder, name).and_then(|_| walk::step(folder.as_fd(), name)),
                other => other.inspect(|_| had += usize::from(level == had)),
            };
            folder = next.map_err(|errno| {
                self.unmake_parent(path, had);
                wrap(errno)
            })?;
        }
        Ok((folder, had))
    }

    /// Takes away the empty folders that [`Self::make_parent`] made for a write that then failed.
    pub fn unmake_parent(&self, path: &HarnessPath, had: usize) {
        for level in (had + 1..path.segments.len()).rev() {
            let Ok(folder) = self.open_folder(&path.segments[..level - 1], Links::Refuse) else { return };
            // Not empty: another write uses it by now.
            if fs::unlinkat(&folder, path.segments[level - 1].as_str(), AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }

    /// Opens a regular file for reading, without waiting on anything else that may stand there.
    pub fn open_file(&self, path: &HarnessPath) -> Result<(OwnedFd, Stat)> {
        let file = self
            .open(&path.segments, OFlags::RDONLY, Links::FollowInside)
            .map_err(|errno| refused_link(errno, path, "opening"))?;
        let stat = fs::fstat(&file).map_err(|errno| Error::from_errno(errno, path, "reading"))?;
        expect_regular(&stat, path)?;
        Ok((file, stat))
    }

    /// What a link at `path` leads to, inside the root.
    pub fn stat_following(&self, path: &HarnessPath) -> Result<Stat> {
        let wrap = |errno| refused_link(errno, path, "looking at");
        // What cannot be opened for reading without waiting (a FIFO can) or at all is not what a link is made for.
        let open = self.open(&path.segments, OFlags::RDONLY, Links::FollowInside).map_err(wrap)?;
        fs::fstat(&open).map_err(wrap)
    }

    /// What stands at `path`, a link itself and not its target.
    pub fn stat(&self, path: &HarnessPath) -> Result<Stat> {
        let result = match path.segments.split_last() {
            Some((name, above)) if path.segments.len() > self.above => self
                .open_folder(above, Links::FollowInside)
                .and_then(|folder| fs::statat(&folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)),
            _ => fs::fstat(&self.folder),
        };
        result.map_err(|errno| refused_link(errno, path, "looking at"))
    }
}

/// An errno of a look-up. EXDEV there means that a link would leave the root, or is absolute.
pub(crate) fn refused_link(errno: Errno, path: &HarnessPath, doing: &str) -> Error {
    if errno == Errno::XDEV {
        let text = format!("{path} leads through a symbolic link that leaves its managed root");
        return Error::denied(Reason::Symlink, path, text);
    }
    Error::from_errno(errno, path, doing)
}

/// Refuses everything but a regular file.
pub(crate) fn expect_regular(stat: &Stat, path: &HarnessPath) -> Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => {
            Err(Error::denied(Reason::Symlink, path, format!("{path} is a symbolic link; it is not written through")))
        }
        FileType::Directory => Err(Error::from_errno(Errno::ISDIR, path, "opening")),
        // FIFO, socket, device.
        _ => Err(Error::from_errno(Errno::NXIO, path, "opening")),
    }
}

/// A plain open of one name in a folder, never through a link.
pub(crate) fn open_name(folder: impl AsFd, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    fs::openat(folder, name, flags | OFlags::NOFOLLOW | ALWAYS, Mode::empty())
}

#[cfg(test)]
mod tests;
