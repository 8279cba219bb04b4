//! Sending uncommitted changes: what is sent is a copy, staged and hashed in one pass, and noted before it goes
//! (STORAGE, "Commit").

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;

use rustix::fs::{self, Mode, OFlags};
use sha2::{Digest as _, Sha256};

use super::batch::Batch;
use super::checkout::Checkout;
use super::conflict::covers;
use super::row::{Held, Sent};
use super::scan::Odd;
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::digest::Digest;
use crate::error::{Code, Error, Result, errno_of};
use crate::index;
use crate::media;
use crate::read::{self, OpenRead};
use crate::root::open_name;
use crate::stamp::Stamp;
use crate::track::{Change, Version};

/// A change on its way to the store.
#[derive(Debug, Clone)]
pub struct Entry {
    /// In the dir.
    pub path: String,
    /// How the store is to change.
    pub change: Change,
    /// What is sent; `None`: a deletion.
    pub sends: Option<Version>,
    /// As recorded or guessed.
    pub media_type: Option<String>,
    pub(crate) base: Option<Held>,
    /// In the batch.
    pub(crate) staged: Option<String>,
}

impl Entry {
    /// What the store held when the checkout last agreed with it, and the store's name of that.
    #[must_use]
    pub fn base(&self) -> Option<(Version, Option<&str>)> {
        self.base.as_ref().map(|base| (base.version, base.tag.as_deref()))
    }
}

/// Staged changes.
#[derive(Debug)]
pub struct Commit {
    /// The same for every attempt at the same changes.
    pub id: String,
    /// Ordered by path.
    pub entries: Vec<Entry>,
    /// What is pending and cannot be sent.
    pub refused: Vec<(String, Error)>,
    pub(crate) batch: Batch,
}

impl Commit {
    /// Of all contents together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().filter_map(|entry| entry.sends).map(|version| version.bytes).sum()
    }

    /// Reads a staged content.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let read = self.open(path)?.read_to_end(&mut content);
        read.map_err(|error| Error::from_errno(errno_of(&error), "the staged content", "reading"))?;
        Ok(content)
    }

    /// Opens a staged content to be read piece by piece.
    pub fn open_read(&self, dir: &str, path: &str) -> Result<OpenRead> {
        let bytes = self.entries.iter().find(|entry| entry.path == path).and_then(|entry| entry.sends);
        Ok(OpenRead::whole(self.open(path)?, format!("{dir}/{path}"), bytes.map_or(0, |version| version.bytes)))
    }

    fn open(&self, path: &str) -> Result<File> {
        let staged = self.entries.iter().find(|entry| entry.path == path).and_then(|entry| entry.staged.as_deref());
        let none = || Error::new(Code::NotFound, format!("No content of {path:?} is being sent (ENOENT)"));
        let file = open_name(self.batch.folder(), staged.ok_or_else(none)?, OFlags::RDONLY)
            .map_err(|errno| Error::from_errno(errno, "the staged content", "opening"))?;
        Ok(File::from(file))
    }
}

impl Checkout {
    /// Stages what is pending, or of that what is at or below `paths`, in `staging`, and notes that it is being sent.
    /// `None`: nothing is pending. `mode`: of the staged files. `refuse`: why the store can never take a path.
    pub(crate) fn begin_commit(
        &mut self,
        paths: Option<&[String]>,
        staging: impl FnOnce() -> Result<Batch>,
        mode: Mode,
        refuse: impl Fn(&str) -> Result<Option<Error>>,
        cancel: &Cancel,
    ) -> Result<Option<Commit>> {
        let odd = self.scan(cancel)?;
        // Whatever becomes of the commit, what is listed as pending is on the disk.
        self.flush_pending()?;
        let conflicts: Vec<String> = self.conflicts().into_iter().map(|conflict| conflict.path).collect();
        if !conflicts.is_empty() {
            self.save_rows()?;
            return Err(conflict_error(&self.name, &conflicts));
        }
        let pending = self.pending_of(paths);
        if pending.is_empty() {
            self.save_rows()?;
            return Ok(None);
        }
        let mut commit = Commit { id: String::new(), entries: Vec::new(), refused: Vec::new(), batch: staging()? };
        for path in pending {
            cancel.check()?;
            let staged = match refuse(&path)?.filter(|_| !odd.contains_key(&path)) {
                Some(error) => Err(error),
                None => self.stage_change(&mut commit, &path, &odd, mode, cancel)?,
            };
            if let Err(error) = staged {
                let row = self.row_mut(&path);
                row.attempts += 1;
                row.error = Some((error.code.as_str().to_owned(), error.to_string()));
                commit.refused.push((path, error));
            }
        }
        let key = key_of(&commit.entries);
        let Some(record) = &mut self.record else {
            return Err(Error::new(Code::CommitFailed, format!("{} was never loaded", self.name)));
        };
        if !commit.entries.is_empty() {
            let known = record.commit.as_ref().filter(|(_, other)| *other == key).map(|(id, _)| id.clone());
            commit.id = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
            record.commit = Some((commit.id.clone(), key));
            // Until it is recorded nobody knows whether it landed.
            record.must_load = true;
        }
        for entry in &commit.entries {
            let row = self.row_mut(&entry.path);
            row.sent = Some(Sent(entry.sends));
            row.attempts += 1;
        }
        self.save(true)?;
        Ok(Some(commit))
    }

    /// What is pending at or below `paths`, with the deletions that make room for it: the store must never hold a file where
    /// it is to hold a folder.
    fn pending_of(&self, paths: Option<&[String]>) -> BTreeSet<String> {
        let mut pending = BTreeSet::new();
        for (path, row) in self.rows.iter().filter(|(path, row)| row.since.is_some() && covers(paths, path)) {
            pending.insert(path.clone());
            if row.seen.is_none() {
                continue;
            }
            let above = path.match_indices('/').map(|(at, _)| &path[..at]);
            let is_deleted = |above: &&str| {
                self.rows.get(*above).is_some_and(|row| row.since.is_some() && row.seen.is_none() && row.base.is_some())
            };
            pending.extend(above.filter(is_deleted).map(str::to_owned));
        }
        pending
    }

    /// Stages one change. Inside: why it cannot be sent.
    fn stage_change(
        &mut self,
        commit: &mut Commit,
        path: &str,
        odd: &BTreeMap<String, Odd>,
        mode: Mode,
        cancel: &Cancel,
    ) -> Result<std::result::Result<(), Error>> {
        let full = self.harness_path(path);
        if let Some(odd) = odd.get(path) {
            return Ok(Err(odd.error(&full.to_string())));
        }
        let Some(row) = self.rows.get(path) else { return Ok(Ok(())) };
        let base = row.base.clone();
        let path = path.to_owned();
        if row.seen.is_none() {
            let entry = Entry { path, change: Change::Deleted, sends: None, media_type: None, base, staged: None };
            commit.entries.push(entry);
            return Ok(Ok(()));
        }
        // A file that another program keeps writing to: sent when it is done.
        for _ in 0..3 {
            let (file, stat) = match self.root().open_file(&full) {
                Ok(opened) => opened,
                // Gone since it was scanned: a new change, which the next scan sees.
                Err(error) if matches!(error.code, Code::NotFound | Code::NotDirectory) => return Ok(Ok(())),
                // Something else by now.
                Err(error) => return Ok(Err(error)),
            };
            let file = File::from(file);
            let mut staged = commit.batch.stage(&full, mode)?;
            read::copy(&file, &full, cancel, |bytes| staged.write(bytes))?;
            let after = fs::fstat(&file).map_err(|errno| Error::from_errno(errno, &full, "reading"))?;
            let version = Version { bytes: staged.bytes(), digest: staged.digest() };
            let name = staged.name_mut().take().unwrap_or_default();
            if !Stamp::of(&after).same_but_renamed(&Stamp::of(&stat)) || Stamp::of(&after).size != version.bytes {
                commit.batch.discard(&name);
                continue;
            }
            if base.as_ref().is_some_and(|base| base.version.digest == version.digest) {
                commit.batch.discard(&name);
                return Ok(Ok(())); // changed back since it was scanned
            }
            let change = if base.is_some() { Change::Updated } else { Change::Created };
            let media_type = self.media_type(&full.to_string()).or_else(|| media::guess(&full));
            commit.entries.push(Entry { path, change, sends: Some(version), media_type, base, staged: Some(name) });
            return Ok(Ok(()));
        }
        Ok(Err(Error::at(
            Code::Busy,
            &full,
            format!("Another program keeps writing to {full}: it is not committed yet."),
        )))
    }

    fn media_type(&self, path: &str) -> Option<String> {
        let session = &self.session;
        let row = session.host.index.read(|connection| index::row(connection, session.instance, path));
        row.ok().flatten().and_then(|facts| facts.media_type)
    }

    /// One change has landed, and the store calls it `tag` now.
    pub(crate) fn landed(&mut self, path: &str, tag: Option<String>) -> Result<()> {
        self.note_landed(path, tag);
        self.save(false)
    }

    /// All changes of a commit have landed.
    pub(crate) fn stored(
        &mut self,
        commit: &Commit,
        cursor: Option<String>,
        must_load: bool,
        mut tags: BTreeMap<String, String>,
    ) -> Result<()> {
        for entry in &commit.entries {
            let tag = tags.remove(&entry.path);
            self.note_landed(&entry.path, tag);
        }
        if let Some(record) = &mut self.record {
            (record.cursor, record.must_load, record.commit) = (cursor, must_load, None);
        }
        self.save(true)
    }

    pub(crate) fn note_landed(&mut self, path: &str, tag: Option<String>) {
        let Some(Sent(sent)) = self.rows.get(path).and_then(|row| row.sent) else { return };
        let base = sent.map(|version| Held { version, tag });
        self.row_mut(path).advance(base, now_millis());
    }

    /// An attempt failed before anything of it was staged.
    pub(crate) fn attempt_failed(
        &mut self,
        paths: Option<&[String]>,
        code: &str,
        message: &str,
        cancel: &Cancel,
    ) -> Result<()> {
        self.scan(cancel)?;
        self.flush_pending()?;
        let pending: Vec<String> = self
            .rows
            .iter()
            .filter(|(path, row)| row.since.is_some() && !row.is_conflict() && covers(paths, path))
            .map(|(path, _)| path.clone())
            .collect();
        for path in pending {
            let row = self.row_mut(&path);
            row.attempts += 1;
            row.error = Some((code.to_owned(), message.to_owned()));
        }
        self.save(true)
    }

    /// What has not landed has failed. `unknown`: it may have landed all the same, which a load will tell.
    pub(crate) fn failed(&mut self, code: &str, message: &str, unknown: bool) -> Result<()> {
        let sent: Vec<String> =
            self.rows.iter().filter(|(_, row)| row.sent.is_some()).map(|(path, _)| path.clone()).collect();
        for path in sent {
            let row = self.row_mut(&path);
            row.error = Some((code.to_owned(), message.to_owned()));
            if !unknown {
                row.sent = None;
            }
        }
        self.save(true)
    }
}

/// The conflict of a dir, about paths in it.
pub(crate) fn conflict_error(dir: &str, paths: &[String]) -> Error {
    let shown = paths.iter().take(3).map(|path| format!("{dir}/{path}")).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > 3 { format!(" and {} more", paths.len() - 3) } else { String::new() };
    let text = format!(
        "{dir} is in conflict with its store: {shown}{more} changed on both sides. Nothing of it is sent until that is resolved: see session.persistence.conflicts() and resolve()."
    );
    Error { details: Some(serde_json::json!({ "paths": paths }).to_string()), ..Error::at(Code::Conflict, dir, text) }
}

/// What tells one set of changes from another.
fn key_of(entries: &[Entry]) -> Digest {
    let mut hash = Sha256::new();
    for Entry { path, sends, base, .. } in entries {
        let digest = |version: Option<Version>| version.map_or([0; 32], |version| version.digest.0);
        hash.update((path.len() as u64).to_le_bytes());
        hash.update(path);
        hash.update(digest(*sends));
        hash.update(digest(base.as_ref().map(|base| base.version)));
    }
    Digest(hash.finalize().into())
}
