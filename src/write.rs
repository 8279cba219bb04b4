//! The class behind a streamed write.

use little_files::cancel::Cancel;
use little_files::error::Result;
use little_files::write::PendingWrite;
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::failure::closed;
use crate::results::NativeWritten;
use crate::staged::{Staged, Stages};

/// A write in batches. Dropped or aborted, it leaves nothing.
#[napi]
pub struct NativeWrite {
    staged: Staged<PendingWrite>,
}

impl NativeWrite {
    pub(crate) fn new(pending: PendingWrite, cancel: Cancel) -> Self {
        Self { staged: Staged::new(pending, cancel) }
    }
}

/// The attempts at a write whose bytes are all there; copied before this returns.
pub(crate) fn whole_write<T>(
    begun: Result<PendingWrite>,
    bytes: &[u8],
    publish: impl Fn(&mut PendingWrite) -> Result<T> + Send + 'static,
) -> impl FnMut() -> Result<T> + Send + 'static {
    let (mut begun, mut bytes, mut pending) = (Some(begun), Some(bytes.to_vec()), None);
    move || {
        if let Some(begun) = begun.take() {
            pending = Some(begun?);
        }
        let pending = pending.as_mut().ok_or_else(|| closed("write"))?;
        if let Some(bytes) = bytes.take() {
            pending.push(&bytes)?;
        }
        publish(pending)
    }
}

impl Stages for PendingWrite {
    type Published = NativeWritten;

    fn push(&mut self, batch: &[u8]) -> Result<()> {
        self.push(batch)
    }

    fn publish(&mut self) -> Result<NativeWritten> {
        self.publish().map(NativeWritten::from)
    }
}

#[napi]
impl NativeWrite {
    /// Appends; `batch` is copied before this returns.
    #[napi(ts_args_type = "batch: Uint8Array", ts_return_type = "Promise<null | Failure>")]
    pub fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        self.staged.push(env, batch)
    }

    /// Appends the last batch, if any, and publishes.
    #[napi(ts_return_type = "Promise<NativeWritten | Failure>")]
    pub fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
        self.staged.finish(env, batch)
    }

    /// Drops what was staged; resolves when it is gone.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.staged.abort(env)
    }
}
