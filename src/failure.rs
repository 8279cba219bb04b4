//! Errors cross as values, never as napi errors: those lose their class and code.

use little_files::error::{Code, Error, Reason};
use napi_derive::napi;

/// What went wrong; `ts/` throws it as a `HarnessFileError`.
#[napi(object)]
pub struct FailureInfo {
    /// Stable.
    pub code: String,
    /// Complete, with the code in brackets.
    pub message: String,
    /// Harness path.
    pub path: Option<String>,
    /// For example ENOENT.
    pub os_code: Option<String>,
    /// Which policy refused.
    pub reason: Option<String>,
    /// JSON text.
    pub details: Option<String>,
}

/// In place of a result.
#[napi(object)]
pub struct Failure {
    /// Always there, so that it can be told from a result.
    pub failure: FailureInfo,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let Error { code, path, os_code, reason, details, .. } = error;
        let reason = reason.map(Reason::as_str).map(str::to_owned);
        let info = FailureInfo { code: code.as_str().to_owned(), message, path, os_code, reason, details };
        Self { failure: info }
    }
}

/// After `close`.
pub(crate) fn closed(what: &str) -> Error {
    Error::new(Code::Closed, format!("The {what} is closed."))
}
