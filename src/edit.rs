//! Literal edits.

use little_files::edit::{Edit, EditOptions, Edited, PendingEdit};
use little_files::error::{Error, Result};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::cancel::flag_of;
use crate::failure::closed;
use crate::options::{origin, whole};
use crate::results::{NativeWritten, number};
use crate::run::run_cancellable;
use crate::session::{CancelArgument, NativeSession};
use crate::version::version;

/// What is replaced by what.
#[napi(object, object_to_js = false)]
pub struct NativeEdit {
    /// As it stands in the file.
    pub old_string: String,
    /// In its place.
    pub new_string: String,
    /// Every place, or just one.
    pub replace_all: bool,
}

impl From<NativeEdit> for Edit {
    fn from(edit: NativeEdit) -> Self {
        Self { old: edit.old_string, new: edit.new_string, replace_all: edit.replace_all }
    }
}

/// Of an edit.
#[napi(object, object_to_js = false)]
pub struct NativeEditOptions {
    /// As a read, write or stat has given it.
    pub if_version: Option<String>,
    /// Label for events.
    pub source: String,
    #[napi(ts_type = "'host' | 'tool' | 'message'")]
    /// Which writer it is.
    pub origin: String,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// The most bytes of the diff.
    pub diff_bytes: f64,
}

impl TryFrom<NativeEditOptions> for EditOptions {
    type Error = Error;

    fn try_from(options: NativeEditOptions) -> Result<Self> {
        Ok(Self {
            if_version: version(options.if_version.as_deref())?,
            source: options.source,
            origin: origin(&options.origin),
            turn_id: options.turn_id,
            diff_bytes: usize::try_from(whole(options.diff_bytes)).unwrap_or(usize::MAX),
        })
    }
}

/// What an edit did.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeEdited {
    /// The new file.
    pub written: NativeWritten,
    /// Opaque.
    pub version: String,
    /// Unified.
    pub diff: String,
    /// Some of it was left out.
    pub diff_truncated: bool,
    /// Places that changed.
    pub replacements: i64,
    /// From 1.
    pub first_changed_line: i64,
}

impl From<Edited> for NativeEdited {
    fn from(edited: Edited) -> Self {
        let Edited { written, version, diff, diff_truncated, replacements, first_changed_line } = edited;
        Self {
            written: written.into(),
            version: version.to_string(),
            diff,
            diff_truncated,
            replacements: number(replacements),
            first_changed_line: number(first_changed_line),
        }
    }
}

#[napi]
impl NativeSession {
    /// Literal edits, all or none.
    #[napi(ts_return_type = "Promise<NativeEdited | Failure>")]
    pub fn edit<'env>(
        &self,
        env: &'env Env,
        path: String,
        edits: Vec<NativeEdit>,
        options: NativeEditOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let flag = flag_of(cancel.as_deref());
        let edits = edits.into_iter().map(Into::into).collect();
        let begun = self
            .session()
            .and_then(|session| PendingEdit::begin(&session, &path, edits, options.try_into()?, flag.clone()));
        let (mut begun, mut pending) = (Some(begun), None);
        run_cancellable(env, flag, move || {
            if let Some(begun) = begun.take() {
                pending = Some(begun?);
            }
            pending.as_mut().ok_or_else(|| closed("edit"))?.publish().map(NativeEdited::from)
        })
    }
}
