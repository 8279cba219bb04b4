//! Writing a file: stage, compare, place, record, tell (promises G2, G3 and G7).

mod events;
mod outcome;
mod place;
mod quota;

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use rustix::fs;

use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::host::Durability;
use crate::index::{self, Artifact, Change, Facts};
use crate::media;
use crate::path::{HarnessPath, Root, Use};
use crate::root::Links;
use crate::session::{Session, is_artifact};
use crate::stage::Staged;
use crate::stamp::Stamp;
use crate::version::FileVersion;

pub use outcome::Outcome;
use place::{Placed, Race};

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
