//! Finding what edits replace. Literal, byte for byte; only where that finds nothing an LF stands for any line end, for
//! models send LF whatever the file has.

use std::borrow::Cow;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2, memchr2_iter, memrchr2};

use super::hunks::line_of;
use super::{Edit, which};
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;

/// Line numbers that an error names.
const SHOWN_LINES: usize = 5;
/// More are no edit any more.
const MAX_REPLACEMENTS: usize = 1_000_000;

/// A place and what comes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) new: Cow<'a, str>,
    /// Of the edit, from 1.
    number: usize,
}

impl<'a> Replacement<'a> {
    /// Of whole lines, by no edit in particular.
    pub(crate) fn of_lines(start: usize, end: usize, new: &'a str) -> Self {
        Self { start, end, new: new.into(), number: 0 }
    }
}

/// All replacements in the order of their places.
pub(super) fn find<'a>(text: &str, edits: &'a [Edit], path: &HarnessPath) -> Result<Vec<Replacement<'a>>> {
    let mut found = Vec::new();
    let mut plain: Option<Plain> = None;
    for (number, edit) in (1..).zip(edits) {
        let mut places = literal(text, edit);
        let mapped = places.count == 0 && may_differ_by_ends(text, &edit.old);
        if mapped {
            places = plain.get_or_insert_with(|| Plain::of(text)).places(edit);
        }
        let which = which(number, edits.len());
        if places.count == 0 {
            return Err(not_found(text, edit, path, &which));
        }
        if places.count > 1 && !edit.replace_all {
            return Err(ambiguous(text, edit, &places, mapped, path, &which));
        }
        if found.len() + places.count > MAX_REPLACEMENTS {
            let message = format!("{which} more than {MAX_REPLACEMENTS} places of {path} would change. Write it anew.");
            return Err(Error::at(Code::TooLarge, path, message));
        }
        found.extend(places.first.into_iter().map(|(start, end)| {
            let new = adapted(text, start, end, edit, mapped);
            Replacement { start, end, new, number }
        }));
    }
    found.sort_by_key(|replacement| replacement.start);
    for pair in found.windows(2) {
        if pair[1].start < pair[0].end {
            let (one, other) = (pair[0].number.min(pair[1].number), pair[0].number.max(pair[1].number));
            let line = line_of(text, pair[1].start);
            let message = format!(
                "Edits {one} and {other} overlap at line {line} of {path}. Make one edit of them, or several calls."
            );
            return Err(Error::at(Code::InvalidOption, path, message));
        }
    }
    // Line ends that follow the file's can make a replacement what was there.
    found.retain(|replacement| text[replacement.start..replacement.end] != *replacement.new);
    if found.is_empty() {
        let message =
            format!("The edit changes nothing in {path}: with the line ends of the file the texts are equal.");
        return Err(Error::at(Code::InvalidOption, path, message));
    }
    Ok(found)
}

/// Where an edit matches.
#[derive(Default)]
struct Places {
    /// All that change, or enough of them for an error.
    first: Vec<(usize, usize)>,
    count: usize,
}

/// Of a single place others are looked for too, also ones that overlap it: then it is not clear which is meant. Only the first
/// ones may overlap: a text that repeats itself would be compared in full at each of its bytes.
fn literal(text: &str, edit: &Edit) -> Places {
    let (finder, length) = (Finder::new(&edit.old), edit.old.len());
    let most = if edit.replace_all { MAX_REPLACEMENTS } else { SHOWN_LINES + 1 };
    let mut places = Places::default();
    let mut from = 0;
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        places.count += 1;
        if places.first.len() < most {
            places.first.push((from + at, from + at + length));
        }
        from += at + if edit.replace_all || places.count > most { length } else { 1 };
    }
    places
}

fn may_differ_by_ends(text: &str, old: &str) -> bool {
    memchr2(b'\n', b'\r', old.as_bytes()).is_some()
        && (memchr(b'\r', text.as_bytes()).is_some() || memchr(b'\r', old.as_bytes()).is_some())
}

/// A text with LF for every line end, and where each byte of it stands in the text.
struct Plain {
    text: Vec<u8>,
    /// Places in `text` that follow a CRLF: each moves what comes after it by one.
    shifts: Vec<usize>,
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Self { text: Vec::with_capacity(text.len()), shifts: Vec::new() };
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(end) = memchr(b'\r', &bytes[at..]) {
            plain.text.extend_from_slice(&bytes[at..at + end]);
            plain.text.push(b'\n');
            at += end + 1;
            if bytes.get(at) == Some(&b'\n') {
                at += 1;
                plain.shifts.push(plain.text.len());
            }
        }
        plain.text.extend_from_slice(&bytes[at..]);
        plain
    }

    /// Where a byte of the plain text stands in the text; of an LF, where its line end begins.
    fn place(&self, at: usize) -> usize {
        at + self.shifts.partition_point(|shift| *shift <= at)
    }

    fn places(&self, edit: &Edit) -> Places {
        let old = String::from_utf8(Self::of(&edit.old).text).unwrap_or_default();
        let plain = Edit { old, ..edit.clone() };
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        let Places { first, count } = literal(text, &plain);
        Places { first: first.into_iter().map(|(start, end)| (self.place(start), self.place(end))).collect(), count }
    }
}

/// The new text with the line ends of the place where it goes, unless the old one was found with its own.
fn adapted<'a>(text: &str, start: usize, end: usize, edit: &'a Edit, mapped: bool) -> Cow<'a, str> {
    let new = edit.new.as_str();
    let told = memchr2(b'\n', b'\r', edit.old.as_bytes()).is_some() || new.contains('\r');
    if !mapped && told {
        return new.into();
    }
    let matched = line_ends(&text[start..end]);
    let Some(last) = matched.last().copied().or_else(|| nearest(text, start, end)) else { return new.into() };
    if memchr2(b'\n', b'\r', new.as_bytes()).is_none() || (last == "\n" && matched.len() <= 1 && !new.contains('\r')) {
        return new.into();
    }
    let mut out = String::with_capacity(new.len() + 16);
    let (mut at, mut ends) = (0, matched.into_iter());
    while let Some(found) = memchr2(b'\n', b'\r', &new.as_bytes()[at..]) {
        out.push_str(&new[at..at + found]);
        out.push_str(ends.next().unwrap_or(last));
        at += found + end_at(new, at + found).len();
    }
    out.push_str(&new[at..]);
    out.into()
}

/// The line end that stands at `at`.
fn end_at(text: &str, at: usize) -> &'static str {
    match text.as_bytes()[at..] {
        [b'\r', b'\n', ..] => "\r\n",
        [b'\r', ..] => "\r",
        _ => "\n",
    }
}

fn line_ends(text: &str) -> Vec<&'static str> {
    let all = memchr2_iter(b'\n', b'\r', text.as_bytes());
    // The LF of a CRLF is part of the one before.
    all.filter(|at| text.as_bytes()[*at] == b'\r' || *at == 0 || text.as_bytes()[at - 1] != b'\r')
        .map(|at| end_at(text, at))
        .collect()
}

/// The end of the line where the match ends, else that of the line before it.
fn nearest(text: &str, start: usize, end: usize) -> Option<&'static str> {
    if let Some(at) = memchr2(b'\n', b'\r', &text.as_bytes()[end..]) {
        return Some(end_at(text, end + at));
    }
    let at = memrchr2(b'\n', b'\r', &text.as_bytes()[..start])?;
    let crlf = at > 0 && text.as_bytes()[at - 1] == b'\r' && text.as_bytes()[at] == b'\n';
    Some(end_at(text, at - usize::from(crlf)))
}

fn ambiguous(text: &str, edit: &Edit, places: &Places, mapped: bool, path: &HarnessPath, which: &str) -> Error {
    let lines: Vec<String> =
        places.first.iter().take(SHOWN_LINES).map(|(start, _)| line_of(text, *start).to_string()).collect();
    let more = if places.count > SHOWN_LINES { " and more" } else { "" };
    // Places that overlap are more than what a replacement of all would change.
    let overlap = places.first.windows(2).any(|pair| pair[1].0 < pair[0].1);
    let how = if overlap { ", some of them overlapping" } else { "" };
    let least = if overlap && places.count > places.first.len() { "at least " } else { "" };
    let mapped = if mapped { " (whatever the line ends)" } else { "" };
    let message = format!(
        "{which} the text to replace is there {least}{} times{mapped}{how}, at lines {}{more} of {path}. \
         Give more of the text around the one you mean, or replace all. It begins with: {}",
        places.count,
        lines.join(", "),
        beginning(&edit.old)
    );
    Error::at(Code::AmbiguousEdit, path, message)
}

fn not_found(text: &str, edit: &Edit, path: &HarnessPath, which: &str) -> Error {
    let mut lines = edit.old.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next();
    let several = lines.next().is_some();
    let hint = match first.and_then(|first| Some((first, Finder::new(first).find(text.as_bytes())?))) {
        Some((_, at)) if several => {
            format!(" Its first line is at line {}, but what follows there differs.", line_of(text, at))
        }
        Some((_, at)) => format!(" At line {} it stands with other white space.", line_of(text, at)),
        None => String::new(),
    };
    let message = format!(
        "{which} the text to replace is not in {path}.{hint} Read the file and give its text exactly. It begins with: {}",
        beginning(&edit.old)
    );
    Error::at(Code::EditNotFound, path, message)
}

/// What an error repeats of a text.
fn beginning(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let mut shown: String = text.chars().take(CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}
