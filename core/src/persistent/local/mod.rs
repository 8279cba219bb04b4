//! A folder as a store: commits to it are all or nothing for users of this library, across processes and crashes
//! (STORAGE, "localDir").

mod apply;
mod journal;
mod load;
mod odd;
mod recover;
pub(crate) mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::batch::Batch;
use super::checkout::Checkout;
use super::commit::{Commit, conflict_error};
use super::declared::LocalSource;
use super::source::{self, SourceFolder};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::root::open_name;
use crate::stamp::Stamp;
use apply::{Applying, NotApplied, Target};
use journal::{Journal, JournalEntry, Journals, State};

/// A source that is open and locked.
#[derive(Debug)]
pub(crate) struct LocalStore {
    source: SourceFolder,
    dir: String,
}

/// A target that was compared with its base: the stamp that it had, and whether that proves nothing.
type Compared = Option<(Stamp, bool)>;

impl LocalStore {
    /// Opens and locks a source, and finishes what a commit that was interrupted has begun. `None`: the source is not
    /// there. `make`: then it is made. Held: an error to try again on.
    pub(crate) fn open(
        checkout: &Checkout,
        local: &LocalSource,
        others: &[LocalSource],
        make: bool,
        alone: bool,
    ) -> Result<Option<Self>> {
        let host = &checkout.session.host;
        let Some(source) = source::open(host, &checkout.name, local, others, make, alone)? else { return Ok(None) };
        let store = Self { source, dir: checkout.name.clone() };
        if let Some(journals) = store.journals()?
            && journals.has_unfinished()?
        {
            if !alone {
                store.source.lock_alone(&checkout.name)?;
            }
            store.recover(&journals)?;
        }
        Ok(Some(store))
    }

    pub(crate) fn identity(&self) -> &str {
        &self.source.identity
    }

    /// The sender of a commit that somebody else may have finished learns that it has landed.
    pub(crate) fn settle_done(&self, checkout: &mut Checkout) -> Result<()> {
        let id = checkout.record.as_ref().and_then(|record| record.commit.as_ref()).map(|(id, _)| id.clone());
        let (Some(id), Some(journals)) = (id, self.journals()?) else { return Ok(()) };
        let Some(journal) = journals.read(&id, State::Done)? else { return Ok(()) };
        for entry in &journal.entries {
            if !journal.left.contains(&entry.path) {
                checkout.note_landed(&entry.path, None);
            }
        }
        checkout.save(true)?;
        // In the way of nobody when it cannot be removed.
        let _ = journals.remove(&id, State::Done);
        Ok(())
    }

    /// Stages what is pending, in the source itself.
    pub(crate) fn begin_commit(
        &self,
        checkout: &mut Checkout,
        paths: Option<&[String]>,
        cancel: &Cancel,
    ) -> Result<Option<Commit>> {
        let mode = if self.source.private { 0o600 } else { 0o666 };
        let staging = || {
            let journals = Journals::make(self.source.folder()).map_err(|errno| self.failed(errno))?;
            journals.sweep()?;
            Batch::new(journals.folder())
        };
        let refuse = |path: &str| self.refusal(path);
        checkout.begin_commit(paths, staging, Mode::from_raw_mode(mode), refuse, cancel)
    }

    /// Applies a commit, all or nothing, and records it. A conflict: the source does not hold the bases; nothing of it was
    /// applied.
    pub(crate) fn apply(&self, checkout: &mut Checkout, commit: &mut Commit, cancel: &Cancel) -> Result<()> {
        let journals = Journals::make(self.source.folder()).map_err(|errno| self.failed(errno))?;
        let compared = self.compare(commit)?;
        self.dress(commit)?;
        cancel.check()?;
        let flushes = checkout.session.flushes();
        if flushes {
            commit.batch.flush()?;
            commit.batch.flush_names()?;
        }
        let entries = journal_entries(commit, &compared);
        let journal = Journal::new(commit.batch.name().to_owned(), entries);
        // From here on the journal decides what becomes of the folder.
        commit.batch.keep(true);
        if let Err(error) = journals.write(&commit.id, State::Journal, &journal) {
            // Perhaps it stands all the same: then whoever locks next finishes it.
            let written = journals.read(&commit.id, State::Journal);
            commit.batch.keep(!matches!(written, Ok(None)));
            return Err(error);
        }
        let staging = self.staging(&journals, &journal)?;
        let staged = stamps(&staging, &journal);
        let mut applying = self.applying(&staging);
        if let Err(why) = apply_all(&mut applying, &journal, &compared) {
            // All back. Whatever fails in here is finished by whoever locks next.
            journals.turn(&commit.id, State::Journal, State::Undo)?;
            self.undo(&journals, &commit.id, &journal)?;
            commit.batch.keep(false);
            return Err(match why {
                (path, NotApplied::Conflict) => conflict_error(&self.dir, &[path]),
                (_, NotApplied::Failed(errno)) => self.failed(errno),
            });
        }
        applying.flush().map_err(|errno| self.failed(errno))?;
        journals.turn(&commit.id, State::Journal, State::Done)?;
        steps::step().map_err(|errno| self.failed(errno))?;
        let tags = self.tags(&staged)?;
        checkout.stored(commit, None, false, tags)?;
        commit.batch.remove();
        for entry in &journal.entries {
            if entry.new.is_none() {
                applying.prune(&entry.path);
            }
        }
        // In the way of nobody when it cannot be removed: it is swept in time.
        let _ = journals.remove(&commit.id, State::Done);
        Ok(())
    }

    /// Compares each target with its base before anything is changed. `None` in the result: it holds what is sent
    /// already.
    fn compare(&self, commit: &Commit) -> Result<BTreeMap<String, Option<Compared>>> {
        let staging = self.source.folder();
        let applying = self.applying_in(staging);
        let (mut compared, mut conflicts) = (BTreeMap::new(), Vec::new());
        for entry in &commit.entries {
            let path = &entry.path;
            let base = entry.base.as_ref();
            let target = applying.target(path).map_err(|errno| self.failed(errno))?;
            let found = match (&target, base) {
                // A folder may be one that deletions of this commit empty: applying tells.
                (Target::Nothing | Target::Other, None) => Some(Some(None)),
                (Target::Nothing, Some(_)) if entry.sends.is_none() => Some(None),
                (Target::Nothing | Target::Other, Some(_)) => None,
                (Target::File(stat), base) => {
                    let stamp = Stamp::of(stat);
                    if base.is_some_and(|base| base.tag.as_deref() == Some(load::tag_of(&stamp).as_str())) {
                        Some(Some(Some((stamp, false))))
                    } else {
                        let digest = applying.digest(path).map_err(|errno| self.failed(errno))?;
                        if digest.is_some() && digest == entry.sends.map(|sends| sends.digest) {
                            Some(None)
                        } else if digest.is_some() && digest == base.map(|base| base.version.digest) {
                            Some(Some(Some((stamp, stamp.is_fresh()))))
                        } else {
                            None
                        }
                    }
                }
            };
            match found {
                Some(found) => drop(compared.insert(path.clone(), found)),
                None => conflicts.push(path.clone()),
            }
        }
        if conflicts.is_empty() { Ok(compared) } else { Err(conflict_error(&self.dir, &conflicts)) }
    }

    /// Gives staged files the modes, and the owners where we may, of those that they replace; before they are flushed.
    fn dress(&self, commit: &Commit) -> Result<()> {
        let applying = self.applying_in(self.source.folder());
        for entry in commit.entries.iter().filter(|entry| entry.base.is_some()) {
            let Some(staged) = &entry.staged else { continue };
            if let Target::File(like) = applying.target(&entry.path).map_err(|errno| self.failed(errno))? {
                open_name(commit.batch.folder(), staged, OFlags::RDONLY)
                    .and_then(|file| steps::dress(file, &like))
                    .map_err(|errno| self.failed(errno))?;
            }
        }
        Ok(())
    }

    /// What the source calls each file that a commit has put there; nothing where it is another one already.
    fn tags(&self, staged: &BTreeMap<String, Stamp>) -> Result<BTreeMap<String, String>> {
        let applying = self.applying_in(self.source.folder());
        let mut tags = BTreeMap::new();
        for (path, staged) in staged {
            if let Target::File(stat) = applying.target(path).map_err(|errno| self.failed(errno))? {
                let stamp = Stamp::of(&stat);
                if stamp.same_but_renamed(staged) {
                    tags.insert(path.clone(), load::fresh_tag_of(&stamp));
                }
            }
        }
        Ok(tags)
    }

    fn journals(&self) -> Result<Option<Journals>> {
        Journals::open(self.source.folder()).map_err(|errno| self.failed(errno))
    }

    fn staging(&self, journals: &Journals, journal: &Journal) -> Result<OwnedFd> {
        open_name(journals.folder(), &journal.folder, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| self.failed(errno))
    }

    fn applying<'a>(&'a self, staging: &'a OwnedFd) -> Applying<'a> {
        self.applying_in(staging.as_fd())
    }

    fn applying_in<'a>(&'a self, staging: rustix::fd::BorrowedFd<'a>) -> Applying<'a> {
        let mode = Mode::from_raw_mode(if self.source.private { 0o700 } else { 0o777 });
        Applying { source: self.source.folder(), staging, mode, touched: std::collections::BTreeSet::new() }
    }

    fn failed(&self, errno: rustix::io::Errno) -> Error {
        let dir = &self.dir;
        Error { path: Some(dir.clone()), ..Error::from_errno(errno, format!("the source of {dir}"), "committing to") }
    }
}

/// What is still to be done, deletions first: a file may become a folder.
fn journal_entries(commit: &mut Commit, compared: &BTreeMap<String, Option<Compared>>) -> Vec<JournalEntry> {
    let mut entries = Vec::new();
    for entry in &commit.entries {
        if compared.get(&entry.path).is_some_and(Option::is_some) {
            let staged = entry.staged.clone().unwrap_or_else(|| commit.batch.next_name());
            entries.push(JournalEntry {
                path: entry.path.clone(),
                base: entry.base.as_ref().map(|base| base.version.digest.to_string()),
                new: entry.sends.map(|sends| sends.digest.to_string()),
                staged,
            });
        }
    }
    entries.sort_by_key(|entry| entry.new.is_some());
    entries
}

/// Of the staged files, before they get their places.
fn stamps(staging: &OwnedFd, journal: &Journal) -> BTreeMap<String, Stamp> {
    let new = journal.entries.iter().filter(|entry| entry.new.is_some());
    let stamp = |name: &str| fs::statat(staging, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Stamp::of(&stat));
    new.filter_map(|entry| Some((entry.path.clone(), stamp(&entry.staged)?))).collect()
}

fn apply_all(
    applying: &mut Applying<'_>,
    journal: &Journal,
    compared: &BTreeMap<String, Option<Compared>>,
) -> std::result::Result<(), (String, NotApplied)> {
    for entry in &journal.entries {
        let expected = compared.get(&entry.path).copied().flatten().flatten();
        applying.apply(entry, expected).map_err(|why| (entry.path.clone(), why))?;
    }
    Ok(())
}
