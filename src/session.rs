//! The class behind a session and its `files`.

use std::sync::{Arc, Mutex, PoisonError};

use little_files::error::Result;
use little_files::offload::PendingOffload;
use little_files::path::Root;
use little_files::persistent::{Operation, Source};
use little_files::remove::RemoveOptions;
use little_files::session::{Refusal, Session};
use little_files::write::PendingWrite;
use napi::bindgen_prelude::{ClassInstance, Null, Object};
use napi::{Either, Env};
use napi_derive::napi;

use crate::cancel::{NativeCancel, flag_of};
use crate::failure::{Failure, FailureInfo, closed};
use crate::listing::NativeListing;
use crate::offload::{NativeOffload, NativeOffloadOptions};
use crate::options::{NativeListOptions, NativeReadOptions, NativeRemoveOptions, NativeWriteOptions, whole};
use crate::persistent::{NativeDir, NativeSource};
use crate::read::NativeRead;
use crate::results::{NativeEntry, NativeFileData, NativeSessionInfo, NativeWritten};
use crate::run::{Patience, outcome, run, run_cancellable, start};
use crate::turn::{NativeMessages, NativeSnapshot, NativeTurn};
use crate::write::{NativeWrite, whole_write};

pub(crate) type CancelArgument<'env> = Option<ClassInstance<'env, NativeCancel>>;

/// A handle on an open session.
#[napi]
pub struct NativeSession {
    session: Mutex<Option<Arc<Session>>>,
    id: String,
}

/// Where the roots are on this machine.
#[napi(object, object_from_js = false)]
pub struct NativeHostPaths {
    /// Of /session.
    pub session: String,
    /// Of /artifacts.
    pub artifacts: String,
    /// Of the Persistent Dirs, by their indexes.
    pub persistent: Vec<String>,
}

impl NativeSession {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        let id = session.id().to_owned();
        Self { session: Mutex::new(Some(session)), id }
    }

    pub(crate) fn session(&self) -> Result<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(|| closed("session"))
    }
}

#[napi]
impl NativeSession {
    /// As the host named it.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.id.clone()
    }

    /// Real folders of the roots.
    #[napi(ts_return_type = "NativeHostPaths | Failure")]
    pub fn host_paths(&self) -> Either<Failure, NativeHostPaths> {
        outcome(self.session().map(|session| {
            let path = |root| session.host_path(root).to_string_lossy().into_owned();
            let persistent = session.persistent_host_paths();
            let persistent = persistent.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
            NativeHostPaths { session: path(Root::Session), artifacts: path(Root::Artifacts), persistent }
        }))
    }

    /// Counts what is in the roots.
    #[napi(ts_return_type = "Promise<NativeSessionInfo | Failure>")]
    pub fn status<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.status().map(NativeSessionInfo::from))
    }

    /// A whole small write. `bytes` are copied before this returns.
    #[napi(ts_return_type = "Promise<NativeWritten | Failure>")]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        path: String,
        bytes: &[u8],
        options: NativeWriteOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let flag = flag_of(cancel.as_deref());
        let begun = self.begin(&path, options, cancel);
        run_cancellable(env, flag, whole_write(begun, bytes, |write| write.publish().map(NativeWritten::from)))
    }

    /// A write in batches.
    #[napi(ts_return_type = "NativeWrite | Failure")]
    pub fn begin_write(
        &self,
        path: String,
        options: NativeWriteOptions,
        cancel: CancelArgument<'_>,
    ) -> Either<Failure, NativeWrite> {
        let flag = flag_of(cancel.as_deref());
        outcome(self.begin(&path, options, cancel).map(|pending| NativeWrite::new(pending, flag)))
    }

    pub(crate) fn begin(
        &self,
        path: &str,
        options: NativeWriteOptions,
        cancel: CancelArgument<'_>,
    ) -> Result<PendingWrite> {
        PendingWrite::begin(&self.session()?, path, options.try_into()?, flag_of(cancel.as_deref()))
    }

    /// A whole file, or a range of it.
    #[napi(ts_return_type = "Promise<NativeFileData | Failure>")]
    pub fn read<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeReadOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = options.into();
        run(env, move || session.clone()?.read(&path, &options, &flag).map(NativeFileData::from))
    }

    /// Opens a file to be read piece by piece.
    #[napi(ts_return_type = "Promise<NativeRead | Failure>")]
    pub fn open_read<'env>(
        &self,
        env: &'env Env,
        path: String,
        start: Option<f64>,
        end: Option<f64>,
    ) -> napi::Result<Object<'env>> {
        let session = self.session();
        let (start, end) = (start.map(whole), end.map(whole));
        run(env, move || session.clone()?.open_read(&path, start, end).map(NativeRead::new))
    }

    /// What stands at a path.
    #[napi(ts_return_type = "Promise<NativeEntry | Failure>")]
    pub fn stat<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.stat(&path).map(NativeEntry::from))
    }

    /// Opens a listing, its first batch read.
    #[napi(ts_return_type = "Promise<NativeListing | Failure>")]
    pub fn list<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeListOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = options.into();
        run(env, move || NativeListing::start(session.clone()?.list(&path, &options, flag.clone())?))
    }

    /// A listing of all artifacts.
    #[napi(ts_return_type = "Promise<NativeListing | Failure>")]
    pub fn artifacts<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || NativeListing::start(session.clone()?.list_artifacts()?))
    }

    /// Removes what stands at a path.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn remove<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeRemoveOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = RemoveOptions::try_from(options);
        run_cancellable(env, flag.clone(), move || {
            session.clone()?.remove(&path, options.as_ref().map_err(Clone::clone)?, &flag).map(|()| Null)
        })
    }

    /// A large result that is stored in batches.
    #[napi(ts_return_type = "NativeOffload | Failure")]
    pub fn begin_offload(
        &self,
        options: NativeOffloadOptions,
        cancel: CancelArgument<'_>,
    ) -> Either<Failure, NativeOffload> {
        let flag = flag_of(cancel.as_deref());
        let begun = self.session().and_then(|session| PendingOffload::begin(&session, options.into(), flag.clone()));
        outcome(begun.map(|pending| NativeOffload::new(pending, flag)))
    }

    /// Takes the session's turn: at once or not at all, or when it is free.
    #[napi(ts_return_type = "Promise<NativeTurn | Failure>")]
    pub fn begin_turn<'env>(
        &self,
        env: &'env Env,
        wait: bool,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let begin = move || {
            let session = session.clone()?;
            if wait { session.begin_turn() } else { session.begin_turn_at_once() }.map(NativeTurn::new)
        };
        start(env, flag, if wait { Patience::Endless } else { Patience::None }, begin)
    }

    /// Whether a turn runs, in whatever process.
    #[napi]
    pub fn turn_running(&self) -> bool {
        self.session().is_ok_and(|session| session.is_turn_running())
    }

    /// Indexes of the Persistent Dirs that hold a path, or also of those below it.
    #[napi]
    pub fn persistent_dirs_at(&self, path: String, below: bool) -> Vec<u32> {
        let dirs = self.session().map(|session| session.persistent_dirs_at(&path, below)).unwrap_or_default();
        dirs.into_iter().filter_map(|index| u32::try_from(index).ok()).collect()
    }

    /// Begins an operation on a Persistent Dir.
    #[napi(
        ts_args_type = "dir: number, source: NativeSource | null, cancel?: NativeCancel",
        ts_return_type = "Promise<NativeDir | Failure>"
    )]
    pub fn open_dir<'env>(
        &self,
        env: &'env Env,
        dir: u32,
        source: Option<NativeSource>,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let alone = source.as_ref().is_some_and(|source| source.exclusive);
        let source = source.map(Source::from);
        run_cancellable(env, flag, move || {
            Operation::begin(&session.clone()?, dir as usize, source.as_ref(), alone).map(NativeDir::new)
        })
    }

    /// Takes the right to stage messages.
    #[napi(ts_return_type = "Promise<NativeMessages | Failure>")]
    pub fn lock_messages<'env>(&self, env: &'env Env, cancel: CancelArgument<'_>) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        run_cancellable(env, flag, move || session.clone()?.lock_messages().map(NativeMessages::new))
    }

    /// Ids of the messages whose files were staged.
    #[napi(ts_return_type = "Promise<Array<string> | Failure>")]
    pub fn staged_message_ids<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.staged_messages())
    }

    /// The files of the roots as they are.
    #[napi(ts_return_type = "Promise<NativeSnapshot | Failure>")]
    pub fn snapshot<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || Ok(NativeSnapshot::new(session.clone()?.snapshot()?)))
    }

    /// How much other programs have changed since, for `take` of the snapshot.
    #[napi(ts_return_type = "Promise<number | Failure>")]
    pub fn changes_since<'env>(
        &self,
        env: &'env Env,
        snapshot: &NativeSnapshot,
        source: String,
        turn_id: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let (session, found) = (self.session(), snapshot.found.clone());
        let snapshot = Arc::clone(&snapshot.snapshot);
        run(env, move || Ok(found.keep(session.clone()?.changes_since(&snapshot, &source, turn_id.as_deref())?)))
    }

    /// An event that `ts/` composed; `metadata` is JSON text of an object.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn emit<'env>(
        &self,
        env: &'env Env,
        kind: String,
        metadata: String,
        turn_id: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.tell(&kind, &metadata, turn_id.as_deref()).map(|()| Null))
    }

    /// Everything written so far is on the disk.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn flush<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || session.clone()?.flush().map(|()| Null))
    }

    /// An event for a call that was turned away.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn refused<'env>(
        &self,
        env: &'env Env,
        operation: String,
        failure: FailureInfo,
        source: Option<String>,
        turn_id: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let session = self.session();
        run(env, move || {
            let FailureInfo { code, message, path, reason, .. } = &failure;
            let (path, reason, source) = (path.as_deref(), reason.as_deref(), source.as_deref());
            let turn_id = turn_id.as_deref();
            session
                .clone()?
                .refused(&Refusal { operation: &operation, code, message, path, reason, source, turn_id })
                .map(|()| Null)
        })
    }

    /// The oldest events that wait, as JSON text.
    #[napi]
    pub fn take_events(&self, max: u32) -> Vec<String> {
        self.session().map_or_else(|_| Vec::new(), |session| session.take_events(max as usize))
    }

    /// Nobody listens.
    #[napi]
    pub fn drop_events(&self) {
        if let Ok(session) = self.session() {
            session.drop_events();
        }
    }

    /// Lets go of this handle.
    #[napi]
    pub fn close(&self) {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
