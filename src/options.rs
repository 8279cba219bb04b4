//! Options as JavaScript objects, beside what they convert to. `ts/` has checked them.

use little_files::Redaction;
use little_files::digest::Digest;
use little_files::error::{Code, Error, Result};
use little_files::host::{Durability, HostOptions, Quota};
use little_files::index::Artifact;
use little_files::list::ListOptions;
use little_files::remove::RemoveOptions;
use little_files::root::Resolver;
use little_files::write::{Origin, WriteOptions};
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ts/ has checked that it is a whole number from 0 on; the cast clamps the rest"
)]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}
