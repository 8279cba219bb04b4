//! The bounded unified diff that an event carries.

use std::time::Duration;

use serde_json::{Value, json};
use similar::TextDiff;

use crate::digest::Digest;

/// Either side above this has no diff.
pub(crate) const MAX_CONTENT_BYTES: u64 = 256 * 1024;
/// What an event shows of it.
const MAX_PREVIEW_BYTES: usize = 8 * 1024;
/// After this the rest is given as one change: right, only not the shortest.
const DEADLINE: Duration = Duration::from_millis(50);

/// Why an event has no diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoDiff {
    Disabled,
    NonText,
    TooLarge,
    Redacted,
    ContentUnavailable,
}

impl From<NoDiff> for Value {
    fn from(reason: NoDiff) -> Self {
        let reason = match reason {
            NoDiff::Disabled => "disabled",
            NoDiff::NonText => "non_text",
            NoDiff::TooLarge => "too_large",
            NoDiff::Redacted => "redacted",
            NoDiff::ContentUnavailable => "content_unavailable",
        };
        json!({ "available": false, "reason": reason })
    }
}

/// Of the content before (empty for a new file) and after.
pub(crate) fn unified(path: &str, before: &[u8], after: &[u8]) -> Value {
    let (Some(before), Some(after)) = (text(before), text(after)) else { return NoDiff::NonText.into() };
    let diff = TextDiff::configure().timeout(DEADLINE).diff_lines(before, after);
    let whole = diff.unified_diff().context_radius(3).header(path, path).to_string();
    let preview = &whole[..whole.floor_char_boundary(MAX_PREVIEW_BYTES)];
    json!({
        "available": true,
        "format": "unified",
        "preview": preview,
        "truncated": preview.len() < whole.len(),
        "bytes": whole.len(),
        "sha256": Digest::of(whole.as_bytes()).to_string(),
    })
}

fn text(content: &[u8]) -> Option<&str> {
    if content.contains(&0) { None } else { std::str::from_utf8(content).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_their_true_places() {
        let before = (0..50).map(|n| n.to_string() + "\n").collect::<String>();
        let diff = unified("/session/a", before.as_bytes(), before.replace("40\n", "x\n").as_bytes());
        let preview = diff["preview"].as_str().expect("text");
        assert!(preview.starts_with("--- /session/a\n+++ /session/a\n@@ -38,7 +38,7 @@\n"), "{preview}");
        assert!(preview.contains("-40\n+x\n"));
        assert_eq!(diff["truncated"], false);
    }

    #[test]
    fn bounded_and_on_whole_characters() {
        let after = "🦀".repeat(60_000);
        let diff = unified("/session/a", b"", after.as_bytes());
        assert!(diff["preview"].as_str().expect("text").len() <= MAX_PREVIEW_BYTES);
        assert_eq!(diff["truncated"], true);
    }

    #[test]
    fn bytes_have_none() {
        assert_eq!(unified("/session/a", b"", &[0, 1])["reason"], "non_text");
        assert_eq!(unified("/session/a", &[0xFF], b"a")["reason"], "non_text");
    }
}
