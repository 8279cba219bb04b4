//! The class behind the storing of a large result.

use little_files::cancel::Cancel;
use little_files::error::Result;
use little_files::offload::{OffloadOptions, PendingOffload};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::options::{origin, whole};
use crate::results::NativeWritten;
use crate::staged::{Staged, Stages};

/// Of a result that is stored.
#[napi(object, object_to_js = false)]
pub struct NativeOffloadOptions {
    /// The folder of all results.
    pub output_dir: String,
    /// Of the tool.
    pub tool_name: String,
    /// Of the call.
    pub tool_call_id: Option<String>,
    #[napi(ts_type = "'json' | 'txt' | 'bin'")]
    /// Of the file.
    pub extension: String,
    /// Of the file.
    pub media_type: String,
    /// The most that the reference may have, in bytes.
    pub max_inline_bytes: f64,
    /// The most that it shows of the beginning, in bytes.
    pub preview_bytes: f64,
    /// Whether it is text.
    pub text: bool,
    /// Label for events.
    pub source: String,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    #[napi(ts_type = "'host' | 'tool'")]
    /// Which writer it is.
    pub origin: String,
}

impl From<NativeOffloadOptions> for OffloadOptions {
    fn from(options: NativeOffloadOptions) -> Self {
        let size = |number: f64| usize::try_from(whole(number)).unwrap_or(usize::MAX);
        Self {
            output_dir: options.output_dir,
            tool_name: options.tool_name,
            tool_call_id: options.tool_call_id,
            extension: options.extension,
            media_type: options.media_type,
            max_inline_bytes: size(options.max_inline_bytes),
            preview_bytes: size(options.preview_bytes),
            text: options.text,
            source: options.source,
            turn_id: options.turn_id,
            origin: origin(&options.origin),
        }
    }
}

/// What storing a result gave.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeOffloaded {
    /// The file.
    pub written: NativeWritten,
    /// What takes the result's place, as JSON text.
    pub reference: String,
}

/// A result that is being stored. Dropped or aborted, it leaves nothing.
#[napi]
pub struct NativeOffload {
    staged: Staged<PendingOffload>,
}

impl NativeOffload {
    pub(crate) fn new(pending: PendingOffload, cancel: Cancel) -> Self {
        Self { staged: Staged::new(pending, cancel) }
    }
}

impl Stages for PendingOffload {
    type Published = NativeOffloaded;

    fn push(&mut self, batch: &[u8]) -> Result<()> {
        self.push(batch)
    }

    fn publish(&mut self) -> Result<NativeOffloaded> {
        self.finish().map(|(written, reference)| NativeOffloaded { written: written.into(), reference })
    }
}

#[napi]
impl NativeOffload {
    /// Appends; `batch` is copied before this returns.
    #[napi(ts_args_type = "batch: Uint8Array", ts_return_type = "Promise<null | Failure>")]
    pub fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        self.staged.push(env, batch)
    }

    /// Appends the last batch, if any, and publishes.
    #[napi(ts_return_type = "Promise<NativeOffloaded | Failure>")]
    pub fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
        self.staged.finish(env, batch)
    }

    /// Drops what was staged; resolves when it is gone.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.staged.abort(env)
    }
}
