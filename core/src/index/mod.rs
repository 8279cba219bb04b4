//! The index: what is known of sessions and files without reading them, in one SQLite database per `dataDir`
//! (STORAGE, "Database"). The file system is the truth; a lost or damaged index is made anew from the session folders.

mod checkouts;
mod damage;
mod files;
mod messages;
mod schema;
mod sessions;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::{Code, Error, Held, Result};
use crate::sys::DiskKind;

pub(crate) use checkouts::{DirKey, DirRecord, checkout, dir, drop_dir, outdate_others, put_dir, put_path};
pub(crate) use damage::Rebuilt;
pub use files::{Artifact, Facts};
pub(crate) use files::{delete_below, delete_row, row, rows_below, upsert};
pub(crate) use messages::{mark_messages, message_notes, staged_messages};
pub use sessions::SessionRow;
pub(crate) use sessions::{Change, by_key, change, drop_session, insert, page, set_totals, totals};

/// Its file in `dataDir`.
pub(crate) const DATABASE: &str = "harness.db";

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    folder: PathBuf,
    exclusive: bool,
    /// The folder `dataDir`, locked shared for as long as this host uses the database.
    lock: File,
    connection: Mutex<Connection>,
    rebuilt: Mutex<Vec<Rebuilt>>,
    /// Another process was found to hold the database; nobody asks again before then, so that no thread waits in line
    /// only to hear the same.
    held_until: Mutex<Option<Instant>>,
}

/// Between two looks at a database that is held.
const HELD_PAUSE: Duration = Duration::from_millis(20);

impl Index {
    /// Opens the database in `folder`, making it where it is missing. `lock` is an open handle on that folder.
    pub(crate) fn open(folder: &Path, lock: File, disk: DiskKind) -> Result<Self> {
        let exclusive = disk != DiskKind::Local;
        damage::lock_shared(&lock)?;
        let mut rebuilt = Vec::new();
        let connection = match schema::open(folder, exclusive) {
            Ok((connection, sessions)) => {
                rebuilt.extend(sessions.map(|sessions| Rebuilt { set_aside: None, sessions }));
                connection
            }
            Err(error) if is_damage(&error) => {
                let (connection, event) = damage::rebuild(folder, &lock, exclusive)?;
                rebuilt.extend(event);
                connection
            }
            Err(error) => return Err(told(&error)),
        };
        Ok(Self {
            folder: folder.to_owned(),
            exclusive,
            lock,
            connection: Mutex::new(connection),
            rebuilt: Mutex::new(rebuilt),
            held_until: Mutex::new(None),
        })
    }

    /// Reads.
    pub(crate) fn read<T>(&self, ask: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.attempt(|connection| ask(connection))
    }

    /// Writes, all or nothing. Immediate, since a transaction that starts as a reader cannot wait for another writer.
    pub(crate) fn write<T>(&self, change: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.unless_held(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = change(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
    }

    fn unless_held<T>(&self, mut run: impl FnMut(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.check_held()?;
        let result = self.attempt(|connection| {
            // Found out while we waited for the connection.
            if self.check_held().is_err() {
                return Err(busy());
            }
            run(connection)
        });
        let held = result.as_ref().err().is_some_and(Error::is_held);
        let mut until = self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        match (held, *until) {
            (true, None) => *until = Some(Instant::now() + HELD_PAUSE),
            (true, Some(time)) if time <= Instant::now() => *until = Some(Instant::now() + HELD_PAUSE),
            (false, Some(_)) => *until = None,
            _ => {}
        }
        result
    }

    fn check_held(&self) -> Result<()> {
        let until = *self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) { Err(told(&busy())) } else { Ok(()) }
    }

    /// As [`Self::write`], for what cannot be done again: waits for another process that holds the database.
    pub(crate) fn write_waiting<T>(&self, change: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.write_through(false, change)
    }

    /// The same; `flushed`: it is on the disk when this returns.
    pub(crate) fn write_through<T>(
        &self,
        flushed: bool,
        change: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let started = Instant::now();
        loop {
            match if flushed { self.write_flushed(&change) } else { self.write(&change) } {
                Err(error) if error.is_held() && started.elapsed() < error.patience() => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }

    /// Everything recorded so far is on the disk.
    pub(crate) fn flush(&self) -> Result<()> {
        self.write_flushed(schema::touch)
    }

    /// As [`Self::write`], and on the disk when it returns, with all that was recorded before.
    pub(crate) fn write_flushed<T>(&self, change: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.unless_held(|connection| {
            connection.pragma_update(None, "synchronous", "FULL")?;
            let changed =
                connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|transaction| {
                    let value = change(&transaction)?;
                    transaction.commit()?;
                    Ok(value)
                });
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            changed
        })
    }

    /// What was rebuilt since the last call.
    pub(crate) fn take_rebuilt(&self) -> Vec<Rebuilt> {
        std::mem::take(&mut *self.rebuilt.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn attempt<T>(&self, mut run: impl FnMut(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.locked();
        match run(&mut connection) {
            Err(error) if is_damage(&error) => {
                let (anew, event) = damage::replace(&mut connection, &self.folder, &self.lock, self.exclusive)?;
                *connection = anew;
                self.rebuilt.lock().unwrap_or_else(PoisonError::into_inner).extend(event);
                run(&mut connection).map_err(|error| told(&error))
            }
            other => other.map_err(|error| told(&error)),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Connection> {
        // A panic in a transaction rolled it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

/// The database is not one, or is broken inside.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// What a failure of the database means to a caller. SQLite's own texts name no paths.
fn told(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let text = "The index (harness.db) is held by another process. Try again when it is done.";
            Error { held: Some(Held::Database), ..Error::new(Code::Busy, text) }
        }
        Some(ErrorCode::DiskFull) => {
            Error::new(Code::NoSpace, "No space left on the disk for the index. Free some and try again.")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            Error::new(Code::PermissionDenied, "The system refused to open the index (harness.db) for writing.")
        }
        _ => Error::new(Code::IoError, format!("The index (harness.db) failed: {error}")),
    }
}
