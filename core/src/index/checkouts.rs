//! Rows of Persistent Dirs: their bases, changes and commits. A journal: the bases are nowhere else.

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use crate::digest::Digest;
use crate::persistent::{Held, Row, Seen, Sent, TheirState, Theirs};
use crate::stamp::Stamp;
use crate::track::Version;

/// A dir of a session as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirRecord {
    /// Names the source that the checkout was loaded from.
    pub(crate) source: String,
    /// The store's, JSON text.
    pub(crate) cursor: Option<String>,
    /// A load has to precede the next commit.
    pub(crate) must_load: bool,
    /// Of the last commit that was started and not recorded: its id, and the digest of what it sends.
    pub(crate) commit: Option<(String, Digest)>,
}

const ROW: &str = "path, base_bytes, base_sha256, base_tag, stamp, seen_sha256, sent, their_state, their_bytes, their_sha256, their_tag, since, attempts, error_code, error_message";

/// Which dir it is, and of which state its rows are. The first revision is random, so that no other dir's is taken for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DirKey {
    /// In the database.
    pub(crate) id: i64,
    /// Another one whenever a row has changed.
    pub(crate) revision: i64,
}

/// The dir `name` of a session.
pub(crate) fn dir(connection: &Connection, session: i64, name: &str) -> rusqlite::Result<Option<(DirKey, DirRecord)>> {
    connection
        .prepare_cached(
            "SELECT id, source, cursor, must_load, commit_id, commit_key, revision FROM dirs WHERE session = ?1 AND name = ?2",
        )?
        .query_row(params![session, name], |row| {
            let commit = row.get::<_, Option<String>>(4)?.zip(row.get::<_, Option<[u8; 32]>>(5)?);
            let record = DirRecord {
                source: row.get(1)?,
                cursor: row.get(2)?,
                must_load: row.get(3)?,
                commit: commit.map(|(id, key)| (id, Digest(key))),
            };
            Ok((DirKey { id: row.get(0)?, revision: row.get(6)? }, record))
        })
        .optional()
}

/// Records a dir whose rows change.
pub(crate) fn put_dir(
    connection: &Connection,
    session: i64,
    name: &str,
    record: &DirRecord,
) -> rusqlite::Result<DirKey> {
    let DirRecord { source, cursor, must_load, commit } = record;
    let (id, key) = commit.as_ref().map_or((None, None), |(id, key)| (Some(id), Some(key.0)));
    connection
        .prepare_cached(
            "INSERT INTO dirs (session, name, source, cursor, must_load, commit_id, commit_key, revision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, random() >> 1)
             ON CONFLICT (session, name) DO UPDATE
             SET source = ?3, cursor = ?4, must_load = ?5, commit_id = ?6, commit_key = ?7, revision = revision + 1
             RETURNING id, revision",
        )?
        .query_row(params![session, name, source, cursor, must_load, id, key], |row| {
            Ok(DirKey { id: row.get(0)?, revision: row.get(1)? })
        })
}

/// Other sessions' dirs with the same store and no cursor to notice it by have to load before they commit.
pub(crate) fn outdate_others(connection: &Connection, dir: DirKey, name: &str, source: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE dirs SET must_load = 1
         WHERE name = ?1 AND source = ?2 AND cursor IS NULL AND must_load = 0 AND id <> ?3",
    )?;
    statement.execute(params![name, source, dir.id]).map(|_| ())
}

/// Forgets a dir and all of its paths.
pub(crate) fn drop_dir(connection: &Connection, session: i64, name: &str) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM checkouts WHERE dir IN (SELECT id FROM dirs WHERE session = ?1 AND name = ?2)",
        params![session, name],
    )?;
    connection.execute("DELETE FROM dirs WHERE session = ?1 AND name = ?2", params![session, name]).map(|_| ())
}

/// All that is known of a dir's paths, in the order of their bytes.
pub(crate) fn checkout(connection: &Connection, dir: i64) -> rusqlite::Result<Vec<(String, Row)>> {
    connection
        .prepare_cached(&format!("SELECT {ROW} FROM checkouts WHERE dir = ?1 ORDER BY path"))?
        .query_map([dir], |row| Ok((row.get(0)?, read(row)?)))?
        .collect()
}

/// Records a path, or forgets it when nothing is known of it.
pub(crate) fn put_path(connection: &Connection, dir: i64, path: &str, row: &Row) -> rusqlite::Result<()> {
    if row.is_void() {
        let mut statement = connection.prepare_cached("DELETE FROM checkouts WHERE dir = ?1 AND path = ?2")?;
        return statement.execute(params![dir, path]).map(|_| ());
    }
    let Row { base, seen, sent, theirs, since, attempts, error, met: _ } = row;
    let base_version = base.as_ref().map(|base| base.version);
    let their_version = theirs.as_ref().and_then(|theirs| theirs.held.as_ref()).map(|held| held.version);
    let (code, message) = error.as_ref().map_or((None, None), |(code, message)| (Some(code), Some(message)));
    connection
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO checkouts (dir, {ROW}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
        ))?
        .execute(params![
            dir,
            path,
            base_version.map(|version| signed(version.bytes)),
            base_version.map(|version| version.digest.0),
            base.as_ref().and_then(|base| base.tag.as_ref()),
            seen.as_ref().map(stamp_bytes),
            seen.map(|seen| seen.digest.0),
            sent.map(|Sent(sent)| sent.as_ref().map(version_bytes).unwrap_or_default()),
            theirs.as_ref().map(|theirs| state_number(theirs.state)),
            their_version.map(|version| signed(version.bytes)),
            their_version.map(|version| version.digest.0),
            theirs.as_ref().and_then(|theirs| theirs.held.as_ref()).and_then(|held| held.tag.as_ref()),
            since,
            attempts,
            code,
            message,
        ])
        .map(|_| ())
}

/// How many changes of a session are uncommitted, as of the last scans.
pub(crate) const PENDING: &str = "(SELECT count(*) FROM dirs JOIN checkouts ON dir = dirs.id WHERE dirs.session = sessions.instance AND since IS NOT NULL)";

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let held = |bytes: usize, digest: usize, tag: usize| -> rusqlite::Result<Option<Held>> {
        let Some(digest) = row.get::<_, Option<[u8; 32]>>(digest)? else { return Ok(None) };
        let bytes = row.get::<_, i64>(bytes)?.try_into().unwrap_or(0);
        Ok(Some(Held { version: Version { bytes, digest: Digest(digest) }, tag: row.get(tag)? }))
    };
    let seen = row.get::<_, Option<[u8; 41]>>(4)?.zip(row.get::<_, Option<[u8; 32]>>(5)?);
    let theirs = match row.get::<_, Option<i64>>(7)? {
        Some(number) => Some(Theirs { state: state_of(number), held: held(8, 9, 10)? }),
        None => None,
    };
    let error = row.get::<_, Option<String>>(13)?.zip(row.get::<_, Option<String>>(14)?);
    Ok(Row {
        base: held(1, 2, 3)?,
        seen: seen.map(|(stamp, digest)| seen_of(&stamp, Digest(digest))),
        sent: row.get_ref(6)?.as_blob_or_null()?.map(|bytes| Sent(version_of(bytes))),
        theirs,
        since: row.get(11)?,
        attempts: row.get(12)?,
        error,
        met: false,
    })
}

fn state_number(state: TheirState) -> i64 {
    match state {
        TheirState::Incoming => 1,
        TheirState::Conflict => 2,
        TheirState::Blocked => 3,
    }
}

fn state_of(number: i64) -> TheirState {
    match number {
        1 => TheirState::Incoming,
        3 => TheirState::Blocked,
        _ => TheirState::Conflict,
    }
}

/// The stamp's five numbers, and whether it is fresh.
fn stamp_bytes(seen: &Seen) -> [u8; 41] {
    let Stamp { dev, ino, size, mtime, ctime } = seen.stamp;
    let mut out = [0; 41];
    let numbers = [dev.to_le_bytes(), ino.to_le_bytes(), size.to_le_bytes(), mtime.to_le_bytes(), ctime.to_le_bytes()];
    for (place, number) in out.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number);
    }
    out[40] = u8::from(seen.fresh);
    out
}

fn seen_of(bytes: &[u8; 41], digest: Digest) -> Seen {
    let number = |at: usize| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap_or_default());
    let signed = |at| number(at).cast_signed();
    let stamp = Stamp { dev: number(0), ino: number(1), size: number(2), mtime: signed(3), ctime: signed(4) };
    Seen { stamp, fresh: bytes[40] != 0, digest }
}

/// The digest, then the size.
fn version_bytes(version: &Version) -> Vec<u8> {
    [version.digest.0.as_slice(), &version.bytes.to_le_bytes()].concat()
}

fn version_of(bytes: &[u8]) -> Option<Version> {
    let (digest, size) = bytes.split_at_checked(32)?;
    Some(Version { bytes: u64::from_le_bytes(size.try_into().ok()?), digest: Digest(digest.try_into().ok()?) })
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
