//! A lost or damaged index: set aside, never deleted, and made anew from the session folders.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::{DATABASE, schema, sessions, told};
use crate::error::{Code, Error, Result, errno_of};
use crate::session::record;
use crate::trace;

/// For the event that says so.
#[derive(Debug, Clone)]
pub(crate) struct Rebuilt {
    /// The new name of the damaged file; `None` when there was none.
    pub(crate) set_aside: Option<String>,
    /// How many sessions came back.
    pub(crate) sessions: usize,
}

/// Says that this process uses the database. Waits, at most 5 seconds, for another that rebuilds it.
pub(super) fn lock_shared(lock: &File) -> Result<()> {
    for _ in 0..500 {
        match lock.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(Error::from_errno(errno_of(&error), "dataDir", "locking")),
        }
    }
    Err(Error::new(
        Code::Busy,
        "The index (harness.db) is being rebuilt by another process. Try again when it is done.",
    ))
}

/// Closes the damaged database in use, then as [`rebuild`].
pub(super) fn replace(
    open: &mut Connection,
    folder: &Path,
    lock: &File,
    exclusive: bool,
) -> Result<(Connection, Option<Rebuilt>)> {
    // A connection to nothing takes the place of the damaged one, whose files can then be moved.
    *open = Connection::open_in_memory().map_err(|error| told(&error))?;
    rebuild(folder, lock, exclusive)
}

/// Sets the database aside and fills a new one.
pub(super) fn rebuild(folder: &Path, lock: &File, exclusive: bool) -> Result<(Connection, Option<Rebuilt>)> {
    // Whoever else has it open would go on with the old file, so they have to let go first.
    let alone = lock.try_lock().is_ok();
    let rebuilt = if alone {
        set_aside_and_fill(folder, exclusive)
    } else {
        Err(Error::new(
            Code::Busy,
            "The index (harness.db) is damaged and another process has it open. Close the other hosts, then try again.",
        ))
    };
    // Taking the lock alone gave up the shared one, even where it failed.
    lock_shared(lock)?;
    rebuilt
}

fn set_aside_and_fill(folder: &Path, exclusive: bool) -> Result<(Connection, Option<Rebuilt>)> {
    // While we waited for the lock another host may have done it.
    match schema::open(folder, exclusive) {
        Ok((connection, filled)) if sound(&connection) => {
            return Ok((connection, filled.map(|sessions| Rebuilt { set_aside: None, sessions })));
        }
        Err(error) if schema::is_busy(&error) => return Err(told(&error)),
        _ => {}
    }
    let name = free_name(folder);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let moved = fs::rename(folder.join(format!("{DATABASE}{suffix}")), folder.join(format!("{name}{suffix}")));
        if let Err(error) = moved
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::from_errno(errno_of(&error), "harness.db", "setting aside"));
        }
    }
    let (connection, filled) = schema::open(folder, exclusive).map_err(|error| told(&error))?;
    Ok((connection, Some(Rebuilt { set_aside: Some(name), sessions: filled.unwrap_or(0) })))
}

fn sound(connection: &Connection) -> bool {
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)).is_ok_and(|answer| answer == "ok")
}

fn free_name(folder: &Path) -> String {
    let mut number = 1;
    loop {
        let name = format!("{DATABASE}.damaged-{number}");
        if !folder.join(&name).exists() {
            return name;
        }
        number += 1;
    }
}

/// A row for each session folder that holds a readable `session.json`. Sizes follow when the session is opened.
pub(super) fn fill(connection: &Connection, folder: &Path) -> rusqlite::Result<usize> {
    let Ok(folders) = fs::read_dir(folder.join("sessions")) else { return Ok(0) };
    let mut count = 0;
    for entry in folders.flatten() {
        let Ok(open) = File::open(entry.path()) else { continue };
        let (Some(key), Some(record)) = (entry.file_name().to_str().map(str::to_owned), record::read(&open)) else {
            continue;
        };
        let sequence = trace::last_sequence(&open);
        sessions::insert(connection, &key, &record, sequence)?;
        count += 1;
    }
    Ok(count)
}
