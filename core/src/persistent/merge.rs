//! Bringing what a load gave into the checkout: what changed in the store comes in, what is uncommitted stays, what has
//! changed on both sides is a conflict (STORAGE, "Checkout").

use std::collections::BTreeSet;

use super::checkout::Checkout;
use super::compare::{Step, digest};
use super::conflict;
use super::incoming::Incoming;
use super::place::Placed;
use super::row::{Seen, TheirState, Theirs};
use super::scan::Looked;
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::error::{Code, Error, Result};
use crate::flush::changed_folders;
use crate::index::{Change as Totals, DirRecord};

/// Files that get their place while the session's other writers wait.
const AT_ONCE: usize = 128;

/// What a load did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Files in the dir now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that came in.
    pub created: u64,
    /// Files that came in, in place of others.
    pub updated: u64,
    /// Files that went.
    pub deleted: u64,
    /// Paths in conflict now.
    pub conflicts: u64,
    /// What the store holds and no path can name.
    pub skipped: u64,
}

impl Checkout {
    /// Merges a load. Whatever fails, nothing uncommitted is touched, and what came in is noted as such.
    pub(crate) fn merge(
        &mut self,
        mut incoming: Incoming,
        source: &str,
        cursor: Option<String>,
        cancel: &Cancel,
    ) -> Result<Loaded> {
        incoming.check_names(self.session.host.folds_case)?;
        cancel.check()?;
        let known = self.record.is_some();
        if !known {
            // A lost database: what is in the checkout and differs from the store is nobody's to overwrite.
            self.scan(cancel)?;
        }
        self.adopt_interrupted(cancel)?;
        if !incoming.complete {
            self.bring_blocked(&mut incoming, cancel)?;
        }
        let steps = self.compare(&mut incoming, known, cancel)?;
        let before = self.record.clone();
        let mut record = DirRecord { source: source.to_owned(), cursor: None, must_load: true, commit: None };
        if let Some(before) = &before {
            record.commit.clone_from(&before.commit);
        }
        let mut loaded = Loaded { skipped: incoming.skipped, ..Loaded::default() };
        let placed = !steps.is_empty();
        if placed {
            if self.session.flushes() {
                incoming.batch.flush()?;
            }
            self.record = Some(record.clone());
            for step in &steps {
                let theirs = Theirs { state: TheirState::Incoming, held: step.held.clone() };
                self.row_mut(&step.path).theirs = Some(theirs);
            }
            self.save(true)?;
            self.place(&mut incoming, steps, &mut loaded, cancel)?;
        }
        (record.cursor, record.must_load) = (cursor, false);
        // Settled by what was read: either landed, or to be sent again.
        record.commit = record.commit.filter(|_| self.rows.values().any(|row| row.since.is_some()));
        let same = before.as_ref() == Some(&record);
        self.record = Some(record);
        if placed || !same {
            self.save(placed || before.is_none_or(|before| before.source != source))?;
        } else {
            self.save_rows()?;
        }
        conflict::sweep(self);
        let files = self.rows.values().filter_map(|row| row.seen);
        (loaded.files, loaded.bytes) = files.fold((0, 0), |(files, bytes), seen| (files + 1, bytes + seen.stamp.size));
        loaded.conflicts = self.rows.values().filter(|row| row.is_conflict()).count() as u64;
        Ok(loaded)
    }

    /// What an earlier load that was interrupted has put in its place already is the base now.
    pub(crate) fn adopt_interrupted(&mut self, cancel: &Cancel) -> Result<()> {
        let incoming = |state: TheirState| state == TheirState::Incoming;
        let paths: Vec<String> = self
            .rows
            .iter()
            .filter(|(_, row)| row.theirs.as_ref().is_some_and(|theirs| incoming(theirs.state)))
            .map(|(path, _)| path.clone())
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        let now = now_millis();
        for path in &paths {
            let looked = self.look(path, cancel)?;
            let row = self.row_mut(path);
            let held = row.theirs.take().and_then(|theirs| theirs.held);
            if !matches!(looked, Looked::Folder | Looked::Other)
                && looked.seen().map(|seen| seen.digest) == digest(held.as_ref())
            {
                row.seen = looked.seen();
                row.advance(held, now);
            }
        }
        // The rest is as before that load, of which nothing counts any more.
        if let Some(record) = &mut self.record {
            (record.cursor, record.must_load) = (None, true);
        }
        self.save(true)
    }

    /// Puts each file in its place, then flushes the folders, then notes the new base: in this order, so that after a
    /// power cut an old file is never taken for a change.
    fn place(&mut self, incoming: &mut Incoming, steps: Vec<Step>, loaded: &mut Loaded, cancel: &Cancel) -> Result<()> {
        let mut done: Vec<(Step, Option<Seen>)> = Vec::new();
        let mut folders = BTreeSet::new();
        let mut totals = Totals::default();
        let mut steps = steps.into_iter().peekable();
        while steps.peek().is_some() {
            let session = std::sync::Arc::clone(&self.session);
            let locked = session.lock_publish_waiting(cancel)?;
            for step in steps.by_ref().take(AT_ONCE) {
                let full = self.harness_path(&step.path);
                let placed = match (&step.held, &step.staged) {
                    (Some(held), Some(staged)) => {
                        self.put(&mut incoming.batch, staged, &step.path, held.version, step.before)?
                    }
                    (None, _) => self.take(&mut incoming.batch, &step.path, step.before)?,
                    (Some(_), None) => {
                        let text = format!("{full} came without its content");
                        return Err(Error::at(Code::IoError, &full, text));
                    }
                };
                match placed {
                    Placed::Done(seen, had) => {
                        folders.extend(changed_folders(&full, had).map(|(_, segments)| segments));
                        count(&step, loaded, &mut totals);
                        done.push((step, seen));
                    }
                    Placed::Changed => self.place_again(incoming, step, cancel)?,
                    Placed::Blocked(at) => self.note_blocked(incoming, step, &at, cancel)?,
                }
            }
            drop(locked);
        }
        self.flush_folders(&folders)?;
        let now = now_millis();
        for (step, seen) in done {
            let row = self.row_mut(&step.path);
            row.seen = seen;
            row.advance(step.held, now);
        }
        self.session.count(totals)
    }

    /// Somebody was quicker: then it is their change.
    fn place_again(&mut self, incoming: &mut Incoming, step: Step, cancel: &Cancel) -> Result<()> {
        let looked = self.look(&step.path, cancel)?;
        let same =
            !matches!(looked, Looked::Other) && looked.seen().map(|seen| seen.digest) == digest(step.held.as_ref());
        if same {
            let row = self.row_mut(&step.path);
            row.seen = looked.seen();
            row.advance(step.held, now_millis());
            return Ok(());
        }
        self.note_conflict(incoming, &step.path, TheirState::Conflict, step.held, step.staged.as_deref(), looked)
    }

    /// A file against a folder: the conflict is told at the file's path.
    pub(super) fn note_blocked(
        &mut self,
        incoming: &mut Incoming,
        step: Step,
        at: &str,
        cancel: &Cancel,
    ) -> Result<()> {
        let looked = self.look(&step.path, cancel)?;
        let obstacle = if at == step.path { Looked::Folder } else { self.look(at, cancel)? };
        if let Looked::File(_) = obstacle {
            let theirs = step.held.clone();
            self.note_conflict(
                incoming,
                &step.path,
                TheirState::Blocked,
                theirs,
                step.staged.as_deref(),
                Looked::Nothing,
            )?;
            return self.note_conflict(incoming, at, TheirState::Conflict, None, None, obstacle);
        }
        self.note_conflict(incoming, &step.path, TheirState::Conflict, step.held, step.staged.as_deref(), looked)
    }
}

fn count(step: &Step, loaded: &mut Loaded, totals: &mut Totals) {
    let old = step.before.seen().map(|seen| signed(seen.stamp.size));
    let new = step.held.as_ref().map(|held| signed(held.version.bytes));
    match (old, new) {
        (Some(_), Some(_)) => loaded.updated += 1,
        (_, Some(_)) => loaded.created += 1,
        _ => loaded.deleted += 1,
    }
    totals.files += i64::from(new.is_some()) - i64::from(old.is_some());
    totals.bytes += new.unwrap_or(0) - old.unwrap_or(0);
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
