//! The unified diff of an edit, made from the places that changed: exact and fast however long the file is.

use memchr::{memchr2, memrchr2};

use super::matches::Replacement;
use crate::window::Ends;

/// Lines around a change.
const CONTEXT: usize = 3;

/// All lines, each with its end.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (line, after) = rest.split_at(line_length(rest));
        lines.push(line);
        rest = after;
    }
    lines
}

/// The line of a byte, from 1.
pub(super) fn line_of(text: &str, at: usize) -> u64 {
    line_of_bytes(text.as_bytes(), at)
}

/// The same in bytes.
pub(super) fn line_of_bytes(text: &[u8], at: usize) -> u64 {
    let before = Ends::of(&text[..at]).total();
    // Between the two bytes of a CRLF the line has not ended yet.
    let parted = at > 0 && text[at - 1] == b'\r' && text.get(at) == Some(&b'\n');
    before + 1 - u64::from(parted)
}

/// Whole lines that change, old and new.
struct Change {
    start: usize,
    end: usize,
    new: String,
}

/// Of all replacements; at most `limit` bytes, and whether that left some out.
pub(crate) fn unified(path: &str, text: &str, replacements: &[Replacement<'_>], limit: usize) -> (String, bool) {
    if limit == 0 {
        return (String::new(), true);
    }
    let mut out = format!("--- {path}\n+++ {path}\n");
    let mut changes = changes(text, replacements).peekable();
    let (mut counted, mut old_line, mut shift) = (0, 1_u64, 0_i64);
    while let Some(first) = changes.next() {
        let start = back(text, first.start, CONTEXT);
        let (mut end, mut hunk) = (forth(text, first.end, CONTEXT), Hunk::default());
        hunk.context(&text[start..first.start]);
        hunk.change(&text[first.start..first.end], &first.new);
        let mut last = first.end;
        // What is nearer than two contexts goes into the same hunk.
        while let Some(next) = changes.next_if(|next| back(text, next.start, CONTEXT) <= end) {
            hunk.context(&text[last..next.start]);
            hunk.change(&text[next.start..next.end], &next.new);
            (last, end) = (next.end, forth(text, next.end, CONTEXT));
            if hunk.text.len() > limit {
                break;
            }
        }
        hunk.context(&text[last..end]);
        old_line += Ends::of(&text.as_bytes()[counted..start]).total();
        counted = start;
        let new_line = old_line.saturating_add_signed(shift);
        // Where a side has no lines, the line before it is named.
        let at = |line: u64, count: u64| if count == 0 { line - 1 } else { line };
        let (old, new) = (hunk.old, hunk.new);
        let header = format!("@@ -{},{old} +{},{new} @@\n", at(old_line, old), at(new_line, new));
        shift += new.cast_signed() - old.cast_signed();
        let room = limit.saturating_sub(out.len());
        if header.len() + hunk.text.len() > room {
            if header.len() < room {
                let kept =
                    hunk.text[..hunk.text.floor_char_boundary(room - header.len())].rfind('\n').map_or(0, |at| at + 1);
                if kept > 0 {
                    out.push_str(&header);
                    out.push_str(&hunk.text[..kept]);
                }
            }
            return (out, true);
        }
        out.push_str(&header);
        out.push_str(&hunk.text);
    }
    (out, false)
}

/// Replacements as changes of whole lines; those on the same line are one.
fn changes<'a>(text: &'a str, replacements: &'a [Replacement<'a>]) -> impl Iterator<Item = Change> + 'a {
    let (mut rest, mut done) = (replacements.iter().peekable(), 0);
    std::iter::from_fn(move || {
        let first = rest.next()?;
        let mut start = back(text, first.start, 0);
        let mut new = text[start..first.start].to_owned() + &first.new;
        let mut at = first.end;
        let mut end = whole_line(text, at);
        while let Some(next) = rest.next_if(|next| next.start < end || next.start == at) {
            new.push_str(&text[at..next.start]);
            new.push_str(&next.new);
            at = next.end;
            end = whole_line(text, at);
        }
        new.push_str(&text[at..end]);
        if new.ends_with('\r') && text[end..].starts_with('\n') && rest.peek().is_none_or(|next| next.start > end) {
            new.push('\n');
            end += 1;
        }
        // An LF that comes after a CR makes one line end of two: the line before changes as well.
        if start > done && text[..start].ends_with('\r') && new.starts_with('\n') {
            let before = back(text, start - 1, 0).max(done);
            new.insert_str(0, &text[before..start]);
            start = before;
        }
        done = end;
        Some(trimmed(text, Change { start, end, new }))
    })
}

/// Without the whole lines at both ends that are the same.
fn trimmed(text: &str, mut change: Change) -> Change {
    let mut skip = 0;
    loop {
        let (old, new) = (&text[change.start + skip..change.end], &change.new[skip..]);
        let line = &old[..line_length(old)];
        if line.is_empty() || line != &new[..line_length(new)] {
            break;
        }
        skip += line.len();
    }
    change.start += skip;
    change.new.drain(..skip);
    loop {
        let (old, new) = (&text[change.start..change.end], change.new.as_str());
        let (one, other) = (last_line(old), last_line(new));
        if one.is_empty() || one != other {
            return change;
        }
        let length = one.len();
        change.end -= length;
        change.new.truncate(change.new.len() - length);
    }
}

/// Where the line that holds the byte before `at` ends; `at` itself where a line starts there.
fn whole_line(text: &str, at: usize) -> usize {
    at + line_length(&text[at..])
}

/// With its end.
fn line_length(text: &str) -> usize {
    let Some(end) = memchr2(b'\n', b'\r', text.as_bytes()) else { return text.len() };
    end + if text.as_bytes()[end..].starts_with(b"\r\n") { 2 } else { 1 }
}

fn last_line(text: &str) -> &str {
    &text[back(text, text.len() - end_length(text), 0)..]
}

fn end_length(text: &str) -> usize {
    if text.ends_with("\r\n") { 2 } else { usize::from(text.ends_with(['\n', '\r'])) }
}

/// The start of the line that `at` is in, and `lines` further back.
fn back(text: &str, at: usize, lines: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |end| end + 1);
    if start > 0 && start == at && bytes[start - 1] == b'\r' && bytes.get(start) == Some(&b'\n') {
        // Between CR and LF: still in the line before.
        start = memrchr2(b'\n', b'\r', &bytes[..start - 1]).map_or(0, |end| end + 1);
    }
    for _ in 0..lines {
        if start == 0 {
            break;
        }
        let end = start - end_length(&text[..start]);
        start = memrchr2(b'\n', b'\r', &bytes[..end]).map_or(0, |end| end + 1);
    }
    start
}

/// The end of so many lines from `at` on, where a line starts.
fn forth(text: &str, at: usize, lines: usize) -> usize {
    (0..lines).fold(at, |at, _| at + line_length(&text[at..]))
}

/// Lines of a hunk.
#[derive(Default)]
struct Hunk {
    text: String,
    old: u64,
    new: u64,
}

impl Hunk {
    fn context(&mut self, lines: &str) {
        let count = self.push(' ', lines);
        (self.old, self.new) = (self.old + count, self.new + count);
    }

    fn change(&mut self, old: &str, new: &str) {
        self.old += self.push('-', old);
        self.new += self.push('+', new);
    }

    fn push(&mut self, mark: char, mut lines: &str) -> u64 {
        let mut count = 0;
        while !lines.is_empty() {
            let (line, rest) = lines.split_at(line_length(lines));
            self.text.push(mark);
            self.text.push_str(line.strip_suffix("\r\n").or_else(|| line.strip_suffix(['\n', '\r'])).unwrap_or(line));
            self.text.push('\n');
            if end_length(line) == 0 {
                self.text.push_str("\\ No newline at end of file\n");
            }
            count += 1;
            lines = rest;
        }
        count
    }
}
