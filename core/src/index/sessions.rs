//! Rows of sessions.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::checkouts::PENDING;
use crate::session::record::SessionRecord;

/// What the index knows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Which of the sessions that had this id.
    pub instance: i64,
    /// Its folder's name.
    pub key: String,
    /// As the host named it.
    pub id: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970: the last write, remove or event.
    pub updated_at: i64,
    /// JSON text of an object.
    pub metadata: Option<String>,
    /// Regular files in its roots.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
    /// Uncommitted changes in its Persistent Dirs, as of the last scans.
    pub pending: u64,
}

const COLUMNS: &str = "instance, key, id, created_at, updated_at, metadata, files, bytes";

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        instance: row.get(0)?,
        key: row.get(1)?,
        id: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
        metadata: row.get(5)?,
        files: row.get::<_, i64>(6)?.try_into().unwrap_or(0),
        bytes: row.get::<_, i64>(7)?.try_into().unwrap_or(0),
        pending: row.get::<_, i64>(8)?.try_into().unwrap_or(0),
    })
}

/// The row of a folder.
pub(crate) fn by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<SessionRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS}, {PENDING} FROM sessions WHERE key = ?1"))?
        .query_row([key], read)
        .optional()
}

/// At most `limit` rows in the order of their ids' bytes, those after `after`.
pub(crate) fn page(connection: &Connection, limit: u32, after: Option<&str>) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = format!("SELECT {COLUMNS}, {PENDING} FROM sessions WHERE ?1 IS NULL OR id > ?1 ORDER BY id LIMIT ?2");
    connection.prepare_cached(&sql)?.query_map(params![after, limit], read)?.collect()
}

/// A row for the session that `session.json` describes, in place of one for an earlier session of that id.
pub(crate) fn insert(
    connection: &Connection,
    key: &str,
    record: &SessionRecord,
    sequence: i64,
) -> rusqlite::Result<()> {
    let earlier = by_key(connection, key)?;
    if let Some(earlier) = earlier {
        if earlier.instance == record.instance {
            return Ok(());
        }
        drop_session(connection, earlier.instance)?;
    }
    let metadata = record.metadata.as_ref().and_then(|metadata| serde_json::to_string(metadata).ok());
    connection.execute(
        "INSERT INTO sessions (instance, key, id, created_at, updated_at, metadata, sequence, files, bytes)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, 0, 0)",
        params![record.instance, key, record.id, record.created_at, metadata, sequence],
    )?;
    Ok(())
}

/// Takes a session's rows away.
pub(crate) fn drop_session(connection: &Connection, instance: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM files WHERE session = ?1", [instance])?;
    connection.execute("DELETE FROM messages WHERE session = ?1", [instance])?;
    connection.execute("DELETE FROM checkouts WHERE dir IN (SELECT id FROM dirs WHERE session = ?1)", [instance])?;
    connection.execute("DELETE FROM dirs WHERE session = ?1", [instance])?;
    connection.execute("DELETE FROM sessions WHERE instance = ?1", [instance])?;
    Ok(())
}

/// Files and bytes as of now.
pub(crate) fn totals(connection: &Connection, instance: i64) -> rusqlite::Result<Option<(u64, u64)>> {
    connection
        .prepare_cached("SELECT files, bytes FROM sessions WHERE instance = ?1")?
        .query_row([instance], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()
        .map(|found| found.map(|(files, bytes)| (files.try_into().unwrap_or(0), bytes.try_into().unwrap_or(0))))
}

/// What a scan found.
pub(crate) fn set_totals(connection: &Connection, instance: i64, files: u64, bytes: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE sessions SET files = ?2, bytes = ?3 WHERE instance = ?1")?
        .execute(params![instance, clamp(files), clamp(bytes)])
        .map(|_| ())
}

/// What a change adds to a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    pub(crate) files: i64,
    pub(crate) bytes: i64,
    pub(crate) events: i64,
}

/// Adds a change; returns the number of its first event, or `None` when the session's row is gone.
pub(crate) fn change(
    connection: &Connection,
    instance: i64,
    change: Change,
    now: i64,
) -> rusqlite::Result<Option<i64>> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT sequence FROM sessions WHERE instance = ?1")?
        .query_row([instance], |row| row.get(0))
        .optional()?;
    let Some(last) = last else { return Ok(None) };
    connection
        .prepare_cached(
            "UPDATE sessions SET files = max(0, files + ?2), bytes = max(0, bytes + ?3), sequence = ?4,
             updated_at = max(updated_at, ?5) WHERE instance = ?1",
        )?
        .execute(params![instance, change.files, change.bytes, last + change.events, now])?;
    Ok(Some(last + 1))
}

fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
