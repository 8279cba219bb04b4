//! Persistent Dirs: directories that outlive sessions, backed by the developer's own storage (promise G6).
//!
//! A session holds a checkout of each. A load merges the store into it, a scan finds what has changed in it, a commit sends
//! that to the store. What is known of each path is a [`row`]; nothing that is uncommitted is ever overwritten.

mod batch;
mod cache;
mod checkout;
mod commit;
mod compare;
mod conflict;
mod declared;
mod discard;
mod incoming;
mod local;
mod merge;
mod opened;
mod operation;
mod place;
mod row;
mod scan;
mod source;

pub(crate) use cache::Cache;
pub use commit::{Commit, Entry};
pub use conflict::{Conflict, Side};
pub use declared::{Below, Declaration, LocalSource};
pub(crate) use declared::{Declared, Dirs};
pub use incoming::Wanted;
pub use merge::Loaded;
pub use opened::Source;
pub use operation::{Content, Load, Operation, Pending};
pub(crate) use row::{Held, Row, Seen, Sent, TheirState, Theirs};
pub(crate) use source::check_all as check_sources;
