//! Options and results of Persistent Dirs as JavaScript objects, beside what they convert to.

use little_files::error::Error;
use little_files::persistent::{Below, Conflict, Declaration, Entry, Loaded, LocalSource, Pending, Source};
use little_files::track::Version;
use napi_derive::napi;

use crate::results::number;
use crate::turn::NativeVersion;

/// A dir as `localHost` declares it.
#[napi(object, object_to_js = false)]
pub struct NativePersistentDir {
    /// As given.
    pub harness_dir: String,
    /// Never written to.
    pub read_only: bool,
    /// Backed by a folder.
    pub local: bool,
    /// The folder, where it is always the same.
    pub source: Option<NativeLocalSource>,
}

impl From<NativePersistentDir> for Declaration {
    fn from(dir: NativePersistentDir) -> Self {
        let NativePersistentDir { harness_dir, read_only, local, source } = dir;
        Self { harness_dir, read_only, local, source: source.map(Into::into) }
    }
}

/// A folder on this machine.
#[napi(object, object_to_js = false)]
pub struct NativeLocalSource {
    #[napi(ts_type = "'data' | 'project' | 'absolute'")]
    /// What the path starts from.
    pub below: String,
    /// As written.
    pub path: String,
}

impl From<NativeLocalSource> for LocalSource {
    fn from(source: NativeLocalSource) -> Self {
        let below = match source.below.as_str() {
            "data" => Below::DataDir,
            "project" => Below::Project,
            _ => Below::Root,
        };
        Self { below, path: source.path }
    }
}

/// Where a dir's files come from.
#[napi(object, object_to_js = false)]
pub struct NativeSource {
    /// To commit.
    pub exclusive: bool,
    /// Of a store that is not local.
    pub scope: Option<String>,
    /// A folder.
    pub local: Option<NativeLocalSource>,
    /// Of the other dirs.
    pub others: Option<Vec<NativeLocalSource>>,
}

impl From<NativeSource> for Source {
    fn from(source: NativeSource) -> Self {
        let NativeSource { scope, local, others, .. } = source;
        match local {
            Some(local) => Self::Local(local.into(), others.into_iter().flatten().map(Into::into).collect()),
            None => Self::Scope(scope.unwrap_or_default()),
        }
    }
}

/// What a load did.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeLoaded {
    /// In the dir.
    pub files: i64,
    /// Of them.
    pub bytes: i64,
    /// Came in.
    pub created: i64,
    /// Came in.
    pub updated: i64,
    /// Went.
    pub deleted: i64,
    /// Now.
    pub conflicts: i64,
    /// No path can name them.
    pub skipped: i64,
}

impl From<Loaded> for NativeLoaded {
    fn from(loaded: Loaded) -> Self {
        let Loaded { files, bytes, created, updated, deleted, conflicts, skipped } = loaded;
        Self {
            files: number(files),
            bytes: number(bytes),
            created: number(created),
            updated: number(updated),
            deleted: number(deleted),
            conflicts: number(conflicts),
            skipped: number(skipped),
        }
    }
}

/// A change on its way.
#[napi(object, object_from_js = false)]
pub struct NativeChange {
    /// In the dir.
    pub path: String,
    #[napi(ts_type = "'created' | 'updated' | 'deleted'")]
    /// How.
    pub change: String,
    /// Size.
    pub bytes: Option<i64>,
    /// 64 hex digits.
    pub sha256: Option<String>,
    /// As recorded or guessed.
    pub media_type: Option<String>,
    /// What the store held.
    pub base_bytes: Option<i64>,
    /// What the store held.
    pub base_sha256: Option<String>,
    /// What the store calls that.
    pub base_version: Option<String>,
}

impl From<&Entry> for NativeChange {
    fn from(entry: &Entry) -> Self {
        let base = entry.base();
        Self {
            path: entry.path.clone(),
            change: entry.change.as_str().to_owned(),
            bytes: entry.sends.map(|sends| number(sends.bytes)),
            sha256: entry.sends.map(|sends| sends.digest.to_string()),
            media_type: entry.media_type.clone(),
            base_bytes: base.map(|(version, _)| number(version.bytes)),
            base_sha256: base.map(|(version, _)| version.digest.to_string()),
            base_version: base.and_then(|(_, tag)| tag).map(str::to_owned),
        }
    }
}

/// A change that cannot be sent.
#[napi(object, object_from_js = false)]
pub struct NativeRefused {
    /// In the dir.
    pub path: String,
    /// Stable.
    pub code: String,
    /// Complete.
    pub message: String,
}

impl From<&(String, Error)> for NativeRefused {
    fn from((path, error): &(String, Error)) -> Self {
        Self { path: path.clone(), code: error.code.as_str().to_owned(), message: error.to_string() }
    }
}

/// An uncommitted change.
#[napi(object, object_from_js = false)]
pub struct NativePending {
    /// In the dir.
    pub path: String,
    #[napi(ts_type = "'created' | 'updated' | 'deleted'")]
    /// How.
    pub change: String,
    /// Size.
    pub bytes: Option<i64>,
    /// 64 hex digits.
    pub sha256: Option<String>,
    /// Milliseconds since 1970.
    pub since: i64,
    /// So far.
    pub attempts: u32,
    /// Of the last failure.
    pub error_code: Option<String>,
    /// Of the last failure.
    pub error_message: Option<String>,
}

impl From<Pending> for NativePending {
    fn from(pending: Pending) -> Self {
        let Pending { path, change, ours, since, attempts, error } = pending;
        let (error_code, error_message) = error.unzip();
        Self {
            path,
            change: change.as_str().to_owned(),
            bytes: ours.map(|ours| number(ours.bytes)),
            sha256: ours.map(|ours| ours.digest.to_string()),
            since,
            attempts,
            error_code,
            error_message,
        }
    }
}

/// A path in conflict.
#[napi(object, object_from_js = false)]
pub struct NativeConflict {
    /// In the dir.
    pub path: String,
    /// What both started from.
    pub base: Option<NativeVersion>,
    /// In the checkout.
    pub ours: Option<NativeVersion>,
    /// In the store.
    pub theirs: Option<NativeVersion>,
}

impl From<Conflict> for NativeConflict {
    fn from(conflict: Conflict) -> Self {
        let side = |version: Option<Version>| version.map(Into::into);
        let Conflict { path, base, ours, theirs } = conflict;
        Self { path, base: side(base), ours: side(ours), theirs: side(theirs) }
    }
}
