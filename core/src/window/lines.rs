//! Lines of a text, with exact totals.

use std::ops::ControlFlow;

use memchr::memchr2;

use super::ends::{Ends, LineEnding};
use super::{Content, SNIFF_BYTES, Source, not_text};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::path::HarnessPath;
use crate::session::Session;
use crate::version::FileVersion;

/// The byte order mark that some programs put before UTF-8.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Which lines, and how much of them.
#[derive(Debug, Clone, Copy)]
pub struct LineWindowOptions {
    /// First line, from 1.
    pub offset: u64,
    /// The most lines.
    pub limit: u64,
    /// The most characters (code points) of a line.
    pub max_line_characters: u64,
    /// The most bytes of the text, from 4 on. A first line that does not fit is cut, so that there is always progress.
    pub max_bytes: usize,
}

/// Lines of a text, and what the file is.
#[derive(Debug, Clone)]
pub struct LineWindow {
    /// As on the disk.
    pub path: String,
    /// Of the file when it was opened.
    pub version: FileVersion,
    /// Its size then.
    pub bytes: u64,
    /// An image or PDF: its media type; then there is no text.
    pub media: Option<&'static str>,
    /// The lines joined by LF, without line ends of their own and without a BOM.
    pub text: String,
    /// First line shown, from 1; 0 when none is.
    pub first_line: u64,
    /// Last line shown.
    pub last_line: u64,
    /// Of the file. A final line end adds no line.
    pub total_lines: u64,
    /// The bytes ended it before the limit did.
    pub byte_capped: bool,
    /// Lines that were cut.
    pub cut_lines: Vec<CutLine>,
    /// How the file's lines end.
    pub line_ending: LineEnding,
    /// Whether the last line has an end.
    pub final_newline: bool,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
}

/// A line of which only the beginning is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutLine {
    /// Its number, from 1.
    pub line: u64,
    /// Of the whole line, in code points.
    pub characters: u64,
    /// In the file, of the first byte that is not shown.
    pub byte_offset: u64,
}

impl Session {
    /// Lines of a text file. FS_NOT_TEXT says what it is instead.
    pub fn line_window(&self, path: &str, options: &LineWindowOptions, cancel: &Cancel) -> Result<LineWindow> {
        let mut source = Source::open(self, path, cancel)?;
        let first = source.range(0, SNIFF_BYTES as u64)?;
        let media = match Content::of(&first, first.len() as u64 == source.size()) {
            Content::Text => None,
            Content::Media(media) => Some(media),
            Content::Other(what) => return Err(not_text(source.path(), what)),
        };
        let mut scan = Scan::new(*options, first.starts_with(BOM));
        if media.is_none() {
            source.blocks(|block| scan.block(block))?;
            scan.end_of_file();
            scan.check(source.path())?;
        }
        let (path, bytes) = (source.path().to_string(), source.size());
        let version = source.finish()?;
        let Scan { text, shown, ends, bom, byte_capped, cut_lines, begun, .. } = scan;
        Ok(LineWindow {
            path,
            version,
            bytes,
            media,
            text,
            first_line: if shown > 0 { options.offset.max(1) } else { 0 },
            last_line: if shown > 0 { options.offset.max(1) + shown - 1 } else { 0 },
            total_lines: ends.total() + u64::from(begun),
            byte_capped,
            cut_lines,
            line_ending: ends.kind(),
            final_newline: ends.at_end(),
            bom,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    In,
    After,
}

struct Scan {
    options: LineWindowOptions,
    ends: Ends,
    phase: Phase,
    /// Of the block's first byte.
    position: u64,
    bom: bool,
    /// Whether the last line has no end; known at the end.
    begun: bool,
    text: String,
    shown: u64,
    byte_capped: bool,
    cut_lines: Vec<CutLine>,
    line: Line,
    /// The first line shown that is not UTF-8, from 1.
    broken: Option<u64>,
}

/// The line that is being taken.
#[derive(Default)]
struct Line {
    start: u64,
    bytes: u64,
    characters: u64,
    kept: Vec<u8>,
    cut: bool,
}

impl Scan {
    fn new(options: LineWindowOptions, bom: bool) -> Self {
        let options =
            LineWindowOptions { offset: options.offset.max(1), max_bytes: options.max_bytes.max(4), ..options };
        Self {
            options,
            ends: Ends::default(),
            phase: if options.limit == 0 { Phase::After } else { Phase::Before },
            position: 0,
            bom,
            begun: false,
            text: String::new(),
            shown: 0,
            byte_capped: false,
            cut_lines: Vec::new(),
            line: Line::default(),
            broken: None,
        }
    }

    fn block(&mut self, block: &[u8]) -> ControlFlow<()> {
        let (before, parted) = (self.ends.total(), self.ends.after_return());
        self.ends.count(block);
        let reached = self.ends.total() >= self.options.offset - 1;
        if self.phase == Phase::In || (self.phase == Phase::Before && reached) {
            self.walk(block, before, parted);
        }
        self.position += block.len() as u64;
        ControlFlow::Continue(())
    }

    /// Takes lines out of a block that the window touches.
    fn walk(&mut self, block: &[u8], before: u64, parted: bool) {
        let mut at = 0;
        if self.bom && self.position == 0 {
            at = BOM.len().min(block.len());
        }
        if parted && block.first() == Some(&b'\n') {
            at = 1;
        }
        let mut ends = before;
        if self.phase == Phase::Before {
            while ends < self.options.offset - 1
                && let Some(end) = memchr2(b'\n', b'\r', &block[at..])
            {
                at = after_end(block, at + end);
                ends += 1;
            }
            self.phase = Phase::In;
        }
        while self.phase == Phase::In && at < block.len() {
            if self.line.bytes == 0 {
                self.line.start = self.position + at as u64;
            }
            let Some(end) = memchr2(b'\n', b'\r', &block[at..]) else {
                self.take(&block[at..]);
                return;
            };
            self.take(&block[at..at + end]);
            self.end_line();
            at = after_end(block, at + end);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let line = &mut self.line;
        line.bytes += piece.len() as u64;
        let characters = starts(piece);
        if !line.cut {
            let room = self.options.max_line_characters - line.characters;
            let fitting = if characters <= room { piece.len() } else { index_of_start(piece, room) };
            // Never more in memory than could be shown, and a byte to tell that there is more.
            let fitting = fitting.min(self.options.max_bytes + 1 - line.kept.len());
            line.kept.extend_from_slice(&piece[..fitting]);
            line.cut = fitting < piece.len();
        }
        line.characters += characters;
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Line { start, characters, mut kept, mut cut, .. } = line;
        let separator = usize::from(self.shown > 0);
        let room = self.options.max_bytes - self.text.len();
        if kept.len() + separator > room {
            self.byte_capped = true;
            self.phase = Phase::After;
            if self.shown > 0 {
                return;
            }
            kept.truncate(floor_boundary(&kept, room));
            cut = true;
        }
        let number = self.options.offset + self.shown;
        let Ok(text) = std::str::from_utf8(&kept) else {
            self.broken = Some(number);
            self.phase = Phase::After;
            return;
        };
        if separator > 0 {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.shown += 1;
        if cut {
            let byte_offset = start + kept.len() as u64;
            self.cut_lines.push(CutLine { line: number, characters, byte_offset });
        }
        if self.shown == self.options.limit {
            self.phase = Phase::After;
        }
    }

    fn end_of_file(&mut self) {
        let content = if self.bom { self.position - BOM.len() as u64 } else { self.position };
        self.begun = content > 0 && !self.ends.at_end();
        if self.phase == Phase::In && self.line.bytes > 0 {
            self.end_line();
        }
    }

    fn check(&self, path: &HarnessPath) -> Result<()> {
        self.broken.map_or(Ok(()), |line| Err(not_text(path, &format!("something else in line {line}"))))
    }
}

/// Where the next line starts, as far as the block tells.
fn after_end(block: &[u8], end: usize) -> usize {
    end + if block[end] == b'\r' && block.get(end + 1) == Some(&b'\n') { 2 } else { 1 }
}

pub(super) const fn is_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// How many characters start here. Simple enough for the compiler to turn it into vector instructions.
fn starts(bytes: &[u8]) -> u64 {
    bytes.chunks(128).map(|chunk| u64::from(chunk.iter().map(|byte| u8::from(is_start(*byte))).sum::<u8>())).sum()
}

/// Where the character after the first `count` ones starts.
fn index_of_start(bytes: &[u8], count: u64) -> usize {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut at = bytes.iter().enumerate().filter(|(_, byte)| is_start(**byte)).map(|(at, _)| at);
    at.nth(count).unwrap_or(bytes.len())
}

/// The last place up to `limit` where a character starts.
fn floor_boundary(bytes: &[u8], limit: usize) -> usize {
    if limit >= bytes.len() {
        return bytes.len();
    }
    (0..=limit).rev().take(4).find(|at| is_start(bytes[*at])).unwrap_or(limit)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
