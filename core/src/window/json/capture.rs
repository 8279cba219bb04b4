//! Values that are taken out of JSON as it streams by, within a bound.

use memchr::{memchr, memchr2};

use crate::window::lines::is_start;

/// JSON without the white space between its parts: counted to its end, kept up to a limit.
#[derive(Debug)]
pub(super) struct Compact {
    kept: Vec<u8>,
    limit: usize,
    bytes: u64,
    in_string: bool,
    escaped: bool,
}

impl Compact {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, bytes: 0, in_string: false, escaped: false }
    }

    /// Takes the next piece.
    pub(super) fn extend(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            if self.escaped {
                self.push(&piece[..1]);
                (piece, self.escaped) = (&piece[1..], false);
            } else if self.in_string {
                let end = memchr2(b'"', b'\\', piece).map_or(piece.len(), |at| at + 1);
                self.push(&piece[..end]);
                match piece.get(end - 1) {
                    Some(b'"') => self.in_string = false,
                    Some(b'\\') => self.escaped = true,
                    _ => {}
                }
                piece = &piece[end..];
            } else {
                let end = memchr(b'"', piece).map_or(piece.len(), |at| at + 1);
                self.in_string = piece[end - 1] == b'"';
                for part in piece[..end].split(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                    self.push(part);
                }
                piece = &piece[end..];
            }
        }
    }

    fn push(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        if self.bytes <= self.limit as u64 {
            self.kept.extend_from_slice(part);
        } else {
            self.kept = Vec::new();
        }
    }

    /// Its length, and the JSON itself where it is within the limit and UTF-8.
    pub(super) fn finish(self) -> (u64, Option<String>) {
        let fits = self.bytes <= self.limit as u64;
        (self.bytes, if fits { String::from_utf8(self.kept).ok() } else { None })
    }
}

/// Characters of a JSON string, decoded as it streams by. Half a surrogate pair shows as U+FFFD.
#[derive(Debug)]
pub(super) struct Characters {
    offset: u64,
    end: u64,
    max_bytes: usize,
    kept: Vec<u8>,
    full: bool,
    seen: u64,
    state: State,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the quote.
    Before,
    Plain,
    Escape,
    Hex {
        left: u8,
        value: u32,
    },
    After,
}

impl Characters {
    pub(super) fn new(offset: u64, limit: u64, max_bytes: usize) -> Self {
        let end = offset.saturating_add(limit);
        Self { offset, end, max_bytes, kept: Vec::new(), full: false, seen: 0, state: State::Before, high: None }
    }

    /// Takes the next piece of a string, its quotes included, that is known to be JSON.
    pub(super) fn extend(&mut self, mut piece: &[u8]) {
        while let Some((&byte, rest)) = piece.split_first() {
            match self.state {
                State::Plain => {
                    let plain = memchr2(b'"', b'\\', piece).unwrap_or(piece.len());
                    if plain > 0 {
                        self.unpaired();
                        self.push(&piece[..plain]);
                    }
                    let Some(&end) = piece.get(plain) else { return };
                    self.state = if end == b'"' { State::After } else { State::Escape };
                    piece = &piece[plain + 1..];
                    continue;
                }
                State::Before => self.state = State::Plain,
                State::Escape if byte == b'u' => self.state = State::Hex { left: 4, value: 0 },
                State::Escape => {
                    self.state = State::Plain;
                    self.unpaired();
                    self.push(match byte {
                        b'b' => b"\x08",
                        b'f' => b"\x0C",
                        b'n' => b"\n",
                        b'r' => b"\r",
                        b't' => b"\t",
                        _ => std::slice::from_ref(&byte),
                    });
                }
                State::Hex { left, value } => {
                    let value = value * 16 + char::from(byte).to_digit(16).unwrap_or(0);
                    self.state = State::Hex { left: left - 1, value };
                    if left == 1 {
                        self.state = State::Plain;
                        self.unit(value);
                    }
                }
                State::After => return,
            }
            piece = rest;
        }
    }

    /// An escaped UTF-16 unit.
    fn unit(&mut self, unit: u32) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => self.character(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)),
            (high, 0xD800..=0xDBFF) => {
                if high.is_some() {
                    self.character(0xFFFD);
                }
                self.high = Some(unit);
            }
            (high, unit) => {
                if high.is_some() {
                    self.character(0xFFFD);
                }
                self.character(unit);
            }
        }
    }

    fn unpaired(&mut self) {
        if self.high.take().is_some() {
            self.character(0xFFFD);
        }
    }

    fn character(&mut self, value: u32) {
        let mut bytes = [0; 4];
        let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.push(character.encode_utf8(&mut bytes).as_bytes());
    }

    fn push(&mut self, text: &[u8]) {
        if self.full || self.seen > self.end {
            self.seen += text.iter().filter(|byte| is_start(**byte)).count() as u64;
            return;
        }
        for &byte in text {
            if is_start(byte) {
                self.seen += 1;
                // Whole characters: the longest one must fit.
                self.full |= self.seen > self.offset && self.kept.len() + 4 > self.max_bytes;
            }
            if !self.full && self.seen > self.offset && self.seen <= self.end {
                self.kept.push(byte);
            }
        }
    }

    /// How many there are, and those of the window, unless they are no UTF-8.
    pub(super) fn finish(mut self) -> (u64, Option<String>) {
        self.unpaired();
        (self.seen, String::from_utf8(self.kept).ok())
    }
}

/// A key between its quotes, decoded.
pub(super) fn decoded(raw: &[u8]) -> String {
    let mut characters = Characters::new(0, u64::MAX, usize::MAX);
    characters.extend(b"\"");
    characters.extend(raw);
    // Cut in a character or an escape: what is whole of it.
    let (_, text) = characters.finish_lossy();
    text
}

impl Characters {
    fn finish_lossy(mut self) -> (u64, String) {
        self.unpaired();
        (self.seen, String::from_utf8_lossy(&self.kept).into_owned())
    }
}
