//! Removing files, links and trees.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;
use serde_json::json;

use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::diff::NoDiff;
use crate::digest::Digest;
use crate::error::{Code, Error, Reason, Result};
use crate::event::Draft;
use crate::index::{self, Change, Facts};
use crate::lock::Locked;
use crate::path::{HarnessPath, MAX_DEPTH, Use, is_valid_name};
use crate::root::{Links, open_name};
use crate::session::{Expected, Session};
use crate::stage::random_name;
use crate::stamp::Stamp;
use crate::{sys, trash};

/// Events that are numbered and written together.
const EVENTS_AT_ONCE: usize = 256;

/// How something is removed.
#[derive(Debug, Clone, Default)]
pub struct RemoveOptions {
    /// Folders too, with all that is in them.
    pub recursive: bool,
    /// What is not there is fine.
    pub force: bool,
    /// Only if the file still has this content.
    pub if_match: Option<Digest>,
    /// Label for events.
    pub source: String,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
}

enum Removal {
    Done,
    Again,
}

impl Session {
    /// Removes what stands at a path: a link itself, never what it points to. May be called again when the lock is held.
    pub fn remove(self: &Arc<Self>, path: &str, options: &RemoveOptions, cancel: &Cancel) -> Result<()> {
        let path = self.resolve(path, Use::Remove)?;
        let started = Instant::now();
        for _ in 0..32 {
            cancel.check()?;
            let path = self.root_of(&path).locate(&path, Links::Refuse);
            match self.told(self.remove_once(&path, options, cancel, started)) {
                Ok(Removal::Done) => return Ok(()),
                Ok(Removal::Again) => {}
                Err(error) if options.force && error.code == Code::NotFound => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Err(Error::at(Code::Busy, &path, format!("Other programs keep replacing {path}. Try again.")))
    }

    fn remove_once(
        &self,
        path: &HarnessPath,
        options: &RemoveOptions,
        cancel: &Cancel,
        started: Instant,
    ) -> Result<Removal> {
        let expected = match options.if_match {
            Some(wanted) => Some(self.expect_version(path, wanted, cancel)?),
            None => None,
        };
        let parent = self.root_of(path).open_parent(path)?;
        let name = path.segments.last().map_or("", String::as_str);
        let locked = self.lock_publish()?;
        let stat = fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| Error::from_errno(errno, path, "removing"))?;
        if expected.as_ref().is_some_and(|expected| expected.stamp != Stamp::of(&stat)) {
            return Ok(Removal::Again);
        }
        let target = Target { path, parent: &parent, name, stat: &stat, started, options };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return self.remove_name(&target, expected.as_ref(), locked);
        }
        if !options.recursive {
            let text = format!("{path} is a folder. Pass recursive: true to remove it with all that is in it.");
            return Err(Error::at(Code::NotRegularFile, path, text));
        }
        self.remove_tree(&target, locked)
    }

    /// Moves a name out of its root, so that what goes is just what was looked at.
    fn remove_name(&self, target: &Target<'_>, expected: Option<&Expected>, locked: Locked<'_>) -> Result<Removal> {
        let Target { path, parent, name, stat, .. } = *target;
        let staging = self.staging.folder();
        let moved = random_name();
        match fs::renameat(parent, name, staging, moved.as_str()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Removal::Again),
            Err(errno) => return Err(Error::from_errno(errno, path, "removing")),
        }
        let there = fs::statat(staging, moved.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok();
        let file = open_name(staging, &moved, OFlags::RDONLY).ok();
        // No error leaves here before what was moved is back or recorded as gone.
        let same = match (&there, expected, &file) {
            (Some(there), _, _) if !Stamp::of(there).same_but_renamed(&Stamp::of(stat)) => Ok(false),
            (Some(_), Some(expected), Some(file)) => Session::is_expected(path, expected, file),
            (there, ..) => Ok(there.is_some()),
        };
        if !matches!(same, Ok(true)) {
            // Somebody swapped it meanwhile; it goes back unless they have already made another.
            match sys::rename_new(staging, &moved, parent, name) {
                Ok(()) => {}
                Err(Errno::EXIST) => trash::unlink_tree(staging, &moved),
                Err(errno) => return Err(Error::from_errno(errno, path, "putting back")),
            }
            return same.map(|_| Removal::Again);
        }
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let text = path.to_string();
        let recorded = self.host.index.write(|connection| {
            let known = index::row(connection, self.instance, &text)?;
            index::delete_row(connection, self.instance, &text)?;
            let (files, bytes) = known.as_ref().map_or((0, 0), |facts| (-1, -counted(facts)));
            let first = index::change(connection, self.instance, Change { files, bytes, events: 1 }, now_millis())?;
            Ok((known, first))
        });
        let (known, first) = match recorded {
            Ok(recorded) => recorded,
            Err(error) => {
                // A remove that fails leaves the file.
                let _ = sys::rename_new(staging, &moved, parent, name);
                return Err(error);
            }
        };
        let flushed = self.note_removed(path);
        drop(locked);
        let digest = regular.then(|| before_digest(path, known.as_ref(), stat, file)).flatten();
        self.staging.discard(&moved);
        let draft = deleted(path, stat, digest, target);
        self.emit(vec![draft], target.options.turn_id.as_deref(), first.unwrap_or(0));
        // It is gone and told; only that the disk knows it is not sure.
        flushed.map(|()| Removal::Done)
    }

    fn remove_tree(&self, target: &Target<'_>, locked: Locked<'_>) -> Result<Removal> {
        let Target { path, parent, name, stat, .. } = *target;
        let mounted = || {
            let text = format!("{path} is or holds a mount point; it is not removed. Unmount it first.");
            Error::denied(Reason::Root, path, text)
        };
        if sys::has_mount_below(&self.host_path(path.root).join(path.segments.join("/"))) {
            return Err(mounted());
        }
        let trash = self.host.trash.as_fd();
        let moved = random_name();
        let _claimed = trash::claim(parent, name);
        let rename = || fs::renameat(parent, name, trash, moved.as_str());
        // A folder that its owner may not change cannot be moved either.
        let renamed = match rename() {
            Err(Errno::ACCESS) if sys::grant_owner(parent, name).is_ok() => rename(),
            other => other,
        };
        match renamed {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Removal::Again),
            // The kernel does not move a mount point.
            Err(Errno::BUSY) => return Err(mounted()),
            Err(errno) => return Err(Error::from_errno(errno, path, "removing")),
        }
        let same =
            fs::statat(trash, moved.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|there| there.st_ino == stat.st_ino);
        if !same {
            match sys::rename_new(trash, &moved, parent, name) {
                Ok(()) => {}
                Err(Errno::EXIST) => trash::unlink_tree(trash, &moved),
                Err(errno) => return Err(Error::from_errno(errno, path, "putting back")),
            }
            return Ok(Removal::Again);
        }
        let text = path.to_string();
        let recorded = self.host.index.write(|connection| {
            let rows = index::rows_below(connection, self.instance, &text, false)?;
            index::delete_below(connection, self.instance, &text)?;
            let bytes = rows.iter().map(|(_, facts)| counted(facts)).sum::<i64>();
            let files = -i64::try_from(rows.len()).unwrap_or(i64::MAX);
            index::change(connection, self.instance, Change { files, bytes: -bytes, events: 0 }, now_millis())?;
            Ok(rows)
        });
        let rows = match recorded {
            Ok(rows) => rows,
            Err(error) => {
                let _ = sys::rename_new(trash, &moved, parent, name);
                return Err(error);
            }
        };
        let flushed = self.note_removed(path);
        drop(locked);
        let rows = rows.into_iter().collect();
        let mut mourner = Mourner { session: self, target, rows, drafts: Vec::new() };
        trash::unlink_witnessed(trash, &moved, &mut mourner);
        mourner.flush()?;
        flushed.map(|()| Removal::Done)
    }

    fn note_removed(&self, path: &HarnessPath) -> Result<()> {
        use crate::host::Durability;
        if self.host.options.durability == Durability::Write {
            return self.flush_folders(path);
        }
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).removed(path);
        Ok(())
    }
}

/// What is removed.
struct Target<'a> {
    path: &'a HarnessPath,
    parent: &'a OwnedFd,
    name: &'a str,
    stat: &'a Stat,
    started: Instant,
    options: &'a RemoveOptions,
}

/// The event of something that went.
fn deleted(path: &HarnessPath, stat: &Stat, digest: Option<Digest>, target: &Target<'_>) -> Draft {
    let before = digest.map(|digest| json!({ "bytes": Stamp::of(stat).size, "sha256": digest.to_string() }));
    let link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
    let fields = json!({
        "path": path.to_string(),
        "root": path.root.name(),
        "kind": link.then_some("symlink"),
        "source": target.options.source,
        "before": before,
        "diff": serde_json::Value::from(NoDiff::ContentUnavailable),
        "durationMs": (target.started.elapsed().as_secs_f64() * 1_000_000.0).round() / 1_000.0,
    });
    Draft::new("harness.file.deleted", fields)
}

/// From the index when its stamp held, else by reading the file that is on its way out.
fn before_digest(path: &HarnessPath, known: Option<&Facts>, stat: &Stat, file: Option<OwnedFd>) -> Option<Digest> {
    match known {
        Some(facts) if !facts.fresh && facts.stamp == Stamp::of(stat) => Some(facts.digest),
        _ => Digest::read(File::from(file?), path, &Cancel::new()).ok().map(|(digest, _)| digest),
    }
}

/// What the totals hold for a recorded file: what it had when it was recorded, whatever other programs did since. Files
/// that no row knows count from one scan to the next, so they give nothing back.
fn counted(facts: &Facts) -> i64 {
    i64::try_from(facts.stamp.size).unwrap_or(i64::MAX)
}

/// Tells of each file of a tree.
struct Mourner<'a> {
    session: &'a Session,
    target: &'a Target<'a>,
    rows: HashMap<String, Facts>,
    drafts: Vec<Draft>,
}

impl trash::Witness for Mourner<'_> {
    fn leaving(&mut self, folder: BorrowedFd<'_>, below: &[String], stat: &Stat) {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let depth = 1 + self.target.path.segments.len() + below.len();
        let nameable = depth <= MAX_DEPTH && below.iter().all(|name| is_valid_name(name));
        if !matches!(kind, FileType::RegularFile | FileType::Symlink) || !nameable {
            return;
        }
        let mut path = self.target.path.clone();
        path.segments.extend_from_slice(below);
        let file = below
            .last()
            .filter(|_| kind == FileType::RegularFile)
            .and_then(|name| open_name(folder, name, OFlags::RDONLY).ok());
        let known = self.rows.remove(&path.to_string());
        let digest = file.and_then(|file| before_digest(&path, known.as_ref(), stat, Some(file)));
        self.drafts.push(deleted(&path, stat, digest, self.target));
        if self.drafts.len() >= EVENTS_AT_ONCE {
            // The files are gone either way; a failing index only costs their events, and the last flush reports it.
            let _ = self.flush();
        }
    }
}

impl Mourner<'_> {
    fn flush(&mut self) -> Result<()> {
        let drafts = std::mem::take(&mut self.drafts);
        let first = self.session.reserve_waiting(drafts.len())?;
        self.session.emit(drafts, self.target.options.turn_id.as_deref(), first);
        Ok(())
    }
}
