//! Files of agent sessions: contained, atomic, hashed, streaming. The core of `@little-stack/files`; it knows nothing
//! of JavaScript, blocks, keeps no global state and needs no `unsafe`.
//!
//! A [`host::Host`] opens a `dataDir`, which hands out [`session::Session`]s. A session writes
//! ([`write::PendingWrite`]), reads ([`read`]), lists ([`list`]) and removes ([`remove`]) files in its managed roots
//! ([`path::Root`]).
//!
//! A call that meets a lock fails with an error that [`error::Error::is_held`] knows; nothing has changed then, and the
//! caller decides how long to try again.

pub mod cancel;
mod clock;
mod diff;
pub mod digest;
pub mod edit;
pub mod error;
mod event;
mod flush;
mod folder;
pub mod grep;
pub mod host;
pub mod index;
pub mod list;
mod lock;
pub mod measure;
mod media;
pub mod names;
pub mod offload;
pub mod page;
pub mod path;
pub mod persistent;
mod publish;
pub mod query;
pub mod read;
pub mod reference;
pub mod remove;
pub mod root;
mod scan;
pub mod session;
pub mod sketch;
mod stage;
pub mod stamp;
mod sync;
mod sys;
mod target;
#[cfg(test)]
mod testing;
mod trace;
pub mod track;
mod trash;
mod tree;
pub mod turn;
pub mod version;
pub mod window;
pub mod write;

pub use event::Redaction;
pub use lock::HeldLock;
