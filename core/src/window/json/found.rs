//! Where following a pointer has led.

use super::pointer::Pointer;
use super::{JsonItem, JsonType};
use crate::error::{Code, Error};
use crate::path::HarnessPath;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: JsonType,
    pub(super) total: u64,
    pub(super) items: Vec<JsonItem>,
    pub(super) text: Option<String>,
}

/// How far the pointer was followed.
#[derive(Debug)]
pub(super) enum Stage {
    /// In the object or array that the first `level` tokens name.
    Seeking,
    /// In what the whole pointer names.
    Inside(Found),
    Done(Found),
    /// The first `level` tokens name something that has no such item.
    Missing {
        level: usize,
        kind: JsonType,
        count: u64,
        keys: Vec<String>,
    },
}

/// A key as an error names it: in quotes where it could be taken for something else.
pub(super) fn named(key: String) -> String {
    let plain = !key.is_empty() && !key.contains(|c: char| c.is_control() || c.is_whitespace() || ",\"".contains(c));
    if plain { key } else { serde_json::to_string(&key).unwrap_or(key) }
}

impl Stage {
    /// FS_NOT_FOUND, with how far it leads.
    pub(super) fn names_nothing(&self, path: &HarnessPath, pointer: &Pointer) -> Error {
        let (level, kind, count, keys) = match self {
            Self::Missing { level, kind, count, keys } => (*level, *kind, *count, keys.as_slice()),
            _ => (0, JsonType::Null, 0, [].as_slice()),
        };
        let there = pointer.first(level);
        let there = if there.is_empty() { "the whole" } else { there };
        let what = match kind {
            JsonType::Array => format!("an array of {count} items, from 0"),
            JsonType::Ndjson => format!("{count} lines of JSON, from 0"),
            JsonType::Object if count > keys.len() as u64 => {
                format!("an object with {count} keys, such as {}", keys.join(", "))
            }
            JsonType::Object if count == 0 => "an empty object".to_owned(),
            JsonType::Object => format!("an object with the keys {}", keys.join(", ")),
            other => format!("a {}, which has no items", other.as_str()),
        };
        let wanted: String = pointer.text.chars().take(300).collect();
        Error::at(Code::NotFound, path, format!("{wanted} names nothing in {path} (ENOENT): {there} is {what}."))
    }
}
