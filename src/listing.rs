//! The class behind `list`: batches, so that a huge folder does not hold the event loop.

use std::sync::{Arc, Mutex, PoisonError};

use little_files::error::Result;
use little_files::list::{Entry, Listing};
use napi::Env;
use napi::bindgen_prelude::{Null, Object};
use napi_derive::napi;

use crate::results::NativeEntry;
use crate::run::run;

/// Entries that cross at once: about a millisecond's work for the event loop.
const BATCH: usize = 512;

/// A listing under way.
#[napi]
pub struct NativeListing {
    state: Arc<Mutex<State>>,
}

struct State {
    /// Let go of at the end, for it holds the session.
    listing: Option<Listing>,
    ready: Vec<Entry>,
    done: bool,
}

impl State {
    fn advance(&mut self) -> Result<()> {
        let next = self.listing.as_mut().map_or_else(|| Ok(Vec::new()), |listing| listing.next_batch(BATCH));
        self.done = next.as_ref().map_or(true, |ready| ready.len() < BATCH);
        if self.done {
            self.listing = None;
        }
        self.ready = next?;
        Ok(())
    }
}

impl NativeListing {
    pub(crate) fn start(listing: Listing) -> Result<Self> {
        let mut state = State { listing: Some(listing), ready: Vec::new(), done: false };
        state.advance()?;
        Ok(Self { state: Arc::new(Mutex::new(state)) })
    }
}

#[napi]
impl NativeListing {
    /// The batch that is ready.
    #[napi]
    pub fn take(&self) -> Vec<NativeEntry> {
        let ready = std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).ready);
        ready.into_iter().map(Into::into).collect()
    }

    /// Whether the batch that was ready last is the end.
    #[napi(getter)]
    pub fn done(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).done
    }

    /// Readies another batch.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let state = Arc::clone(&self.state);
        run(env, move || state.lock().unwrap_or_else(PoisonError::into_inner).advance().map(|()| Null))
    }
}
