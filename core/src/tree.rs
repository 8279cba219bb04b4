//! Visiting all that lies below a folder, by its stats, with no file opened and no link followed.

use std::ffi::{CStr, CString};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::path::{HarnessPath, MAX_DEPTH, MAX_PATH_BYTES, Use, is_valid_name};
use crate::root::open_name;
use crate::stamp::Stamp;

/// Something below the folder that is no folder itself.
#[derive(Debug)]
pub(crate) struct Found {
    /// Relative to the folder, split by slashes. Where a name is none that a path can hold, as it can be shown.
    pub(crate) path: String,
    pub(crate) kind: FileType,
    pub(crate) stamp: Stamp,
    /// A path can name it.
    pub(crate) nameable: bool,
}

/// What a visit saw.
#[derive(Debug)]
pub(crate) struct Visited<'a> {
    /// The folder's, for errors.
    name: &'a str,
    /// In no order.
    pub(crate) found: Vec<Found>,
    /// What could not be looked at, and all below it: whether it is still there nobody can say.
    pub(crate) unseen: Vec<Unseen>,
}

/// A folder, or a name in one that may not be entered.
#[derive(Debug)]
pub(crate) struct Unseen {
    /// Relative to the folder of the visit; empty for that folder itself.
    pub(crate) path: String,
    pub(crate) errno: Errno,
}

impl Visited<'_> {
    /// All of it, or an error: for whom a file that was not seen would be a deleted one.
    pub(crate) fn whole(self) -> Result<Vec<Found>> {
        let Some(Unseen { path, errno }) = self.unseen.first() else { return Ok(self.found) };
        let at = if path.is_empty() { self.name.to_owned() } else { format!("{}/{path}", self.name) };
        Err(Error::from_errno(*errno, &at, "scanning"))
    }
}

/// Names of one folder whose stats are taken in one go.
const AT_ONCE: usize = 512;
/// From this many on the work is shared: a thread costs as much as some hundred stats.
const WORTH_SHARING: usize = 1_024;
const MAX_THREADS: usize = 4;

/// A folder on the way.
struct Folder {
    open: OwnedFd,
    /// With a slash at the end; empty at the top.
    prefix: String,
    nameable: bool,
}

/// What is still to be done.
enum Task {
    /// A folder in an open one.
    Enter(Arc<Folder>, CString),
    Stat(Arc<Folder>, Vec<CString>),
}

#[derive(Default)]
struct Shared {
    tasks: Vec<Task>,
    /// Tasks under way, which may add others.
    busy: usize,
    found: Vec<Found>,
    unseen: Vec<Unseen>,
}

struct Walk<'a> {
    /// What the paths are below.
    name: &'a str,
    shared: Mutex<Shared>,
    news: Condvar,
}

/// Looks at everything below `top`, whose path is `name`. `skip`: a name at the top that is left out. What vanishes
/// meanwhile is left out too.
pub(crate) fn visit<'a>(top: BorrowedFd<'_>, name: &'a str, skip: Option<&str>) -> Visited<'a> {
    let walk = Walk { name, shared: Mutex::default(), news: Condvar::new() };
    let begun = open_name(top, ".", OFlags::RDONLY | OFlags::DIRECTORY)
        .map_err(|errno| unseen("", errno))
        .and_then(|open| read(&Arc::new(Folder { open, prefix: String::new(), nameable: true }), skip));
    match begun {
        Ok(tasks) => walk.lock().tasks = tasks,
        Err(unseen) => walk.lock().unseen.push(unseen),
    }
    walk.run(|shared| shared.found.len() >= WORTH_SHARING && !shared.tasks.is_empty());
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(MAX_THREADS));
    if threads > 1 && !walk.lock().tasks.is_empty() {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| walk.run(|_| false));
            }
            walk.run(|_| false);
        });
    }
    walk.run(|_| false);
    let Shared { found, unseen, .. } = walk.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    Visited { name, found, unseen }
}

impl Walk<'_> {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `name` and `path`, whose names are valid, make a path that is neither too long nor too deep.
    fn holds(&self, path: &str) -> bool {
        let slashes = |text: &str| text.bytes().filter(|byte| *byte == b'/').count();
        // What most are needs no closer look: normalization makes no text longer than three times.
        let is_small =
            (self.name.len() + path.len()) * 4 <= MAX_PATH_BYTES && slashes(self.name) + slashes(path) < MAX_DEPTH;
        is_small || HarnessPath::parse(&format!("{}/{path}", self.name), Use::Write).is_ok()
    }

    /// Works until nothing is left, or `stop` says so.
    fn run(&self, stop: impl Fn(&Shared) -> bool) {
        let mut shared = self.lock();
        loop {
            if stop(&shared) {
                return;
            }
            let Some(task) = shared.tasks.pop() else {
                if shared.busy == 0 {
                    return;
                }
                shared = self.news.wait(shared).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            shared.busy += 1;
            drop(shared);
            let done = self.perform(task);
            shared = self.lock();
            shared.busy -= 1;
            shared.tasks.extend(done.tasks);
            shared.found.extend(done.found);
            shared.unseen.extend(done.unseen);
            self.news.notify_all();
        }
    }

    fn perform(&self, task: Task) -> Shared {
        match task {
            Task::Enter(above, name) => match enter(&above, &name) {
                Ok(tasks) => Shared { tasks, ..Shared::default() },
                Err(unseen) => Shared { unseen: vec![unseen], ..Shared::default() },
            },
            Task::Stat(folder, names) => self.stat(&folder, names),
        }
    }

    fn stat(&self, folder: &Arc<Folder>, names: Vec<CString>) -> Shared {
        let mut done = Shared::default();
        for name in names {
            let path = format!("{}{}", folder.prefix, name.to_string_lossy());
            let stat = match fs::statat(&folder.open, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    done.unseen.push(unseen(&path, errno));
                    continue;
                }
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            if kind == FileType::Directory {
                // Some file systems do not say what an entry is.
                done.tasks.push(Task::Enter(Arc::clone(folder), name));
                continue;
            }
            let nameable = folder.nameable && name.to_str().is_ok_and(is_valid_name) && self.holds(&path);
            done.found.push(Found { path, kind, stamp: Stamp::of(&stat), nameable });
        }
        done
    }
}

fn enter(above: &Folder, name: &CStr) -> std::result::Result<Vec<Task>, Unseen> {
    let text = name.to_str().ok();
    // Deeper than a path can be (a shell can make that) it is only shown, and need not grow.
    let prefix = if above.prefix.len() > MAX_PATH_BYTES {
        above.prefix.clone()
    } else {
        format!("{}{}/", above.prefix, name.to_string_lossy())
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = match fs::openat(&above.open, name, flags, fs::Mode::empty()) {
        Ok(open) => open,
        // Gone, or swapped for something else: the next visit sees what it is.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
        Err(errno) => return Err(unseen(&prefix, errno)),
    };
    let nameable = above.nameable && text.is_some_and(is_valid_name);
    read(&Arc::new(Folder { open, prefix, nameable }), None)
}

/// What is to be done for a folder's names.
fn read(folder: &Arc<Folder>, skip: Option<&str>) -> std::result::Result<Vec<Task>, Unseen> {
    let failed = |errno| unseen(&folder.prefix, errno);
    let (mut tasks, mut names) = (Vec::new(), Vec::new());
    for entry in Dir::read_from(&folder.open).map_err(failed)? {
        let entry = match entry {
            Ok(entry) => entry,
            // The folder itself was removed meanwhile.
            Err(Errno::NOENT) => break,
            Err(errno) => return Err(failed(errno)),
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || (skip.is_some() && name.to_str().ok() == skip) {
            continue;
        }
        if entry.file_type() == FileType::Directory {
            tasks.push(Task::Enter(Arc::clone(folder), name.to_owned()));
        } else {
            names.push(name.to_owned());
        }
        if names.len() == AT_ONCE {
            tasks.push(Task::Stat(Arc::clone(folder), std::mem::take(&mut names)));
        }
    }
    if !names.is_empty() {
        tasks.push(Task::Stat(Arc::clone(folder), names));
    }
    Ok(tasks)
}

fn unseen(path: &str, errno: Errno) -> Unseen {
    Unseen { path: path.trim_end_matches('/').to_owned(), errno }
}

/// Whether nothing but folders lies below `folder`.
pub(crate) fn is_empty(folder: &OwnedFd) -> bool {
    let Visited { found, unseen, .. } = visit(folder.as_fd(), "", None);
    found.is_empty() && unseen.is_empty()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn finds_each_file_once_however_many_share_the_work() {
        let dir = tempfile::tempdir().expect("tempdir");
        let mut expected = Vec::new();
        for number in 0..3_000 {
            let folder = format!("{}/{}", number % 7, number % 3);
            std::fs::create_dir_all(dir.path().join(&folder)).expect("folder");
            let path = format!("{folder}/{number}");
            std::fs::write(dir.path().join(&path), "").expect("file");
            expected.push(path);
        }
        std::fs::create_dir_all(dir.path().join("empty/empty")).expect("folder");
        std::fs::create_dir(dir.path().join("skipped")).expect("folder");
        std::fs::write(dir.path().join("skipped/file"), "").expect("file");
        std::os::unix::fs::symlink("0", dir.path().join("link")).expect("link");
        expected.push("link".to_owned());
        let open = File::open(dir.path()).expect("open");
        let found = visit(open.as_fd(), "dir", Some("skipped")).whole().expect("visit");
        let mut paths: Vec<String> = found.into_iter().map(|found| found.path).collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected);
    }

    #[test]
    fn folders_alone_are_nothing() {
        let dir = tempfile::tempdir().expect("tempdir");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        let open = OwnedFd::from(File::open(dir.path()).expect("open"));
        assert!(is_empty(&open));
        std::fs::write(dir.path().join("a/b/c"), "").expect("file");
        assert!(!is_empty(&open));
    }
}
