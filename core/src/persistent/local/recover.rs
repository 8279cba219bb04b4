//! Finishing what an interrupted commit has begun: forwards, or backwards when it was being taken back.

use std::collections::BTreeSet;

use rustix::fd::AsFd;

use super::apply::{Applying, NotApplied};
use super::journal::{Journal, JournalEntry, Journals, State};
use super::{LocalStore, apply};
use crate::error::Result;
use crate::trash;

impl LocalStore {
    /// Finishes all that is unfinished. Its holder has the lock alone.
    pub(super) fn recover(&self, journals: &Journals) -> Result<()> {
        for id in journals.ids(State::Undo)? {
            if let Some(journal) = journals.read(&id, State::Undo)? {
                self.undo(journals, &id, &journal)?;
                trash::unlink_tree(journals.folder(), &journal.folder);
            }
        }
        for id in journals.ids(State::Journal)? {
            if let Some(journal) = journals.read(&id, State::Journal)? {
                self.finish(journals, &id, journal)?;
            }
        }
        Ok(())
    }

    /// Takes a commit back, the last entry first, then forgets it.
    pub(super) fn undo(&self, journals: &Journals, id: &str, journal: &Journal) -> Result<()> {
        let staging = self.staging(journals, journal)?;
        let mut applying = self.applying(&staging);
        for entry in journal.entries.iter().rev() {
            applying.undo(entry).map_err(|errno| self.failed(errno))?;
        }
        applying.flush().map_err(|errno| self.failed(errno))?;
        journals.remove(id, State::Undo)
    }

    /// Applies what is missing. A path that is neither base nor new by now is left alone.
    fn finish(&self, journals: &Journals, id: &str, mut journal: Journal) -> Result<()> {
        let staging = self.staging(journals, &journal)?;
        let mut applying = self.applying(&staging);
        let mut left = BTreeSet::new();
        for entry in &journal.entries {
            if !finish_entry(&mut applying, entry).map_err(|errno| self.failed(errno))? {
                left.insert(entry.path.clone());
            }
        }
        // Those that were applied before the interruption may not be flushed.
        for entry in &journal.entries {
            applying.touched.insert(entry.path.rsplit_once('/').map_or("", |(above, _)| above).to_owned());
        }
        applying.flush().map_err(|errno| self.failed(errno))?;
        if left.is_empty() {
            journals.turn(id, State::Journal, State::Done)?;
        } else {
            journal.left = left;
            journals.write(id, State::Done, &journal)?;
            journals.remove(id, State::Journal)?;
        }
        for entry in journal.entries.iter().filter(|entry| entry.new.is_none()) {
            applying.prune(&entry.path);
        }
        trash::unlink_tree(journals.folder(), &journal.folder);
        Ok(())
    }
}

/// False: the path is neither base nor new.
fn finish_entry(applying: &mut Applying<'_>, entry: &JournalEntry) -> rustix::io::Result<bool> {
    let target = applying.digest(&entry.path)?.map(|digest| digest.to_string());
    let nothing = target.is_none() && matches!(applying.target(&entry.path)?, apply::Target::Nothing);
    let is = |digest: Option<&String>| digest.map_or(nothing, |digest| target.as_ref() == Some(digest));
    if is(entry.new.as_ref()) {
        return Ok(true);
    }
    let ready = match &entry.new {
        Some(new) => {
            apply::digest_in(applying.staging.as_fd(), &entry.staged)?.map(|digest| digest.to_string()).as_ref()
                == Some(new)
        }
        None => true,
    };
    // An empty folder may stand where a file is to come.
    let free = is(entry.base.as_ref()) || (entry.base.is_none() && target.is_none());
    if !ready || !free {
        return Ok(false);
    }
    match applying.apply(entry, None) {
        Ok(()) => Ok(true),
        Err(NotApplied::Conflict) => Ok(false),
        Err(NotApplied::Failed(errno)) => Err(errno),
    }
}
