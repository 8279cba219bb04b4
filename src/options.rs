//! Options and results as JavaScript objects, beside what they convert to. `ts/` has checked the options.

use little_files::Redaction;
use little_files::digest::Digest;
use little_files::error::{Code, Error, Result};
use little_files::host::{Durability, HostOptions, Quota};
use little_files::index::{Artifact, SessionRow};
use little_files::list::{Entry, ListOptions};
use little_files::read::FileData;
use little_files::remove::RemoveOptions;
use little_files::root::Resolver;
use little_files::write::{Origin, WriteOptions, Written};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::persistent::NativePersistentDir;
use crate::version::version;

/// Of `localHost`.
#[napi(object, object_to_js = false)]
pub struct NativeHostOptions {
    /// A path of this machine.
    pub data_dir: String,
    #[napi(ts_type = "'turn' | 'write' | 'none'")]
    /// When writes are on the disk.
    pub durability: String,
    /// Bytes.
    pub session_bytes: Option<f64>,
    /// Bytes.
    pub file_bytes: Option<f64>,
    /// A number of files.
    pub session_files: Option<f64>,
    /// Keep a trace.ndjson.
    pub trace: bool,
    /// Diffs in events.
    pub diff: bool,
    /// Path prefixes.
    pub redacted_paths: Vec<String>,
    /// Metadata keys.
    pub redacted_keys: Vec<String>,
    #[napi(ts_type = "'walk'")]
    /// Forces the component walk.
    pub resolver: Option<String>,
    /// A path of this machine.
    pub project_root: Option<String>,
    /// In the order of their indexes.
    pub persistent_dirs: Vec<NativePersistentDir>,
}

impl From<NativeHostOptions> for HostOptions {
    fn from(options: NativeHostOptions) -> Self {
        Self {
            durability: match options.durability.as_str() {
                "write" => Durability::Write,
                "none" => Durability::None,
                _ => Durability::Turn,
            },
            quota: Quota {
                session_bytes: options.session_bytes.map(whole),
                session_files: options.session_files.map(whole),
                file_bytes: options.file_bytes.map(whole),
            },
            trace: options.trace,
            diff: options.diff,
            redaction: Redaction { paths: options.redacted_paths, keys: options.redacted_keys },
            resolver: (options.resolver.as_deref() == Some("walk")).then_some(Resolver::Walk),
            persistent_dirs: options.persistent_dirs.into_iter().map(Into::into).collect(),
            project_root: options.project_root.map(Into::into),
        }
    }
}

/// Of a write.
#[napi(object, object_to_js = false)]
pub struct NativeWriteOptions {
    /// Wins over the extension.
    pub media_type: Option<String>,
    /// Where the extension says nothing.
    pub fallback_media_type: Option<String>,
    /// Label for events.
    pub source: String,
    #[napi(ts_type = "'host' | 'tool' | 'message'")]
    /// Which writer it is.
    pub origin: String,
    /// JSON text of an object.
    pub metadata: Option<String>,
    /// Marked or not, whatever the place.
    pub artifact: Option<bool>,
    /// For people.
    pub artifact_name: Option<String>,
    /// JSON text of an object.
    pub artifact_metadata: Option<String>,
    /// sha256.
    pub if_match: Option<String>,
    /// As a read, write or stat has given it.
    pub if_version: Option<String>,
    /// Only if nothing is there.
    pub if_none_match: Option<bool>,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// The most bytes of a text before that are given back.
    pub before_bytes: Option<f64>,
}

impl TryFrom<NativeWriteOptions> for WriteOptions {
    type Error = Error;

    fn try_from(options: NativeWriteOptions) -> Result<Self> {
        Ok(Self {
            media_type: options.media_type,
            fallback_media_type: options.fallback_media_type,
            source: options.source,
            turn_id: options.turn_id,
            origin: origin(&options.origin),
            metadata: options.metadata,
            artifact: Artifact {
                marked: options.artifact,
                name: options.artifact_name,
                metadata: options.artifact_metadata,
            },
            if_match: digest(options.if_match.as_deref())?,
            if_version: version(options.if_version.as_deref())?,
            if_none_match: options.if_none_match.unwrap_or(false),
            keep_before: options.before_bytes.map_or(0, whole),
        })
    }
}

/// Of a read.
#[napi(object, object_to_js = false)]
pub struct NativeReadOptions {
    /// First byte.
    pub start: Option<f64>,
    /// The byte after the last.
    pub end: Option<f64>,
    /// The most.
    pub max_bytes: f64,
    /// Refuse what is not text.
    pub utf8: bool,
}

impl From<NativeReadOptions> for little_files::read::ReadOptions {
    fn from(options: NativeReadOptions) -> Self {
        Self {
            start: options.start.map(whole),
            end: options.end.map(whole),
            max_bytes: whole(options.max_bytes),
            utf8: options.utf8,
        }
    }
}

/// Of a listing.
#[napi(object, object_to_js = false)]
pub struct NativeListOptions {
    /// The whole tree.
    pub recursive: bool,
    /// Glob.
    pub pattern: Option<String>,
    /// The most entries.
    pub limit: Option<f64>,
    /// A path.
    pub after: Option<String>,
}

impl From<NativeListOptions> for ListOptions {
    fn from(options: NativeListOptions) -> Self {
        Self {
            recursive: options.recursive,
            pattern: options.pattern,
            limit: options.limit.map(whole),
            after: options.after,
        }
    }
}

/// Of a remove.
#[napi(object, object_to_js = false)]
pub struct NativeRemoveOptions {
    /// Folders too.
    pub recursive: bool,
    /// Missing is fine.
    pub force: bool,
    /// sha256.
    pub if_match: Option<String>,
    /// Label for events.
    pub source: String,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
}

impl TryFrom<NativeRemoveOptions> for RemoveOptions {
    type Error = Error;

    fn try_from(options: NativeRemoveOptions) -> Result<Self> {
        let if_match = digest(options.if_match.as_deref())?;
        Ok(Self {
            recursive: options.recursive,
            force: options.force,
            if_match,
            source: options.source,
            turn_id: options.turn_id,
        })
    }
}

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

pub(crate) fn origin(name: &str) -> Origin {
    match name {
        "tool" => Origin::Tool,
        "message" => Origin::Message,
        _ => Origin::Host,
    }
}

fn digest(hex: Option<&str>) -> Result<Option<Digest>> {
    hex.map(|hex| {
        Digest::from_hex(hex).ok_or_else(|| Error::new(Code::InvalidOption, "ifMatch is 64 lower-case hex digits"))
    })
    .transpose()
}

/// JavaScript's numbers are exact below 2^53; sizes stay there.
pub(crate) fn number(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ts/ has checked that it is a whole number from 0 on; the cast clamps the rest"
)]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}
