//! Rows of files: facts that hold as long as the file's stamp does.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::digest::Digest;
use crate::stamp::Stamp;

/// How a file is marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifact {
    /// Marked, said not to be one, or by its place.
    pub marked: Option<bool>,
    /// For people.
    pub name: Option<String>,
    /// JSON text of an object.
    pub metadata: Option<String>,
}

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// For which these facts hold.
    pub stamp: Stamp,
    /// The stamp was too young to prove anything when it was taken.
    pub fresh: bool,
    /// Of the content.
    pub digest: Digest,
    /// As given or guessed at the write.
    pub media_type: Option<String>,
    /// Who wrote it.
    pub source: Option<String>,
    /// The host's, JSON text of an object.
    pub metadata: Option<String>,
    /// Whether it is an artifact.
    pub artifact: Artifact,
}

const COLUMNS: &str = "dev, ino, size, mtime, ctime, fresh, sha256, media_type, source, metadata, artifact, artifact_name, artifact_metadata";

#[expect(clippy::cast_sign_loss, reason = "the bits were stored as they are: SQLite has no unsigned numbers")]
fn read(row: &Row<'_>) -> rusqlite::Result<Facts> {
    Ok(Facts {
        stamp: Stamp {
            dev: row.get::<_, i64>("dev")? as u64,
            ino: row.get::<_, i64>("ino")? as u64,
            size: row.get::<_, i64>("size")? as u64,
            mtime: row.get("mtime")?,
            ctime: row.get("ctime")?,
        },
        fresh: row.get("fresh")?,
        digest: Digest(row.get("sha256")?),
        media_type: row.get("media_type")?,
        source: row.get("source")?,
        metadata: row.get("metadata")?,
        artifact: Artifact {
            marked: row.get("artifact")?,
            name: row.get("artifact_name")?,
            metadata: row.get("artifact_metadata")?,
        },
    })
}

/// Of one path.
pub(crate) fn row(connection: &Connection, session: i64, path: &str) -> rusqlite::Result<Option<Facts>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM files WHERE session = ?1 AND path = ?2"))?
        .query_row(params![session, path], read)
        .optional()
}

/// Of all paths below `folder`, which ends without a slash, in the order of their bytes.
pub(crate) fn rows_below(
    connection: &Connection,
    session: i64,
    folder: &str,
    marked_only: bool,
) -> rusqlite::Result<Vec<(String, Facts)>> {
    let marked = if marked_only { "AND artifact = 1" } else { "" };
    // '0' follows '/', so this is every path that starts with "<folder>/".
    let sql = format!(
        "SELECT {COLUMNS}, path FROM files WHERE session = ?1 AND path > ?2 || '/' AND path < ?2 || '0' {marked} ORDER BY path"
    );
    connection
        .prepare_cached(&sql)?
        .query_map(params![session, folder], |row| Ok((row.get("path")?, read(row)?)))?
        .collect()
}

/// Records, in place of what was known of `path`.
#[expect(clippy::cast_possible_wrap, reason = "the bits are stored as they are: SQLite has no unsigned numbers")]
pub(crate) fn upsert(connection: &Connection, session: i64, path: &str, facts: &Facts) -> rusqlite::Result<()> {
    let Facts { stamp, fresh, digest, media_type, source, metadata, artifact } = facts;
    connection
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO files (session, path, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
        ))?
        .execute(params![
            session,
            path,
            stamp.dev as i64,
            stamp.ino as i64,
            stamp.size as i64,
            stamp.mtime,
            stamp.ctime,
            fresh,
            digest.0,
            media_type,
            source,
            metadata,
            artifact.marked,
            artifact.name,
            artifact.metadata,
        ])
        .map(|_| ())
}

/// Forgets one path.
pub(crate) fn delete_row(connection: &Connection, session: i64, path: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM files WHERE session = ?1 AND path = ?2")?
        .execute(params![session, path])
        .map(|_| ())
}

/// Forgets a folder.
pub(crate) fn delete_below(connection: &Connection, session: i64, folder: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM files WHERE session = ?1 AND path > ?2 || '/' AND path < ?2 || '0'")?
        .execute(params![session, folder])
        .map(|_| ())
}
