//! A flag that another thread raises to end a wait or a long read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Shared between the caller and the call that it may want to end.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the call to end; it ends at its next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// FS_ABORTED once the flag is up.
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::aborted()) } else { Ok(()) }
    }
}
