//! Results as JavaScript objects, beside what they are made of.

use little_files::digest::Digest;
use little_files::index::{Artifact, SessionRow};
use little_files::list::Entry;
use little_files::read::FileData;
use little_files::write::Written;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// A marked file.
#[napi(object, object_from_js = false)]
pub struct NativeArtifact {
    /// The harness path.
    pub id: String,
    /// The harness path.
    pub path: String,
    /// Size.
    pub bytes: i64,
    /// 64 hex digits.
    pub sha256: String,
    /// As recorded.
    pub media_type: Option<String>,
    /// For people.
    pub name: Option<String>,
    /// JSON text of an object.
    pub metadata: Option<String>,
}

fn artifact(path: &str, bytes: u64, digest: &Digest, media_type: Option<&String>, mark: Artifact) -> NativeArtifact {
    NativeArtifact {
        id: path.to_owned(),
        path: path.to_owned(),
        bytes: number(bytes),
        sha256: digest.to_string(),
        media_type: media_type.cloned(),
        name: mark.name,
        metadata: mark.metadata,
    }
}

/// What a write gave.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeWritten {
    /// As on the disk.
    pub path: String,
    /// Size.
    pub bytes: i64,
    /// 64 hex digits.
    pub sha256: String,
    /// As given or guessed.
    pub media_type: Option<String>,
    /// The mark.
    pub artifact: Option<NativeArtifact>,
}

impl From<Written> for NativeWritten {
    fn from(written: Written) -> Self {
        let Written { path, bytes, digest, media_type, artifact: mark } = written;
        let artifact = mark.map(|mark| artifact(&path, bytes, &digest, media_type.as_ref(), mark));
        Self { path, bytes: number(bytes), sha256: digest.to_string(), media_type, artifact }
    }
}

/// What a read gave.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeFileData {
    /// As on the disk.
    pub path: String,
    /// Of the whole file.
    pub bytes: i64,
    /// Of the whole file.
    pub sha256: String,
    /// As recorded.
    pub media_type: Option<String>,
    /// The bytes.
    pub content: Uint8Array,
}

impl From<FileData> for NativeFileData {
    fn from(data: FileData) -> Self {
        let FileData { path, bytes, digest, media_type, content } = data;
        Self { path, bytes: number(bytes), sha256: digest.to_string(), media_type, content: content.into() }
    }
}

/// A line of a listing.
#[napi(object, object_from_js = false)]
pub struct NativeEntry {
    /// As on the disk.
    pub path: String,
    #[napi(ts_type = "'file' | 'directory' | 'symlink' | 'other'")]
    /// What stands there.
    pub kind: String,
    /// Of a file.
    pub bytes: Option<i64>,
    /// Milliseconds since 1970.
    pub updated_at: Option<i64>,
    /// As recorded.
    pub media_type: Option<String>,
    /// As recorded.
    pub sha256: Option<String>,
    /// The mark.
    pub artifact: Option<NativeArtifact>,
}

impl From<Entry> for NativeEntry {
    fn from(entry: Entry) -> Self {
        let Entry { path, kind, bytes, updated_at, facts, artifact: mark } = entry;
        let artifact = facts
            .as_ref()
            .zip(mark)
            .map(|(facts, mark)| artifact(&path, facts.stamp.size, &facts.digest, facts.media_type.as_ref(), mark));
        let sha256 = facts.as_ref().map(|facts| facts.digest.to_string());
        let media_type = facts.and_then(|facts| facts.media_type);
        Self {
            path,
            kind: kind.as_str().to_owned(),
            bytes: bytes.map(number),
            updated_at: Some(updated_at),
            media_type,
            sha256,
            artifact,
        }
    }
}

/// What is known of a session.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeSessionInfo {
    /// As the host named it.
    pub id: String,
    /// What it does.
    pub state: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
    /// Of all its files.
    pub bytes: i64,
    /// Their number.
    pub files: i64,
    /// In Persistent Dirs.
    pub pending_changes: i64,
    /// JSON text of an object.
    pub metadata: Option<String>,
}

impl From<SessionRow> for NativeSessionInfo {
    fn from(row: SessionRow) -> Self {
        let SessionRow { id, created_at, updated_at, metadata, files, bytes, pending, .. } = row;
        Self {
            id,
            state: "idle".to_owned(),
            created_at,
            updated_at,
            bytes: number(bytes),
            files: number(files),
            pending_changes: number(pending),
            metadata,
        }
    }
}

/// JavaScript's numbers are exact below 2^53; sizes stay there.
pub(crate) fn number(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
