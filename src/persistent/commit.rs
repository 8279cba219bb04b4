//! The class behind changes on their way to a store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use little_files::error::Result;
use little_files::persistent::Commit;
use napi::Env;
use napi::bindgen_prelude::{Null, Object, Uint8Array, spawn_blocking};
use napi_derive::napi;

use super::options::{NativeChange, NativeRefused};
use super::{CancelArgument, Shared};
use crate::cancel::flag_of;
use crate::failure::closed;
use crate::pages::PAGE;
use crate::read::NativeRead;
use crate::results::number;
use crate::run::{run, run_cancellable};

/// Staged changes.
#[napi]
pub struct NativeCommit {
    operation: Shared,
    dir: String,
    commit: Arc<Mutex<Option<Commit>>>,
}

impl NativeCommit {
    pub(super) fn new(operation: Shared, dir: String, commit: Commit) -> Self {
        Self { operation, dir, commit: Arc::new(Mutex::new(Some(commit))) }
    }

    fn get<T>(&self, ask: impl FnOnce(&Commit) -> T) -> Option<T> {
        lock(&self.commit).as_ref().map(ask)
    }
}

fn lock(commit: &Mutex<Option<Commit>>) -> MutexGuard<'_, Option<Commit>> {
    commit.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(commit: &Mutex<Option<Commit>>, work: impl FnOnce(&mut Commit) -> Result<T>) -> Result<T> {
    work(lock(commit).as_mut().ok_or_else(|| closed("commit"))?)
}

/// As many as cross at once.
fn page<T>(all: &[T], from: u32) -> impl Iterator<Item = &T> {
    all.iter().skip(from as usize).take(PAGE)
}

#[napi]
impl NativeCommit {
    /// The same for every attempt at the same changes.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.get(|commit| commit.id.clone()).unwrap_or_default()
    }

    /// Ordered by path; a page of them, from the `from`th on. None: that was all.
    #[napi]
    pub fn entries(&self, from: u32) -> Vec<NativeChange> {
        self.get(|commit| page(&commit.entries, from).map(Into::into).collect()).unwrap_or_default()
    }

    /// Of all contents together.
    #[napi(getter)]
    pub fn bytes(&self) -> i64 {
        self.get(|commit| number(commit.bytes())).unwrap_or_default()
    }

    /// What cannot be sent, in pages as well.
    #[napi]
    pub fn refused(&self, from: u32) -> Vec<NativeRefused> {
        self.get(|commit| page(&commit.refused, from).map(Into::into).collect()).unwrap_or_default()
    }

    /// Applies all of it to the folder, or nothing.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn apply<'env>(&self, env: &'env Env, cancel: CancelArgument<'_>) -> napi::Result<Object<'env>> {
        let (flag, operation, commit) = (flag_of(cancel.as_deref()), self.operation.clone(), Arc::clone(&self.commit));
        run_cancellable(env, flag.clone(), move || {
            operation.with(|dir| with(&commit, |commit| dir.apply(commit, &flag))).map(|()| Null)
        })
    }

    /// A staged content.
    #[napi(ts_return_type = "Promise<Uint8Array | Failure>")]
    pub fn read<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        let commit = Arc::clone(&self.commit);
        run(env, move || with(&commit, |commit| commit.read(&path)).map(Uint8Array::from))
    }

    /// The same piece by piece.
    #[napi(ts_return_type = "Promise<NativeRead | Failure>")]
    pub fn open<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        let (commit, dir) = (Arc::clone(&self.commit), self.dir.clone());
        run(env, move || with(&commit, |commit| commit.open_read(&dir, &path)).map(NativeRead::new))
    }

    /// One change has landed.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn landed<'env>(&self, env: &'env Env, path: String, version: Option<String>) -> napi::Result<Object<'env>> {
        let operation = self.operation.clone();
        run(env, move || operation.with(|dir| dir.landed(&path, version.clone())).map(|()| Null))
    }

    /// All have landed.
    #[napi(
        ts_args_type = "cursor: string | null, paths: Array<string>, versions: Array<string>",
        ts_return_type = "Promise<null | Failure>"
    )]
    pub fn stored<'env>(
        &self,
        env: &'env Env,
        cursor: Option<String>,
        paths: Vec<String>,
        versions: Vec<String>,
    ) -> napi::Result<Object<'env>> {
        let (operation, commit) = (self.operation.clone(), Arc::clone(&self.commit));
        run(env, move || {
            let tags = paths.iter().cloned().zip(versions.iter().cloned()).collect();
            operation.with(|dir| with(&commit, |commit| dir.stored(commit, cursor.clone(), tags))).map(|()| Null)
        })
    }

    /// What has not landed has failed.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn failed<'env>(
        &self,
        env: &'env Env,
        code: String,
        message: String,
        unknown: bool,
    ) -> napi::Result<Object<'env>> {
        let operation = self.operation.clone();
        run(env, move || operation.with(|dir| dir.failed(&code, &message, unknown)).map(|()| Null))
    }

    /// Drops the staged contents.
    #[napi]
    pub fn end(&self) {
        // While a call runs they go with this object. Thousands of files take their time: elsewhere.
        if let Ok(mut commit) = self.commit.try_lock()
            && let Some(commit) = commit.take()
        {
            spawn_blocking(move || drop(commit));
        }
    }
}
