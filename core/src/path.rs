//! The grammar of harness paths (DESIGN, section 3). Pure text: nothing here looks at a disk.

use std::fmt;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::error::{Code, Error, Reason, Result};
use crate::names::is_device;

/// Longest segment, in bytes of its NFC form.
pub const MAX_SEGMENT_BYTES: usize = 255;
/// Longest path, in bytes of its NFC form.
pub const MAX_PATH_BYTES: usize = 4_096;
/// Most segments, the root's own included.
pub const MAX_DEPTH: usize = 128;

/// A folder that the library manages and a writer may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// `/artifacts`: outputs that a host may look at.
    Artifacts,
    /// `/persistent`: directories backed by the developer's storage.
    Persistent,
    /// `/session`: the session's private workspace.
    Session,
}

impl Root {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 3] = [Self::Artifacts, Self::Persistent, Self::Session];

    /// The first segment of its paths, and its folder's name on disk.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Artifacts => "artifacts",
            Self::Persistent => "persistent",
            Self::Session => "session",
        }
    }

    fn of(segment: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|root| root.name() == segment)
    }
}

/// What a path is for. A trailing slash means a folder: fine for list and remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Makes or replaces a file.
    Write,
    /// Reads a file's bytes.
    Read,
    /// Describes what is there.
    Stat,
    /// Lists a folder.
    List,
    /// Takes something away.
    Remove,
}

/// A path that passed the grammar and lies in a managed root. The segments are as the caller spelled them, neither
/// empty nor `.` nor `..`; the disk decides between them and their NFC form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessPath {
    /// Where it lies.
    pub root: Root,
    /// Below the root; empty for the root itself.
    pub segments: Vec<String>,
}

impl fmt::Display for HarnessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.root.name())?;
        self.segments.iter().try_for_each(|segment| write!(f, "/{segment}"))
    }
}

impl HarnessPath {
    /// Reads `text` in the order that DESIGN gives, each refusal in its own words.
    pub fn parse(text: &str, purpose: Use) -> Result<Self> {
        let invalid = |what: &str| Error::at(Code::InvalidPath, shown(text), format!("{what}: {}", shown(text)));
        if !text.starts_with('/') {
            return Err(invalid("Harness paths must be absolute, like /session/notes.md"));
        }
        if text.chars().any(char::is_control) {
            return Err(invalid("A path holds no NUL or control characters"));
        }
        if text.contains('\\') {
            return Err(invalid("A path has no backslashes; segments are split by /"));
        }
        if text.split('/').any(|segment| segment == "..") {
            return Err(invalid("A path has no traversal segments (..): they are refused"));
        }
        if cfg!(windows)
            && let Some(what) = text.split('/').find_map(windows_refusal)
        {
            return Err(invalid(what));
        }
        let segments: Vec<&str> = text.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
        Self::check_sizes(&segments).map_err(|what| invalid(&what))?;
        if matches!(purpose, Use::Write | Use::Read) && text.ends_with('/') && !segments.is_empty() {
            return Err(invalid("A file's path does not end with a slash"));
        }
        let Some((root, below)) = segments.split_first().and_then(|(first, rest)| Some((Root::of(first)?, rest)))
        else {
            return Err(outside_roots(text));
        };
        Ok(Self { root, segments: below.iter().map(|&segment| segment.to_owned()).collect() })
    }

    fn check_sizes(segments: &[&str]) -> std::result::Result<(), String> {
        let mut total = 0;
        for segment in segments {
            let bytes = nfc_bytes(segment);
            if bytes > MAX_SEGMENT_BYTES {
                return Err(format!("A segment has {bytes} bytes; at most {MAX_SEGMENT_BYTES} are accepted"));
            }
            total += 1 + bytes;
        }
        if total > MAX_PATH_BYTES {
            return Err(format!("The path has {total} bytes; at most {MAX_PATH_BYTES} are accepted"));
        }
        if segments.len() > MAX_DEPTH {
            return Err(format!("The path has {} segments; at most {MAX_DEPTH} are accepted", segments.len()));
        }
        Ok(())
    }

    /// One more segment, as found on the disk.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let mut segments = self.segments.clone();
        segments.push(name.to_owned());
        Self { root: self.root, segments }
    }
}

/// Whether a name on the disk is one that a path could hold. Others are left out of listings.
#[must_use]
pub fn is_valid_name(name: &str) -> bool {
    let refused = matches!(name, "" | "." | "..")
        || nfc_bytes(name) > MAX_SEGMENT_BYTES
        || name.chars().any(|c| c.is_control() || c == '/' || c == '\\')
        || (cfg!(windows) && windows_refusal(name).is_some());
    !refused
}

/// The NFC form, if it differs.
#[must_use]
pub fn to_nfc(segment: &str) -> Option<String> {
    (!is_nfc(segment)).then(|| segment.nfc().collect())
}

fn nfc_bytes(segment: &str) -> usize {
    if segment.is_ascii() { segment.len() } else { segment.nfc().map(char::len_utf8).sum() }
}

fn outside_roots(text: &str) -> Error {
    let message = format!(
        "{} is outside the managed roots. A path must be inside a managed root: /session, /artifacts or /persistent.",
        shown(text)
    );
    Error::denied(Reason::OutsideRoots, shown(text), message)
}

/// A refused path as an error may show it: without control characters (they could steer a terminal), cut at 512 bytes.
fn shown(text: &str) -> String {
    const LIMIT: usize = 512;
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        if out.len() > LIMIT {
            out.push('…');
            break;
        }
    }
    if out.is_empty() { "(empty)".to_owned() } else { out }
}

/// What Windows cannot store as a name. Built there only, and not tested there yet.
fn windows_refusal(name: &str) -> Option<&'static str> {
    if name.contains(':') {
        return Some("A name holds no colon on Windows");
    }
    if name != "." && (name.ends_with('.') || name.ends_with(' ')) {
        return Some("A name does not end with a dot or a space on Windows");
    }
    is_device(name).then_some("A device's name is no file name on Windows")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_names() {
        for name in ["CON", "con.txt", "Nul", "COM5", "lpt1.log", "a:b", "x.", "x ", "aux .txt"] {
            assert!(windows_refusal(name).is_some(), "{name}");
        }
        for name in ["CONSOLE", "COM", "COM10", "a.b", "nullify", ".x", "com"] {
            assert!(windows_refusal(name).is_none(), "{name}");
        }
    }

    #[test]
    fn each_refusal_in_its_own_words() {
        let table = [
            ("session/a", "absolute"),
            ("/session/a\u{0}", "control"),
            ("/session/a\u{85}", "control"),
            ("/session\\a", "backslash"),
            ("/session/../a", "raversal"),
            ("/session/a/", "slash"),
            ("/etc/passwd", "managed root"),
            ("", "absolute"),
        ];
        for (path, word) in table {
            let error = HarnessPath::parse(path, Use::Write).expect_err(path);
            assert!(error.message.contains(word), "{path}: {}", error.message);
        }
    }

    #[test]
    fn sizes_are_measured_after_nfc() {
        // 127 × "e + combining accent" is 381 bytes as spelled and 254 in NFC.
        let name = "e\u{301}".repeat(127);
        assert!(HarnessPath::parse(&format!("/session/{name}"), Use::Write).is_ok());
        assert!(HarnessPath::parse(&format!("/session/{name}e\u{301}"), Use::Write).is_err());
    }

    #[test]
    fn an_error_never_carries_a_control_character() {
        let error = HarnessPath::parse("/session/\u{1b}[31m", Use::Read).expect_err("control");
        assert!(!error.to_string().chars().any(char::is_control));
    }

    proptest! {
        #[test]
        fn what_passes_is_canonical(text in "[/.a-z\\\\\u{0}\u{301}éß🦀]{0,40}", under in any::<bool>()) {
            let text = if under { format!("/session/{text}") } else { text };
            if let Ok(path) = HarnessPath::parse(&text, Use::Read) {
                let again = HarnessPath::parse(&path.to_string(), Use::Read).expect("canonical");
                prop_assert_eq!(&again, &path);
                for segment in &path.segments {
                    prop_assert!(is_valid_name(segment));
                }
            }
        }
    }
}
