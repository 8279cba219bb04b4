//! The classes behind a load from a store that TypeScript speaks to.

use std::sync::{Arc, Mutex, PoisonError};

use little_files::cancel::Cancel;
use little_files::error::Result;
use little_files::persistent::{Content, Load, Operation, Wanted};
use napi::Env;
use napi::bindgen_prelude::{Null, Object};
use napi_derive::napi;

use super::options::NativeLoaded;
use super::{CancelArgument, Shared};
use crate::cancel::flag_of;
use crate::failure::closed;
use crate::run::{run, run_cancellable};
use crate::staged::{Staged, Stages};

/// A load under way. Dropped or aborted, nothing of it is seen.
#[napi]
pub struct NativeLoad {
    parts: Parts,
}

#[derive(Clone)]
struct Parts {
    operation: Shared,
    load: Arc<Mutex<State>>,
}

enum State {
    /// Begun by the first call: that makes a folder.
    New {
        complete: bool,
        discard: Vec<String>,
    },
    Open(Load),
    Ended,
}

impl Parts {
    fn with<T>(&self, work: impl FnOnce(&mut Operation, &mut Load) -> Result<T>) -> Result<T> {
        self.operation.with(|operation| {
            let mut state = self.load.lock().unwrap_or_else(PoisonError::into_inner);
            if let State::New { complete, discard } = &mut *state {
                *state = State::Open(operation.begin_load(*complete, std::mem::take(discard))?);
            }
            let State::Open(load) = &mut *state else { return Err(closed("load")) };
            work(operation, load)
        })
    }
}

impl NativeLoad {
    pub(super) fn new(operation: Shared, complete: bool, discard: Vec<String>) -> Self {
        let load = Arc::new(Mutex::new(State::New { complete, discard }));
        Self { parts: Parts { operation, load } }
    }
}

#[napi]
impl NativeLoad {
    /// What the store holds, and what of it is wanted.
    #[napi(
        ts_args_type = "paths: Array<string>, versions: Array<string | null>",
        ts_return_type = "Promise<Array<number> | Failure>"
    )]
    pub fn list<'env>(
        &self,
        env: &'env Env,
        paths: Vec<String>,
        versions: Vec<Option<String>>,
    ) -> napi::Result<Object<'env>> {
        let parts = self.parts.clone();
        run(env, move || {
            parts.with(|operation, load| {
                let pairs = paths.iter().zip(&versions);
                let wanted = pairs.map(|(path, version)| operation.list(load, path, version.as_deref()));
                Ok(wanted.map(number).collect::<Vec<u32>>())
            })
        })
    }

    /// A whole content; copied before this returns.
    #[napi(
        ts_args_type = "path: string, bytes: Uint8Array, version?: string",
        ts_return_type = "Promise<null | Failure>"
    )]
    pub fn put<'env>(
        &self,
        env: &'env Env,
        path: String,
        bytes: &[u8],
        version: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let (parts, bytes) = (self.parts.clone(), bytes.to_vec());
        run(env, move || {
            parts.with(|operation, load| operation.put(load, &path, &bytes, version.clone())).map(|()| Null)
        })
    }

    /// A content in batches.
    #[napi]
    pub fn begin(&self, path: String, version: Option<String>) -> NativeLoadWrite {
        let content = LoadContent { parts: self.parts.clone(), path, version, content: None };
        NativeLoadWrite { staged: Staged::new(content, Cancel::new()) }
    }

    /// Gone from the store.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn gone<'env>(&self, env: &'env Env, paths: Vec<String>) -> napi::Result<Object<'env>> {
        let parts = self.parts.clone();
        run(env, move || {
            parts.with(|operation, load| paths.iter().try_for_each(|path| operation.gone(load, path))).map(|()| Null)
        })
    }

    /// Publishes what came.
    #[napi(
        ts_args_type = "cursor: string | null, cancel?: NativeCancel",
        ts_return_type = "Promise<NativeLoaded | Failure>"
    )]
    pub fn finish<'env>(
        &self,
        env: &'env Env,
        cursor: Option<String>,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (parts, flag) = (self.parts.clone(), flag_of(cancel.as_deref()));
        run_cancellable(env, flag.clone(), move || {
            // Begins it where nothing was given at all.
            parts.with(|_, _| Ok(()))?;
            parts.operation.with(|operation| {
                let state =
                    std::mem::replace(&mut *parts.load.lock().unwrap_or_else(PoisonError::into_inner), State::Ended);
                let State::Open(load) = state else { return Err(closed("load")) };
                operation.end_load(load, cursor.clone(), &flag).map(NativeLoaded::from)
            })
        })
    }

    /// Drops what came.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let parts = self.parts.clone();
        run(env, move || {
            let mut state = parts.load.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State::Ended;
            Ok(Null)
        })
    }
}

fn number(wanted: Wanted) -> u32 {
    match wanted {
        Wanted::No => 0,
        Wanted::Yes => 1,
        Wanted::Unnameable => 2,
    }
}

/// A content that comes in batches.
#[napi]
pub struct NativeLoadWrite {
    staged: Staged<LoadContent>,
}

struct LoadContent {
    parts: Parts,
    path: String,
    version: Option<String>,
    content: Option<Content>,
}

impl LoadContent {
    fn content(&mut self) -> Result<&mut Content> {
        if self.content.is_none() {
            let begun = self.parts.with(|operation, load| operation.begin_content(load, &self.path))?;
            self.content = Some(begun);
        }
        self.content.as_mut().ok_or_else(|| closed("load"))
    }
}

impl Stages for LoadContent {
    type Published = Null;

    fn push(&mut self, batch: &[u8]) -> Result<()> {
        self.content()?.push(batch)
    }

    fn publish(&mut self) -> Result<Null> {
        self.content()?;
        let content = self.content.take().ok_or_else(|| closed("load"))?;
        self.parts
            .with(|operation, load| operation.end_content(load, &self.path, self.version.take(), content))
            .map(|()| Null)
    }
}

#[napi]
impl NativeLoadWrite {
    /// Appends; `batch` is copied before this returns.
    #[napi(ts_args_type = "batch: Uint8Array", ts_return_type = "Promise<null | Failure>")]
    pub fn push<'env>(&self, env: &'env Env, batch: &[u8]) -> napi::Result<Object<'env>> {
        self.staged.push(env, batch)
    }

    /// Appends the last batch, if any.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn finish<'env>(&self, env: &'env Env, batch: Option<&[u8]>) -> napi::Result<Object<'env>> {
        self.staged.finish(env, batch)
    }

    /// Drops it.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn abort<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        self.staged.abort(env)
    }
}
