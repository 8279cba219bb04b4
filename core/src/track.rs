//! What other programs change under the roots while they run: by comparing stamps, then contents where those moved.

use std::collections::HashMap;
use std::fs::File;
use std::sync::PoisonError;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::diff::NoDiff;
use crate::digest::Digest;
use crate::error::Result;
use crate::event::Draft;
use crate::index::{self, Artifact, Facts};
use crate::path::{HarnessPath, MAX_DEPTH, Root, is_valid_name};
use crate::root::open_name;
use crate::session::Session;
use crate::stamp::Stamp;

/// How a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created,
    /// Its content is another.
    Updated,
    /// It is gone.
    Deleted,
}

impl Change {
    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
        }
    }
}

/// Size and digest of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Size.
    pub bytes: u64,
    /// sha256.
    pub digest: Digest,
}

/// A file that another program changed.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// As on the disk.
    pub path: String,
    /// How.
    pub change: Change,
    /// Before, as far as it was known.
    pub before: Option<Version>,
    /// After.
    pub after: Option<Version>,
}

/// The regular files of a session's roots by their stamps.
#[derive(Debug)]
pub struct Snapshot(HashMap<String, Seen>);

#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: Stamp,
    fresh: bool,
    /// What the index knew of it.
    digest: Option<Digest>,
}

impl Session {
    /// Looks at every file of the roots, and reads none.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.check_exists()?;
        let mut files = HashMap::new();
        for root in Root::ALL {
            let prefix = format!("/{}", root.name());
            let rows =
                self.host.index.read(|connection| index::rows_below(connection, self.instance, &prefix, false))?;
            let rows: HashMap<String, Facts> = rows.into_iter().collect();
            if let Ok(top) = open_name(self.root(root).folder(), ".", OFlags::RDONLY | OFlags::DIRECTORY) {
                look(top, prefix, 1, &mut |path, stamp| {
                    let known = rows.get(&path).filter(|facts| facts.stamp == stamp);
                    let seen = Seen {
                        stamp,
                        fresh: known.map_or_else(|| stamp.is_fresh(), |facts| facts.fresh),
                        digest: known.map(|facts| facts.digest),
                    };
                    files.insert(path, seen);
                });
            }
        }
        Ok(Snapshot(files))
    }

    /// What has changed since, other than by this library's own writers. Told as events, recorded in the index, and
    /// flushed with the next flush.
    pub fn changes_since(&self, before: &Snapshot, source: &str, turn_id: Option<&str>) -> Result<Vec<FileChange>> {
        let after = self.snapshot()?;
        let mut changes = Vec::new();
        for (path, now) in &after.0 {
            changes.extend(self.compare(path, before.0.get(path), *now)?);
        }
        for (path, seen) in &before.0 {
            if !after.0.contains_key(path) {
                changes.extend(self.gone(path, *seen)?);
            }
        }
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let bytes = after.0.values().map(|seen| seen.stamp.size).sum();
        let files = after.0.len() as u64;
        self.host.index.write_waiting(|connection| index::set_totals(connection, self.instance, files, bytes))?;
        self.note(&changes);
        if !changes.is_empty() {
            let first = self.reserve_waiting(changes.len())?;
            self.emit(changes.iter().map(|change| draft(change, source)).collect(), turn_id, first);
        }
        Ok(changes)
    }

    fn compare(&self, path: &str, before: Option<&Seen>, now: Seen) -> Result<Option<FileChange>> {
        let same = before.is_some_and(|before| before.stamp == now.stamp);
        if same && !now.fresh {
            return Ok(None);
        }
        // Recorded since by a writer of ours, or a stamp that proves nothing: only the content can tell.
        let row = self.host.index.read(|connection| index::row(connection, self.instance, path))?;
        let recorded = row.as_ref().filter(|facts| facts.stamp == now.stamp);
        if recorded.is_some_and(|facts| !facts.fresh) || (same && recorded.is_none()) {
            return Ok(None);
        }
        let Some((stamp, digest)) = self.hash(path)? else { return Ok(None) };
        // The latest that is known: a row, which may be newer than the snapshot, else what the snapshot knew.
        let recorded = row.as_ref().map(|facts| Version { bytes: facts.stamp.size, digest: facts.digest });
        let seen = before.and_then(|seen| Some(Version { bytes: seen.stamp.size, digest: seen.digest? }));
        let old = recorded.or(seen);
        let unchanged = old.is_some_and(|old| old.digest == digest);
        // Rewritten with what it held: its facts stay.
        let facts = match row {
            Some(facts) if unchanged => Facts { stamp, fresh: stamp.is_fresh(), ..facts },
            _ => Facts {
                stamp,
                fresh: stamp.is_fresh(),
                digest,
                media_type: None,
                source: None,
                metadata: None,
                artifact: Artifact::default(),
            },
        };
        self.host.index.write_waiting(|connection| index::upsert(connection, self.instance, path, &facts))?;
        if unchanged {
            return Ok(None);
        }
        let change = if before.is_some() || old.is_some() { Change::Updated } else { Change::Created };
        let new = Some(Version { bytes: stamp.size, digest });
        Ok(Some(FileChange { path: path.to_owned(), change, before: old, after: new }))
    }

    fn gone(&self, path: &str, seen: Seen) -> Result<Option<FileChange>> {
        let row = self.host.index.read(|connection| index::row(connection, self.instance, path))?;
        // A remove of ours has taken the row away as well.
        if seen.digest.is_some() && row.is_none() {
            return Ok(None);
        }
        self.host.index.write_waiting(|connection| index::delete_row(connection, self.instance, path))?;
        let before = seen.digest.map(|digest| Version { bytes: seen.stamp.size, digest });
        Ok(Some(FileChange { path: path.to_owned(), change: Change::Deleted, before, after: None }))
    }

    /// `None`: gone meanwhile, or no regular file any more.
    fn hash(&self, path: &str) -> Result<Option<(Stamp, Digest)>> {
        let Some(path) = split(path) else { return Ok(None) };
        let Ok((file, stat)) = self.root_of(&path).open_file(&path) else { return Ok(None) };
        Ok(Some((Stamp::of(&stat), Digest::read(File::from(file), &path, &Cancel::new())?.0)))
    }

    fn note(&self, changes: &[FileChange]) {
        let mut unflushed = self.unflushed.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            let Some(path) = split(&change.path) else { continue };
            match change.change {
                // Which of its folders are new nobody knows.
                Change::Created | Change::Updated => unflushed.wrote(&path, 0, false),
                Change::Deleted => unflushed.removed(&path),
            }
        }
    }
}

/// Visits the regular files below a folder.
fn look(folder: OwnedFd, prefix: String, depth: usize, visit: &mut dyn FnMut(String, Stamp)) {
    let mut todo = vec![(folder, prefix, depth)];
    while let Some((folder, prefix, depth)) = todo.pop() {
        let Ok(entries) = Dir::read_from(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if depth >= MAX_DEPTH || !is_valid_name(name) {
                continue;
            }
            let Ok(stat) = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => visit(format!("{prefix}/{name}"), Stamp::of(&stat)),
                FileType::Directory => {
                    if let Ok(next) = open_name(folder.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY) {
                        todo.push((next, format!("{prefix}/{name}"), depth + 1));
                    }
                }
                _ => {}
            }
        }
    }
}

/// A path of ours, whose names stand on the disk just so.
fn split(path: &str) -> Option<HarnessPath> {
    let mut segments = path.split('/').skip(1);
    let first = segments.next()?;
    let root = Root::ALL.into_iter().find(|root| root.name() == first)?;
    Some(HarnessPath { root, segments: segments.map(str::to_owned).collect() })
}

fn draft(change: &FileChange, source: &str) -> Draft {
    let kind = match change.change {
        Change::Created => "harness.file.created",
        Change::Updated => "harness.file.updated",
        Change::Deleted => "harness.file.deleted",
    };
    let version = |version: Option<Version>| {
        version.map(|version| json!({ "bytes": version.bytes, "sha256": version.digest.to_string() }))
    };
    let fields = json!({
        "path": change.path,
        "root": split(&change.path).map(|path| path.root.name()),
        "bytes": change.after.map(|after| after.bytes),
        "sha256": change.after.map(|after| after.digest.to_string()),
        "source": source,
        "before": version(change.before),
        "after": version(change.after),
        "diff": Value::from(NoDiff::ContentUnavailable),
    });
    Draft::new(kind, fields)
}
