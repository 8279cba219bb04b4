//! The database's file, settings and tables.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::{DATABASE, damage};

/// How long opening waits for another process before FS_BUSY.
const OPENING: Duration = Duration::from_secs(10);
/// How long a transaction waits in SQLite: long enough for one of another process; who waits longer sleeps elsewhere.
const TRANSACTION: Duration = Duration::from_millis(5);
/// Of the tables below.
const VERSION: i64 = 2;

const TABLES: &str = "
CREATE TABLE sessions (
  instance INTEGER PRIMARY KEY,      -- random, from session.json: the same after a rebuild, another after a delete
  key TEXT NOT NULL UNIQUE,          -- its folder
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,       -- milliseconds since 1970, as all times here
  updated_at INTEGER NOT NULL,
  metadata TEXT,
  sequence INTEGER NOT NULL,         -- of its last event
  files INTEGER NOT NULL,            -- regular files in the roots: last scan plus our own changes since
  bytes INTEGER NOT NULL
);
CREATE TABLE files (
  session INTEGER NOT NULL,
  path TEXT NOT NULL,                -- as on the disk
  dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
  fresh INTEGER NOT NULL,            -- the stamp was too young to prove anything
  sha256 BLOB NOT NULL,
  media_type TEXT,
  source TEXT,
  metadata TEXT,
  artifact INTEGER,                  -- 1 marked, 0 not one, NULL by its place
  artifact_name TEXT,
  artifact_metadata TEXT,
  PRIMARY KEY (session, path)
) WITHOUT ROWID;
CREATE INDEX marked ON files (session, path) WHERE artifact = 1;
CREATE TABLE messages (              -- whose files were staged
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  note TEXT,                         -- the caller's, JSON text
  PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE TABLE flushes (at INTEGER NOT NULL);
";

/// Since version 2.
const PERSISTENT_TABLES: &str = "
CREATE TABLE dirs (                  -- Persistent Dirs that were loaded
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  name TEXT NOT NULL,                -- its harness path
  source TEXT NOT NULL,              -- what it was loaded from
  cursor TEXT,                       -- the store's, JSON text
  must_load INTEGER NOT NULL,        -- before the next commit
  revision INTEGER NOT NULL,         -- of its paths' rows
  commit_id TEXT, commit_key BLOB,   -- of one that was started and not recorded
  UNIQUE (session, name)
);
CREATE TABLE checkouts (             -- their paths
  dir INTEGER NOT NULL,
  path TEXT NOT NULL,                -- in the dir
  base_bytes INTEGER, base_sha256 BLOB, base_tag TEXT,     -- in the store; NULL: not there
  stamp BLOB, seen_sha256 BLOB,                            -- in the checkout; NULL: not there
  sent BLOB,                                               -- by a commit whose outcome is not recorded; empty: a deletion
  their_state INTEGER, their_bytes INTEGER, their_sha256 BLOB, their_tag TEXT,  -- 1 incoming, 2 conflict, 3 blocked by one
  since INTEGER,                                           -- there is an uncommitted change
  attempts INTEGER NOT NULL, error_code TEXT, error_message TEXT,
  PRIMARY KEY (dir, path)
) WITHOUT ROWID;
CREATE INDEX pending ON checkouts (dir) WHERE since IS NOT NULL;
";

/// Opens, and makes what is missing. With a new database, how many sessions it was filled with, unless none.
pub(super) fn open(folder: &Path, exclusive: bool) -> rusqlite::Result<(Connection, Option<usize>)> {
    let path = folder.join(DATABASE);
    make_private(&path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Without shared memory that can be trusted: one process at a time, no WAL. A second one must hear it at once.
    connection.busy_timeout(if exclusive { Duration::ZERO } else { OPENING })?;
    if exclusive {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?;
    } else {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    }
    // A checkpoint flushes twice; every 16 MiB of log is often enough.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 4_000, |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(32);
    // Tables are made once and for good, so that no power cut takes them away again; after that it is an index.
    connection.pragma_update(None, "synchronous", "FULL")?;
    let filled = migrate(&mut connection, folder)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.busy_timeout(if exclusive { Duration::ZERO } else { TRANSACTION })?;
    Ok((connection, filled))
}

/// SQLite would make it readable to everybody. Never opened here when it exists: closing it again would drop the locks
/// that a connection of this process holds.
fn make_private(path: &Path) -> rusqlite::Result<()> {
    let cannot_open = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), None);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(|_| cannot_open()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None))
        }
        Err(_) => Err(cannot_open()),
    }
}

fn migrate(connection: &mut Connection, folder: &Path) -> rusqlite::Result<Option<usize>> {
    let mut filled = 0;
    let version =
        |connection: &Connection| connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if version(connection)? == 0 {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have been first.
        if version(&transaction)? == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.execute_batch(PERSISTENT_TABLES)?;
            // In the same transaction: nobody ever sees a database without the sessions that are there.
            filled = damage::fill(&transaction, folder)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
        // The names of the new files; where that cannot be flushed, the index is made anew after a power cut.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    if version(connection)? == 1 {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        if version(&transaction)? == 1 {
            transaction.execute_batch(PERSISTENT_TABLES)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    if version(connection)? > VERSION {
        let text = "it was made by a newer version of @little-stack/files".to_owned();
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(text)));
    }
    // Read something of each table, so that most damage shows here and not in the middle of a call.
    connection.query_row("SELECT count(*) FROM (SELECT 1 FROM sessions LIMIT 1)", [], |_| Ok(()))?;
    connection.query_row("SELECT count(*) FROM (SELECT 1 FROM files LIMIT 1)", [], |_| Ok(()))?;
    connection.query_row("SELECT count(*) FROM (SELECT 1 FROM checkouts LIMIT 1)", [], |_| Ok(()))?;
    Ok((filled > 0).then_some(filled))
}

/// The smallest change: committed with a flush it makes all before it durable.
pub(super) fn touch(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM flushes", [])?;
    connection.execute("INSERT INTO flushes VALUES (unixepoch('subsec') * 1000)", []).map(|_| ())
}

/// Whether another process keeps the database from us.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
