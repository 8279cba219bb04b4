//! Runs an operation on a blocking thread and settles a promise from there: two hops, and none of them through an
//! executor.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use little_files::cancel::Cancel;
use little_files::error::{Code, Error, Result};
use napi::bindgen_prelude::{Either, JsValue, Object, ToNapiValue, spawn_blocking};
use napi::{Env, JsDeferred, sys};
use tokio::runtime::Handle;

use crate::failure::Failure;

/// Between two tries for a lock, at first and at last.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LAST_PAUSE: Duration = Duration::from_millis(20);

/// What a promise settles with.
pub(crate) type Outcome<T> = Either<Failure, T>;
/// Makes the JavaScript value, on its thread. One type for all results: else all that a promise needs is there once more
/// for each of them.
type Resolver = Box<dyn FnOnce(Env) -> napi::Result<sys::napi_value> + Send>;
type Attempt = Box<dyn FnMut() -> Result<Resolver> + Send>;

/// A value or a failure, for calls that answer at once.
pub(crate) fn outcome<T>(result: Result<T>) -> Outcome<T> {
    match result {
        Ok(value) => Either::B(value),
        Err(error) => Either::A(error.into()),
    }
}

/// Runs `attempt`; again and again while a lock is held, as long as the lock's patience says. No thread sleeps meanwhile.
pub(crate) fn run<T: ToNapiValue + Send + 'static>(
    env: &Env,
    attempt: impl FnMut() -> Result<T> + Send + 'static,
) -> napi::Result<Object<'_>> {
    start(env, Cancel::new(), Patience::OfTheLock, attempt)
}

/// The same until `cancel` is raised.
pub(crate) fn run_cancellable<T: ToNapiValue + Send + 'static>(
    env: &Env,
    cancel: Cancel,
    attempt: impl FnMut() -> Result<T> + Send + 'static,
) -> napi::Result<Object<'_>> {
    start(env, cancel, Patience::OfTheLock, attempt)
}

/// Who waits how long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    None,
    OfTheLock,
    /// Only the flag ends it.
    Endless,
}

/// As [`run_cancellable`], with a patience of its own.
pub(crate) fn start<T: ToNapiValue + Send + 'static>(
    env: &Env,
    cancel: Cancel,
    patience: Patience,
    mut attempt: impl FnMut() -> Result<T> + Send + 'static,
) -> napi::Result<Object<'_>> {
    begin(env, cancel, patience, Box::new(move || attempt().map(resolver)))
}

fn resolver<T: ToNapiValue + Send + 'static>(value: T) -> Resolver {
    Box::new(move |env| Ok(value.into_unknown(&env)?.raw()))
}

fn begin(env: &Env, cancel: Cancel, patience: Patience, attempt: Attempt) -> napi::Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    let job = Job { attempt, deferred, cancel, patience, since: Instant::now(), pause: FIRST_PAUSE };
    spawn_blocking(move || job.run());
    Ok(promise)
}

struct Job {
    attempt: Attempt,
    deferred: JsDeferred<sys::napi_value, Resolver>,
    cancel: Cancel,
    patience: Patience,
    since: Instant,
    pause: Duration,
}

impl Job {
    fn run(mut self) {
        match guarded(&mut self.attempt) {
            Err(error) if error.is_held() && self.cancel.check().is_err() => self.settle(Err(Error::aborted())),
            Err(error) if self.waits_for(&error) => self.later(),
            result => self.settle(result),
        }
    }

    fn waits_for(&self, error: &Error) -> bool {
        match self.patience {
            Patience::None => false,
            Patience::OfTheLock => self.since.elapsed() < error.patience(),
            Patience::Endless => error.is_held(),
        }
    }

    fn settle(self, result: Result<Resolver>) {
        let Self { attempt, deferred, .. } = self;
        // What it staged goes before the caller hears of a failure.
        drop(attempt);
        deferred.resolve(result.unwrap_or_else(|error| resolver(Failure::from(error))));
    }

    fn later(mut self) {
        let pause = self.pause;
        self.pause = (pause * 2).min(LAST_PAUSE);
        // By the runtime of this very thread: when the last environment ends napi has none to give any more, and then
        // nobody waits for the job either.
        let runtime = Handle::current();
        runtime.clone().spawn(async move {
            tokio::time::sleep(pause).await;
            runtime.spawn_blocking(move || self.run());
        });
    }
}

/// A panic in the core is a fault of ours; the promise must settle all the same.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new(
            Code::IoError,
            "An internal fault in @little-stack/files. Please report it with what was called.",
        ))
    })
}
