//! The class behind `localHost`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use little_files::error::{Code, Error, Result};
use little_files::host::Host;
use napi::bindgen_prelude::{Null, Object};
use napi::{Either, Env};
use napi_derive::napi;
use serde_json::{Map, Value};

use crate::failure::{Failure, closed};
use crate::options::NativeHostOptions;
use crate::results::NativeSessionInfo;
use crate::run::{outcome, run};
use crate::session::NativeSession;

/// An open `dataDir`.
#[napi]
pub struct NativeHost {
    host: Mutex<Option<Arc<Host>>>,
    identity: String,
    told: AtomicBool,
}

#[napi]
impl NativeHost {
    /// Opens and makes `dataDir`, at once.
    #[napi(ts_return_type = "NativeHost | Failure")]
    #[must_use]
    pub fn open(options: NativeHostOptions) -> Either<Failure, NativeHost> {
        let data_dir = PathBuf::from(&options.data_dir);
        outcome(Host::open(&data_dir, options.into()).map(|host| {
            let (dev, ino) = host.identity();
            Self {
                host: Mutex::new(Some(Arc::new(host))),
                identity: format!("{dev}:{ino}"),
                told: AtomicBool::new(false),
            }
        }))
    }

    /// Device and inode of `dataDir`.
    #[napi(getter)]
    pub fn identity(&self) -> String {
        self.identity.clone()
    }

    /// Events of the host itself that wait, as JSON text.
    #[napi]
    pub fn take_events(&self) -> Vec<String> {
        let opened_now = !self.told.swap(true, Ordering::Relaxed);
        self.host().map_or_else(|_| Vec::new(), |host| host.take_events(opened_now))
    }

    /// Opens a session; null when it is not there and not to be made.
    #[napi(ts_return_type = "Promise<NativeSession | null | Failure>")]
    pub fn open_session<'env>(
        &self,
        env: &'env Env,
        id: String,
        create: bool,
        metadata: Option<String>,
    ) -> napi::Result<Object<'env>> {
        let host = self.host();
        run(env, move || {
            let metadata = metadata.as_deref().map(object).transpose()?;
            Ok(host.clone()?.open_session(&id, create, metadata.as_ref())?.map(NativeSession::new))
        })
    }

    /// Ordered by id; `after` is an id.
    #[napi(ts_return_type = "Promise<Array<NativeSessionInfo> | Failure>")]
    pub fn list_sessions<'env>(&self, env: &'env Env, limit: u32, after: Option<String>) -> napi::Result<Object<'env>> {
        let host = self.host();
        run(env, move || {
            Ok(host
                .clone()?
                .list_sessions(limit, after.as_deref())?
                .into_iter()
                .map(Into::into)
                .collect::<Vec<NativeSessionInfo>>())
        })
    }

    /// Deletes a session and all of its files.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn delete_session<'env>(&self, env: &'env Env, id: String) -> napi::Result<Object<'env>> {
        let host = self.host();
        run(env, move || host.clone()?.delete_session(&id).map(|()| Null))
    }

    /// Lets go of the host; sessions that are open keep what they need.
    #[napi(ts_return_type = "Promise<null | Failure>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut host = host;
        run(env, move || {
            drop(host.take());
            Ok(Null)
        })
    }

    fn host(&self) -> Result<Arc<Host>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(|| closed("host"))
    }
}

fn object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|error| Error::new(Code::InvalidOption, format!("metadata is not a JSON object: {error}")))
}
