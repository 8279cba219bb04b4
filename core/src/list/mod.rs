//! What stands at a path: kind, size, time, and what the index knows of a file.

mod listing;

use rustix::fs::{FileType, Stat};

use crate::cancel::Cancel;
use crate::error::Result;
use crate::index::{self, Artifact, Facts};
use crate::path::{HarnessPath, Root, Use};
use crate::root::Links;
use crate::session::{Session, is_artifact};
use crate::stamp::Stamp;

pub(crate) use listing::glob;
pub use listing::{ListOptions, Listing};

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link, whatever it points to.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

impl Kind {
    pub(crate) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }

    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Other => "other",
        }
    }
}

/// One line of a listing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// As on the disk.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// A file's size.
    pub bytes: Option<u64>,
    /// Last change of the content, in milliseconds since 1970.
    pub updated_at: i64,
    /// What is known of a file while its stamp holds.
    pub facts: Option<Facts>,
    /// The mark, if it is an artifact.
    pub artifact: Option<Artifact>,
}

impl Entry {
    /// What the disk says.
    fn of(path: &HarnessPath, stat: &Stat) -> Self {
        let (kind, stamp) = (Kind::of(stat), Stamp::of(stat));
        let bytes = (kind == Kind::File).then_some(stamp.size);
        let updated_at = stamp.mtime.div_euclid(1_000_000);
        Self { path: path.to_string(), kind, bytes, updated_at, facts: None, artifact: None }
    }
}

impl Session {
    /// What stands at a path, a link itself and not its target.
    pub fn stat(&self, path: &str) -> Result<Entry> {
        let path = self.resolve(path, Use::Stat)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        let stat = self.told(self.root_of(&path).stat(&path))?;
        self.entry(&path, &stat)
    }

    fn entry(&self, path: &HarnessPath, stat: &Stat) -> Result<Entry> {
        let mut entry = Entry::of(path, stat);
        if entry.kind == Kind::File {
            entry.facts = self.known(path, stat)?;
        }
        entry.artifact =
            entry.facts.as_ref().filter(|facts| is_artifact(path, &facts.artifact)).map(|facts| facts.artifact.clone());
        Ok(entry)
    }

    /// An artifact's entry; `None` when it is not one.
    fn artifact_entry(&self, path: &HarnessPath, stat: &Stat) -> Result<Option<Entry>> {
        let mut entry = self.entry(path, stat)?;
        if entry.kind == Kind::File && entry.facts.is_none() && path.root == Root::Artifacts {
            entry.facts = self.learn(path)?;
            entry.artifact = entry.facts.as_ref().map(|facts| facts.artifact.clone());
        }
        Ok(entry.artifact.is_some().then_some(entry))
    }

    /// Hashes a file that another program made and records what it is now.
    fn learn(&self, path: &HarnessPath) -> Result<Option<Facts>> {
        use crate::digest::Digest;
        let Ok((file, stat)) = self.root_of(path).open_file(path) else { return Ok(None) };
        let stamp = Stamp::of(&stat);
        let fresh = stamp.is_fresh();
        let (digest, bytes) = Digest::read(std::fs::File::from(file), path, &Cancel::new())?;
        if bytes != stamp.size {
            return Ok(None); // it is being written to
        }
        let facts = Facts {
            stamp,
            fresh,
            digest,
            media_type: None,
            source: None,
            metadata: None,
            artifact: Artifact::default(),
        };
        let name = path.to_string();
        let learned = self.host.index.write(|connection| {
            // A row by now is a newer write's, or the one whose stamp did not hold.
            let known = index::row(connection, self.instance, &name)?;
            if known.is_none_or(|known| known.stamp.ctime < stamp.ctime) {
                index::upsert(connection, self.instance, &name, &facts)?;
            }
            Ok(())
        });
        match learned {
            // Another process writes to the index just now: the next listing hashes it again.
            Err(error) if error.is_held() => {}
            other => other?,
        }
        Ok(Some(facts))
    }
}
