//! Searching one file.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::time::Instant;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use grep_searcher::{Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::session::Session;
use crate::window::SNIFF_BYTES;

/// Longest line that is held.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// A line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepLine {
    /// From 1.
    pub line: u64,
    /// Without its end. Of a long line the part around the first match.
    pub text: String,
    /// Else it is context.
    pub is_match: bool,
    /// The line is longer than that.
    pub cut: bool,
    /// In the file, of the first byte shown.
    pub byte_offset: u64,
}

/// How much of a file is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// 0: only counted.
    pub(super) matches: u64,
    pub(super) bytes: usize,
    pub(super) line_characters: usize,
    pub(super) context: usize,
    pub(super) until: Option<Instant>,
}

impl Limits {
    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }
}

/// What a file gave.
#[derive(Debug)]
pub(super) enum Answer {
    Searched {
        matches: u64,
        lines: Vec<GrepLine>,
    },
    Binary,
    Skipped,
    /// The time was over.
    Unfinished,
}

/// Searches files one after the other, with the same buffers.
pub(super) struct Search<'a> {
    session: &'a Session,
    matcher: RegexMatcher,
    searcher: Searcher,
    limits: Limits,
    cancel: &'a Cancel,
    first: Vec<u8>,
}

impl<'a> Search<'a> {
    pub(super) fn new(session: &'a Session, matcher: RegexMatcher, limits: Limits, cancel: &'a Cancel) -> Self {
        let context = if limits.matches > 0 { limits.context } else { 0 };
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            // Looked for below, by the same rule as when a file is read.
            .binary_detection(BinaryDetection::none())
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_LINE_BYTES))
            .before_context(context)
            .after_context(context)
            .build();
        Self { session, matcher, searcher, limits, cancel, first: Vec::new() }
    }

    pub(super) fn file(&mut self, path: &HarnessPath) -> Result<Answer> {
        let mut file = match self.session.root_of(path).open_file(path) {
            Ok((file, _)) => File::from(file),
            // Removed, replaced or closed to us since it was listed.
            Err(error) if error.code != Code::IoError => return Ok(Answer::Skipped),
            Err(error) => return Err(error),
        };
        self.first.clear();
        if (&mut file).take(SNIFF_BYTES as u64).read_to_end(&mut self.first).is_err() {
            return Ok(Answer::Skipped);
        }
        let utf16 = matches!(*self.first.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
        if !utf16 && memchr::memchr(0, &self.first).is_some() {
            return Ok(Answer::Binary);
        }
        let mut sink = Lines {
            matcher: &self.matcher,
            limits: self.limits,
            matches: 0,
            shown: Vec::new(),
            used: 0,
            before: 0,
            full: false,
        };
        let whole = self.first.len() < SNIFF_BYTES;
        let searched = if whole && !utf16 {
            self.searcher.search_slice(&self.matcher, &self.first, &mut sink)
        } else {
            let rest = Watched { file, cancel: self.cancel, limits: self.limits };
            self.searcher.search_reader(&self.matcher, Cursor::new(&self.first).chain(rest), &mut sink)
        };
        match searched {
            Ok(()) => Ok(Answer::Searched { matches: sink.matches, lines: sink.shown }),
            Err(_) if self.cancel.check().is_err() => Err(Error::aborted()),
            Err(_) if self.limits.is_over() => Ok(Answer::Unfinished),
            Err(_) => Ok(Answer::Skipped),
        }
    }
}

/// A file whose reading ends when it is no longer wanted.
struct Watched<'a> {
    file: File,
    cancel: &'a Cancel,
    limits: Limits,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.limits.is_over() || self.cancel.check().is_err() {
            return Err(io::Error::other("ended"));
        }
        self.file.read(buffer)
    }
}

/// Takes the lines that are shown and counts the others.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    limits: Limits,
    matches: u64,
    shown: Vec<GrepLine>,
    used: usize,
    /// Lines at the end that lead up to a match that has not come.
    before: usize,
    full: bool,
}

impl Lines<'_> {
    fn push(&mut self, line: Option<u64>, offset: u64, bytes: &[u8], is_match: bool) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (from, to) = self.part(bytes, is_match);
        let text = String::from_utf8_lossy(&bytes[from..to]).into_owned();
        self.used += text.len() + 1;
        let cut = to - from < bytes.len();
        let byte_offset = offset + from as u64;
        self.shown.push(GrepLine { line: line.unwrap_or(0), text, is_match, cut, byte_offset });
    }

    /// What is shown of a line: its beginning, or from a little before a match that is further on.
    fn part(&self, bytes: &[u8], is_match: bool) -> (usize, usize) {
        let most = self.limits.line_characters;
        let mut from = 0;
        if is_match
            && bytes.len() > most
            && let Ok(Some(found)) = self.matcher.find(bytes)
            && found.end() > most
        {
            from = boundary(bytes, found.start().saturating_sub(most / 4));
        }
        let is_start = |byte: u8| byte & 0b1100_0000 != 0b1000_0000;
        let mut starts = bytes[from..].iter().enumerate().filter(|(_, byte)| is_start(**byte));
        let to = starts.nth(most).map_or(bytes.len(), |(at, _)| from + at);
        (from, to)
    }
}

/// The next place where a character starts.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.full || self.matches > self.limits.matches {
            if !self.full {
                self.full = true;
                self.shown.truncate(self.shown.len() - self.before);
            }
            return Ok(true);
        }
        self.before = 0;
        self.push(found.line_number(), found.absolute_byte_offset(), found.bytes(), true);
        self.full = self.used > self.limits.bytes;
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if !self.full {
            self.before = if *context.kind() == SinkContextKind::Before { self.before + 1 } else { 0 };
            self.push(context.line_number(), context.absolute_byte_offset(), context.bytes(), false);
        }
        Ok(true)
    }
}
