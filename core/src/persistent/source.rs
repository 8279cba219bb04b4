//! The folder that backs a `localDir`: where it is, and that it may be one (STORAGE, "localDir").

use std::fs::{DirBuilder, File, TryLockError};
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{self, OFlags};
use rustix::io::Errno;

use super::declared::{Below, Declaration, LocalSource};
use crate::error::{Code, Error, Result, errno_of};
use crate::host::HostShared;
use crate::lock::names;
use crate::root::{Links, RootDir, open_name};

/// First segments of sources in `dataDir` that are ours.
const OURS: [&str; 4] = ["sessions", "trash", "locks", "harness.db"];

/// A source's folder, locked.
#[derive(Debug)]
pub(crate) struct SourceFolder {
    folder: File,
    pub(crate) identity: String,
    /// Below `dataDir`, where all is private.
    pub(crate) private: bool,
}

impl SourceFolder {
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Takes the lock alone, which it had with others. Held: an error to try again on.
    pub(crate) fn lock_alone(&self, dir: &str) -> Result<()> {
        lock(&self.folder, true, dir)
    }
}

/// Where a source is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Located {
    /// Without links, as far as it exists.
    path: PathBuf,
    below: Below,
}

/// Refuses sources that cannot be ones, or overlap, as far as they are known at start.
pub(crate) fn check_all(host: &HostShared, dirs: &[Declaration]) -> Result<()> {
    let mut located = Vec::<Located>::new();
    for source in dirs.iter().filter_map(|dir| dir.source.as_ref()) {
        let shown: String = source.path.chars().take(200).collect();
        let here = locate(host, source, &format!("{shown:?}"))?;
        check_apart(&here, &located)?;
        located.push(here);
    }
    Ok(())
}

/// Opens and locks a source. `None`: it is not there, and is not to be made.
pub(crate) fn open(
    host: &HostShared,
    dir: &str,
    source: &LocalSource,
    others: &[LocalSource],
    make: bool,
    alone: bool,
) -> Result<Option<SourceFolder>> {
    let located = locate(host, source, &format!("of {dir}"))?;
    for other in others {
        // One that makes no sense by itself is refused when its own dir is opened.
        if let Ok(other) = locate(host, other, "") {
            check_apart(&located, &[other])?;
        }
    }
    for _ in 0..16 {
        let folder = match open_folder(host, source, &located) {
            Ok(folder) => folder,
            Err(Errno::NOENT) if make => {
                make_folder(host, source, &located).map_err(|error| failed(dir, errno_of(&error), "making"))?;
                continue;
            }
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(dir, errno, "opening")),
        };
        lock(&folder, alone, dir)?;
        // Replaced while we waited for nothing: then the lock is on a folder that nobody sees any more.
        if open_folder(host, source, &located).is_ok_and(|again| names(&again, ".", &folder)) {
            let stat = fs::fstat(&folder).map_err(|errno| failed(dir, errno, "opening"))?;
            let identity = format!("{}#{}:{}", identity_of(&located), stat.st_ino, stat.st_dev);
            return Ok(Some(SourceFolder { folder, identity, private: located.below == Below::DataDir }));
        }
    }
    Err(Error::new(Code::Busy, format!("The source of {dir} keeps being replaced. Try again.")))
}

/// What a source that is not there is recorded as.
pub(crate) fn missing_identity(host: &HostShared, dir: &str, source: &LocalSource) -> Result<String> {
    Ok(format!("{}#missing", identity_of(&locate(host, source, &format!("of {dir}"))?)))
}

/// How a source relates to the one that a checkout was loaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Same,
    /// The same place and inode on another device number, as after a restart; or a volume mounted anew. A load tells.
    Moved,
    Other,
}

/// Compares a source with the one that a checkout was loaded from.
pub(crate) fn relation(loaded_from: &str, now: &str) -> Relation {
    let without_device = |identity: &str| identity.rsplit_once(':').map(|(rest, _)| rest.to_owned());
    // It was not there: whatever is there now is the one.
    let was_missing = loaded_from.ends_with("#missing") && is_same_place(loaded_from, now);
    if loaded_from == now || was_missing {
        return Relation::Same;
    }
    let moved =
        now.starts_with("local:") && !now.ends_with("#missing") && without_device(loaded_from) == without_device(now);
    if moved { Relation::Moved } else { Relation::Other }
}

/// Whether the identities name one place, at which the folder is another by now or was not there.
pub(crate) fn is_same_place(one: &str, other: &str) -> bool {
    one.rsplit_once('#').map(|(path, _)| path) == other.rsplit_once('#').map(|(path, _)| path)
}

fn identity_of(located: &Located) -> String {
    format!("local:{}", located.path.display())
}

/// Errors show no host path.
fn failed(dir: &str, errno: Errno, doing: &str) -> Error {
    let what = format!("the source of {dir}");
    Error { path: Some(dir.to_owned()), ..Error::from_errno(errno, what, doing) }
}

/// `shown`: how errors name it. That of a function shows no host path: it may come from a request.
fn locate(host: &HostShared, source: &LocalSource, shown: &str) -> Result<Located> {
    let invalid = |why: &str| Error::new(Code::InvalidOption, format!("sourceDir {shown} {why}"));
    if source.path.is_empty() || source.path.contains('\0') {
        return Err(invalid("is no path of a folder"));
    }
    let path = Path::new(&source.path);
    let base = match source.below {
        Below::Root => None,
        Below::DataDir => Some(&host.path),
        Below::Project => Some(host.options.project_root.as_ref().ok_or_else(|| invalid("needs a projectRoot"))?),
    };
    let whole = if let Some(base) = base {
        if path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(invalid("must stay below its folder: neither absolute nor with .. in it"));
        }
        base.join(path)
    } else {
        if !path.is_absolute() {
            return Err(invalid("is not absolute"));
        }
        path.to_owned()
    };
    let path = resolved(&whole);
    if source.below == Below::DataDir {
        let first = Path::new(&source.path).components().find_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        if first.is_none_or(|first| OURS.iter().any(|ours| first == *ours || first.starts_with("harness.db"))) {
            return Err(invalid("is a name that dataDir itself uses"));
        }
    }
    if host.path.starts_with(&path) {
        return Err(invalid("is dataDir or holds it"));
    }
    if OURS.iter().any(|ours| path.starts_with(host.path.join(ours))) {
        return Err(invalid("lies in a folder of the library's own"));
    }
    Ok(Located { path, below: source.below })
}

fn check_apart(here: &Located, others: &[Located]) -> Result<()> {
    let overlaps = |other: &&Located| here.path.starts_with(&other.path) || other.path.starts_with(&here.path);
    if others.iter().any(|other| overlaps(&other)) {
        return Err(Error::new(
            Code::InvalidOption,
            "sourceDirs overlap: two Persistent Dirs of a host cannot share a folder, nor can one hold the other's",
        ));
    }
    Ok(())
}

/// Without links as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut above = path;
    loop {
        if let Ok(found) = above.canonicalize() {
            return rest.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (above.parent(), above.file_name()) else { return path.to_owned() };
        rest.push(name);
        above = parent;
    }
}

fn open_folder(host: &HostShared, source: &LocalSource, located: &Located) -> rustix::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let base = match located.below {
        Below::Root => return fs::open(&source.path, flags | OFlags::CLOEXEC, fs::Mode::empty()).map(File::from),
        Below::DataDir => &host.path,
        Below::Project => host.options.project_root.as_ref().ok_or(Errno::NOENT)?,
    };
    let base = fs::open(base, flags | OFlags::CLOEXEC, fs::Mode::empty())?;
    RootDir::new(base, host.resolver).open(&segments(&source.path), flags, Links::Refuse).map(File::from)
}

fn make_folder(host: &HostShared, source: &LocalSource, located: &Located) -> std::io::Result<()> {
    let private = located.below == Below::DataDir;
    let base = match located.below {
        Below::Root => return DirBuilder::new().recursive(true).create(&source.path),
        Below::DataDir => &host.path,
        Below::Project => host.options.project_root.as_ref().ok_or(std::io::ErrorKind::NotFound)?,
    };
    let mut folder = File::open(base)?;
    for segment in segments(&source.path) {
        let mode = if private { 0o700 } else { 0o777 };
        match fs::mkdirat(&folder, segment.as_str(), fs::Mode::from_raw_mode(mode)) {
            Ok(()) => crate::sys::sync_folder(&folder)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        folder = File::from(open_name(&folder, &segment, OFlags::RDONLY | OFlags::DIRECTORY)?);
    }
    Ok(())
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !matches!(*segment, "" | ".")).map(str::to_owned).collect()
}

fn lock(folder: &File, alone: bool, dir: &str) -> Result<()> {
    match if alone { folder.try_lock() } else { folder.try_lock_shared() } {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::held(&format!("The source of {dir}"))),
        Err(TryLockError::Error(error)) => {
            let text = format!(
                "The source of {dir} cannot be locked: file locks do not work on its file system. Choose a folder on a local disk."
            );
            Err(Error {
                os_code: Error::from_errno(errno_of(&error), dir, "locking").os_code,
                ..Error::at(Code::IoError, dir, text)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations() {
        for (loaded_from, now, expected) in [
            ("local:/a#7:1", "local:/a#7:1", Relation::Same),
            ("local:/a#missing", "local:/a#7:1", Relation::Same),
            ("local:/a#missing", "local:/b#7:1", Relation::Other),
            ("local:/a#7:1", "local:/a#7:2", Relation::Moved),
            ("local:/a#7:1", "local:/a#8:1", Relation::Other),
            ("local:/a#7:1", "local:/a#missing", Relation::Other),
            ("local:/a#7:1", "local:/b#7:1", Relation::Other),
            ("scope:a:1", "scope:a:1", Relation::Same),
            ("scope:a:1", "scope:a:2", Relation::Other),
            ("scope:a#7:1", "local:/a#7:1", Relation::Other),
        ] {
            assert_eq!(relation(loaded_from, now), expected, "{loaded_from} {now}");
        }
    }
}
