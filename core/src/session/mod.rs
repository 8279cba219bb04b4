//! An open session: its roots, locks, staging folder and events.

mod events;
mod facts;
pub mod key;
pub mod record;

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::flush::Unflushed;
use crate::host::{Durability, HostShared};
use crate::index::{self, SessionRow};
use crate::lock::{LockFile, Locked, names};
use crate::path::{HarnessPath, Root, Use};
use crate::persistent::Declared;
use crate::root::{Links, RootDir, open_name};
use crate::stage::Staging;
use crate::{scan, sys};

pub use events::Refusal;
pub(crate) use facts::{Expected, is_artifact};

/// A session that is open in this host. Its methods block and may be called from many threads.
#[derive(Debug)]
pub struct Session {
    pub(crate) host: Arc<HostShared>,
    id: String,
    key: String,
    pub(crate) instance: i64,
    folder: OwnedFd,
    roots: [RootDir; Root::ALL.len()],
    /// Of the host's Persistent Dirs, in their order.
    dirs: Vec<RootDir>,
    pub(crate) staging: Staging,
    publish_lock: LockFile,
    pub(crate) unflushed: Mutex<Unflushed>,
    pub(crate) flushing: Mutex<()>,
    trace: Mutex<Option<File>>,
    events: Mutex<VecDeque<String>>,
    /// Links and special files in Persistent Dirs that were told of.
    odd: Mutex<HashSet<String>>,
}

/// The parts that [`crate::host::Host`] has opened.
pub(crate) struct Opened {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) instance: i64,
    pub(crate) folder: OwnedFd,
    pub(crate) staging: Staging,
}

impl Session {
    /// Opens what a session's folder holds, making what is missing.
    pub(crate) fn open(host: Arc<HostShared>, opened: Opened) -> Result<Self> {
        let Opened { id, key, instance, folder, staging } = opened;
        let open_root = |root: Root| {
            sys::make_folder(&folder, root.name())
                .and_then(|_| open_name(&folder, root.name(), OFlags::RDONLY | OFlags::DIRECTORY))
                .map(|open| RootDir::new(open, host.resolver))
                .map_err(|errno| Error::from_errno(errno, format!("/{}", root.name()), "opening"))
        };
        let [first, second, third] = Root::ALL;
        let roots = [open_root(first)?, open_root(second)?, open_root(third)?];
        let dirs = open_dirs(&host, instance, &roots[1])?;
        let publish_lock = LockFile::open(&folder, "publish.lock", "The session's publish lock")?;
        Ok(Self {
            host,
            id,
            key,
            instance,
            folder,
            roots,
            dirs,
            staging,
            publish_lock,
            unflushed: Mutex::default(),
            flushing: Mutex::default(),
            trace: Mutex::default(),
            events: Mutex::default(),
            odd: Mutex::default(),
        })
    }

    /// As the host named it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The real folder of a root, for mounting into a sandbox.
    #[must_use]
    pub fn host_path(&self, root: Root) -> PathBuf {
        self.host.path.join("sessions").join(&self.key).join(root.name())
    }

    /// The real folders of the Persistent Dirs, in the order in which they were declared.
    #[must_use]
    pub fn persistent_host_paths(&self) -> Vec<PathBuf> {
        let root = self.host_path(Root::Persistent);
        self.host.dirs.iter().map(|dir| dir.segments.iter().fold(root.clone(), |path, name| path.join(name))).collect()
    }

    /// Which of the declared Persistent Dirs hold a path; `below`: also those that lie below it. None for a path that the
    /// grammar refuses.
    #[must_use]
    pub fn persistent_dirs_at(&self, path: &str, below: bool) -> Vec<usize> {
        let Ok(path) = HarnessPath::parse(path, Use::List) else { return Vec::new() };
        match self.host.dirs.holding(&path) {
            Some(dir) => vec![dir],
            None if below => self.host.dirs.below(&path).collect(),
            None => Vec::new(),
        }
    }

    pub(crate) fn root(&self, root: Root) -> &RootDir {
        match root {
            Root::Artifacts => &self.roots[0],
            Root::Persistent => &self.roots[1],
            Root::Session => &self.roots[2],
        }
    }

    /// The handle beneath which a path is looked up: of the Persistent Dir that holds it, else of its root.
    pub(crate) fn root_of(&self, path: &HarnessPath) -> &RootDir {
        self.root_at(path.root, &path.segments)
    }

    /// The same for a path in two parts.
    pub(crate) fn root_at(&self, root: Root, segments: &[String]) -> &RootDir {
        let inside = |dir: &Declared| root == Root::Persistent && segments.starts_with(&dir.segments);
        let dir = self.host.dirs.iter().position(inside);
        dir.map_or_else(|| self.root(root), |index| &self.dirs[index])
    }

    /// Reads `text` as a path for `purpose`, and refuses what policy forbids, before anything is touched.
    pub(crate) fn resolve(&self, text: &str, purpose: Use) -> Result<HarnessPath> {
        let path = self.host.dirs.check(HarnessPath::parse(text, purpose)?, purpose)?;
        self.check_exists()?;
        Ok(path)
    }

    /// FS_CLOSED once the session was deleted, by whatever process.
    pub(crate) fn check_exists(&self) -> Result<()> {
        if names(&self.host.sessions, &self.key, &self.folder) {
            return Ok(());
        }
        Err(Error::new(Code::Closed, format!("The session was deleted: {}. Open it anew.", shown_id(&self.id))))
    }

    /// Whether the folders of the Persistent Dirs are still those that were opened.
    pub(crate) fn has_its_dirs(&self) -> bool {
        let folders = self.host.dirs.iter().zip(&self.dirs);
        folders.into_iter().all(|(dir, open)| {
            let there = self.root(Root::Persistent).open_folder(&dir.segments, Links::Refuse);
            there.is_ok_and(|there| names(there, ".", open.folder()))
        })
    }

    /// Whatever failed in a session that was deleted meanwhile failed for that.
    pub(crate) fn told<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Err(error) if !error.is_held() && error.reason.is_none() => Err(self.check_exists().err().unwrap_or(error)),
            other => other,
        }
    }

    /// The lock under which files and their rows change together. Held by another process: an error to try again on.
    pub(crate) fn lock_publish(&self) -> Result<Locked<'_>> {
        let locked = self.publish_lock.try_lock(self.folder.as_fd())?;
        // A delete takes this lock too, so from here on the session stays.
        self.check_exists()?;
        Ok(locked)
    }

    /// The same for what is under way already: waits for it, as long as its patience says.
    pub(crate) fn lock_publish_waiting(&self, cancel: &Cancel) -> Result<Locked<'_>> {
        let started = Instant::now();
        loop {
            cancel.check()?;
            match self.lock_publish() {
                Err(error) if error.is_held() && started.elapsed() < error.patience() => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other => return other,
            }
        }
    }

    /// Counts files that came and went by another way than a write.
    pub(crate) fn count(&self, change: index::Change) -> Result<()> {
        let write = |connection: &rusqlite::Connection| {
            index::change(connection, self.instance, change, crate::clock::now_millis()).map(|_| ())
        };
        self.host.index.write_waiting(write)
    }

    /// Counts what is in the roots, and tells what the index knows.
    pub fn status(&self) -> Result<SessionRow> {
        self.check_exists()?;
        let sum = self.scan();
        match self.record_totals(sum) {
            // Another process writes to the index just now: it is recorded the next time.
            Err(error) if error.is_held() => {}
            other => other?,
        }
        let row = self.host.index.read(|connection| index::by_key(connection, &self.key))?;
        let row = row.ok_or_else(|| Error::new(Code::Closed, "The session was deleted. Open it anew."))?;
        Ok(SessionRow { files: sum.files, bytes: sum.bytes, ..row })
    }

    /// Takes the totals from the disk, where other programs may have written.
    pub(crate) fn rescan(&self) -> Result<()> {
        self.record_totals(self.scan())
    }

    fn scan(&self) -> scan::Totals {
        let mut sum = scan::Totals::default();
        for root in Root::ALL {
            sum += scan::totals(self.root(root).folder());
        }
        sum
    }

    fn record_totals(&self, sum: scan::Totals) -> Result<()> {
        self.host.index.write(|connection| index::set_totals(connection, self.instance, sum.files, sum.bytes))
    }

    /// At most `max` of the events that wait, oldest first, as JSON text.
    #[must_use]
    pub fn take_events(&self, max: usize) -> Vec<String> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let count = max.min(events.len());
        events.drain(..count).collect()
    }

    /// Nobody listens: lets go of the events that wait.
    pub fn drop_events(&self) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether what has to outlive a power cut is flushed.
    pub(crate) fn flushes(&self) -> bool {
        self.host.options.durability != Durability::None
    }

    pub(crate) fn folder(&self) -> &OwnedFd {
        &self.folder
    }
}

/// Opens the folders of the host's Persistent Dirs, making what is missing.
fn open_dirs(host: &HostShared, instance: i64, persistent: &RootDir) -> Result<Vec<RootDir>> {
    let open = |dir: &Declared| {
        let path = dir.path();
        let name = path.to_string();
        let missing = persistent.open_folder(&dir.segments, Links::Refuse).is_err_and(|errno| errno == Errno::NOENT);
        if missing && host.index.read(|connection| index::dir(connection, instance, &name))?.is_some() {
            // Somebody removed it: what is missing in the one that is made now was not deleted.
            host.index.write_through(true, |connection| index::drop_dir(connection, instance, &name))?;
        }
        // A name below it, so that its own folder is made as well.
        let (folder, _) = persistent.make_parent(&path.join("_"))?;
        Ok(RootDir::inner(folder, host.resolver, dir.segments.len()))
    };
    host.dirs.iter().map(open).collect()
}

fn shown_id(id: &str) -> String {
    id.chars().take(80).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
