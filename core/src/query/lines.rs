//! Lines of NDJSON, of which only one is held.

use memchr::memchr;

use super::MAX_JSON_BYTES;
use crate::error::Result;

/// Which line it is, and which value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    /// From 1, blank ones counted.
    pub(super) line: u64,
    /// From 0, blank ones not counted.
    pub(super) value: u64,
}

/// The start of a line whose end has not come.
#[derive(Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    too_long: bool,
    ended: u64,
    values: u64,
}

type Each<'a> = dyn FnMut(Option<&[u8]>, Number) -> Result<()> + 'a;

impl Lines {
    /// Takes the next block. `each` gets a line, or none where it is too long, unless it is blank.
    pub(super) fn take(&mut self, mut block: &[u8], each: &mut Each<'_>) -> Result<()> {
        while let Some(end) = memchr(b'\n', block) {
            let (line, rest) = (&block[..end], &block[end + 1..]);
            if self.partial.is_empty() && !self.too_long {
                self.line(Some(line), each)?;
            } else {
                self.keep(line);
                self.end(each)?;
            }
            block = rest;
        }
        self.keep(block);
        Ok(())
    }

    /// The last line, if it has no end.
    pub(super) fn finish(&mut self, each: &mut Each<'_>) -> Result<()> {
        if self.partial.is_empty() && !self.too_long { Ok(()) } else { self.end(each) }
    }

    fn end(&mut self, each: &mut Each<'_>) -> Result<()> {
        let line = std::mem::take(&mut self.partial);
        let too_long = std::mem::take(&mut self.too_long);
        self.line(if too_long { None } else { Some(&line) }, each)
    }

    fn keep(&mut self, piece: &[u8]) {
        self.too_long |= (self.partial.len() + piece.len()) as u64 > MAX_JSON_BYTES;
        if self.too_long {
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }

    fn line(&mut self, line: Option<&[u8]>, each: &mut Each<'_>) -> Result<()> {
        self.ended += 1;
        if line.is_some_and(|line| line.trim_ascii().is_empty()) {
            return Ok(());
        }
        let number = Number { line: self.ended, value: self.values };
        self.values += 1;
        each(line, number)
    }
}
