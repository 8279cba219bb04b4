//! Portable names, as a function.

use napi_derive::napi;

/// `name` where it is portable and short, else the like of it with a digest.
#[napi]
#[must_use]
pub fn portable_name(name: String, max_bytes: u32) -> String {
    little_files::names::portable(&name, max_bytes as usize)
}
