//! What an RFC 6901 pointer names in a JSON or NDJSON file, read as it streams by: no tree, whatever the file's size.

mod capture;
mod found;
mod pointer;
mod seek;
mod tap;

use std::ops::ControlFlow;

use super::lines::BOM;
use super::{Content, SNIFF_BYTES, Source, not_text};
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::session::Session;
use crate::sketch::scan::Scanner;
use crate::version::FileVersion;

use found::{Found, Stage};
use pointer::Pointer;
pub(crate) use pointer::escaped;
use tap::Seekers;

/// What is read of it.
#[derive(Debug, Clone)]
pub struct JsonWindowOptions {
    /// RFC 6901; empty for the whole file.
    pub pointer: String,
    /// First item, from 0; of a string, first character.
    pub offset: u64,
    /// The most items; of a string, characters.
    pub limit: u64,
    /// The most bytes of keys and values, from 64 on.
    pub max_bytes: usize,
}

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is its own name")]
pub enum JsonType {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
    /// The values of an NDJSON file.
    Ndjson,
}

impl JsonType {
    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Ndjson => "ndjson",
        }
    }

    /// Of the value that begins with this byte.
    fn of(first: u8) -> Self {
        match first {
            b'"' => Self::String,
            b't' | b'f' => Self::Boolean,
            b'n' => Self::Null,
            _ => Self::Number,
        }
    }
}

/// A window into a JSON value.
#[derive(Debug, Clone)]
pub struct JsonWindow {
    /// As on the disk.
    pub path: String,
    /// Of the file when it was opened.
    pub version: FileVersion,
    /// Its size then.
    pub bytes: u64,
    /// Several values, each on a line of its own.
    pub ndjson: bool,
    /// Of what the pointer names.
    pub kind: JsonType,
    /// Items, or characters of a string; 1 for other scalars.
    pub total: u64,
    /// Of an object, an array or NDJSON.
    pub items: Vec<JsonItem>,
    /// Of a string, decoded; of other scalars their JSON text.
    pub text: Option<String>,
    /// Where to go on.
    pub next_offset: Option<u64>,
}

/// An item of an object, an array or NDJSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonItem {
    /// A member's name; cut at 1,024 bytes.
    pub key: Option<String>,
    /// Names the item; where its key was cut, what it is in.
    pub pointer: String,
    /// What it is.
    pub kind: JsonType,
    /// Items of an object or array; bytes between a string's quotes.
    pub size: Option<u64>,
    /// Compact; none where the item alone is too long.
    pub json: Option<String>,
    /// Of the compact JSON.
    pub bytes: u64,
}

impl Session {
    /// What a pointer names in a JSON or NDJSON file. FS_NOT_FOUND says how far it leads, FS_NOT_TEXT where the file is
    /// no JSON.
    pub fn json_window(&self, path: &str, options: &JsonWindowOptions, cancel: &Cancel) -> Result<JsonWindow> {
        let pointer = Pointer::parse(&options.pointer)?;
        let mut source = Source::open(self, path, cancel)?;
        let first = source.range(0, SNIFF_BYTES as u64)?;
        match Content::of(&first, first.len() as u64 == source.size()) {
            Content::Text => {}
            Content::Media(what) | Content::Other(what) => return Err(not_text(source.path(), what)),
        }
        let (mut scanner, mut seekers) = (Scanner::default(), Seekers::new(&pointer, options));
        let mut skip = if first.starts_with(BOM) { BOM.len() } else { 0 };
        let marked = skip as u64;
        let mut fits = true;
        source.blocks(|block| {
            let block = &block[skip.min(block.len())..];
            skip = 0;
            fits = seekers.read(&mut scanner, block);
            if fits && !seekers.is_done(scanner.values()) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let position = scanner.position() + marked;
        let values = if fits { seekers.finish(scanner) } else { None };
        let (path, bytes) = (source.path().clone(), source.size());
        let version = source.finish()?;
        let Some(values) = values else { return Err(no_json(&path, fits.then_some(position), position, bytes)) };
        let ndjson = values > 1;
        let Found { kind, total, items, text } = match seekers.take(ndjson) {
            Stage::Done(found) => found,
            other => return Err(other.names_nothing(&path, &pointer)),
        };
        let items_of = matches!(kind, JsonType::Object | JsonType::Array | JsonType::Ndjson);
        if !items_of && text.is_none() {
            return Err(not_text(&path, "something else within the string"));
        }
        let shown = if items.is_empty() {
            text.as_ref().map_or(0, |text| text.chars().count() as u64)
        } else {
            items.len() as u64
        };
        let next = options.offset.saturating_add(shown);
        let next_offset = ((items_of || kind == JsonType::String) && next < total && options.limit > 0).then_some(next);
        Ok(JsonWindow { path: path.to_string(), version, bytes, ndjson, kind, total, items, text, next_offset })
    }
}

fn no_json(path: &HarnessPath, ended: Option<u64>, position: u64, bytes: u64) -> Error {
    let text = match ended {
        Some(_) if bytes == 0 => format!("{path} is empty: it holds no JSON."),
        Some(_) => format!("{path} is not JSON: it ends within a value. Read it as text."),
        None => format!("{path} is not JSON: byte {position} does not fit. Read it as text."),
    };
    Error::at(Code::NotText, path, text)
}

#[cfg(test)]
mod tests;
