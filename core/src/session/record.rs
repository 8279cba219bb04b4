//! `session.json`: what makes a folder a session. Written once and flushed, so that a lost database loses no session.

use std::fs::File;
use std::io::Read;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};
use crate::path::{HarnessPath, Root};
use crate::root::open_name;
use crate::stage::Staging;
use crate::{publish, sys};

const NAME: &str = "session.json";
/// Metadata is at most 64 KiB; more is not ours.
const MAX_BYTES: u64 = 1 << 20;

/// The file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// As the host named it.
    pub id: String,
    /// Which of the sessions that had this id: random, below 2^53.
    pub instance: i64,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// The host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

impl SessionRecord {
    /// A new session.
    #[must_use]
    pub fn new(id: &str, created_at: i64, metadata: Option<Map<String, Value>>) -> Self {
        let random = uuid::Uuid::new_v4().as_u64_pair().0 >> 11;
        Self { id: id.to_owned(), instance: i64::try_from(random).unwrap_or(0), created_at, metadata }
    }
}

/// Reads the record in a session's folder; `None` when it is not there or not one.
#[must_use]
pub fn read(folder: impl AsFd) -> Option<SessionRecord> {
    let file = File::from(open_name(folder, NAME, OFlags::RDONLY).ok()?);
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes the record unless there is one; returns the one that counts.
pub(crate) fn write_once(folder: &OwnedFd, staging: &Staging, record: &SessionRecord) -> Result<SessionRecord> {
    let nowhere = HarnessPath { root: Root::Session, segments: Vec::new() };
    let text = serde_json::to_string(record).map_err(|error| Error::new(Code::IoError, format!("{NAME}: {error}")))?;
    let mut staged = staging.stage(&nowhere, None)?;
    let placed = staged.write(text.as_bytes()).and_then(|()| staged.sync()).and_then(|()| {
        publish::place_new(staging, &mut staged, folder, NAME)
            .map_err(|errno| Error::from_errno(errno, NAME, "writing"))
    });
    staged.discard(staging);
    match placed {
        Ok(()) => {
            sys::sync_folder(folder).map_err(|errno| Error::from_errno(errno, "the session's folder", "flushing"))?;
            Ok(record.clone())
        }
        // Another process made the same session at the same time.
        Err(error) if error.code == Code::AlreadyExists => read(folder).ok_or_else(|| {
            Error::new(
                Code::IoError,
                "session.json cannot be read: the session's folder is damaged. Delete the session.",
            )
        }),
        Err(error) => Err(error),
    }
}
