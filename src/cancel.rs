//! The flag behind an AbortSignal.

use little_files::cancel::Cancel;
use napi_derive::napi;

/// Ends a wait for a lock, and a running read, listing or hash; the call then gives FS_ABORTED.
#[napi]
#[derive(Default)]
pub struct NativeCancel {
    pub(crate) flag: Cancel,
}

#[napi]
impl NativeCancel {
    /// Not raised.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the calls that were given this to end.
    #[napi]
    pub fn cancel(&self) {
        self.flag.cancel();
    }
}

/// The flag of an optional argument.
pub(crate) fn flag_of(cancel: Option<&NativeCancel>) -> Cancel {
    cancel.map_or_else(Cancel::new, |cancel| cancel.flag.clone())
}
