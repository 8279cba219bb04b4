//! The class behind a streamed write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use little_files::cancel::Cancel;
use little_files::error::Result;
use little_files::write::PendingWrite;
use napi::Env;
use napi::bindgen_prelude::{Null, Object};
use napi_derive::napi;

use crate::failure::closed;
use crate::options::NativeWritten;
use crate::run::{run, run_cancellable};

/// A write in batches. Dropped or aborted, it leaves nothing.
#[napi]
pub struct NativeWrite {
    pending: Shared,
    cancel: Cancel,
}

type Shared = Arc<Mutex<Option<PendingWrite>>>;

impl NativeWrite {
    pub(crate) fn new(pending: PendingWrite, cancel: Cancel) -> Self {
        Self { pending: Arc::new(Mutex::new(Some(pending))), cancel }
    }
}

#[napi]
impl NativeWrite {
    /// Appends. `batch` is copied before this returns: its memory goes when a worker ends, whatever still runs.
    #[napi(ts_args_type = "batch: Uint8Array", ts_return_type = "Promise<null | Failure>")]
    pub fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        let (pending, batch) = (Arc::clone(&self.pending), batch.to_vec());
        run(env, move || push(&pending, &batch).map(|()| Null))
    }

    /// Appends the last batch, if any, and publishes.
    #[napi(ts_return_type = "Promise<NativeWritten | Failure>")]
    pub fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
        let pending = Arc::clone(&self.pending);
        let mut batch = batch.map(<[u8]>::to_vec);
        run_cancellable(env, self.cancel.clone(), move || {
            if let Some(batch) = batch.take() {
                push(&pending, &batch)?;
            }
            let mut pending = lock(&pending);
            let result = pending.as_mut().ok_or_else(|| closed("write"))?.publish();
            if result.as_ref().err().is_none_or(|error| !error.is_held()) {
                // Ended: what it staged goes before the caller hears of it.
                pending.take();
            }
            result.map(NativeWritten::from)
        })
    }

    /// Drops what was staged, after the push that is under way; resolves when it is gone.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let pending = Arc::clone(&self.pending);
        run(env, move || {
            drop(lock(&pending).take());
            Ok(Null)
        })
    }
}

fn push(pending: &Shared, batch: &[u8]) -> Result<()> {
    let mut pending = lock(pending);
    let pushed = pending.as_mut().ok_or_else(|| closed("write"))?.push(batch);
    if pushed.is_err() {
        pending.take();
    }
    pushed
}

fn lock(pending: &Shared) -> MutexGuard<'_, Option<PendingWrite>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}
