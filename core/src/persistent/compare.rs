//! What a load means for each path: base, checkout and store side by side.

use std::collections::BTreeSet;

use super::checkout::Checkout;
use super::conflict;
use super::incoming::{Given, Incoming};
use super::row::{Held, Row, Sent, TheirState, Theirs};
use super::scan::Looked;
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::digest::Digest;
use crate::error::Result;

/// A path whose checkout has to become what the store holds.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: String,
    /// `None`: it goes.
    pub(super) held: Option<Held>,
    /// In the batch.
    pub(super) staged: Option<String>,
    pub(super) before: Looked,
}

impl Checkout {
    /// Compares base, checkout and store for each path.
    pub(super) fn compare(&mut self, incoming: &mut Incoming, known: bool, cancel: &Cancel) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        // What is the same on both sides needs no look.
        let settled = |path: &str, row: &Row| {
            row.sent.is_none() && row.theirs.is_none() && (!incoming.complete || incoming.same.contains(path))
        };
        let unsettled = self.rows.iter().filter(|(path, row)| !settled(path, row)).map(|(path, _)| path);
        let paths: BTreeSet<String> = incoming.given.keys().chain(&incoming.gone).chain(unsettled).cloned().collect();
        let blocked: Vec<String> =
            self.rows.iter().filter(|(_, row)| row.is_blocked()).map(|(path, _)| path.clone()).collect();
        let now = now_millis();
        for path in paths {
            let base = self.rows.get(&path).and_then(|row| row.base.clone());
            let Given { held, staged } = match (incoming.given.remove(&path), base) {
                (Some(given), _) => given,
                (None, Some(held)) if incoming.same.contains(path.as_str()) => Given { held, staged: None },
                (None, _) if incoming.complete || incoming.gone.contains(&path) => {
                    self.compare_absent(incoming, &path, known, &mut steps, cancel)?;
                    continue;
                }
                // Not named by a load of what has changed: as it was, so what was sent has not landed.
                (None, _) => {
                    self.row_mut(&path).sent = None;
                    continue;
                }
            };
            let row = self.rows.get(&path);
            let landed = row.and_then(|row| row.sent?.0).is_some_and(|sent| sent.digest == held.version.digest);
            if landed {
                self.row_mut(&path).advance(Some(held.clone()), now);
            }
            let row = self.rows.get(&path);
            let base = row.and_then(|row| row.base.as_ref());
            if base.is_some_and(|base| base.version.digest == held.version.digest) && !incoming.discard.contains(&path)
            {
                let settled = row.is_some_and(|row| row.sent.is_none() && row.theirs.is_none());
                if base != Some(&held) || !settled {
                    self.row_mut(&path).advance(Some(held), now);
                }
                continue;
            }
            let looked = self.look(&path, cancel)?;
            if looked.seen().is_some_and(|seen| seen.digest == held.version.digest) {
                let row = self.row_mut(&path);
                row.seen = looked.seen();
                row.advance(Some(held), now);
            } else if (self.is_base(&path, looked) && !self.was_removed(&path)) || incoming.discard.contains(&path) {
                steps.push(Step { path, held: Some(held), staged, before: looked });
            } else {
                let at = self.obstacle(&path);
                self.note_blocked(incoming, Step { path, held: Some(held), staged, before: looked }, &at, cancel)?;
            }
        }
        for path in blocked {
            if !self.rows.get(&path).is_some_and(Row::is_blocked) {
                self.unblock(&path, now);
            }
        }
        // What goes makes room for what comes: a file may become a folder.
        steps.sort_by_key(|step| step.held.is_some());
        Ok(steps)
    }

    /// The same for a path that is not in the store.
    fn compare_absent(
        &mut self,
        incoming: &mut Incoming,
        path: &str,
        known: bool,
        steps: &mut Vec<Step>,
        cancel: &Cancel,
    ) -> Result<()> {
        let Some(row) = self.rows.get(path) else { return Ok(()) };
        let now = now_millis();
        let landed = row.sent == Some(Sent(None));
        if row.base.is_none() && known && !incoming.discard.contains(path) {
            // Never was in the store; or a conflict with something that is gone from it again. One with nothing (the base
            // was lost, or a folder stands against our file) stays one until it is decided.
            let with_nothing = row.theirs.as_ref().is_some_and(|theirs| theirs.held.is_none());
            if (row.theirs.is_some() && !with_nothing) || row.sent.is_some() {
                self.row_mut(path).advance(None, now);
            }
            return Ok(());
        }
        let looked = self.look(path, cancel)?;
        if landed || matches!(looked, Looked::Nothing) {
            let row = self.row_mut(path);
            row.seen = looked.seen();
            row.advance(None, now);
        } else if matches!(looked, Looked::Folder) && !incoming.discard.contains(path) {
            // Deleted on both sides.
            self.row_mut(path).advance(None, now);
        } else if (known && self.is_base(path, looked)) || incoming.discard.contains(path) {
            steps.push(Step { path: path.to_owned(), held: None, staged: None, before: looked });
        } else {
            self.note_conflict(incoming, path, TheirState::Conflict, None, None, looked)?;
        }
        Ok(())
    }

    /// Ours of a conflict without a base was removed: it may have been a deletion of theirs, so it stays one.
    fn was_removed(&self, path: &str) -> bool {
        self.rows.get(path).is_some_and(|row| row.is_conflict() && row.base.is_none())
    }

    /// A file of the store that had no place needs none any more: the conflict above it ends with the last of them.
    fn unblock(&mut self, path: &str, now: i64) {
        let above = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        for above in above.collect::<Vec<_>>() {
            let below = format!("{above}/");
            let mut rows = self.rows.range(below.clone()..).take_while(|(other, _)| other.starts_with(&below));
            // One that the store has changed or deleted itself is a conflict in its own right.
            let with_folder =
                |row: &Row| row.base.is_none() && row.theirs.as_ref().is_some_and(|theirs| theirs.held.is_none());
            if !rows.any(|(_, row)| row.is_blocked())
                && self.rows.get(&above).is_some_and(|row| row.is_conflict() && with_folder(row))
            {
                self.row_mut(&above).advance(None, now);
            }
        }
    }

    /// A load of what has changed does not name again what had no place the last time.
    pub(super) fn bring_blocked(&self, incoming: &mut Incoming, cancel: &Cancel) -> Result<()> {
        let blocked = self.rows.iter().filter(|(_, row)| row.is_blocked());
        for (path, row) in blocked {
            let Some(held) = row.theirs.as_ref().and_then(|theirs| theirs.held.clone()) else { continue };
            if !incoming.given.contains_key(path) && !incoming.gone.contains(path) {
                let staged = self.stage_kept(&mut incoming.batch, path, &held, cancel)?;
                incoming.given.insert(path.clone(), Given { held, staged: Some(staged) });
            }
        }
        Ok(())
    }

    /// Whether the checkout holds what the store held.
    fn is_base(&self, path: &str, looked: Looked) -> bool {
        let base = self.rows.get(path).and_then(|row| row.base.as_ref());
        match looked {
            // A folder is no content; if it holds some, placing finds that out.
            Looked::Nothing | Looked::Folder => base.is_none(),
            Looked::File(seen) => digest(base) == Some(seen.digest),
            Looked::Other => false,
        }
    }

    /// Both sides have changed: the store's content is kept beside.
    pub(super) fn note_conflict(
        &mut self,
        incoming: &mut Incoming,
        path: &str,
        state: TheirState,
        held: Option<Held>,
        staged: Option<&str>,
        looked: Looked,
    ) -> Result<()> {
        if let (Some(held), Some(staged)) = (&held, staged) {
            conflict::keep(self, &mut incoming.batch, staged, held)?;
        }
        let row = self.row_mut(path);
        row.seen = looked.seen();
        row.sent = None;
        row.theirs = Some(Theirs { state, held });
        row.note_change(state == TheirState::Conflict || row.change().is_some(), now_millis());
        Ok(())
    }
}

/// Of a content in the store; `None`: there is none.
pub(super) fn digest(held: Option<&Held>) -> Option<Digest> {
    held.map(|held| held.version.digest)
}
