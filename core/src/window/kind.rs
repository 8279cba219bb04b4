//! What a file is, by its first bytes: text, a picture that a model may look at, or something else, with a name for it.

use crate::error::{Code, Error};
use crate::path::HarnessPath;

/// So many bytes are looked at.
pub(crate) const SNIFF_BYTES: usize = 8_192;

/// By the first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// UTF-8, as far as can be seen.
    Text,
    /// An image or a PDF: its media type.
    Media(&'static str),
    /// Anything else.
    Other(&'static str),
}

impl Content {
    /// `first`: the beginning of the file; `whole`: that is all of it.
    pub(crate) fn of(first: &[u8], whole: bool) -> Self {
        let whole = whole && first.len() <= SNIFF_BYTES;
        let first = &first[..first.len().min(SNIFF_BYTES)];
        if let Some(media) = media(first) {
            return Self::Media(media);
        }
        match first {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Self::Other("UTF-32 text"),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => return Self::Other("UTF-16 text"),
            _ => {}
        }
        if memchr::memchr(0, first).is_some() {
            return Self::Other(zeros(first));
        }
        match std::str::from_utf8(first) {
            Ok(_) => Self::Text,
            // The end of what was looked at parts a character.
            Err(error) if error.error_len().is_none() && !whole => Self::Text,
            Err(_) => Self::Other(legacy(first)),
        }
    }
}

fn media(first: &[u8]) -> Option<&'static str> {
    match first {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

/// Something with NUL bytes: every other one of them is how UTF-16 without a BOM looks.
fn zeros(first: &[u8]) -> &'static str {
    let zeros_at = |odd: usize| first.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros_at(0), zeros_at(1));
    let most = first.len() / 2 * 7 / 10;
    if first.len() >= 4 && even.max(odd) > most && even.min(odd) == 0 {
        return "UTF-16 text without a BOM";
    }
    "binary (it has NUL bytes)"
}

/// Not UTF-8, without NUL bytes: control characters are rare in a text of whatever encoding.
fn legacy(first: &[u8]) -> &'static str {
    let control = first.iter().filter(|byte| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)).count();
    if control * 50 > first.len() {
        return "binary (it is no UTF-8)";
    }
    "text in another encoding than UTF-8, perhaps Latin-1 or Windows-1252"
}

/// FS_NOT_TEXT, with what the file is instead.
pub(crate) fn not_text(path: &HarnessPath, what: &str) -> Error {
    let text = format!("{path} is not UTF-8 text: it is {what}. Only text can be read or edited here.");
    Error::at(Code::NotText, path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_first_bytes() {
        let utf16: Vec<u8> = "hello there".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let with_bom = [[0xFF, 0xFE].as_slice(), &utf16].concat();
        let late = [vec![b'a'; SNIFF_BYTES], vec![0, 0xFF]].concat();
        let table: [(&[u8], Content); 11] = [
            (b"", Content::Text),
            ("é🦀\n".as_bytes(), Content::Text),
            (b"\xEF\xBB\xBFa", Content::Text),
            (&late, Content::Text),
            (b"caf\xE9 au lait, s'il vous pla\xEEt", Content::Other(legacy(b""))),
            (b"a\0b", Content::Other("binary (it has NUL bytes)")),
            (&utf16, Content::Other("UTF-16 text without a BOM")),
            (&with_bom, Content::Other("UTF-16 text")),
            (b"\x01\x02\xFF\x03\x04", Content::Other("binary (it is no UTF-8)")),
            (b"\x89PNG\r\n\x1A\n\0\0", Content::Media("image/png")),
            (b"%PDF-1.7\n", Content::Media("application/pdf")),
        ];
        for (bytes, expected) in table {
            assert_eq!(Content::of(bytes, true), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_parted_character_is_text_unless_the_file_ends_there() {
        assert_eq!(Content::of(&[b'a', 0xF0, 0x9F], false), Content::Text);
        assert_ne!(Content::of(&[b'a', 0xF0, 0x9F], true), Content::Text);
        let long = "é".repeat(SNIFF_BYTES);
        assert_eq!(Content::of(&long.as_bytes()[..=SNIFF_BYTES], false), Content::Text);
        let odd = format!("a{long}");
        assert_eq!(Content::of(odd.as_bytes(), true), Content::Text, "cut here, not by the file");
    }
}
