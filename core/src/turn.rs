//! Turns and the staging of messages: one at a time a session, in this process and across processes.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{Code, Error, Result};
use crate::index;
use crate::lock::HeldLock;
use crate::session::Session;

/// Longest note of a staged message, in bytes.
const MAX_NOTE_BYTES: usize = 64 * 1024;

impl Session {
    /// Begins a turn. Held by another: an error to try again on.
    pub fn begin_turn(&self) -> Result<HeldLock> {
        self.check_exists()?;
        let held = HeldLock::try_take(self.folder(), "turn.lock", "The session's turn")?;
        // A delete takes the same lock before the session goes.
        self.check_exists()?;
        Ok(held)
    }

    /// Begins a turn now or not at all.
    pub fn begin_turn_at_once(&self) -> Result<HeldLock> {
        for _ in 0..5 {
            match self.begin_turn() {
                // Somebody may only have asked whether it is held.
                Err(error) if error.is_held() => std::thread::sleep(Duration::from_millis(1)),
                other => return other,
            }
        }
        self.begin_turn()
    }

    /// Whether a turn runs, in whatever process.
    #[must_use]
    pub fn is_turn_running(&self) -> bool {
        HeldLock::try_take(self.folder(), "turn.lock", "The session's turn").is_err_and(|error| error.is_held())
    }

    /// Begins to stage messages. Held by another: an error to try again on.
    pub fn lock_messages(self: &Arc<Self>) -> Result<Messages> {
        self.check_exists()?;
        let held = HeldLock::try_take(self.folder(), "messages.lock", "The staging of the session's messages")?;
        self.check_exists()?;
        Ok(Messages { session: Arc::clone(self), _held: held })
    }

    /// Ids of the messages whose files were staged.
    pub fn staged_messages(&self) -> Result<Vec<String>> {
        self.host.index.read(|connection| index::staged_messages(connection, self.instance))
    }
}

/// The right to stage messages, until it is dropped.
#[derive(Debug)]
pub struct Messages {
    session: Arc<Session>,
    _held: HeldLock,
}

impl Messages {
    /// Those of `ids` that were staged, with their notes.
    pub fn notes(&self, ids: &[String]) -> Result<Vec<(String, Option<String>)>> {
        self.session.host.index.read(|connection| index::message_notes(connection, self.session.instance, ids))
    }

    /// Marks messages as staged, each with a note (JSON text, at most 64 KiB). On the disk when it returns.
    pub fn mark(&self, marks: &[(String, Option<String>)]) -> Result<()> {
        if marks.iter().any(|(_, note)| note.as_ref().is_some_and(|note| note.len() > MAX_NOTE_BYTES)) {
            return Err(Error::new(Code::InvalidOption, "What is kept of a staged message is at most 64 KiB of JSON."));
        }
        let instance = self.session.instance;
        self.session.host.index.write_flushed(|connection| index::mark_messages(connection, instance, marks))
    }
}
