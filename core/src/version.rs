//! Versions of files as tools hold them: what a guarded write or edit compares (promise G7).
//!
//! A version is a stamp, for that costs nothing however long the file is. A stamp that was too young to prove anything
//! when it was taken goes with the digest of the content that was seen.

use std::fmt;
use std::str::FromStr;

use rustix::fs::Stat;

use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::index;
use crate::list::Kind;
use crate::path::{HarnessPath, Use};
use crate::root::Links;
use crate::session::Session;
use crate::stamp::Stamp;

/// Up to this size a file is hashed where its stamp proves nothing; for a longer one it is better to wait.
pub(crate) const SMALL_BYTES: u64 = 8 * 1024 * 1024;

/// A file as it was seen. Its text form is opaque to callers, and the same in every process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    /// When it was seen.
    pub(crate) stamp: Stamp,
    /// Of what was seen. There if the stamp alone proves nothing; else where it was known.
    pub(crate) digest: Option<Digest>,
}

impl FileVersion {
    /// One that no file has, for what was seen too early to tell what it becomes: whoever keeps to it reads again.
    pub(crate) fn unproven(stamp: Stamp) -> Self {
        Self { stamp: Stamp { ino: 0, ..stamp }, digest: None }
    }
}

impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { dev, ino, size, mtime, ctime } = self.stamp;
        write!(f, "v1-{dev:x}-{ino:x}-{size:x}-{mtime:x}-{ctime:x}")?;
        self.digest.map_or(Ok(()), |digest| write!(f, "-{digest}"))
    }
}

impl FromStr for FileVersion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
        let read = || {
            let mut parts = text.strip_prefix("v1-")?.split('-');
            let stamp = Stamp {
                dev: number(parts.next())?,
                ino: number(parts.next())?,
                size: number(parts.next())?,
                mtime: number(parts.next())?.cast_signed(),
                ctime: number(parts.next())?.cast_signed(),
            };
            let digest = match parts.next() {
                Some(hex) => Some(Digest::from_hex(hex)?),
                None => None,
            };
            parts.next().is_none().then_some(Self { stamp, digest })
        };
        // To whoever holds it versions are opaque: one that is none of ours is one that no file has.
        read().ok_or_else(|| Error::new(Code::StaleVersion, "No file has this version"))
    }
}

/// What stands at a path, with its version.
#[derive(Debug, Clone)]
pub struct Versioned {
    /// As on the disk.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// As it was seen.
    pub version: FileVersion,
    /// A file's size.
    pub bytes: Option<u64>,
    /// Last change of the content, in milliseconds since 1970.
    pub updated_at: i64,
}

impl Session {
    /// What stands at a path, and its version. `follow`: what a link leads to, inside its root; else the link itself.
    pub fn version(&self, path: &str, follow: bool) -> Result<Versioned> {
        let path = self.resolve(path, Use::Stat)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        self.told(self.version_at(&path, follow))
    }

    fn version_at(&self, path: &HarnessPath, follow: bool) -> Result<Versioned> {
        let mut stat = self.root_of(path).stat(path)?;
        if follow && Kind::of(&stat) == Kind::Symlink {
            stat = self.root_of(path).stat_following(path)?;
        }
        let (kind, stamp) = (Kind::of(&stat), Stamp::of(&stat));
        let bytes = (kind == Kind::File).then_some(stamp.size);
        let version = match kind {
            Kind::File => self.version_of(path, &stat)?,
            _ => FileVersion { stamp, digest: None },
        };
        let updated_at = stamp.mtime.div_euclid(1_000_000);
        Ok(Versioned { path: path.to_string(), kind, version, bytes, updated_at })
    }

    /// Of the file that `stat` describes, when nobody has read it just now.
    fn version_of(&self, path: &HarnessPath, stat: &Stat) -> Result<FileVersion> {
        let stamp = Stamp::of(stat);
        if !stamp.is_fresh() {
            return self.settled_version(path, stat);
        }
        // Seen only by its stamp, so the next one to see it decides what it is.
        let source = crate::window::Source::open_at(self, path, &crate::cancel::Cancel::new())?;
        source.finish()
    }

    /// Of a file whose stamp has settled, with its digest where that is known: so that the version of a file stays the
    /// same text from its write on.
    pub(crate) fn settled_version(&self, path: &HarnessPath, stat: &Stat) -> Result<FileVersion> {
        let stamp = Stamp::of(stat);
        let facts = if stamp.size <= SMALL_BYTES {
            self.known(path, stat)?
        } else {
            let name = path.to_string();
            let row = self.host.index.read(|connection| index::row(connection, self.instance, &name))?;
            row.filter(|facts| facts.stamp == stamp && !facts.fresh)
        };
        Ok(FileVersion { stamp, digest: facts.map(|facts| facts.digest) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_both_ways(dev: u64, ino: u64, size: u64, mtime: i64, ctime: i64, digest: Option<[u8; 32]>) {
            let version = FileVersion { stamp: Stamp { dev, ino, size, mtime, ctime }, digest: digest.map(Digest) };
            let text = version.to_string();
            prop_assert!(text.len() <= 200 && text.is_ascii());
            prop_assert_eq!(text.parse::<FileVersion>().expect("its own text"), version);
        }

        #[test]
        fn other_text_is_refused(text in "(v1)?[-0-9a-fx]{0,40}") {
            if let Ok(version) = text.parse::<FileVersion>() {
                prop_assert_eq!(version.to_string().parse::<FileVersion>().expect("again"), version);
            }
        }
    }
}
