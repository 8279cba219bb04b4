//! The bounded unified diff that an event carries.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use similar::algorithms::{DiffHook, myers};

use crate::digest::Digest;
use crate::edit::{Replacement, hunks};

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
    let whole = hunks::unified(path, before, &changes(before, after), usize::MAX).0;
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

/// Whole lines that differ. By numbers that stand for the lines, and by one of the crate's algorithms: its comparison of
/// texts brings them all along, for many kinds of text, which is most of a MB of code.
fn changes<'a>(before: &str, after: &'a str) -> Vec<Replacement<'a>> {
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len();
        *numbers.entry(line).or_insert(next)
    };
    let (old, new) = (hunks::lines(before), hunks::lines(after));
    let old_numbers: Vec<usize> = old.iter().map(|line| number(*line)).collect();
    let new_numbers: Vec<usize> = new.iter().map(|line| number(*line)).collect();
    let mut found = Changes { found: Vec::new() };
    let deadline = Instant::now().checked_add(DEADLINE);
    let all = (0..old_numbers.len(), 0..new_numbers.len());
    // What it tells cannot fail.
    let _ = myers::diff_deadline(&mut found, &old_numbers, all.0, &new_numbers, all.1, deadline);
    let (old, new) = (starts(&old), starts(&new));
    let replacement = |change: &Change| {
        let text = &after[new[change.new.start]..new[change.new.end]];
        Replacement::of_lines(old[change.old.start], old[change.old.end], text)
    };
    found.found.iter().map(replacement).collect()
}

/// Where each line starts, and where the last one ends.
fn starts(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let ends = lines.iter().map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(ends).collect()
}

#[derive(Debug)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// Hears what differs, in order.
struct Changes {
    found: Vec<Change>,
}

impl Changes {
    fn push(&mut self, old: Range<usize>, new: Range<usize>) {
        match self.found.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                (last.old.end, last.new.end) = (old.end, new.end);
            }
            _ => self.found.push(Change { old, new }),
        }
    }
}

impl DiffHook for Changes {
    type Error = Infallible;

    fn delete(&mut self, old: usize, length: usize, new: usize) -> Result<(), Infallible> {
        self.push(old..old + length, new..new);
        Ok(())
    }

    fn insert(&mut self, old: usize, new: usize, length: usize) -> Result<(), Infallible> {
        self.push(old..old, new..new + length);
        Ok(())
    }
}

fn text(content: &[u8]) -> Option<&str> {
    if content.contains(&0) { None } else { std::str::from_utf8(content).ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit::tests::{lines, patched};

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

    proptest! {
        #[test]
        fn what_it_says_leads_from_one_to_the_other(before in "([a-c]\n){0,20}[a-c]?", after in "([a-c]\n){0,20}[a-c]?") {
            let replacements = changes(&before, &after);
            let (diff, cut) = hunks::unified("/session/a", &before, &replacements, usize::MAX);
            prop_assert_eq!(patched(&lines(&before), &diff), lines(&after), "{}", diff);
            prop_assert!(!cut);
        }
    }
}
