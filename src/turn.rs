//! The classes behind a turn, the staging of messages and the tracking of other programs.

use std::sync::{Arc, Mutex, PoisonError};

use little_files::HeldLock;
use little_files::error::Result;
use little_files::track::{FileChange, Snapshot, Version};
use little_files::turn::Messages;
use napi::Env;
use napi::bindgen_prelude::{Null, Object};
use napi_derive::napi;

use crate::failure::closed;
use crate::pages::Found;
use crate::results::number;
use crate::run::run;

/// A turn's lock, held until `end` or until this is gone.
#[napi]
pub struct NativeTurn {
    held: Mutex<Option<HeldLock>>,
}

impl NativeTurn {
    pub(crate) fn new(held: HeldLock) -> Self {
        Self { held: Mutex::new(Some(held)) }
    }
}

#[napi]
impl NativeTurn {
    /// Frees the lock.
    #[napi]
    pub fn end(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// The right to stage messages.
#[napi]
pub struct NativeMessages {
    messages: Mutex<Option<Arc<Messages>>>,
}

impl NativeMessages {
    pub(crate) fn new(messages: Messages) -> Self {
        Self { messages: Mutex::new(Some(Arc::new(messages))) }
    }

    fn messages(&self) -> Result<Arc<Messages>> {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or_else(|| closed("staging of messages"))
    }
}

#[napi]
impl NativeMessages {
    /// Which of the messages were staged.
    #[napi(ts_return_type = "Promise<Array<boolean> | Failure>")]
    pub fn staged<'env>(&self, env: &'env Env, ids: Vec<String>) -> napi::Result<Object<'env>> {
        let messages = self.messages();
        run(env, move || {
            let found = messages.clone()?.notes(&ids)?;
            Ok(ids.iter().map(|id| found.iter().any(|(other, _)| other == id)).collect::<Vec<_>>())
        })
    }

    /// What was kept of each.
    #[napi(ts_return_type = "Promise<Array<string | null> | Failure>")]
    pub fn notes<'env>(&self, env: &'env Env, ids: Vec<String>) -> napi::Result<Object<'env>> {
        let messages = self.messages();
        run(env, move || {
            let found = messages.clone()?.notes(&ids)?;
            let note = |id: &String| found.iter().find(|(other, _)| other == id).and_then(|(_, note)| note.clone());
            Ok(ids.iter().map(note).collect::<Vec<_>>())
        })
    }

    /// Marks messages as staged, each with what is kept of it. On the disk when it resolves.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn mark<'env>(
        &self,
        env: &'env Env,
        ids: Vec<String>,
        notes: Option<Vec<Option<String>>>,
    ) -> napi::Result<Object<'env>> {
        let messages = self.messages();
        let notes = notes.unwrap_or_default().into_iter().chain(std::iter::repeat(None));
        let marks: Vec<_> = ids.into_iter().zip(notes).collect();
        run(env, move || messages.clone()?.mark(&marks).map(|()| Null))
    }

    /// Gives the right back.
    #[napi]
    pub fn release(&self) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// The files of the roots as they were.
#[napi]
pub struct NativeSnapshot {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) found: Found<FileChange>,
}

impl NativeSnapshot {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { snapshot: Arc::new(snapshot), found: Found::default() }
    }
}

#[napi]
impl NativeSnapshot {
    /// The next changes that were found. None: that was all.
    #[napi]
    pub fn take(&self) -> Vec<NativeFileChange> {
        self.found.take()
    }
}

/// A content's size and digest.
#[napi(object, object_from_js = false)]
pub struct NativeVersion {
    /// Size.
    pub bytes: i64,
    /// 64 hex digits.
    pub sha256: String,
}

impl From<Version> for NativeVersion {
    fn from(version: Version) -> Self {
        Self { bytes: number(version.bytes), sha256: version.digest.to_string() }
    }
}

/// A file that another program changed.
#[napi(object, object_from_js = false)]
pub struct NativeFileChange {
    /// As on the disk.
    pub path: String,
    #[napi(ts_type = "'created' | 'updated' | 'deleted'")]
    /// How.
    pub change: String,
    /// As far as it was known.
    pub before: Option<NativeVersion>,
    /// What it is now.
    pub after: Option<NativeVersion>,
}

impl From<FileChange> for NativeFileChange {
    fn from(change: FileChange) -> Self {
        let FileChange { path, change, before, after } = change;
        Self { path, change: change.as_str().to_owned(), before: before.map(Into::into), after: after.map(Into::into) }
    }
}
