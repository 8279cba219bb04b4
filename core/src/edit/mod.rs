//! Literal edits of a text file (promises G2 and G7): compare the version, match, put the new file in place of just the
//! one that was matched. Every byte outside the matches stays as it was.

pub(crate) mod hunks;
mod matches;

use std::borrow::Cow;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::index;
use crate::path::{HarnessPath, Use};
use crate::session::Session;
use crate::version::FileVersion;
use crate::window::{Content, Source, not_text};
use crate::write::{Origin, PendingWrite, WriteOptions, Written};

pub(crate) use matches::Replacement;
use matches::find;

/// Longer files are refused: one is held in memory while it is edited.
pub const MAX_EDIT_BYTES: u64 = 64 * 1024 * 1024;
/// Pieces of the new file that go to the disk at once.
const BATCH_BYTES: usize = 1024 * 1024;
/// From this size on the old content is hashed while the new one is staged.
const OVERLAP_BYTES: usize = 128 * 1024;

/// What is replaced by what.
#[derive(Debug, Clone)]
pub struct Edit {
    /// As it stands in the file; an LF matches CRLF and CR too where nothing else is found.
    pub old: String,
    /// In its place.
    pub new: String,
    /// Every place; else there must be just one.
    pub replace_all: bool,
}

/// How a file is edited.
#[derive(Debug, Clone, Default)]
pub struct EditOptions {
    /// Only if the file is still this version.
    pub if_version: Option<FileVersion>,
    /// Label for events.
    pub source: String,
    /// The writer.
    pub origin: Origin,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// The most that the diff has, in bytes.
    pub diff_bytes: usize,
}

/// What an edit did.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The new file.
    pub written: Written,
    /// As it is now.
    pub version: FileVersion,
    /// Unified, three lines of context, whole lines.
    pub diff: String,
    /// Some of it was left out.
    pub diff_truncated: bool,
    /// How many places were changed.
    pub replacements: u64,
    /// From 1.
    pub first_changed_line: u64,
}

/// An edit that has begun. Dropped before it is published, it leaves nothing behind.
#[derive(Debug)]
pub struct PendingEdit {
    session: Arc<Session>,
    path: String,
    edits: Vec<Edit>,
    options: EditOptions,
    cancel: Cancel,
    prepared: Option<Prepared>,
}

/// The new file, staged, with what is told of it when it has its place.
#[derive(Debug)]
struct Prepared {
    write: PendingWrite,
    diff: String,
    diff_truncated: bool,
    replacements: u64,
    first_changed_line: u64,
}

impl PendingEdit {
    /// Checks the path and the edits; reads nothing yet.
    pub fn begin(
        session: &Arc<Session>,
        path: &str,
        edits: Vec<Edit>,
        options: EditOptions,
        cancel: Cancel,
    ) -> Result<Self> {
        session.resolve(path, Use::Write)?;
        check(&edits)?;
        let (session, path) = (Arc::clone(session), path.to_owned());
        Ok(Self { session, path, edits, options, cancel, prepared: None })
    }

    /// Puts the new file in place. When the session's lock is held just now ([`Error::is_held`]) nothing has changed and
    /// it may be called again.
    pub fn publish(&mut self) -> Result<Edited> {
        // Without a version to keep to, a file that changed under the edit is edited anew as it is then.
        for _ in 0..32 {
            if self.prepared.is_none() {
                self.prepared = Some(self.prepare()?);
            }
            let Some(prepared) = &mut self.prepared else { continue };
            match prepared.write.publish() {
                Err(error) if error.is_held() => return Err(error),
                Err(error) if error.code == Code::StaleVersion && self.options.if_version.is_none() => {
                    self.prepared = None;
                }
                result => return self.told(result?),
            }
        }
        Err(Error::at(Code::Busy, &self.path, format!("Other programs keep changing {}. Try again.", self.path)))
    }

    fn told(&mut self, written: Written) -> Result<Edited> {
        let closed = || Error::new(Code::Closed, "The edit has ended.");
        let mut prepared = self.prepared.take().ok_or_else(closed)?;
        let version = prepared.write.outcome().ok_or_else(closed)?.version;
        let Prepared { diff, diff_truncated, replacements, first_changed_line, .. } = prepared;
        Ok(Edited { written, version, diff, diff_truncated, replacements, first_changed_line })
    }

    /// Reads, compares, matches and stages.
    fn prepare(&self) -> Result<Prepared> {
        let mut source = match Source::open_whole(&self.session, &self.path, &self.cancel) {
            Err(error) if error.code == Code::NotFound && self.options.if_version.is_some() => {
                let text = format!("{} was removed since it was read.", self.path);
                return Err(Error::at(Code::StaleVersion, &self.path, text));
            }
            other => other?,
        };
        let path = source.path().clone();
        if source.size() > MAX_EDIT_BYTES {
            // Its version comes first all the same.
            if let Some(wanted) = &self.options.if_version {
                self.session.expect_file_version(&path, wanted, &self.cancel)?;
            }
            let text = format!(
                "{path} has {} bytes; a file of up to {MAX_EDIT_BYTES} bytes can be edited in place. Write it anew.",
                source.size()
            );
            return Err(Error::at(Code::TooLarge, &path, text));
        }
        let content = source.whole()?;
        let seen = source.finish()?;
        let mut digest = seen.digest;
        if let Some(wanted) = &self.options.if_version {
            let same = match wanted.digest {
                Some(wanted) => *digest.get_or_insert_with(|| Digest::of(&content)) == wanted,
                None => wanted.stamp == seen.stamp,
            };
            if !same {
                let text = format!("{path} has changed since it was read. Read it again, then retry.");
                return Err(Error::at(Code::StaleVersion, &path, text));
            }
        }
        let text = text_of(&content, &path)?;
        let replacements = find(text, &self.edits, &path)?;
        let (diff, diff_truncated) = hunks::unified(&path.to_string(), text, &replacements, self.options.diff_bytes);
        let mut write = if digest.is_none() && content.len() >= OVERLAP_BYTES {
            std::thread::scope(|scope| {
                let hash = scope.spawn(|| Digest::of(&content));
                let write = self.stage(&path, text, &replacements, seen);
                digest = hash.join().ok();
                write
            })?
        } else {
            self.stage(&path, text, &replacements, seen)?
        };
        if let Some(digest) = digest {
            write.set_before_digest(digest);
        }
        Ok(Prepared {
            write,
            diff,
            diff_truncated,
            replacements: replacements.len() as u64,
            first_changed_line: hunks::line_of(text, replacements.first().map_or(0, |first| first.start)),
        })
    }

    fn stage(
        &self,
        path: &HarnessPath,
        text: &str,
        replacements: &[Replacement<'_>],
        seen: FileVersion,
    ) -> Result<PendingWrite> {
        let mut options = WriteOptions {
            source: self.options.source.clone(),
            origin: self.options.origin,
            turn_id: self.options.turn_id.clone(),
            if_version: Some(seen),
            ..WriteOptions::default()
        };
        // What the file is said to be does not change with a few of its bytes.
        let name = path.to_string();
        let row = self.session.host.index.read(|connection| index::row(connection, self.session.instance, &name))?;
        if let Some(facts) = row {
            options.media_type = facts.media_type;
            options.metadata = facts.metadata;
            options.artifact = facts.artifact;
        }
        let mut write = PendingWrite::begin(&self.session, &self.path, options, self.cancel.clone())?;
        let mut batch = Vec::new();
        let mut push = |piece: &[u8]| {
            if batch.len() + piece.len() > BATCH_BYTES && !batch.is_empty() {
                write.push(&batch)?;
                batch.clear();
            }
            if piece.len() > BATCH_BYTES {
                return write.push(piece);
            }
            batch.extend_from_slice(piece);
            Ok(())
        };
        let mut at = 0;
        for replacement in replacements {
            push(&text.as_bytes()[at..replacement.start])?;
            push(replacement.new.as_bytes())?;
            at = replacement.end;
        }
        push(&text.as_bytes()[at..])?;
        write.push(&batch)?;
        Ok(write)
    }
}

fn check(edits: &[Edit]) -> Result<()> {
    let invalid = |text: String| Err(Error::new(Code::InvalidOption, text));
    if edits.is_empty() {
        return invalid("There are no edits.".to_owned());
    }
    for (number, edit) in (1..).zip(edits) {
        let which = which(number, edits.len());
        if edit.old.is_empty() {
            return invalid(format!("{which} the text to replace is empty. To make a file, write it."));
        }
        if edit.old == edit.new {
            return invalid(format!("{which} the new text equals the old one: there is nothing to change."));
        }
    }
    Ok(())
}

/// How an error begins that is about one edit of `all`.
fn which(number: usize, all: usize) -> Cow<'static, str> {
    if all == 1 { "In the edit".into() } else { format!("In edit {number} of {all}").into() }
}

fn text_of<'a>(content: &'a [u8], path: &HarnessPath) -> Result<&'a str> {
    match Content::of(content, true) {
        Content::Text => {}
        Content::Media(what) | Content::Other(what) => return Err(not_text(path, what)),
    }
    std::str::from_utf8(content).map_err(|error| {
        let line = hunks::line_of_bytes(content, error.valid_up_to());
        not_text(path, &format!("something else in line {line}"))
    })
}

#[cfg(test)]
pub(crate) mod tests;
