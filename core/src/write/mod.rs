//! Writing a file: stage, compare, place, record, tell (promises G2, G3 and G7).

mod events;
mod outcome;

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::host::Durability;
use crate::index::{self, Artifact, Change, Facts};
use crate::media;
use crate::path::{HarnessPath, Root, Use};
use crate::publish::{self, Swapped};
use crate::root::{Links, expect_regular, open_name, refused_link};
use crate::session::{Expected, Session, is_artifact};
use crate::stage::Staged;
use crate::stamp::Stamp;
use crate::version::FileVersion;

pub use outcome::Outcome;

/// Which of the three writers it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// `session.files`.
    #[default]
    Host,
    /// `ctx.files`.
    Tool,
    /// `files` in `stageMessage`.
    Message,
}

/// How a file is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Wins over the extension.
    pub media_type: Option<String>,
    /// Where neither says anything.
    pub fallback_media_type: Option<String>,
    /// Label for events.
    pub source: String,
    /// The writer.
    pub origin: Origin,
    /// The host's, JSON text of an object.
    pub metadata: Option<String>,
    /// How it is marked.
    pub artifact: Artifact,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// Only if the file still has this content.
    pub if_match: Option<Digest>,
    /// Only if the file is still this version.
    pub if_version: Option<FileVersion>,
    /// Only if nothing is there.
    pub if_none_match: bool,
    /// Keeps the content before for [`PendingWrite::outcome`] where it has at most so many bytes.
    pub keep_before: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// As on the disk.
    pub path: String,
    /// Size of the content.
    pub bytes: u64,
    /// sha256 of the content.
    pub digest: Digest,
    /// As given or guessed.
    pub media_type: Option<String>,
    /// The mark, if the file is an artifact.
    pub artifact: Option<Artifact>,
}

/// A write that has begun. Dropped before it is published, it leaves nothing behind.
#[derive(Debug)]
pub struct PendingWrite {
    session: Arc<Session>,
    path: HarnessPath,
    options: WriteOptions,
    cancel: Cancel,
    staged: Option<Staged>,
    synced: bool,
    started: Instant,
    outcome: Option<Outcome>,
    /// Of the file that `if_version` names, where the caller has hashed it.
    before_digest: Option<Digest>,
}

/// A staged file that has its place, while the lock is still held.
struct Placed {
    path: HarnessPath,
    had: usize,
    parent: OwnedFd,
    swapped: Option<Swapped>,
    /// Of the file that stood there.
    before: Option<Stat>,
    /// Of the content, before anybody could reach it.
    mtime: i64,
}

/// Somebody else changed the name between looking and placing.
enum Race {
    Again,
    Failed(Error),
}

impl From<Error> for Race {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl PendingWrite {
    /// Checks the path and the policy; stages nothing yet.
    pub fn begin(session: &Arc<Session>, path: &str, options: WriteOptions, cancel: Cancel) -> Result<Self> {
        let path = session.resolve(path, Use::Write)?;
        let session = Arc::clone(session);
        Ok(Self {
            session,
            path,
            options,
            cancel,
            staged: None,
            synced: false,
            started: Instant::now(),
            outcome: None,
            before_digest: None,
        })
    }

    /// Appends a batch.
    pub fn push(&mut self, batch: &[u8]) -> Result<()> {
        self.cancel.check()?;
        let written = self.staged().and_then(|staged| staged.write(batch));
        self.session.told(written)
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.staged.as_ref().map_or(0, Staged::bytes)
    }

    /// sha256 of the bytes so far.
    pub(crate) fn digest(&mut self) -> Result<Digest> {
        Ok(self.staged()?.digest())
    }

    /// Spares the telling of the write to read the file that it replaces.
    pub(crate) fn set_before_digest(&mut self, digest: Digest) {
        self.before_digest = Some(digest);
    }

    /// Where it goes, when that is known only at the end.
    pub(crate) fn set_path(&mut self, path: HarnessPath) {
        self.path = path;
    }

    fn staged(&mut self) -> Result<&mut Staged> {
        if self.staged.is_none() {
            let limit = self.session.host.options.quota.file_bytes;
            self.staged = Some(self.session.staging.stage(&self.path, limit)?);
        }
        self.staged.as_mut().ok_or_else(|| Error::new(Code::Closed, "The write has ended."))
    }

    /// Puts the file in place. When the session's lock is held just now ([`Error::is_held`]) nothing has changed and it
    /// may be called again.
    pub fn publish(&mut self) -> Result<Written> {
        let published = self.publish_now();
        self.session.told(published)
    }

    fn publish_now(&mut self) -> Result<Written> {
        self.cancel.check()?;
        let durable = self.session.host.options.durability == Durability::Write;
        // What a power cut could leave empty in a Persistent Dir would be committed over the developer's good file.
        let ahead = durable || (self.path.root == Root::Persistent && self.session.flushes());
        if ahead && !self.synced {
            self.staged()?.sync()?;
            self.synced = true;
        }
        self.staged()?;
        let session = Arc::clone(&self.session);
        // Whoever races us every time is writing all the time; nobody is that quick that often.
        for _ in 0..32 {
            let path = session.root_of(&self.path).locate(&self.path, Links::Refuse);
            let expected = match (self.options.if_match, &self.options.if_version) {
                (Some(wanted), _) => Some(session.expect_version(&path, wanted, &self.cancel)?),
                (None, Some(wanted)) => Some(session.expect_file_version(&path, wanted, &self.cancel)?),
                (None, None) => None,
            };
            let locked = session.lock_publish()?;
            self.cancel.check()?;
            let placed = match self.place(path, expected.as_ref()) {
                Ok(placed) => placed,
                Err(Race::Again) => continue,
                Err(Race::Failed(error)) => return Err(error),
            };
            let recorded = self.record(&placed).inspect_err(|_| self.undo(&placed));
            let (facts, known_before, first) = recorded?;
            if !durable {
                session.unflushed.lock().unwrap_or_else(PoisonError::into_inner).wrote(&placed.path, placed.had, ahead);
            }
            drop(locked);
            let synced = if durable { session.flush_folders(&placed.path) } else { Ok(()) };
            self.outcome = Some(self.outcome_of(&placed, &facts));
            self.tell(&placed, &facts, known_before, first);
            synced?;
            let artifact = is_artifact(&placed.path, &facts.artifact).then(|| facts.artifact.clone());
            let path = placed.path.to_string();
            return Ok(Written {
                path,
                bytes: facts.stamp.size,
                digest: facts.digest,
                media_type: facts.media_type,
                artifact,
            });
        }
        Err(Error::at(Code::Busy, &self.path, format!("Other programs keep replacing {}. Try again.", self.path)))
    }

    /// Under the lock: looks at what stands there, makes the folders, places the file.
    fn place(&mut self, path: HarnessPath, expected: Option<&Expected>) -> std::result::Result<Placed, Race> {
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

    /// Under the lock: whether the session may grow by this write.
    fn check_quota(&self, path: &HarnessPath, before: Option<&Stat>) -> Result<()> {
        let quota = self.session.host.options.quota;
        let (new, old) = (self.staged.as_ref().map_or(0, Staged::bytes), before.map(|stat| Stamp::of(stat).size));
        let over = |counted: Option<u64>| -> Result<Option<(u64, &str)>> {
            let (session, instance) = (&self.session, self.session.instance);
            let (files, bytes) =
                session.host.index.read(|connection| index::totals(connection, instance))?.unwrap_or((0, 0));
            let grown = bytes.saturating_sub(counted.unwrap_or(0)).saturating_add(new);
            // A write that makes its file smaller is never refused.
            let bytes = quota.session_bytes.filter(|limit| new > old.unwrap_or(0) && grown > *limit);
            let files = quota.session_files.filter(|limit| old.is_none() && files + 1 > *limit);
            Ok(bytes.map(|limit| (limit, "bytes")).or(files.map(|limit| (limit, "files"))))
        };
        if quota.session_bytes.is_none() && quota.session_files.is_none() {
            return Ok(());
        }
        let name = path.to_string();
        let row = self.session.host.index.read(|connection| index::row(connection, self.session.instance, &name))?;
        if over(row.map(|facts| facts.stamp.size))?.is_none() {
            return Ok(());
        }
        // Other programs may have removed files since the last scan; only the disk can say.
        self.session.rescan()?;
        let Some((limit, what)) = over(old)? else { return Ok(()) };
        let text =
            format!("Writing {path} would take the session over its quota of {limit} {what}. Remove files first.");
        Err(Error::at(Code::QuotaExceeded, path, text))
    }

    /// Records the new facts; returns them, the old ones if they held, and the number of the first event.
    fn record(&mut self, placed: &Placed) -> Result<(Facts, Option<Facts>, i64)> {
        let path = &placed.path;
        let media_type = self
            .options
            .media_type
            .clone()
            .or_else(|| media::guess(path))
            .or_else(|| self.options.fallback_media_type.clone());
        let staged = self.staged()?;
        let (digest, bytes) = (staged.digest(), staged.bytes());
        let after = fs::fstat(staged.file()).map_err(|errno| Error::from_errno(errno, path, "reading"))?;
        let stamp = Stamp::of(&after);
        let facts = Facts {
            // Written to already, by somebody else: then its stamp proves nothing.
            fresh: stamp.is_fresh() || stamp.size != bytes || stamp.mtime != placed.mtime,
            stamp: Stamp { size: bytes, ..stamp },
            digest,
            media_type,
            source: Some(self.options.source.clone()),
            metadata: self.options.metadata.clone(),
            artifact: self.options.artifact.clone(),
        };
        let name = path.to_string();
        let (session, now) = (&self.session, now_millis());
        let count = self.event_count(path, &facts.artifact);
        let recorded = session.host.index.write(|connection| {
            let before = index::row(connection, session.instance, &name)?;
            index::upsert(connection, session.instance, &name, &facts)?;
            // Against what was counted for it, which is what its row had.
            let counted = before.as_ref().map_or(0, |facts| signed(facts.stamp.size));
            let change = Change { files: i64::from(before.is_none()), bytes: signed(bytes) - counted, events: count };
            let first = index::change(connection, session.instance, change, now)?;
            Ok(first.map(|first| (before, first)))
        })?;
        let (before, first) =
            recorded.ok_or_else(|| Error::new(Code::Closed, "The session was deleted. Open it anew."))?;
        Ok((facts, before, first))
    }

    /// The index could not record the file, so it goes again: a write that fails leaves the old file.
    fn undo(&mut self, placed: &Placed) {
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

impl Drop for PendingWrite {
    fn drop(&mut self) {
        if let Some(staged) = self.staged.take() {
            staged.discard(&self.session.staging);
        }
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
