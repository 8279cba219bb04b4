//! The addon: `little-files` for Node. Converts, runs one whole operation on a blocking thread, converts back; all that
//! is decided is decided in the core or in TypeScript. Private: `ts/` is its only user.

#![expect(clippy::needless_pass_by_value, reason = "napi hands arguments over by value")]

mod cancel;
mod edit;
mod failure;
mod host;
mod listing;
pub mod names;
mod offload;
mod options;
mod pages;
mod persistent;
mod read;
mod results;
mod run;
mod search;
mod session;
mod staged;
mod turn;
mod version;
mod window;
mod write;

use napi::bindgen_prelude::create_custom_tokio_runtime;
use tokio::runtime::Builder;

/// Blocking threads for each core: more than one, for they wait on disks; few, so that a burst of calls queues instead
/// of making hundreds of threads.
const THREADS_A_CORE: usize = 4;

#[napi_derive::module_init]
fn init() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = Builder::new_multi_thread()
        .worker_threads(1) // only wakes waits for locks
        .max_blocking_threads(cores.clamp(2, 16) * THREADS_A_CORE)
        .thread_name("little-files")
        .enable_time()
        .build();
    // Where no thread can be made napi's own attempt reports it.
    if let Ok(runtime) = runtime {
        create_custom_tokio_runtime(runtime);
    }
}
