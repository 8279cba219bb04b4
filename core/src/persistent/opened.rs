//! The source of an operation: opened, locked, and compared with the one that the checkout was loaded from.

use std::sync::Arc;

use super::checkout::Checkout;
use super::declared::LocalSource;
use super::local::LocalStore;
use super::source::{self, Relation};
use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::lock::HeldLock;

/// Where a dir's files come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A store that the caller speaks to; this names it.
    Scope(String),
    /// A folder, and those of the host's other dirs, none of which it may overlap.
    Local(LocalSource, Vec<LocalSource>),
}

/// The source of an operation that has one.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) identity: String,
    /// To the one that the checkout was loaded from.
    pub(super) relation: Relation,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Scope(#[expect(dead_code, reason = "held for its lock")] HeldLock),
    Local(LocalStore),
    /// A folder that is not there yet.
    Missing(LocalSource, Vec<LocalSource>),
}

/// Opens and locks a source. Uncommitted changes are only ever for the one that they were loaded from.
pub(super) fn open_source(checkout: &mut Checkout, lock: &HeldLock, source: &Source, alone: bool) -> Result<Opened> {
    let host = Arc::clone(&checkout.session.host);
    let (identity, kind) = match source {
        Source::Scope(scope) => {
            let what = format!("The store of {}", checkout.name);
            let held = host.lock_scope(&short(&format!("{}\0{scope}", checkout.name)), &what, alone)?;
            (format!("scope:{scope}"), Kind::Scope(held))
        }
        Source::Local(local, others) => match LocalStore::open(checkout, local, others, false, alone)? {
            Some(store) => (store.identity().to_owned(), Kind::Local(store)),
            None => {
                (source::missing_identity(&host, &checkout.name, local)?, Kind::Missing(local.clone(), others.clone()))
            }
        },
    };
    let loaded_from = match &checkout.record {
        Some(record) => Some(record.source.clone()),
        // Never loaded, or the database was lost.
        None => lock.noted(),
    };
    let relation =
        loaded_from.as_deref().map_or(Relation::Same, |loaded_from| source::relation(loaded_from, &identity));
    if let (Some(loaded_from), Relation::Other) = (loaded_from, relation) {
        check_switch(checkout, &loaded_from, &identity, matches!(kind, Kind::Missing(..)))?;
    }
    Ok(Opened { identity, relation, kind })
}

/// Another source than the checkout was loaded from: uncommitted changes are only ever sent to that one.
fn check_switch(checkout: &mut Checkout, loaded_from: &str, identity: &str, missing: bool) -> Result<()> {
    let name = checkout.name.clone();
    if missing && source::is_same_place(loaded_from, identity) {
        return Err(source_gone(&name));
    }
    checkout.scan(&Cancel::new())?;
    checkout.save_rows()?;
    if checkout.rows.values().any(|row| row.since.is_some()) {
        let text = format!(
            "{name} holds uncommitted changes of another source than this one: they are only ever committed to the one they were loaded from. Commit them with its extraBody, or discard them."
        );
        return Err(Error::at(Code::Conflict, &name, text));
    }
    Ok(())
}

fn source_gone(name: &str) -> Error {
    let text = format!(
        "The source of {name} is gone (ENOENT): an unmounted volume looks like that. Nothing was changed. Bring it back, or discard what is known of it."
    );
    Error { os_code: Some("ENOENT".to_owned()), ..Error::at(Code::NotFound, name, text) }
}

/// An empty folder where another one was, with files: an unmounted volume looks like that.
pub(super) fn check_not_unmounted(checkout: &Checkout, source: &Opened) -> Result<()> {
    let record = checkout.record.as_ref();
    let same_place = record.is_some_and(|record| source::is_same_place(&record.source, &source.identity));
    if same_place && checkout.rows.values().any(|row| row.base.is_some()) {
        return Err(source_gone(&checkout.name));
    }
    Ok(())
}

/// Of a name that may hold anything.
pub(super) fn short(name: &str) -> String {
    Digest::of(name.as_bytes()).to_string()[..32].to_owned()
}
