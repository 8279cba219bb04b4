//! What is known of a file without trusting what may have changed behind our back.

use std::fs::File;

use rustix::fd::OwnedFd;
use rustix::fs::{self, Stat};

use super::Session;
use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::index::{self, Artifact, Facts};
use crate::path::{HarnessPath, Root};
use crate::stamp::Stamp;
use crate::version::FileVersion;

/// The version that a guarded call compared, and how sure that was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Of its content, where only that can tell.
    pub(crate) digest: Option<Digest>,
    pub(crate) stamp: Stamp,
    fresh: bool,
}

impl Session {
    /// The facts of the file at `path`, which `stat` describes; `None` when another program changed it or wrote it.
    /// Reads the file where its stamp is too young to prove anything.
    pub(crate) fn known(&self, path: &HarnessPath, stat: &Stat) -> Result<Option<Facts>> {
        let name = path.to_string();
        let Some(facts) = self.host.index.read(|connection| index::row(connection, self.instance, &name))? else {
            return Ok(None);
        };
        if facts.stamp != Stamp::of(stat) {
            return Ok(None);
        }
        if !facts.fresh {
            return Ok(Some(facts));
        }
        // Gone or replaced since: no longer the file that was asked about.
        let Ok((file, stat)) = self.root_of(path).open_file(path) else { return Ok(None) };
        if facts.stamp != Stamp::of(&stat) {
            return Ok(None);
        }
        let still_fresh = facts.stamp.is_fresh();
        let (digest, _) = Digest::read(File::from(file), path, &Cancel::new())?;
        self.settle(&name, facts, digest, still_fresh)
    }

    /// Whether we wrote the file that has this stamp, as far as a stamp can tell.
    pub(crate) fn has_recorded(&self, path: &HarnessPath, stamp: &Stamp) -> Result<bool> {
        let name = path.to_string();
        let row = self.host.index.read(|connection| index::row(connection, self.instance, &name))?;
        Ok(row.is_some_and(|facts| facts.stamp == *stamp))
    }

    /// A file whose stamp proved nothing was hashed: its facts hold, or they are forgotten.
    fn settle(&self, name: &str, facts: Facts, digest: Digest, still_fresh: bool) -> Result<Option<Facts>> {
        let holds = facts.digest == digest;
        if holds && still_fresh {
            return Ok(Some(facts));
        }
        let settled = self.host.index.write(|connection| {
            // Only if no newer write has recorded others meanwhile.
            if index::row(connection, self.instance, name)?.as_ref() != Some(&facts) {
                return Ok(());
            }
            if holds {
                index::upsert(connection, self.instance, name, &Facts { fresh: false, ..facts.clone() })
            } else {
                index::delete_row(connection, self.instance, name)
            }
        });
        match settled {
            // Another process writes to the index just now: the next reader settles it.
            Err(error) if error.is_held() => {}
            other => other?,
        }
        Ok(holds.then_some(Facts { fresh: false, ..facts }))
    }

    /// The facts after the whole file was read and hashed: they hold if the content is the recorded one, whatever the
    /// stamp says by now.
    pub(crate) fn known_by_digest(&self, path: &HarnessPath, digest: Digest) -> Result<Option<Facts>> {
        let name = path.to_string();
        let row = self.host.index.read(|connection| index::row(connection, self.instance, &name))?;
        Ok(row.filter(|facts| facts.digest == digest))
    }

    /// The sha256 of an open file: from the index when its stamp holds, else by reading it.
    pub(crate) fn digest_of(&self, path: &HarnessPath, file: OwnedFd, stamp: Stamp, cancel: &Cancel) -> Result<Digest> {
        let name = path.to_string();
        let row = self.host.index.read(|connection| index::row(connection, self.instance, &name))?;
        match row {
            Some(facts) if facts.stamp == stamp && !facts.fresh => Ok(facts.digest),
            _ => Ok(Digest::read(File::from(file), path, cancel)?.0),
        }
    }

    /// Compares the file at `path` with the version that a guarded call names.
    pub(crate) fn expect_version(&self, path: &HarnessPath, wanted: Digest, cancel: &Cancel) -> Result<Expected> {
        let stale = |what: &str| {
            let text = format!("{path} {what}. Read it again, then retry with its sha256.");
            Error::at(Code::StaleVersion, path, text)
        };
        let (file, stat) = match self.root_of(path).open_file(path) {
            Err(error) if error.code == Code::NotFound => return Err(stale("is not there any more")),
            other => other?,
        };
        let stamp = Stamp::of(&stat);
        let fresh = stamp.is_fresh();
        let digest = self.digest_of(path, file, stamp, cancel)?;
        if digest != wanted {
            return Err(stale("has changed"));
        }
        Ok(Expected { digest: Some(digest), stamp, fresh })
    }

    /// The same for a version that a tool was given.
    pub(crate) fn expect_file_version(
        &self,
        path: &HarnessPath,
        wanted: &FileVersion,
        cancel: &Cancel,
    ) -> Result<Expected> {
        let stale = |what: &str| {
            let text = format!("{path} {what} since it was read. Read it again, then retry.");
            Error::at(Code::StaleVersion, path, text)
        };
        let (file, stat) = match self.root_of(path).open_file(path) {
            Err(error) if error.code == Code::NotFound => return Err(stale("was removed")),
            other => other?,
        };
        let stamp = Stamp::of(&stat);
        let digest = match wanted.digest {
            Some(digest) if self.digest_of(path, file, stamp, cancel)? == digest => Some(digest),
            // It had settled when it was taken, so any later change has moved it on.
            None if stamp == wanted.stamp => None,
            _ => return Err(stale("has changed")),
        };
        Ok(Expected { digest, stamp, fresh: digest.is_some() && stamp.is_fresh() })
    }

    /// Whether the file that was displaced or moved away (open as `file`) is the version that was compared.
    pub(crate) fn is_expected(path: &HarnessPath, expected: &Expected, file: &OwnedFd) -> Result<bool> {
        let stat = fs::fstat(file).map_err(|errno| Error::from_errno(errno, path, "reading"))?;
        if !Stamp::of(&stat).same_but_renamed(&expected.stamp) {
            return Ok(false);
        }
        if !expected.fresh {
            return Ok(true);
        }
        // A change within the clock's tick leaves the stamp as it was, so only the content can tell.
        let file =
            file.try_clone().map_err(|error| Error::from_errno(crate::error::errno_of(&error), path, "reading"))?;
        Ok(Some(Digest::read(File::from(file), path, &Cancel::new())?.0) == expected.digest)
    }
}

/// Whether a file is an artifact: as it was marked, else by its place.
pub(crate) fn is_artifact(path: &HarnessPath, artifact: &Artifact) -> bool {
    artifact.marked.unwrap_or(path.root == Root::Artifacts)
}
