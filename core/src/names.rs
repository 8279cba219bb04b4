//! Names that the library makes from names that others chose: one plain name everywhere, and one for each.

use crate::digest::Digest;

/// What is kept of a name beside its digest, in bytes.
const KEPT: usize = 40;

/// `name` itself where it is portable and has at most `max` bytes (at least 80), else the like of it with a digest.
/// Names that differ give names that differ.
#[must_use]
pub fn portable(name: &str, max: usize) -> String {
    if is_portable(name) && name.len() <= max {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let kept: String = name.chars().map(plain).take(KEPT).collect();
    // A tilde is in no portable name, so none can be equal to this.
    format!("{kept}~{}", &Digest::of(name.as_bytes()).to_string()[..32])
}

fn is_portable(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !is_device(name)
}

/// Whether Windows gives the name to a device, with whatever extension.
pub(crate) fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    // The superscript digits count there as well.
    numbered.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']) || matches!(number, "¹" | "²" | "³"))
        || matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_names_stay() {
        for name in ["query-accounts", "call_AbC123", "toolu_01.x", "9"] {
            assert_eq!(portable(name, 96), name);
        }
    }

    #[test]
    fn others_are_made_portable() {
        let long = "A".repeat(1_400);
        for name in ["../../x", "", ".", "CON", "nul.txt", "a/b", "a?b", "a:b", "a.", ".x", long.as_str(), "é"] {
            let made = portable(name, 96);
            assert!(
                made.len() <= 73 && made.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_~".contains(&b)),
                "{name}: {made}"
            );
        }
        assert_ne!(portable("a/b", 96), portable("a?b", 96));
    }

    proptest! {
        #[test]
        fn injective(a in "[a-b/._~]{0,4}", b in "[a-b/._~]{0,4}") {
            prop_assert_eq!(portable(&a, 96) == portable(&b, 96), a == b);
        }
    }
}
