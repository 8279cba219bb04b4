//! Putting one file of a load into the checkout, or taking one away, unless somebody changed it since it was looked at.

use std::ffi::CString;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::batch::Batch;
use super::checkout::Checkout;
use super::row::Seen;
use super::scan::Looked;
use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::root::{Links, open_name};
use crate::stamp::Stamp;
use crate::track::Version;
use crate::{sys, trash, tree};

/// What came of it.
#[derive(Debug)]
pub(crate) enum Placed {
    /// It is as it should be; the first levels of its folders that were there before.
    Done(Option<Seen>, usize),
    /// Somebody has changed it since it was looked at: nothing was done.
    Changed,
    /// A file of ours stands where a folder would have to be, or a folder with files where the file would be.
    Blocked(String),
}

/// A place in the checkout.
struct Place<'a> {
    checkout: &'a Checkout,
    full: HarnessPath,
    parent: OwnedFd,
    had: usize,
}

/// A staged file, by its stamp before it gets its place.
#[derive(Debug, Clone, Copy)]
struct New<'a> {
    from: &'a str,
    stamp: Stamp,
    digest: Digest,
}

impl Checkout {
    /// Puts the staged file `from` at `path`, where `before` was found.
    pub(crate) fn put(
        &self,
        batch: &mut Batch,
        from: &str,
        path: &str,
        version: Version,
        before: Looked,
    ) -> Result<Placed> {
        let full = self.harness_path(path);
        let (parent, had) = match self.root().make_parent(&full) {
            Ok(made) => made,
            Err(error) if matches!(error.code, Code::NotDirectory | Code::SandboxDenied) => {
                return Ok(Placed::Blocked(self.obstacle(path)));
            }
            Err(error) => return Err(error),
        };
        let place = Place { checkout: self, full, parent, had };
        let stat = fs::statat(batch.folder(), from, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| place.failed(errno))?;
        let staged = New { from, stamp: Stamp::of(&stat), digest: version.digest };
        match before {
            Looked::File(seen) => place.replace(batch, staged, &seen),
            Looked::Nothing | Looked::Folder => place.make(batch, staged, path),
            Looked::Other => {
                place.clear(batch)?;
                place.make(batch, staged, path)
            }
        }
    }

    /// Takes away what is at `path`, where `before` was found.
    pub(crate) fn take(&self, batch: &mut Batch, path: &str, before: Looked) -> Result<Placed> {
        let full = self.harness_path(path);
        let had = full.segments.len() - 1;
        let parent = match self.root().open_parent(&full) {
            Ok(parent) => parent,
            Err(error)
                if matches!(
                    error.code,
                    Code::NotFound | Code::NotDirectory | Code::SandboxDenied | Code::InvalidPath
                ) =>
            {
                return Ok(Placed::Done(None, had));
            }
            Err(error) => return Err(error),
        };
        let place = Place { checkout: self, full, parent, had };
        let taken = match before {
            Looked::Nothing | Looked::Folder => true,
            Looked::File(seen) => place.remove(batch, &seen)?,
            Looked::Other => place.clear(batch).map(|()| true)?,
        };
        if !taken {
            return Ok(Placed::Changed);
        }
        let kept = self.prune(&place.full);
        Ok(Placed::Done(None, kept))
    }

    /// Takes away the files that are shown as `path`, whose real names are not UTF-8.
    pub(crate) fn take_shown(&self, batch: &mut Batch, path: &str) -> Result<()> {
        let wrap = |errno| Error::from_errno(errno, self.harness_path(path), "removing");
        let (above, leaf) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder = open_name(self.root().folder(), ".", OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
        for shown in above.split('/').filter(|shown| !shown.is_empty()) {
            let Some(name) = names_shown_as(&folder, shown).map_err(wrap)?.pop() else { return Ok(()) };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = fs::openat(&folder, name, flags, Mode::empty()).map_err(wrap)?;
        }
        for name in names_shown_as(&folder, leaf).map_err(wrap)? {
            let moved = batch.next_name();
            fs::renameat(&folder, name, batch.folder(), moved.as_str()).map_err(wrap)?;
        }
        Ok(())
    }

    /// Removes the folders above a path that are empty now. Gives how many levels are left.
    fn prune(&self, full: &HarnessPath) -> usize {
        let top = self.dir.segments.len();
        for level in (top..full.segments.len() - 1).rev() {
            let removed = self
                .root()
                .open_folder(&full.segments[..level], Links::Refuse)
                .and_then(|folder| fs::unlinkat(folder, full.segments[level].as_str(), AtFlags::REMOVEDIR));
            if removed.is_err() {
                return level + 1;
            }
        }
        top
    }

    /// The first thing on the way to `path` that is no folder.
    pub(super) fn obstacle(&self, path: &str) -> String {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let is_folder =
            |above: &&str| self.root().open_folder(&self.harness_path(above).segments, Links::Refuse).is_ok();
        above.into_iter().find(|above| !is_folder(above)).unwrap_or(path).to_owned()
    }
}

impl Place<'_> {
    fn name(&self) -> &str {
        self.full.segments.last().map_or("", String::as_str)
    }

    fn failed(&self, errno: Errno) -> Error {
        Error::from_errno(errno, &self.full, "writing")
    }

    /// Where nothing was.
    fn make(&self, batch: &mut Batch, staged: New<'_>, path: &str) -> Result<Placed> {
        let from = staged.from;
        for _ in 0..2 {
            let made = match sys::rename_new(batch.folder(), from, &self.parent, self.name()) {
                // No such flag on this file system: link without replacing does the same in two steps.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    fs::linkat(batch.folder(), from, &self.parent, self.name(), AtFlags::empty())
                        .inspect(|()| batch.discard(from))
                }
                other => other,
            };
            match made {
                Ok(()) => return self.done(staged),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
            match open_name(&self.parent, self.name(), OFlags::RDONLY | OFlags::DIRECTORY) {
                // Folders without files are no content.
                Ok(folder) if tree::is_empty(&folder) => self.clear(batch)?,
                Ok(_) => return Ok(Placed::Blocked(path.to_owned())),
                Err(_) => return Ok(Placed::Changed),
            }
        }
        Ok(Placed::Changed)
    }

    /// Where the file was that `before` describes; it keeps its execute bits.
    fn replace(&self, batch: &mut Batch, staged: New<'_>, before: &Seen) -> Result<Placed> {
        let from = staged.from;
        let Ok(stat) = fs::statat(&self.parent, self.name(), AtFlags::SYMLINK_NOFOLLOW) else {
            return Ok(Placed::Changed);
        };
        let mode = Mode::RUSR | Mode::WUSR | Mode::from_raw_mode(stat.st_mode & 0o111);
        fs::chmodat(batch.folder(), from, mode, AtFlags::empty()).map_err(|errno| self.failed(errno))?;
        match sys::exchange(batch.folder(), from, &self.parent, self.name()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Placed::Changed),
            // This file system has no exchange: compared, then replaced; who changes it in between loses that change.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if Stamp::of(&stat) != before.stamp {
                    return Ok(Placed::Changed);
                }
                fs::renameat(batch.folder(), from, &self.parent, self.name()).map_err(|errno| self.failed(errno))?;
                return self.done(staged);
            }
            Err(errno) => return Err(self.failed(errno)),
        }
        if is_same(batch, from, before) {
            return self.done(staged);
        }
        sys::exchange(batch.folder(), from, &self.parent, self.name()).map_err(|errno| self.failed(errno))?;
        Ok(Placed::Changed)
    }

    /// Takes the file away that `before` describes; false: it is another one by now.
    fn remove(&self, batch: &mut Batch, before: &Seen) -> Result<bool> {
        let moved = batch.next_name();
        match fs::renameat(&self.parent, self.name(), batch.folder(), moved.as_str()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(true),
            Err(errno) => return Err(self.failed(errno)),
        }
        if is_same(batch, &moved, before) {
            return Ok(true);
        }
        match sys::rename_new(batch.folder(), &moved, &self.parent, self.name()) {
            // Somebody has made another one already; what they had made before that is theirs to lose.
            Ok(()) | Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Takes away whatever stands here.
    fn clear(&self, batch: &mut Batch) -> Result<()> {
        let moved = batch.next_name();
        match fs::renameat(&self.parent, self.name(), batch.folder(), moved.as_str()) {
            Ok(()) => trash::unlink_tree(batch.folder(), &moved),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(self.failed(errno)),
        }
        Ok(())
    }

    /// The file has its place; what its stamp is there.
    fn done(&self, staged: New<'_>) -> Result<Placed> {
        let stat = fs::statat(&self.parent, self.name(), AtFlags::SYMLINK_NOFOLLOW);
        let seen = match stat {
            Ok(stat) => {
                let seen = Seen::new(&stat, staged.digest);
                // Replaced or written to already by somebody else, or so shortly after it was staged that its times could
                // not tell.
                let close = seen.stamp.ctime - seen.stamp.mtime < Stamp::SETTLED_NANOS;
                Seen { fresh: seen.fresh || close || !seen.stamp.same_but_renamed(&staged.stamp), ..seen }
            }
            // Gone again: the next scan sees that.
            Err(Errno::NOENT) => return Ok(Placed::Done(None, self.had)),
            Err(errno) => return Err(self.failed(errno)),
        };
        Ok(Placed::Done(Some(seen), self.had.max(self.checkout.dir.segments.len())))
    }
}

fn names_shown_as(folder: &OwnedFd, shown: &str) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in fs::Dir::read_from(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy() == shown {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Whether the file that was moved into the batch is the one that was looked at.
fn is_same(batch: &Batch, name: &str, before: &Seen) -> bool {
    let Ok(stat) = fs::statat(batch.folder().as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
        || !Stamp::of(&stat).same_but_renamed(&before.stamp)
    {
        return false;
    }
    if !before.fresh {
        return true;
    }
    // A change within the clock's tick leaves the stamp as it was, so only the content can tell.
    let Ok(file) = open_name(batch.folder(), name, OFlags::RDONLY) else { return false };
    Digest::read(std::fs::File::from(file), &"a displaced file", &Cancel::new())
        .is_ok_and(|(digest, _)| digest == before.digest)
}
