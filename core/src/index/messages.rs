//! Messages whose files were staged.

use rusqlite::{Connection, OptionalExtension, params};

/// All of a session, in the order of their ids' bytes.
pub(crate) fn staged_messages(connection: &Connection, session: i64) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT id FROM messages WHERE session = ?1 ORDER BY id")?
        .query_map([session], |row| row.get(0))?
        .collect()
}

/// Those of `ids` that were staged, with their notes.
pub(crate) fn message_notes(
    connection: &Connection,
    session: i64,
    ids: &[String],
) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare_cached("SELECT note FROM messages WHERE session = ?1 AND id = ?2")?;
    let mut found = Vec::new();
    for id in ids {
        if let Some(note) = statement.query_row(params![session, id], |row| row.get(0)).optional()? {
            found.push((id.clone(), note));
        }
    }
    Ok(found)
}

/// Marks messages as staged, each with its note.
pub(crate) fn mark_messages(
    connection: &Connection,
    session: i64,
    marks: &[(String, Option<String>)],
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO messages (session, id, note) VALUES (?1, ?2, ?3)")?;
    for (id, note) in marks {
        statement.execute(params![session, id, note])?;
    }
    Ok(())
}
