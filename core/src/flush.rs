//! Flushing what was written since the last flush (STORAGE, "Durability").

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use rustix::fs::{self, OFlags};
use rustix::io::Errno;

use crate::error::{Code, Error, Result};
use crate::path::{HarnessPath, Root};
use crate::root::Links;
use crate::session::Session;
use crate::{sync, sys};

/// Above this many, the whole file system is flushed in one call.
const MAX_SINGLE: usize = 256;

type Place = (Root, Vec<String>);

/// What has changed since the last flush.
#[derive(Debug, Default)]
pub(crate) struct Unflushed {
    files: BTreeSet<Place>,
    folders: BTreeSet<Place>,
    /// Whose flush failed. Flushing them again could succeed without the data being there, so they stay failed until
    /// they are written anew or removed.
    failed: BTreeMap<Place, Error>,
    /// More than are worth keeping: the whole file system is flushed.
    many: bool,
}

impl Unflushed {
    /// A file was put in place; the first `had` levels of its folders were there before. `synced`: its content is on the
    /// disk already.
    pub(crate) fn wrote(&mut self, path: &HarnessPath, had: usize, synced: bool) {
        let place = (path.root, path.segments.clone());
        self.failed.remove(&place);
        if synced {
            self.files.remove(&place);
        } else {
            self.files.insert(place);
        }
        self.folders.extend(changed_folders(path, had));
        if sys::HAS_SYNC_DISK && self.files.len() + self.folders.len() > MAX_SINGLE {
            self.many = true;
            self.files.clear();
            self.folders.clear();
        }
    }

    /// Folders were made on the way to `path`; the first `had` levels were there before.
    pub(crate) fn made(&mut self, path: &HarnessPath, had: usize) {
        self.folders.extend(changed_folders(path, had));
    }

    /// A name was taken away.
    pub(crate) fn removed(&mut self, path: &HarnessPath) {
        let gone = |place: &Place| place.0 == path.root && place.1.starts_with(&path.segments);
        self.files.retain(|place| !gone(place));
        self.failed.retain(|place, _| !gone(place));
        self.folders.retain(|place| !gone(place));
        self.folders.extend(changed_folders(path, path.segments.len()));
    }
}

/// The folders in which a write made a name: the file's own, and the parent of each new one.
pub(crate) fn changed_folders(path: &HarnessPath, had: usize) -> impl Iterator<Item = Place> {
    let own = path.segments.len().saturating_sub(1);
    (had.min(own)..=own).map(|level| (path.root, path.segments[..level].to_vec()))
}

impl Session {
    /// Everything written so far by this host is on the disk when this returns.
    pub fn flush(&self) -> Result<()> {
        self.check_exists()?;
        // One at a time: what another flush has taken up is not on the disk before that one is through.
        let _alone = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = std::mem::take(&mut *self.unflushed.lock().unwrap_or_else(PoisonError::into_inner));
        let result = self.flush_all(&mut taken).and_then(|()| self.host.index.flush());
        if result.is_err() {
            let mut now = self.unflushed.lock().unwrap_or_else(PoisonError::into_inner);
            // What was written meanwhile has not failed.
            taken.failed.retain(|place, _| !now.files.contains(place));
            now.failed.append(&mut taken.failed);
            now.files.append(&mut taken.files);
            now.folders.append(&mut taken.folders);
            now.many |= taken.many;
        }
        result
    }

    fn flush_all(&self, taken: &mut Unflushed) -> Result<()> {
        let files = std::mem::take(&mut taken.files);
        if std::mem::take(&mut taken.many) {
            // The handle was opened before the first write, so that the kernel reports what failed since.
            if let Err(errno) = sys::sync_disk(self.folder()) {
                let error = Error::from_errno(errno, "the session's files", "flushing");
                taken.failed.insert((Root::Session, Vec::new()), error);
            }
        } else {
            self.flush_files(files, &mut taken.failed);
        }
        if let Some((place, error)) = taken.failed.first_key_value() {
            let path = shown(place);
            let text =
                format!("{path} could not be flushed to the disk and may be lost in a power cut. Write it again.");
            return Err(Error { message: text, path: Some(path), ..error.clone() });
        }
        let open = |place: &Place| self.root_at(place.0, &place.1).open_folder(&place.1, Links::Refuse).ok();
        // A folder that is gone needs no flush.
        let folders: Vec<_> = taken.folders.iter().filter_map(|place| Some((place, open(place)?))).collect();
        let flushed = sync::each(&folders, |(_, folder)| sys::sync_folder(folder));
        for ((place, _), flushed) in folders.iter().zip(flushed) {
            flushed.map_err(|errno| Error::from_errno(errno, shown(place), "flushing"))?;
        }
        taken.folders.clear();
        Ok(())
    }

    fn flush_files(&self, files: BTreeSet<Place>, failed: &mut BTreeMap<Place, Error>) {
        let mut open = Vec::new();
        for place in files {
            let file = match self.root_at(place.0, &place.1).open(&place.1, OFlags::RDONLY, Links::Refuse) {
                Ok(file) => file,
                // Removed, or replaced by something that is not ours, since it was written.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => continue,
                Err(errno) => {
                    failed.insert(place.clone(), Error::from_errno(errno, shown(&place), "flushing"));
                    continue;
                }
            };
            open.push((place, file));
        }
        let flushed = sync::each(&open, |(_, file)| fs::fsync(file));
        for ((place, _), flushed) in open.into_iter().zip(flushed) {
            match flushed {
                // EINVAL: what cannot be flushed at all (a FIFO put in its place) is not the file that was written.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => {
                    failed.insert(place.clone(), Error::from_errno(errno, shown(&place), "flushing"));
                }
            }
        }
    }

    /// Flushes all folders on the way to a name: who made one of them may not have flushed it yet.
    pub(crate) fn flush_folders(&self, path: &HarnessPath) -> Result<()> {
        for place in changed_folders(path, 0) {
            let folder = self.root_at(place.0, &place.1).open_folder(&place.1, Links::Refuse);
            folder
                .and_then(sys::sync_folder)
                .map_err(|errno| Error { code: Code::IoError, ..Error::from_errno(errno, path, "flushing") })?;
        }
        Ok(())
    }
}

fn shown((root, segments): &Place) -> String {
    HarnessPath { root: *root, segments: segments.clone() }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Use;

    fn path(text: &str) -> HarnessPath {
        HarnessPath::parse(text, Use::Write).expect("path")
    }

    #[test]
    fn folders_of_a_write() {
        let names =
            |had| -> Vec<String> { changed_folders(&path("/session/a/b/c"), had).map(|place| shown(&place)).collect() };
        assert_eq!(names(2), ["/session/a/b"]);
        assert_eq!(names(1), ["/session/a", "/session/a/b"]);
        assert_eq!(names(0), ["/session", "/session/a", "/session/a/b"]);
    }

    #[test]
    fn a_removed_tree_needs_no_flush_but_its_folder_does() {
        let mut unflushed = Unflushed::default();
        unflushed.wrote(&path("/session/a/b/c"), 0, false);
        unflushed.wrote(&path("/session/ab"), 0, false);
        unflushed.removed(&path("/session/a"));
        assert_eq!(unflushed.files.iter().map(shown).collect::<Vec<_>>(), ["/session/ab"]);
        assert_eq!(unflushed.folders.iter().map(shown).collect::<Vec<_>>(), ["/session"]);
    }
}
