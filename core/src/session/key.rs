//! Session ids, and the folder names made from them: whatever an id says, its folder is one plain name that no other
//! id has (STORAGE, "Layout").

use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::names::is_device;

/// Longest id, in bytes.
pub const MAX_ID_BYTES: usize = 1_024;
/// Longest id that is its own folder name.
const MAX_PLAIN_BYTES: usize = 64;

/// The folder name of a session.
pub fn key_of(id: &str) -> Result<String> {
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        let text = format!("A session id has 1 to {MAX_ID_BYTES} bytes; this one has {}", id.len());
        return Err(Error::new(Code::InvalidOption, text));
    }
    if is_plain(id) { Ok(id.to_owned()) } else { Ok(format!("s_{}", Digest::of(id.as_bytes()))) }
}

fn is_plain(id: &str) -> bool {
    id.len() <= MAX_PLAIN_BYTES
        && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
        && !id.bytes().all(|byte| byte == b'.')
        && !id.ends_with('.')
        && !id.starts_with("s_")
        // Windows has them as devices, and a `dataDir` can move there.
        && !is_device(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_ids_are_their_own_key() {
        for id in ["a", "chat-1", "user_7.session", "..a", "0"] {
            assert_eq!(key_of(id).expect(id), id);
        }
    }

    #[test]
    fn others_are_hashed() {
        let long = "a".repeat(65);
        for id in [
            ".",
            "..",
            "...",
            "a.",
            "A",
            "a/b",
            "../x",
            "con",
            "nul.txt",
            "com1",
            "s_x",
            "é",
            " ",
            "a\0b",
            long.as_str(),
        ] {
            let key = key_of(id).expect("accepted");
            assert!(key.starts_with("s_") && key.len() == 66, "{id}: {key}");
        }
    }

    #[test]
    fn bounds() {
        assert!(key_of("").is_err());
        assert!(key_of(&"x".repeat(1_024)).is_ok());
        assert!(key_of(&"x".repeat(1_025)).is_err());
    }

    proptest! {
        #[test]
        fn one_key_one_id(a in "[a-cA-C./_s]{1,4}", b in "[a-cA-C./_s]{1,4}") {
            prop_assert_eq!(key_of(&a).expect("a") == key_of(&b).expect("b"), a == b);
            let key = key_of(&a).expect("a");
            prop_assert!(!key.contains('/') && key != "." && key != "..");
        }
    }
}
