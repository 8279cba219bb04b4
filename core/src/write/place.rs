//! The exchange itself: what stands there is compared, displaced, and put back where it is another one.

use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::PendingWrite;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::publish::{self, Swapped};
use crate::root::{expect_regular, open_name, refused_link};
use crate::session::{Expected, Session};
use crate::stamp::Stamp;

/// A staged file that has its place, while the lock is still held.
pub(super) struct Placed {
    pub(super) path: HarnessPath,
    pub(super) had: usize,
    parent: OwnedFd,
    pub(super) swapped: Option<Swapped>,
    /// Of the file that stood there.
    pub(super) before: Option<Stat>,
    /// Of the content, before anybody could reach it.
    pub(super) mtime: i64,
}

/// Somebody else changed the name between looking and placing.
pub(super) enum Race {
    Again,
    Failed(Error),
}

impl From<Error> for Race {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl PendingWrite {
    /// Under the lock: looks at what stands there, makes the folders, places the file.
    pub(super) fn place(
        &mut self,
        path: HarnessPath,
        expected: Option<&Expected>,
    ) -> std::result::Result<Placed, Race> {
        let session = Arc::clone(&self.session);
        let root = session.root_of(&path);
        let before = match root.stat(&path) {
            Ok(stat) => Some(stat),
            Err(error) if error.code == Code::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        self.check_present(&path, before.as_ref())?;
        if let Some(expected) = expected
            && before.as_ref().map(Stamp::of) != Some(expected.stamp)
        {
            // Changed since it was compared; comparing anew tells whether to the same content.
            return Err(Race::Again);
        }
        self.check_quota(&path, before.as_ref())?;
        let staged = self.staged()?;
        if let Some(before) = &before {
            let mode = Mode::RUSR | Mode::WUSR | Mode::from_raw_mode(before.st_mode & 0o111);
            fs::fchmod(staged.file(), mode).map_err(|errno| Error::from_errno(errno, &path, "writing"))?;
        }
        let mtime = fs::fstat(staged.file()).map_err(|errno| Error::from_errno(errno, &path, "writing"))?;
        let mtime = Stamp::of(&mtime).mtime;
        let (parent, had) = root.make_parent(&path)?;
        let name = path.segments.last().map_or("", String::as_str);
        let swapped = if before.is_some() {
            publish::swap_in(&session.staging, staged, &parent, name).map(Some)
        } else {
            publish::place_new(&session.staging, staged, &parent, name).map(|()| None)
        };
        match swapped {
            Ok(Some(Swapped::For(displaced))) => {
                self.check_displaced(&path, &parent, name, &displaced, expected)?;
                Ok(Placed { path, had, parent, swapped: Some(Swapped::For(displaced)), before, mtime })
            }
            Ok(swapped) => Ok(Placed { path, had, parent, swapped, before, mtime }),
            // It came, or went, since we looked: look again.
            Err(Errno::EXIST | Errno::NOENT) => Err(Race::Again),
            Err(errno) => {
                root.unmake_parent(&path, had);
                Err(Error::from_errno(errno, &path, "writing").into())
            }
        }
    }

    fn check_present(&self, path: &HarnessPath, before: Option<&Stat>) -> Result<()> {
        let Some(before) = before else { return Ok(()) };
        if self.options.if_none_match {
            return Err(Error::at(Code::AlreadyExists, path, format!("Something is already there: {path}")));
        }
        expect_regular(before, path)
    }

    /// What was displaced must be a regular file, and for a guarded write the version that was compared.
    fn check_displaced(
        &mut self,
        path: &HarnessPath,
        parent: &OwnedFd,
        name: &str,
        displaced: &str,
        expected: Option<&Expected>,
    ) -> std::result::Result<(), Race> {
        let session = Arc::clone(&self.session);
        let wrong = match open_name(session.staging.folder(), displaced, OFlags::RDONLY) {
            Ok(file) => {
                let regular = fs::fstat(&file)
                    .map_err(|errno| Error::from_errno(errno, path, "reading"))
                    .and_then(|stat| expect_regular(&stat, path));
                match (regular, expected) {
                    (Err(error), _) => Some(Race::Failed(error)),
                    (Ok(()), None) => None,
                    (Ok(()), Some(expected)) => match Session::is_expected(path, expected, &file) {
                        Ok(true) => None,
                        Ok(false) => Some(Race::Again),
                        Err(error) => Some(Race::Failed(error)),
                    },
                }
            }
            // Unreadable to us, so its owner is somebody else; a link, a socket.
            Err(Errno::ACCESS) if expected.is_none() => None,
            Err(errno) => Some(Race::Failed(refused_link(errno, path, "writing"))),
        };
        let Some(wrong) = wrong else { return Ok(()) };
        let staged = self.staged()?;
        publish::put_back(&session.staging, staged, parent, name, displaced.to_owned())
            .map_err(|errno| Error::from_errno(errno, path, "putting back"))?;
        Err(wrong)
    }

    /// The index could not record the file, so it goes again: a write that fails leaves the old file.
    pub(super) fn undo(&mut self, placed: &Placed) {
        let session = Arc::clone(&self.session);
        let name = placed.path.segments.last().map_or("", String::as_str);
        match (&placed.swapped, self.staged.as_mut()) {
            (Some(Swapped::For(displaced)), Some(staged)) => {
                // The caller hears of the failure that led here.
                let _ = publish::put_back(&session.staging, staged, &placed.parent, name, displaced.clone());
            }
            (None, Some(staged)) => {
                let _ = publish::take_back(&session.staging, staged, &placed.parent, name);
                session.root_of(&placed.path).unmake_parent(&placed.path, placed.had);
            }
            // What stood there is gone on a file system without exchange.
            _ => {}
        }
    }
}
