//! Measuring text as it streams by: characters, lines, its beginning, and whether it is JSON and of what shape.
//!
//! Bytes that are not UTF-8 count as a decoder would show them: one replacement character for each broken sequence.

use crate::sketch::{Sketch, SketchBuilder};

/// A text's measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What it is.
    pub format: Format,
    /// Code points.
    pub characters: u64,
    /// Ended by LF, CR or CRLF; a final line end adds none.
    pub lines: u64,
    /// Its first bytes, whole characters.
    pub preview: String,
    /// Of JSON and NDJSON.
    pub structure: Option<Sketch>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nothing in particular.
    Text,
    /// One JSON value.
    Json,
    /// JSON values, each on a line of its own.
    Ndjson,
}

impl Format {
    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
        }
    }
}

/// Measures what it is given, piece by piece, in constant memory.
#[derive(Debug)]
pub struct Measure {
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
    characters: u64,
    line_ends: u64,
    last: Option<u8>,
    preview: String,
    preview_bytes: usize,
    preview_full: bool,
    sketch: Option<SketchBuilder>,
}

impl Measure {
    /// `preview_bytes`: the most that the preview has.
    #[must_use]
    pub fn new(preview_bytes: usize) -> Self {
        Self {
            partial: Vec::new(),
            characters: 0,
            line_ends: 0,
            last: None,
            preview: String::new(),
            preview_bytes,
            preview_full: false,
            sketch: Some(SketchBuilder::default()),
        }
    }

    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.count_lines(piece);
        if let Some(sketch) = &mut self.sketch
            && !sketch.update(piece)
        {
            self.sketch = None; // no JSON
        }
        if self.partial.is_empty() {
            self.count(piece);
        } else {
            let joined = [self.partial.as_slice(), piece].concat();
            self.partial.clear();
            self.count(&joined);
        }
    }

    /// The measures of all that came.
    #[must_use]
    pub fn finish(mut self) -> Measured {
        if !self.partial.is_empty() {
            self.partial.clear();
            self.broken();
        }
        let unfinished = self.last.is_some_and(|last| !matches!(last, b'\n' | b'\r'));
        let (format, structure) = match self.sketch.and_then(SketchBuilder::finish) {
            Some((sketch, false)) => (Format::Json, Some(sketch)),
            Some((sketch, true)) => (Format::Ndjson, Some(sketch)),
            None => (Format::Text, None),
        };
        let lines = self.line_ends + u64::from(unfinished);
        Measured { format, characters: self.characters, lines, preview: self.preview, structure }
    }

    fn count_lines(&mut self, piece: &[u8]) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { return };
        // The LF of a CRLF that a piece's end has parted was counted with its CR.
        let parted = self.last == Some(b'\r') && *first == b'\n';
        let newlines = count_byte(piece, b'\n');
        let returns = count_byte(piece, b'\r');
        let pairs = if returns == 0 { 0 } else { piece.windows(2).filter(|pair| pair == b"\r\n").count() as u64 };
        self.line_ends += newlines + returns - pairs - u64::from(parted);
        self.last = Some(*last);
    }

    fn count(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (valid, broken) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => {
                    let (valid, _) = bytes.split_at(error.valid_up_to());
                    (std::str::from_utf8(valid).unwrap_or_default(), Some(error.error_len()))
                }
            };
            self.characters += count_starts(valid.as_bytes());
            self.extend_preview(valid);
            bytes = &bytes[valid.len()..];
            match broken {
                None => return,
                Some(Some(length)) => {
                    self.broken();
                    bytes = &bytes[length..];
                }
                Some(None) => {
                    self.partial = bytes.to_vec();
                    return;
                }
            }
        }
    }

    fn broken(&mut self) {
        self.characters += 1;
        self.extend_preview("\u{FFFD}");
    }

    fn extend_preview(&mut self, text: &str) {
        if self.preview_full {
            return;
        }
        let room = self.preview_bytes - self.preview.len();
        let cut = text.floor_char_boundary(room);
        self.preview.push_str(&text[..cut]);
        self.preview_full = cut < text.len();
    }
}

/// Both loops are simple enough for the compiler to turn them into vector instructions.
fn count_byte(bytes: &[u8], wanted: u8) -> u64 {
    bytes.chunks(128).map(|chunk| u64::from(chunk.iter().map(|byte| u8::from(*byte == wanted)).sum::<u8>())).sum()
}

fn count_starts(bytes: &[u8]) -> u64 {
    let is_start = |byte: &u8| u8::from(byte & 0b1100_0000 != 0b1000_0000);
    bytes.chunks(128).map(|chunk| u64::from(chunk.iter().map(is_start).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn measure(bytes: &[u8], pieces: usize) -> Measured {
        let mut measure = Measure::new(16);
        bytes.chunks(pieces.max(1)).for_each(|piece| measure.update(piece));
        measure.finish()
    }

    /// As plainly as it can be said.
    fn plain(bytes: &[u8]) -> (u64, u64, String) {
        let text = String::from_utf8_lossy(bytes);
        let unix = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines = unix.strip_suffix('\n').unwrap_or(&unix).split('\n').count() - usize::from(unix.is_empty());
        let preview = text[..text.floor_char_boundary(16)].to_owned();
        (text.chars().count() as u64, lines as u64, preview)
    }

    #[test]
    fn line_ends() {
        for (text, lines) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("\n", 1),
            ("a\r\nb", 2),
            ("a\rb", 2),
            ("a\n\n", 2),
            ("\r\n\r\n", 2),
            ("a\n\rb", 3),
        ] {
            for pieces in 1..4 {
                assert_eq!(measure(text.as_bytes(), pieces).lines, lines, "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn as_a_plain_reader_counts(parts in prop::collection::vec(prop_oneof![
            Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec()), Just("🦀é".as_bytes().to_vec()), Just(b"ab".to_vec()),
            Just(vec![0xF0, 0x9F]), Just(vec![0xFF]), Just(vec![0xC3]), Just(vec![0xED, 0xA0, 0x80]), any::<[u8; 3]>().prop_map(Vec::from),
        ], 0..30), pieces in 1_usize..9) {
            let bytes = parts.concat();
            let measured = measure(&bytes, pieces);
            prop_assert_eq!((measured.characters, measured.lines, measured.preview), plain(&bytes));
        }
    }
}
