//! What other programs change under the roots while they run: by comparing stamps, then contents where those moved.

use std::collections::HashMap;
use std::fs::File;
use std::sync::PoisonError;

use rustix::fs::FileType;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::diff::NoDiff;
use crate::digest::Digest;
use crate::error::Result;
use crate::event::Draft;
use crate::index::{self, Artifact, Facts};
use crate::path::{HarnessPath, Root};
use crate::session::Session;
use crate::stamp::Stamp;
use crate::tree;

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
#[derive(Debug, Default)]
pub struct Snapshot {
    files: HashMap<String, Seen>,
    /// Folders that could not be looked into: whether a file in them is gone nobody can say.
    unseen: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: Stamp,
    fresh: bool,
    /// What the index knew of it.
    digest: Option<Digest>,
}

impl Snapshot {
    /// Whether it lies where nobody could look.
    fn hides(&self, path: &str) -> bool {
        self.unseen.iter().any(|folder| {
            path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

impl Session {
    /// Looks at every file of the roots, and reads none.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.check_exists()?;
        let mut snapshot = Snapshot::default();
        for root in Root::ALL {
            let prefix = format!("/{}", root.name());
            let rows =
                self.host.index.read(|connection| index::rows_below(connection, self.instance, &prefix, false))?;
            let rows: HashMap<String, Facts> = rows.into_iter().collect();
            let visited = tree::visit(self.root(root).folder(), &prefix, None);
            let files = visited.found.into_iter().filter(|found| found.nameable && found.kind == FileType::RegularFile);
            for tree::Found { path, stamp, .. } in files {
                let path = format!("{prefix}/{path}");
                let known = rows.get(&path).filter(|facts| facts.stamp == stamp);
                let seen = Seen {
                    stamp,
                    fresh: known.map_or_else(|| stamp.is_fresh(), |facts| facts.fresh),
                    digest: known.map(|facts| facts.digest),
                };
                snapshot.files.insert(path, seen);
            }
            snapshot.unseen.extend(visited.unseen.into_iter().map(|unseen| format!("{prefix}/{}", unseen.path)));
        }
        Ok(snapshot)
    }

    /// What has changed since, other than by this library's own writers. Told as events, recorded in the index, and
    /// flushed with the next flush.
    pub fn changes_since(&self, before: &Snapshot, source: &str, turn_id: Option<&str>) -> Result<Vec<FileChange>> {
        let mut after = self.snapshot()?;
        let mut changes = Vec::new();
        for (path, now) in &after.files {
            changes.extend(self.compare(path, before.files.get(path), *now)?);
        }
        for (path, seen) in &before.files {
            if after.hides(path) {
                after.files.insert(path.clone(), *seen);
            } else if !after.files.contains_key(path) {
                changes.extend(self.gone(path, *seen)?);
            }
        }
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let bytes = after.files.values().map(|seen| seen.stamp.size).sum();
        let files = after.files.len() as u64;
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
