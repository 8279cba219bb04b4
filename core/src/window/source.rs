//! A file as it was when it was opened, read in blocks. What is added while it is read is not looked at, so that counts
//! and windows are of one state; and the version tells any other state apart.

use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use rustix::fs::{self, Stat};
use sha2::{Digest as _, Sha256};

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Error, Result, errno_of};
use crate::path::{HarnessPath, Use};
use crate::root::Links;
use crate::session::Session;
use crate::stamp::Stamp;
use crate::version::{FileVersion, SMALL_BYTES};

/// Fits the caches, and long enough that the calls do not count.
pub(crate) const BLOCK_BYTES: usize = 256 * 1024;
/// Up to this size whoever reads all of a file hashes it on the way faster than its stamp settles.
const WHOLE_BYTES: u64 = 32 * 1024 * 1024;

/// An open file and how far it was read.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    session: &'a Session,
    path: HarnessPath,
    file: File,
    stat: Stat,
    stamp: Stamp,
    /// While the stamp proves nothing.
    hash: Option<Sha256>,
    /// The stamp proves nothing, and the file is too long to be hashed for that.
    unproven: bool,
    at: u64,
    end: u64,
    cancel: Cancel,
}

impl<'a> Source<'a> {
    /// Opens what a caller names.
    pub(crate) fn open(session: &'a Session, path: &str, cancel: &Cancel) -> Result<Self> {
        let path = session.resolve(path, Use::Read)?;
        let path = session.root_of(&path).locate(&path, Links::FollowInside);
        session.told(Self::open_at(session, &path, cancel))
    }

    /// The same for one who reads all of it: the version is proven, however long that takes.
    pub(crate) fn open_whole(session: &'a Session, path: &str, cancel: &Cancel) -> Result<Self> {
        let path = session.resolve(path, Use::Read)?;
        let path = session.root_of(&path).locate(&path, Links::FollowInside);
        let mut source = session.told(Self::open_up_to(WHOLE_BYTES, session, &path, cancel))?;
        if std::mem::take(&mut source.unproven) {
            source.hash = Some(Sha256::new());
        }
        Ok(source)
    }

    /// Opens a path as it stands on the disk.
    pub(crate) fn open_at(session: &'a Session, path: &HarnessPath, cancel: &Cancel) -> Result<Self> {
        Self::open_up_to(SMALL_BYTES, session, path, cancel)
    }

    /// `hashed`: up to which size a file is hashed where its stamp proves nothing.
    fn open_up_to(hashed: u64, session: &'a Session, path: &HarnessPath, cancel: &Cancel) -> Result<Self> {
        let (file, mut stat) = session.root_of(path).open_file(path)?;
        let mut stamp = Stamp::of(&stat);
        if let Some(pause) = stamp.settles_in()
            && (stamp.size > hashed || !session.has_recorded(path, &stamp)?)
        {
            // Hashing a long one would take longer; and one that is not ours is known by its stamp alone later on, so that
            // it must not have a digest in its version now: an unchanged file has one version.
            std::thread::sleep(pause);
            stat = fs::fstat(&file).map_err(|errno| Error::from_errno(errno, path, "reading"))?;
            stamp = Stamp::of(&stat);
        }
        let fresh = stamp.is_fresh();
        let unproven = fresh && stamp.size > hashed;
        let hash = (fresh && !unproven).then(Sha256::new);
        let (path, file, cancel) = (path.clone(), File::from(file), cancel.clone());
        Ok(Self { session, path, file, stat, stamp, hash, unproven, at: 0, end: stamp.size, cancel })
    }

    /// As on the disk.
    pub(crate) fn path(&self) -> &HarnessPath {
        &self.path
    }

    /// Bytes, as far as they are known to be there.
    pub(crate) fn size(&self) -> u64 {
        self.end
    }

    /// Reads on from where the last call ended, until `each` breaks or all was read.
    pub(crate) fn blocks(&mut self, mut each: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let mut buffer = vec![0; BLOCK_BYTES.min(left)];
        while self.at < self.end {
            self.cancel.check()?;
            let wanted = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
            let read = self.read_some(self.at, &mut buffer[..wanted])?;
            if read == 0 {
                self.end = self.at; // it was cut meanwhile
                break;
            }
            self.at += read as u64;
            if let Some(hash) = &mut self.hash {
                hash.update(&buffer[..read]);
            }
            if each(&buffer[..read]).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The bytes from `start` to `end`, as far as they are there. Not hashed.
    pub(crate) fn range(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let length = end.min(self.end).saturating_sub(start);
        let mut content = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut have = 0;
        while have < content.len() {
            self.cancel.check()?;
            let room = (content.len() - have).min(8 * 1024 * 1024);
            let read = self.read_some(start + have as u64, &mut content[have..have + room])?;
            if read == 0 {
                break;
            }
            have += read;
        }
        content.truncate(have);
        Ok(content)
    }

    /// The same, hashed where the version needs it.
    pub(crate) fn slice(&mut self, start: u64, end: u64) -> Result<Vec<u8>> {
        if self.hash.is_none() {
            return self.range(start, end);
        }
        let (mut content, mut position) = (Vec::new(), self.at);
        self.blocks(|block| {
            let within = |at: u64| usize::try_from(at.saturating_sub(position)).unwrap_or(usize::MAX).min(block.len());
            content.extend_from_slice(&block[within(start)..within(end.max(start))]);
            position += block.len() as u64;
            ControlFlow::Continue(())
        })?;
        Ok(content)
    }

    /// The whole content, for what needs all of it. The caller has checked the size.
    pub(crate) fn whole(&mut self) -> Result<Vec<u8>> {
        let mut content = Vec::with_capacity(usize::try_from(self.end).unwrap_or(0));
        self.blocks(|block| {
            content.extend_from_slice(block);
            ControlFlow::Continue(())
        })?;
        Ok(content)
    }

    fn read_some(&self, at: u64, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.file.read_at(buffer, at) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| Error::from_errno(errno_of(&error), &self.path, "reading")),
            }
        }
    }

    /// The version of what was read. Reads the rest where only the content can tell.
    pub(crate) fn finish(mut self) -> Result<FileVersion> {
        let seen = FileVersion { stamp: self.stamp, digest: None };
        if self.hash.is_some() {
            self.blocks(|_| ControlFlow::Continue(()))?;
        }
        let after = fs::fstat(&self.file).map_err(|errno| Error::from_errno(errno, &self.path, "reading"))?;
        if Stamp::of(&after) != self.stamp {
            return Ok(seen); // changed meanwhile: no file has this stamp any more
        }
        match self.hash {
            // Written to all the while until now, by all that can be said.
            None if self.unproven => Ok(FileVersion::unproven(self.stamp)),
            Some(hash) => Ok(FileVersion { digest: Some(Digest(hash.finalize().into())), ..seen }),
            None => self.session.settled_version(&self.path, &self.stat),
        }
    }
}
