//! Paths that both sides have changed: the store's content is kept beside the checkout until somebody decides.

use std::collections::BTreeSet;
use std::fs::File;

use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};

use super::batch::Batch;
use super::checkout::Checkout;
use super::place::Placed;
use super::row::{Held, Row, TheirState, Theirs};
use super::scan::Looked;
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::flush::changed_folders;
use crate::media;
use crate::read::{self, FileData};
use crate::root::open_name;
use crate::sys;
use crate::track::Version;

/// Which side of a conflict counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The checkout's: the next commit sends it.
    Ours,
    /// The store's: the checkout becomes it.
    Theirs,
}

/// A path in conflict. `None`: not there.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// In the dir.
    pub path: String,
    /// What both sides have started from.
    pub base: Option<Version>,
    /// In the checkout.
    pub ours: Option<Version>,
    /// In the store.
    pub theirs: Option<Version>,
}

impl Checkout {
    pub(crate) fn conflicts(&self) -> Vec<Conflict> {
        let rows = self.rows.iter().filter(|(_, row)| row.is_conflict());
        rows.map(|(path, row)| Conflict {
            path: path.clone(),
            base: row.base(),
            ours: row.ours(),
            theirs: row.theirs.as_ref().and_then(|theirs| theirs.held.as_ref()).map(|held| held.version),
        })
        .collect()
    }

    /// The store's content of a path in conflict; `None`: deleted there.
    pub(crate) fn read_theirs(&self, path: &str, cancel: &Cancel) -> Result<Option<FileData>> {
        let Some(held) = self.theirs(path)?.held else { return Ok(None) };
        let full = self.harness_path(path);
        let file = kept(self, &held)?;
        let mut content = Vec::new();
        read::copy(File::from(file), &full, cancel, |bytes| {
            content.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(Some(FileData {
            path: full.to_string(),
            bytes: held.version.bytes,
            digest: held.version.digest,
            media_type: media::guess(&full),
            content,
        }))
    }

    fn is_in_conflict(&self, path: &str) -> bool {
        self.rows.get(path).is_some_and(Row::is_conflict)
    }

    fn theirs(&self, path: &str) -> Result<Theirs> {
        let row = self.rows.get(path).filter(|row| row.is_conflict());
        row.and_then(|row| row.theirs.clone()).ok_or_else(|| {
            let full = self.harness_path(path);
            Error::at(Code::NotFound, &full, format!("{full} is not in conflict (ENOENT)"))
        })
    }

    /// Decides a conflict. That of a file against a folder is decided for all that is in the folder.
    pub(crate) fn resolve(&mut self, path: &str, side: Side, cancel: &Cancel) -> Result<()> {
        let listed = self.is_in_conflict(path);
        self.scan(cancel)?;
        if listed && !self.is_in_conflict(path) {
            // Such as a merge that came out as theirs: both sides hold the same by now, and nothing is left to decide.
            self.save(true)?;
            sweep(self);
            return Ok(());
        }
        self.decide(path, side, cancel)
    }

    /// The same after a scan.
    pub(super) fn decide(&mut self, path: &str, side: Side, cancel: &Cancel) -> Result<()> {
        let theirs = self.theirs(path)?;
        let below = format!("{path}/");
        let blocked: Vec<(String, Option<Held>)> = self
            .rows
            .range(below.clone()..)
            .take_while(|(other, _)| other.starts_with(&below))
            .filter(|(_, row)| row.is_blocked())
            .map(|(other, row)| (other.clone(), row.theirs.as_ref().and_then(|theirs| theirs.held.clone())))
            .collect();
        let all = std::iter::once((path.to_owned(), theirs.held)).chain(blocked);
        match side {
            Side::Ours => {
                let now = now_millis();
                all.for_each(|(path, held)| self.row_mut(&path).advance(held, now));
            }
            Side::Theirs => self.take_theirs(&all.collect::<Vec<_>>(), cancel)?,
        }
        self.save(true)?;
        sweep(self);
        Ok(())
    }

    /// Puts the store's content in place of whatever is there. Noted first, so that a crash half-way loses nothing.
    fn take_theirs(&mut self, all: &[(String, Option<Held>)], cancel: &Cancel) -> Result<()> {
        let mut batch = Batch::new(self.session.staging.folder())?;
        let mut staged = Vec::new();
        for (path, held) in all {
            let name = held.as_ref().map(|held| self.stage_kept(&mut batch, path, held, cancel)).transpose()?;
            staged.push(name);
        }
        if self.session.flushes() {
            batch.flush()?;
        }
        for (path, held) in all {
            self.row_mut(path).theirs = Some(Theirs { state: TheirState::Incoming, held: held.clone() });
        }
        self.save(true)?;
        let mut folders = BTreeSet::new();
        for (at, ((path, held), staged)) in all.iter().zip(&staged).enumerate() {
            let seen = loop {
                // A folder goes with all that is in it.
                let before = match self.look(path, cancel)? {
                    Looked::Folder => Looked::Other,
                    looked => looked,
                };
                let session = std::sync::Arc::clone(&self.session);
                let locked = session.lock_publish_waiting(cancel)?;
                let placed = match (held, staged) {
                    (Some(held), Some(name)) => self.put(&mut batch, name, path, held.version, before)?,
                    _ => self.take(&mut batch, path, before)?,
                };
                drop(locked);
                match placed {
                    Placed::Done(seen, had) => {
                        let full = self.harness_path(path);
                        folders.extend(changed_folders(&full, had).map(|(_, segments)| segments));
                        break seen;
                    }
                    Placed::Changed => {}
                    Placed::Blocked(obstacle) => {
                        // Still in conflict, all that is left.
                        for (other, (path, held)) in all.iter().enumerate().skip(at) {
                            let state = if other == 0 { TheirState::Conflict } else { TheirState::Blocked };
                            self.row_mut(path).theirs = Some(Theirs { state, held: held.clone() });
                        }
                        self.save(true)?;
                        return Err(self.in_the_way(&obstacle, path));
                    }
                }
            };
            let row = self.row_mut(path);
            row.seen = seen;
            row.advance(held.clone(), now_millis());
        }
        self.flush_folders(&folders)
    }

    pub(super) fn in_the_way(&self, obstacle: &str, path: &str) -> Error {
        let (obstacle, full) = (self.harness_path(obstacle), self.harness_path(path));
        let text = format!("{obstacle} stands in the way of {full}: remove or resolve that first");
        Error::at(Code::Conflict, full, text)
    }

    pub(super) fn stage_kept(&self, batch: &mut Batch, path: &str, held: &Held, cancel: &Cancel) -> Result<String> {
        let full = self.harness_path(path);
        let mut staged = batch.stage(&full, Mode::RUSR | Mode::WUSR)?;
        read::copy(File::from(kept(self, held)?), &full, cancel, |bytes| staged.write(bytes))?;
        Ok(staged.name_mut().take().unwrap_or_default())
    }
}

/// Whether one of `paths`, or all, hold `path`.
pub(crate) fn covers(paths: Option<&[String]>, path: &str) -> bool {
    let holds =
        |above: &String| path.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    paths.is_none_or(|paths| paths.iter().any(holds))
}

/// Keeps the store's content of a path in conflict.
pub(crate) fn keep(checkout: &Checkout, batch: &mut Batch, staged: &str, held: &Held) -> Result<()> {
    let wrap = |errno| Error::from_errno(errno, &checkout.name, "keeping the store's content of a conflict in");
    let folder = folder(checkout, true).map_err(wrap)?;
    if checkout.session.flushes() {
        let file = open_name(batch.folder(), staged, OFlags::RDONLY).map_err(wrap)?;
        fs::fsync(file).map_err(wrap)?;
    }
    fs::renameat(batch.folder(), staged, &folder, held.version.digest.to_string()).map_err(wrap)?;
    if checkout.session.flushes() {
        sys::sync_folder(&folder).map_err(wrap)?;
    }
    Ok(())
}

fn kept(checkout: &Checkout, held: &Held) -> Result<OwnedFd> {
    folder(checkout, false)
        .and_then(|folder| open_name(folder, &held.version.digest.to_string(), OFlags::RDONLY))
        .map_err(|errno| Error::from_errno(errno, &checkout.name, "reading the store's content of a conflict in"))
}

/// Lets go of contents that are of no conflict any more.
pub(crate) fn sweep(checkout: &Checkout) {
    let Ok(folder) = folder(checkout, false) else { return };
    let needed: BTreeSet<String> = checkout
        .rows
        .values()
        .filter_map(|row| Some(row.theirs.as_ref()?.held.as_ref()?.version.digest.to_string()))
        .collect();
    let Ok(entries) = Dir::read_from(&folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !matches!(name.as_str(), "." | "..") && !needed.contains(&name) {
            let _ = fs::unlinkat(&folder, name.as_str(), AtFlags::empty());
        }
    }
}

/// Of one dir: `conflicts/<digest of its path>` in the session.
fn folder(checkout: &Checkout, make: bool) -> rustix::io::Result<OwnedFd> {
    let name = &Digest::of(checkout.name.as_bytes()).to_string()[..32];
    let session = checkout.session.folder();
    if make {
        sys::make_folder(session, "conflicts")?;
    }
    let all = open_name(session, "conflicts", OFlags::RDONLY | OFlags::DIRECTORY)?;
    if make && sys::make_folder(&all, name)? && checkout.session.flushes() {
        sys::sync_folder(session)?;
        sys::sync_folder(&all)?;
    }
    open_name(&all, name, OFlags::RDONLY | OFlags::DIRECTORY)
}
