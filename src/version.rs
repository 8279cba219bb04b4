//! Versions of files, and writes that keep to one.

use little_files::version::{FileVersion, Versioned};
use little_files::write::PendingWrite;
use napi::Env;
use napi::bindgen_prelude::{Either, Object};
use napi_derive::napi;

use crate::cancel::flag_of;
use crate::failure::{Failure, closed};
use crate::options::NativeWriteOptions;
use crate::results::{NativeWritten, number};
use crate::run::{outcome, run, run_cancellable};
use crate::session::{CancelArgument, NativeSession};
use crate::staged::{Staged, Stages};
use crate::write::whole_write;

/// What stands at a path.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeVersioned {
    /// As on the disk.
    pub path: String,
    #[napi(ts_type = "'file' | 'directory' | 'symlink' | 'other'")]
    /// What stands there.
    pub kind: String,
    /// Opaque.
    pub version: String,
    /// Of a file.
    pub bytes: Option<i64>,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl From<Versioned> for NativeVersioned {
    fn from(versioned: Versioned) -> Self {
        let Versioned { path, kind, version, bytes, updated_at } = versioned;
        let (kind, version) = (kind.as_str().to_owned(), version.to_string());
        Self { path, kind, version, bytes: bytes.map(number), updated_at }
    }
}

/// What such a write gave.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeVersionedWrite {
    /// The file.
    pub written: NativeWritten,
    /// Opaque.
    pub version: String,
    #[napi(ts_type = "'create' | 'update'")]
    /// Whether something was there before.
    pub operation: String,
    /// The text before.
    pub before: Option<String>,
}

pub(crate) fn version(text: Option<&str>) -> little_files::error::Result<Option<FileVersion>> {
    text.map(str::parse).transpose()
}

#[napi]
impl NativeSession {
    /// What a path names, and one key for it whatever its spelling.
    #[napi(ts_return_type = "Promise<NativeTarget | Failure>")]
    pub fn target<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || {
            let (path, key) = session.clone()?.target(&path)?;
            Ok(NativeTarget { path, key })
        })
    }

    /// What stands at a path, with its version.
    #[napi(ts_return_type = "Promise<NativeVersioned | Failure>")]
    pub fn version<'env>(&self, env: &'env Env, path: String, follow: bool) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.version(&path, follow).map(NativeVersioned::from))
    }

    /// A whole write that may keep to a version. `bytes` are copied before this returns.
    #[napi(ts_return_type = "Promise<NativeVersionedWrite | Failure>")]
    pub fn write_versioned<'env>(
        &self,
        env: &'env Env,
        path: String,
        bytes: &[u8],
        options: NativeWriteOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let flag = flag_of(cancel.as_deref());
        let begun = self.begin(&path, options, cancel);
        run_cancellable(env, flag, whole_write(begun, bytes, NativeVersionedWrite::publish))
    }

    /// Makes a folder, and those above it.
    #[napi(ts_return_type = "Promise<string | Failure>")]
    pub fn make_folder<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.make_folder(&path))
    }

    /// The same in batches. Checks the path; stages nothing yet.
    #[napi(ts_return_type = "NativeVersionedWriting | Failure")]
    pub fn begin_write_versioned(
        &self,
        path: String,
        options: NativeWriteOptions,
        cancel: CancelArgument<'_>,
    ) -> Either<Failure, NativeVersionedWriting> {
        let flag = flag_of(cancel.as_deref());
        let begun =
            self.session().and_then(|session| PendingWrite::begin(&session, &path, options.try_into()?, flag.clone()));
        outcome(begun.map(|pending| NativeVersionedWriting { staged: Staged::new(Writing(pending), flag) }))
    }
}

impl NativeVersionedWrite {
    fn publish(pending: &mut PendingWrite) -> little_files::error::Result<Self> {
        let written = pending.publish()?.into();
        let outcome = pending.outcome().ok_or_else(|| closed("write"))?;
        Ok(Self {
            written,
            version: outcome.version.to_string(),
            operation: if outcome.created { "create" } else { "update" }.to_owned(),
            before: outcome.before_text(),
        })
    }
}

struct Writing(PendingWrite);

impl Stages for Writing {
    type Published = NativeVersionedWrite;

    fn push(&mut self, batch: &[u8]) -> little_files::error::Result<()> {
        self.0.push(batch)
    }

    fn publish(&mut self) -> little_files::error::Result<NativeVersionedWrite> {
        NativeVersionedWrite::publish(&mut self.0)
    }
}

/// A write in batches that may keep to a version. Dropped or aborted, it leaves nothing.
#[napi]
pub struct NativeVersionedWriting {
    staged: Staged<Writing>,
}

#[napi]
impl NativeVersionedWriting {
    /// Appends; `batch` is copied before this returns.
    #[napi(ts_args_type = "batch: Uint8Array", ts_return_type = "Promise<null | Failure>")]
    pub fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        self.staged.push(env, batch)
    }

    /// Appends the last batch, if any, and publishes.
    #[napi(ts_return_type = "Promise<NativeVersionedWrite | Failure>")]
    pub fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
        self.staged.finish(env, batch)
    }

    /// Drops what was staged; resolves when it is gone.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.staged.abort(env)
    }
}

/// A path as tools hold it.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeTarget {
    /// As on the disk.
    pub path: String,
    /// The same for every spelling and link.
    pub key: String,
}
