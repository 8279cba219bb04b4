//! Reading: whole, a range, or as a stream (promises G2 and G4).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use rustix::fs;

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result, errno_of};
use crate::path::{HarnessPath, Use};
use crate::root::Links;
use crate::session::Session;
use crate::stamp::Stamp;

/// What is read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// First byte; the file's start without one.
    pub start: Option<u64>,
    /// The byte after the last one; the file's end without one, or beyond it.
    pub end: Option<u64>,
    /// More than this is refused, never cut.
    pub max_bytes: u64,
    /// Refuses what is not UTF-8.
    pub utf8: bool,
}

/// What was read.
#[derive(Debug, Clone)]
pub struct FileData {
    /// As on the disk.
    pub path: String,
    /// Of the whole file, also for a range.
    pub bytes: u64,
    /// Of the whole file, also for a range.
    pub digest: Digest,
    /// As recorded, while that holds.
    pub media_type: Option<String>,
    /// The bytes.
    pub content: Vec<u8>,
}

impl Session {
    /// Reads a file, or a range of one.
    pub fn read(&self, path: &str, options: &ReadOptions, cancel: &Cancel) -> Result<FileData> {
        let path = self.resolve(path, Use::Read)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        // A file that another program writes to in place while we read it is read anew; ours are never changed in place.
        for tries_left in (0..5).rev() {
            cancel.check()?;
            if let Some(data) = self.told(self.read_once(&path, options, tries_left == 0, cancel))? {
                return Ok(data);
            }
        }
        Err(Error::at(
            Code::Busy,
            &path,
            format!("Another program keeps writing to {path} while it is read. Try again."),
        ))
    }

    /// `None` when the file changed meanwhile. The `last` time what was read of a whole file is given all the same: its
    /// size and digest are those of the bytes.
    fn read_once(
        &self,
        path: &HarnessPath,
        options: &ReadOptions,
        last: bool,
        cancel: &Cancel,
    ) -> Result<Option<FileData>> {
        let (file, stat) = self.root_of(path).open_file(path)?;
        let stamp = Stamp::of(&stat);
        let range = clamp(options.start, options.end, stamp.size, path)?;
        check_cap(path, range.end - range.start, options.max_bytes)?;
        let known = self.known(path, &stat)?;
        let mut file = File::from(file);
        let content = read_range(&mut file, &range, path, cancel)?;
        let whole = range == (0..stamp.size);
        let (digest, facts) = if let Some(facts) = known {
            (facts.digest, Some(facts))
        } else {
            let digest = if whole {
                Digest::of(&content)
            } else {
                file.seek(SeekFrom::Start(0)).map_err(|error| Error::from_errno(errno_of(&error), path, "reading"))?;
                Digest::read(&mut file, path, cancel)?.0
            };
            (digest, self.known_by_digest(path, digest)?)
        };
        let after = fs::fstat(&file).map_err(|errno| Error::from_errno(errno, path, "reading"))?;
        // Only ctime may differ: the file was renamed or replaced meanwhile.
        let changed = content.len() as u64 != range.end - range.start || !Stamp::of(&after).same_but_renamed(&stamp);
        if changed && !(last && whole) {
            return Ok(None);
        }
        let (bytes, digest, facts) =
            if changed { (content.len() as u64, Digest::of(&content), None) } else { (stamp.size, digest, facts) };
        if options.utf8 && std::str::from_utf8(&content).is_err() {
            return Err(Error::at(Code::NotText, path, format!("{path} is not UTF-8 text. Read it as bytes.")));
        }
        let media_type = facts.and_then(|facts| facts.media_type);
        Ok(Some(FileData { path: path.to_string(), bytes, digest, media_type, content }))
    }

    /// Opens a file to be read piece by piece.
    pub fn open_read(&self, path: &str, from: Option<u64>, to: Option<u64>) -> Result<OpenRead> {
        let path = self.resolve(path, Use::Read)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        let (file, stat) = self.told(self.root_of(&path).open_file(&path))?;
        let size = Stamp::of(&stat).size;
        let range = clamp(from, to, size, &path)?;
        let mut file = File::from(file);
        file.seek(SeekFrom::Start(range.start))
            .map_err(|error| Error::from_errno(errno_of(&error), &path, "reading"))?;
        // To the end means to the end that it has when it is reached.
        let left = if to.is_none() { u64::MAX } else { range.end - range.start };
        Ok(OpenRead { file, path: path.to_string(), size, left })
    }
}

/// A file that is being read piece by piece. What it reads is the file that was opened, even if that is replaced.
#[derive(Debug)]
pub struct OpenRead {
    file: File,
    path: String,
    size: u64,
    left: u64,
}

impl OpenRead {
    /// All of an open file.
    pub(crate) fn whole(file: File, path: String, size: u64) -> Self {
        Self { file, path, size, left: u64::MAX }
    }

    /// As on the disk.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The file's size when it was opened.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// At most `max` bytes more; empty at the end.
    pub fn next(&mut self, max: usize) -> Result<Vec<u8>> {
        let mut piece = Vec::new();
        let read = (&mut self.file)
            .take(self.left.min(max as u64))
            .read_to_end(&mut piece)
            .map_err(|error| Error::from_errno(errno_of(&error), &self.path, "reading"))?;
        self.left -= read as u64;
        Ok(piece)
    }
}

/// Reads a file to its end, piece by piece.
pub(crate) fn copy(
    mut file: impl Read,
    path: &HarnessPath,
    cancel: &Cancel,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; 256 * 1024];
    loop {
        cancel.check()?;
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => sink(&buffer[..read])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from_errno(errno_of(&error), path, "reading")),
        }
    }
}

fn clamp(start: Option<u64>, end: Option<u64>, size: u64, path: &HarnessPath) -> Result<Range<u64>> {
    let (from, to) = (start.unwrap_or(0), end.unwrap_or(u64::MAX));
    if from > to {
        return Err(Error::at(Code::InvalidOption, path, format!("range.start ({from}) is after range.end ({to})")));
    }
    Ok(from.min(size)..to.min(size))
}

fn check_cap(path: &HarnessPath, bytes: u64, max: u64) -> Result<()> {
    if bytes <= max {
        return Ok(());
    }
    let text = format!("{path}: {bytes} bytes are more than maxBytes ({max}). Read a range, or use readStream.");
    Err(Error::at(Code::TooLarge, path, text))
}

fn read_range(file: &mut File, range: &Range<u64>, path: &HarnessPath, cancel: &Cancel) -> Result<Vec<u8>> {
    const PIECE: u64 = 8 * 1024 * 1024;
    let wrap = |error: std::io::Error| Error::from_errno(errno_of(&error), path, "reading");
    let length = range.end - range.start;
    let mut content = Vec::new();
    let too_large =
        || Error::at(Code::TooLarge, path, format!("{path}: {length} bytes do not fit in memory. Use readStream."));
    content.try_reserve_exact(usize::try_from(length).map_err(|_| too_large())?).map_err(|_| too_large())?;
    if range.start > 0 {
        file.seek(SeekFrom::Start(range.start)).map_err(wrap)?;
    }
    let mut left = length;
    while left > 0 {
        cancel.check()?;
        let read = file.take(left.min(PIECE)).read_to_end(&mut content).map_err(wrap)? as u64;
        if read == 0 {
            break;
        }
        left -= read;
    }
    Ok(content)
}
