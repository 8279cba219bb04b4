//! JSON as a tree in memory: how large it will be, before it is made.

use std::borrow::Cow;
use std::io::{self, Write};

use memchr::memchr;
use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::sketch::scan::{Listener, Scalar, Scanner};
use crate::window::JsonType;

/// What a tree may take of the memory, as far as that can be told from the text.
const MAX_MEMORY: u64 = 512 * 1024 * 1024;
/// What an object takes with its first members, for they come by fours; and each of more members, half of the time in
/// vain. The same of arrays.
const OBJECT: (u64, u64) = (480, 160);
const ARRAY: (u64, u64) = (288, 110);
/// Deeper trees could overflow a stack.
const MAX_DEPTH: u64 = 127;

/// How large one value is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tree {
    /// Values in it, itself included.
    pub(super) nodes: u64,
    /// Of arrays and objects.
    pub(super) depth: u64,
    /// In bytes, about; without the texts.
    pub(super) memory: u64,
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) values: u64,
    pub(super) largest: Tree,
    now: Tree,
    /// Of each array or object that is open: how much it and its items take, and how many there are.
    open: Vec<((u64, u64), u64)>,
    depth: u64,
}

impl Shape {
    fn node(&mut self) {
        if self.depth == 0 {
            self.now = Tree::default();
        }
        self.now.nodes += 1;
        if let Some(((first, more), items)) = self.open.last_mut() {
            *items += 1;
            self.now.memory += match *items {
                1 => *first,
                2..=4 => 0,
                _ => *more,
            };
        }
        self.largest.nodes = self.largest.nodes.max(self.now.nodes);
        self.largest.memory = self.largest.memory.max(self.now.memory);
    }

    fn begin(&mut self, size: (u64, u64)) {
        self.node();
        self.depth += 1;
        // Deeper ones are refused.
        if self.depth <= MAX_DEPTH {
            self.open.push((size, 0));
        }
        self.largest.depth = self.largest.depth.max(self.depth);
    }
}

impl Listener for Shape {
    fn scalar(&mut self, _: Scalar) {
        self.node();
    }

    fn begin_object(&mut self) {
        self.begin(OBJECT);
    }

    fn begin_array(&mut self) {
        self.begin(ARRAY);
    }

    fn end(&mut self) {
        if self.depth <= MAX_DEPTH {
            self.open.pop();
        }
        self.depth -= 1;
    }

    fn wants_key(&self) -> bool {
        false
    }

    fn key(&mut self, _: &[u8], _: bool) {}
}

/// Checks a text and measures it. FS_NOT_TEXT: no JSON; FS_TOO_LARGE: a tree of it would be.
pub(super) fn measure(text: &[u8], path: &HarnessPath) -> Result<Shape> {
    let (mut scanner, mut shape) = (Scanner::default(), Shape::default());
    let fits = scanner.update(text, &mut shape);
    let position = scanner.position();
    let values = if fits { scanner.finish(&mut shape) } else { None };
    let Some(values) = values else {
        let text = if fits {
            format!("{path} is not JSON: it is empty, or ends within a value. Read it as text.")
        } else {
            format!("{path} is not JSON: byte {position} does not fit. Read it as text.")
        };
        return Err(Error::at(Code::NotText, path, text));
    };
    shape.values = values;
    let Tree { nodes, depth, memory } = shape.largest;
    let too_large = if memory + text.len() as u64 > MAX_MEMORY {
        format!("{path} holds {nodes} JSON values, which is more than a query can have in memory.")
    } else if depth > MAX_DEPTH {
        format!("{path} is nested {depth} levels deep; a query takes at most {MAX_DEPTH}.")
    } else {
        return Ok(shape);
    };
    Err(Error::at(Code::TooLarge, path, format!("{too_large} Read it with a pointer.")))
}

/// Makes the tree of a text that was measured.
pub(super) fn parse(text: &[u8], path: &HarnessPath) -> Result<Value> {
    serde_json::from_slice(text)
        // Half a surrogate pair, which JSON may hold and a string of ours may not.
        .or_else(|_| serde_json::from_slice(&paired(text)))
        .map_err(|error| {
            // Measured before, it is JSON by its signs: either not UTF-8, or with a number that no type holds.
            let text = format!("{path} cannot be queried: {error}. Read it with a pointer, or as text.");
            Error::at(Code::NotText, path, text)
        })
}

/// With U+FFFD for escaped surrogates that stand alone.
fn paired(text: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &text[at..]) {
        let escape = at + found;
        out.extend_from_slice(&text[at..escape]);
        let length = match (unit(text, escape), unit(text, escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.extend_from_slice(b"\\ufffd");
                at = escape + 6;
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        at = (escape + length).min(text.len());
        out.extend_from_slice(&text[escape..at]);
    }
    out.extend_from_slice(&text[at..]);
    out.into()
}

/// The UTF-16 unit that is escaped at `at`.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

pub(super) fn kind(value: &Value) -> JsonType {
    match value {
        Value::Object(_) => JsonType::Object,
        Value::Array(_) => JsonType::Array,
        Value::String(_) => JsonType::String,
        Value::Number(_) => JsonType::Number,
        Value::Bool(_) => JsonType::Boolean,
        Value::Null => JsonType::Null,
    }
}

/// How long the compact JSON of a value is, and the JSON itself up to a limit.
pub(super) fn compact(value: &Value, limit: usize) -> (u64, Option<String>) {
    struct Capped {
        kept: Vec<u8>,
        limit: usize,
        bytes: u64,
    }
    impl Write for Capped {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.bytes += piece.len() as u64;
            if self.bytes <= self.limit as u64 {
                self.kept.extend_from_slice(piece);
            }
            Ok(piece.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut capped = Capped { kept: Vec::new(), limit, bytes: 0 };
    let written = serde_json::to_writer(&mut capped, value).is_ok();
    let json = (written && capped.bytes <= limit as u64).then_some(capped.kept);
    (capped.bytes, json.and_then(|json| String::from_utf8(json).ok()))
}
