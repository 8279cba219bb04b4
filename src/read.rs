//! The class behind `readStream`.

use std::sync::{Arc, Mutex, PoisonError};

use little_files::read::OpenRead;
use napi::Env;
use napi::bindgen_prelude::{Object, Uint8Array};
use napi_derive::napi;

use crate::failure::closed;
use crate::run::run;

/// A file that is being read piece by piece.
#[napi]
pub struct NativeRead {
    open: Arc<Mutex<Option<OpenRead>>>,
    path: String,
    bytes: i64,
}

impl NativeRead {
    pub(crate) fn new(open: OpenRead) -> Self {
        let (path, bytes) = (open.path().to_owned(), i64::try_from(open.size()).unwrap_or(i64::MAX));
        Self { open: Arc::new(Mutex::new(Some(open))), path, bytes }
    }
}

#[napi]
impl NativeRead {
    /// As on the disk.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.path.clone()
    }

    /// The file's size when it was opened.
    #[napi(getter)]
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// At most `maxBytes` more; null at the end.
    #[napi(ts_return_type = "Promise<Uint8Array | null | Failure>")]
    pub fn next<'env>(&self, env: &'env Env, max_bytes: u32) -> napi::Result<Object<'env>> {
        let open = Arc::clone(&self.open);
        run(env, move || {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = open.as_mut().ok_or_else(|| closed("stream"))?.next(max_bytes as usize)?;
            Ok((!piece.is_empty()).then(|| Uint8Array::from(piece)))
        })
    }

    /// Closes the file.
    #[napi]
    pub fn close(&self) {
        // While a piece is read it is closed after that, with this object.
        if let Ok(mut open) = self.open.try_lock() {
            open.take();
        }
    }
}
