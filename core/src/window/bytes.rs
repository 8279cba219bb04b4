//! Bytes of a text, in whole characters.

use super::lines::is_start;
use super::{Content, SNIFF_BYTES, Source, not_text};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::session::Session;
use crate::version::FileVersion;

/// Which bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByteWindowOptions {
    /// From 0. Inside a character: from that character's first byte.
    pub offset: u64,
    /// The most bytes, from 4 on.
    pub limit: u64,
}

/// A piece of a text.
#[derive(Debug, Clone)]
pub struct ByteWindow {
    /// As on the disk.
    pub path: String,
    /// Of the file when it was opened.
    pub version: FileVersion,
    /// Its size then.
    pub bytes: u64,
    /// An image or PDF: its media type; then there is no text.
    pub media: Option<&'static str>,
    /// The bytes; windows put together give the file.
    pub text: String,
    /// Of the first byte shown.
    pub start: u64,
    /// Of the byte after the last one shown.
    pub end: u64,
}

/// Longest character.
const MAX_CHARACTER: u64 = 4;
const MAX_CHARACTER_BYTES: usize = 4;

impl Session {
    /// Bytes of a text file. FS_NOT_TEXT says what it is instead.
    pub fn byte_window(&self, path: &str, options: &ByteWindowOptions, cancel: &Cancel) -> Result<ByteWindow> {
        let mut source = Source::open(self, path, cancel)?;
        let first = source.range(0, SNIFF_BYTES as u64)?;
        let media = match Content::of(&first, first.len() as u64 == source.size()) {
            Content::Text => None,
            Content::Media(media) => Some(media),
            Content::Other(what) => return Err(not_text(source.path(), what)),
        };
        let (path, offset) = (source.path().clone(), options.offset.min(source.size()));
        let limit = if media.is_some() { 0 } else { options.limit.max(MAX_CHARACTER) };
        // From up to three bytes before, where a character that the offset parts begins.
        let from = offset.saturating_sub(MAX_CHARACTER - 1);
        let content = source.slice(from, offset.saturating_add(limit))?;
        let (bytes, offset) = (source.size(), offset.min(source.size()));
        let (before, after) = content.split_at(content.len().min(usize::try_from(offset - from).unwrap_or(0)));
        let back = if after.first().is_some_and(|byte| !is_start(*byte)) {
            before.iter().rev().position(|byte| is_start(*byte)).map_or(0, |at| at + 1)
        } else {
            0
        };
        let window = &content[before.len() - back..];
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut kept = &window[..window.len().min(limit)];
        let start = offset - back as u64;
        if start + (kept.len() as u64) < bytes {
            kept = &kept[..last_boundary(kept)];
        }
        let text = std::str::from_utf8(kept).map_err(|error| {
            not_text(&path, &format!("something else at byte {}", start + error.valid_up_to() as u64))
        })?;
        let (text, end) = (text.to_owned(), start + kept.len() as u64);
        let version = source.finish()?;
        Ok(ByteWindow { path: path.to_string(), version, bytes, media, text, start, end })
    }
}

/// Where the character that the end parts begins, if it parts one.
fn last_boundary(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(MAX_CHARACTER_BYTES)..];
    match std::str::from_utf8(tail.iter().position(|byte| is_start(*byte)).map_or(tail, |at| &tail[at..])) {
        // The end is missing, not wrong.
        Err(error) if error.error_len().is_none() => {
            let whole = tail.iter().position(|byte| is_start(*byte)).unwrap_or(0) + error.valid_up_to();
            bytes.len() - tail.len() + whole
        }
        _ => bytes.len(),
    }
}

#[cfg(test)]
#[path = "bytes_tests.rs"]
mod tests;
