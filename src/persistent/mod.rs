//! The class behind an operation on a Persistent Dir.

mod commit;
mod load;
mod options;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use little_files::cancel::Cancel;
use little_files::error::Result;
use little_files::persistent::{Conflict, Operation, Pending, Side};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Null, Object};
use napi_derive::napi;

use crate::cancel::{NativeCancel, flag_of};
use crate::failure::closed;
use crate::pages::Found;
use crate::results::NativeFileData;
use crate::run::run_cancellable;
use commit::NativeCommit;
use load::NativeLoad;
use options::{NativeConflict, NativeLoaded, NativePending};
pub(crate) use options::{NativePersistentDir, NativeSource};

type CancelArgument<'env> = Option<ClassInstance<'env, NativeCancel>>;

/// Shared with the loads and commits that belong to it.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<Operation>>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Operation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Operation) -> Result<T>) -> Result<T> {
        work(self.lock().as_mut().ok_or_else(|| closed("operation on the Persistent Dir"))?)
    }
}

/// An operation on one Persistent Dir, its locks held until `release`.
#[napi]
pub struct NativeDir {
    operation: Shared,
    pending: Found<Pending>,
    conflicts: Found<Conflict>,
}

impl NativeDir {
    pub(crate) fn new(operation: Operation) -> Self {
        let operation = Shared(Arc::new(Mutex::new(Some(operation))));
        Self { operation, pending: Found::default(), conflicts: Found::default() }
    }

    /// Runs on a blocking thread.
    fn run<'env, T: napi::bindgen_prelude::ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        cancel: Cancel,
        work: impl Fn(&mut Operation) -> Result<T> + Send + 'static,
    ) -> napi::Result<Object<'env>> {
        let operation = self.operation.clone();
        run_cancellable(env, cancel, move || operation.with(&work))
    }
}

#[napi]
impl NativeDir {
    /// Nothing was loaded from this source.
    #[napi(getter)]
    pub fn never_loaded(&self) -> bool {
        self.operation.lock().as_ref().is_none_or(Operation::never_loaded)
    }

    /// A load has to precede the next commit.
    #[napi(getter)]
    pub fn must_load(&self) -> bool {
        self.operation.lock().as_ref().is_none_or(Operation::must_load)
    }

    /// JSON text.
    #[napi(getter, ts_return_type = "string | null")]
    pub fn cursor(&self) -> Option<String> {
        self.operation.lock().as_ref().and_then(Operation::cursor)
    }

    /// Brings in what changed in the folder.
    #[napi(ts_return_type = "Promise<NativeLoaded | Failure>")]
    pub fn load_local<'env>(
        &self,
        env: &'env Env,
        discard: Vec<String>,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let flag = flag_of(cancel.as_deref());
        let work = {
            let flag = flag.clone();
            move |operation: &mut Operation| operation.load_local(discard.clone(), &flag).map(NativeLoaded::from)
        };
        self.run(env, flag, work)
    }

    /// Begins a load from another store.
    #[napi]
    pub fn begin_load(&self, complete: bool, discard: Vec<String>) -> NativeLoad {
        NativeLoad::new(self.operation.clone(), complete, discard)
    }

    /// Stages what is pending.
    #[napi(ts_return_type = "Promise<NativeCommit | null | Failure>")]
    pub fn begin_commit<'env>(
        &self,
        env: &'env Env,
        paths: Option<Vec<String>>,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (flag, operation) = (flag_of(cancel.as_deref()), self.operation.clone());
        run_cancellable(env, flag.clone(), move || {
            let begun = operation.with(|dir| Ok((dir.begin_commit(paths.as_deref(), &flag)?, dir.name())))?;
            Ok(begun.0.map(|commit| NativeCommit::new(operation.clone(), begun.1, commit)))
        })
    }

    /// What is pending is on the disk.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn flush_pending<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.run(env, Cancel::new(), |operation| operation.flush_pending(&Cancel::new()).map(|()| Null))
    }

    /// An attempt failed before it could begin.
    #[napi(
        ts_args_type = "paths: Array<string> | null, code: string, message: string",
        ts_return_type = "Promise<null | Failure>"
    )]
    pub fn commit_failed<'env>(
        &self,
        env: &'env Env,
        paths: Option<Vec<String>>,
        code: String,
        message: String,
    ) -> napi::Result<Object<'env>> {
        self.run(env, Cancel::new(), move |operation| {
            operation.attempt_failed(paths.as_deref(), &code, &message, &Cancel::new()).map(|()| Null)
        })
    }

    /// Scans; gives how many changes there are, for `take_pending`.
    #[napi(ts_return_type = "Promise<number | Failure>")]
    pub fn pending<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let found = self.pending.clone();
        self.run(env, Cancel::new(), move |operation| Ok(found.keep(operation.pending(&Cancel::new())?)))
    }

    /// The next of them, oldest first, then by path. None: that was all.
    #[napi]
    pub fn take_pending(&self) -> Vec<NativePending> {
        self.pending.take()
    }

    /// How many paths are in conflict, for `take_conflicts`.
    #[napi(ts_return_type = "Promise<number | Failure>")]
    pub fn conflicts<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let found = self.conflicts.clone();
        self.run(env, Cancel::new(), move |operation| Ok(found.keep(operation.conflicts())))
    }

    /// The next of them. None: that was all.
    #[napi]
    pub fn take_conflicts(&self) -> Vec<NativeConflict> {
        self.conflicts.take()
    }

    /// The store's side of one.
    #[napi(ts_return_type = "Promise<NativeFileData | null | Failure>")]
    pub fn read_theirs<'env>(&self, env: &'env Env, path: String) -> napi::Result<Object<'env>> {
        self.run(env, Cancel::new(), move |operation| {
            Ok(operation.read_theirs(&path, &Cancel::new())?.map(NativeFileData::from))
        })
    }

    /// Decides one.
    #[napi(ts_args_type = "path: string, side: 'ours' | 'theirs'", ts_return_type = "Promise<null | Failure>")]
    pub fn resolve<'env>(&self, env: &'env Env, path: String, side: String) -> napi::Result<Object<'env>> {
        let side = if side == "ours" { Side::Ours } else { Side::Theirs };
        self.run(env, Cancel::new(), move |operation| operation.resolve(&path, side, &Cancel::new()).map(|()| Null))
    }

    /// Gives up changes; returns the paths whose content only the store has.
    #[napi(ts_return_type = "Promise<Array<string> | Failure>")]
    pub fn discard<'env>(&self, env: &'env Env, paths: Option<Vec<String>>) -> napi::Result<Object<'env>> {
        self.run(env, Cancel::new(), move |operation| operation.discard(paths.as_deref(), &Cancel::new()))
    }

    /// Empties the checkout.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn reset<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.run(env, Cancel::new(), |operation| operation.reset(&Cancel::new()).map(|()| Null))
    }

    /// Frees the locks.
    #[napi]
    pub fn release(&self) {
        // While a call runs they are freed with this object.
        if let Ok(mut operation) = self.operation.0.try_lock() {
            operation.take();
        }
    }
}
