//! Reading a source: by stamps, and the contents where those have moved.

use std::collections::HashSet;
use std::fs::File;

use rustix::fd::AsFd;
use rustix::fs::{self, FileType, OFlags};
use rustix::io::Errno;

use super::LocalStore;
use super::odd::keep_hidden;
use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::persistent::checkout::Checkout;
use crate::persistent::declared::RESERVED;
use crate::persistent::incoming::{Given, Incoming};
use crate::persistent::row::Held;
use crate::read;
use crate::root::{Links, RootDir, open_name};
use crate::stamp::Stamp;
use crate::track::Version;
use crate::tree::{self, Found};

/// What a source calls a version: the file's stamp.
pub(super) fn tag_of(stamp: &Stamp) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let Stamp { dev, ino, size, mtime, ctime } = *stamp;
    // By hand: this is made of each file at each load.
    let mut tag = String::with_capacity(5 * 16);
    for number in [dev, ino, size, mtime.cast_unsigned(), ctime.cast_unsigned()] {
        tag.extend((0..16).rev().map(|at| char::from(DIGITS[(number >> (at * 4) & 15) as usize])));
    }
    tag
}

/// The same, of a stamp that was just taken: one that proves nothing yet is equal to none.
pub(super) fn fresh_tag_of(stamp: &Stamp) -> String {
    let tag = tag_of(stamp);
    if stamp.is_fresh() { format!("{tag}!") } else { tag }
}

impl LocalStore {
    /// Gives all that the source holds.
    pub(crate) fn load(&self, checkout: &Checkout, incoming: &mut Incoming, cancel: &Cancel) -> Result<()> {
        let (mut moved, mut odd) = (Vec::new(), HashSet::new());
        for Found { path, kind, stamp, nameable } in
            tree::visit(self.source.folder(), &checkout.name, Some(RESERVED)).whole()?
        {
            let base = checkout.rows.get(&path).and_then(|row| row.base.as_ref());
            if kind != FileType::RegularFile || !nameable {
                incoming.skipped += 1;
                odd.insert(path);
                continue;
            }
            let tag = tag_of(&stamp);
            let same = base.is_some_and(|base| base.tag.as_deref() == Some(tag.as_str()));
            if same && !incoming.discard.contains(&path) {
                incoming.same.insert(path.into());
            } else {
                moved.push(path);
            }
        }
        if !odd.is_empty() {
            keep_hidden(checkout, incoming, &odd);
        }
        let folder = open_name(self.source.folder(), ".", OFlags::RDONLY | OFlags::DIRECTORY);
        let root = RootDir::new(folder.map_err(|errno| self.failed(errno))?, checkout.session.host.resolver);
        for path in moved {
            cancel.check()?;
            self.read(checkout, incoming, &root, &path, cancel)?;
        }
        Ok(())
    }

    fn read(
        &self,
        checkout: &Checkout,
        incoming: &mut Incoming,
        root: &RootDir,
        path: &str,
        cancel: &Cancel,
    ) -> Result<()> {
        let base = checkout.rows.get(path).and_then(|row| row.base.as_ref());
        let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
        let full = checkout.harness_path(path);
        for _ in 0..5 {
            let file = match root.open(&segments, OFlags::RDONLY, Links::Refuse) {
                Ok(file) => File::from(file),
                // Gone, or no file any more, since it was met.
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
                Err(Errno::LOOP | Errno::NXIO) => break,
                Err(errno) => return Err(self.failed(errno)),
            };
            let stat = fs::fstat(file.as_fd()).map_err(|errno| self.failed(errno))?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                break;
            }
            let stamp = Stamp::of(&stat);
            let tag = fresh_tag_of(&stamp);
            let unchanged = |file: &File| {
                fs::fstat(file).map(|after| Stamp::of(&after) == stamp).map_err(|errno| self.failed(errno))
            };
            // Most often only its times have moved: read it first, copy it if that is not so.
            if let Some(base) = base
                && base.version.bytes == stamp.size
                && !incoming.discard.contains(path)
            {
                let (digest, bytes) = Digest::read(&file, &full, cancel)?;
                if !unchanged(&file)? {
                    continue;
                }
                if digest == base.version.digest {
                    let held = Held { version: Version { bytes, digest }, tag: Some(tag) };
                    incoming.given.insert(path.to_owned(), Given { held, staged: None });
                    return Ok(());
                }
                rewind(&file, &full)?;
            }
            let mut staged = incoming.begin(checkout, path)?;
            read::copy(&file, &full, cancel, |bytes| staged.write(bytes))?;
            if unchanged(&file)? {
                return incoming.end(checkout, path, Some(tag), staged);
            }
            let name = staged.name_mut().take().unwrap_or_default();
            incoming.batch.discard(&name);
        }
        // Another program keeps writing to it, or has put something else there: the next load reads it.
        if base.is_some() {
            incoming.same.insert(path.into());
        }
        Ok(())
    }
}

fn rewind(mut file: &File, full: &crate::path::HarnessPath) -> Result<()> {
    use std::io::Seek;
    file.rewind().map_err(|error| Error::from_errno(crate::error::errno_of(&error), full, "reading"))
}
