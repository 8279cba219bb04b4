//! `trace.ndjson`: one event a line, each appended in one write. A torn last line (the machine stopped in it) is left
//! behind and skipped by readers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use rustix::fd::AsFd;
use rustix::fs::{self, Mode, OFlags};

use crate::root::open_name;

const NAME: &str = "trace.ndjson";

/// Opens a session's trace for appending.
pub(crate) fn open(session: impl AsFd) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(session, NAME, flags, Mode::RUSR | Mode::WUSR)?);
    fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != [b'\n'] {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// The number of the last whole event in a session's trace; 0 without one.
pub(crate) fn last_sequence(session: impl AsFd) -> i64 {
    let Ok(file) = open_name(session, NAME, OFlags::RDONLY) else { return 0 };
    let mut file = File::from(file);
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    // An event may be long (its metadata alone 64 KiB), so look further back until there is a whole one.
    let mut window = 64 * 1024;
    loop {
        let found = greatest_in_tail(&mut file, length.saturating_sub(window));
        if found.is_some() || window >= length {
            return found.unwrap_or(0);
        }
        window *= 8;
    }
}

/// Lines of concurrent writers may stand out of order, so the greatest counts.
fn greatest_in_tail(file: &mut File, start: u64) -> Option<i64> {
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(start)).ok()?;
    file.read_to_end(&mut tail).ok()?;
    tail.split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok()?.get("sequence")?.as_i64())
        .max()
}
