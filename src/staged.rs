//! What the streamed write and the storing of a large result share: batches go in, one of them ends it, or it is dropped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use little_files::cancel::Cancel;
use little_files::error::Result;
use napi::Env;
use napi::bindgen_prelude::{Null, Object, ToNapiValue};

use crate::failure::closed;
use crate::run::{run, run_cancellable};

/// Something of the core that is staged in batches.
pub(crate) trait Stages: Send + 'static {
    /// What it gives when it is published.
    type Published: ToNapiValue + Send + 'static;

    /// Appends.
    fn push(&mut self, batch: &[u8]) -> Result<()>;

    /// Publishes; may be called again when a lock is held.
    fn publish(&mut self) -> Result<Self::Published>;
}

/// One that is under way. Dropped, it leaves nothing.
pub(crate) struct Staged<S> {
    pending: Pending<S>,
    cancel: Cancel,
    /// The memory of batches that are written, for those to come: a new MiB each time would be paged in each time.
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

type Pending<S> = Arc<Mutex<Option<S>>>;

impl<S: Stages> Staged<S> {
    pub(crate) fn new(pending: S, cancel: Cancel) -> Self {
        Self { pending: Arc::new(Mutex::new(Some(pending))), cancel, spare: Arc::default() }
    }

    /// `batch` is copied before this returns: its memory goes when a worker ends, whatever still runs.
    pub(crate) fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        let (pending, spare) = (Arc::clone(&self.pending), Arc::clone(&self.spare));
        let mut copy = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(batch);
        run(env, move || {
            let pushed = push(&pending, &copy);
            spare.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut copy));
            pushed.map(|()| Null)
        })
    }

    /// Appends the last batch, if any, and publishes.
    pub(crate) fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
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
            result
        })
    }

    /// Drops what was staged, after the push that is under way; resolves when it is gone.
    pub(crate) fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let pending = Arc::clone(&self.pending);
        run(env, move || {
            drop(lock(&pending).take());
            Ok(Null)
        })
    }
}

fn push<S: Stages>(pending: &Pending<S>, batch: &[u8]) -> Result<()> {
    let mut pending = lock(pending);
    let pushed = pending.as_mut().ok_or_else(|| closed("write"))?.push(batch);
    if pushed.is_err() {
        pending.take();
    }
    pushed
}

fn lock<S>(pending: &Pending<S>) -> MutexGuard<'_, Option<S>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}
