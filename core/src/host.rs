//! A host: one `dataDir`, its index, and the sessions that are open in it.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, OFlags};
use rustix::io::Errno;
use serde_json::{Map, Value, json};

use crate::clock::now_millis;
use crate::error::{Code, Error, Reason, Result, errno_of};
use crate::event::{Draft, Redaction};
use crate::index::{self, Index, SessionRow};
use crate::lock::{HeldLock, LockFile};
use crate::persistent::{Cache, Declaration, Dirs, check_sources};
use crate::root::{Resolver, open_name};
use crate::session::record::{self, SessionRecord};
use crate::session::{Opened, Session, key};
use crate::stage::{Staging, random_name};
use crate::stamp::Stamp;
use crate::sys::{self, DiskKind};
use crate::trash;

/// When a write is on the disk (STORAGE, "Durability").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// At the end of a turn, and when asked to flush.
    #[default]
    Turn,
    /// Before each write resolves.
    Write,
    /// When asked to flush.
    None,
}

/// Limits of the host's own; `None` is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quota {
    /// Bytes of all regular files in a session's roots.
    pub session_bytes: Option<u64>,
    /// Their number.
    pub session_files: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
}

/// How a host behaves.
#[derive(Debug, Clone, Default)]
pub struct HostOptions {
    /// When writes are on the disk.
    pub durability: Durability,
    /// Limits.
    pub quota: Quota,
    /// Whether sessions keep a `trace.ndjson`.
    pub trace: bool,
    /// Whether events carry diffs.
    pub diff: bool,
    /// What events leave out.
    pub redaction: Redaction,
    /// `None`: the best that the kernel has.
    pub resolver: Option<Resolver>,
    /// Persistent Dirs.
    pub persistent_dirs: Vec<Declaration>,
    /// What sources in a project lie below.
    pub project_root: Option<PathBuf>,
}

/// What the sessions of a host share.
#[derive(Debug)]
pub(crate) struct HostShared {
    pub(crate) path: PathBuf,
    pub(crate) sessions: OwnedFd,
    pub(crate) trash: OwnedFd,
    pub(crate) index: Index,
    pub(crate) options: HostOptions,
    pub(crate) resolver: Resolver,
    pub(crate) dirs: Dirs,
    pub(crate) checkouts: Cache,
    /// Names that differ in case only are one name in `dataDir`.
    pub(crate) folds_case: bool,
}

impl HostShared {
    /// Takes the lock of a store that is no folder. Held: an error to try again on.
    pub(crate) fn lock_scope(&self, name: &str, what: &str, alone: bool) -> Result<HeldLock> {
        let wrap = |errno| Error::from_errno(errno, "the folder of locks", "opening");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let data_dir = fs::open(&self.path, flags, fs::Mode::empty()).map_err(wrap)?;
        sys::make_folder(&data_dir, "locks").map_err(wrap)?;
        let locks = open_name(&data_dir, "locks", OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
        HeldLock::try_take_as(locks, name, what, alone)
    }
}

/// An open `dataDir`.
#[derive(Debug)]
pub struct Host {
    shared: Arc<HostShared>,
    identity: (u64, u64),
    disk: DiskKind,
    open: Mutex<HashMap<String, Weak<Session>>>,
    swept: std::sync::Once,
}

impl Host {
    /// Opens `data_dir`, making it where it is missing, and refuses one that cannot be used.
    pub fn open(data_dir: &Path, options: HostOptions) -> Result<Self> {
        let dirs = Dirs::new(&options.persistent_dirs)?;
        let unusable = |what: &str, error: &std::io::Error| {
            let inner = Error::from_errno(errno_of(error), "dataDir", what);
            Error { message: format!("dataDir cannot be used: {} ({error})", data_dir.display()), path: None, ..inner }
        };
        let mut make = std::fs::DirBuilder::new();
        make.recursive(true).mode(0o700);
        let fresh = !data_dir.exists();
        make.create(data_dir).map_err(|error| match error.kind() {
            // That is what stands there instead of a folder.
            ErrorKind::AlreadyExists => unusable("making", &Errno::NOTDIR.into()),
            _ => unusable("making", &error),
        })?;
        if fresh {
            // Whatever the umask took away.
            let private = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(data_dir, private).map_err(|error| unusable("making", &error))?;
        }
        let path = data_dir.canonicalize().map_err(|error| unusable("opening", &error))?;
        let folder = File::open(&path).map_err(|error| unusable("opening", &error))?;
        let wrap = |errno: Errno| unusable("opening", &errno.into());
        let part = |name: &str| {
            sys::make_folder(&folder, name)?;
            open_name(&folder, name, OFlags::RDONLY | OFlags::DIRECTORY)
        };
        let sessions = part("sessions").map_err(wrap)?;
        let trash = part("trash").map_err(wrap)?;
        let stat = fs::fstat(&folder).map_err(wrap)?;
        let disk = sys::disk_kind(&folder).map_err(wrap)?;
        let resolver = options.resolver.unwrap_or_else(|| best_resolver(&folder));
        let probe = File::open(&path).map_err(|error| unusable("opening", &error))?;
        let index = Index::open(&path, folder, disk)?;
        check_locks_exclude(&probe)?;
        let identity = Stamp::of(&stat);
        let folds_case = crate::lock::names(&probe, "SESSIONS", &sessions);
        if folds_case {
            dirs.check_folded()?;
        }
        let shared = HostShared {
            path,
            sessions,
            trash,
            index,
            options,
            resolver,
            dirs,
            checkouts: Cache::default(),
            folds_case,
        };
        check_sources(&shared, &shared.options.persistent_dirs)?;
        let open = Mutex::default();
        Ok(Self {
            shared: Arc::new(shared),
            identity: (identity.dev, identity.ino),
            disk,
            open,
            swept: std::sync::Once::new(),
        })
    }

    /// Device and inode of `dataDir`.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Events that belong to no session, as JSON text: what was found out about the index and the disk.
    #[must_use]
    pub fn take_events(&self, opened_now: bool) -> Vec<String> {
        let mut drafts = Vec::new();
        if opened_now && let DiskKind::Shared(name) = self.disk {
            let fields = json!({ "fileSystem": name, "database": "exclusive", "processes": 1 });
            drafts.push(Draft::new("harness.filesystem.mounted", fields));
        }
        for rebuilt in self.shared.index.take_rebuilt() {
            let fields = json!({ "setAside": rebuilt.set_aside, "sessions": rebuilt.sessions });
            drafts.push(Draft::new("harness.index.rebuilt", fields));
        }
        drafts.into_iter().map(|draft| draft.line("", None, 0)).collect()
    }

    /// Opens a session; `None` when it does not exist and is not to be made. `metadata` is for a new one.
    pub fn open_session(
        &self,
        id: &str,
        create: bool,
        metadata: Option<&Map<String, Value>>,
    ) -> Result<Option<Arc<Session>>> {
        let key = key::key_of(id)?;
        self.sweep_trash();
        // One at a time: two calls for one session in this host get the same one.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = open.get(&key).and_then(Weak::upgrade)
            && session.check_exists().is_ok()
            && session.has_its_dirs()
        {
            return Ok(Some(session));
        }
        open.retain(|_, session| session.strong_count() > 0);
        let session = loop {
            let opened = match self.open_folder(id, &key, create, metadata)? {
                Found::Opened(opened) => opened,
                Found::Missing => return Ok(None),
                // Deleted under our hands by another process: start over.
                Found::Gone => continue,
            };
            let folder = opened
                .folder
                .try_clone()
                .map_err(|error| Error::from_errno(errno_of(&error), "the session's folder", "opening"))?;
            let session = Session::open(Arc::clone(&self.shared), opened);
            if crate::lock::names(&self.shared.sessions, &key, &folder) {
                break Arc::new(session?);
            }
        };
        session.rescan()?;
        open.insert(key, Arc::downgrade(&session));
        Ok(Some(session))
    }

    fn open_folder(&self, id: &str, key: &str, create: bool, metadata: Option<&Map<String, Value>>) -> Result<Found> {
        let wrap = |errno| Error::from_errno(errno, "the session's folder", "opening");
        if create {
            match sys::make_folder(&self.shared.sessions, key) {
                // Deleted by another process as soon as it was made.
                Err(Errno::NOENT) => return Ok(Found::Gone),
                made => made.map_err(wrap)?,
            };
        }
        let folder = match open_name(&self.shared.sessions, key, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(Errno::NOENT) if create => return Ok(Found::Gone),
            Err(Errno::NOENT) => return Ok(Found::Missing),
            other => other.map_err(wrap)?,
        };
        let present = record::read(&folder);
        if present.is_none() && !create {
            return Ok(Found::Missing);
        }
        let built = Staging::open(&folder).and_then(|staging| {
            let wanted = SessionRecord::new(id, now_millis(), metadata.cloned());
            let record = present.map_or_else(|| record::write_once(&folder, &staging, &wanted), Ok)?;
            Ok((staging, record))
        });
        // Whatever failed in a folder that was moved to the trash meanwhile failed for that.
        if !crate::lock::names(&self.shared.sessions, key, &folder) {
            return Ok(Found::Gone);
        }
        let (staging, record) = built?;
        let row = self.shared.index.read(|connection| index::by_key(connection, key))?;
        if row.is_none_or(|row| row.instance != record.instance) {
            let sequence = crate::trace::last_sequence(&folder);
            // Flushed like its session.json, so that a power cut does not hide it from listings.
            self.shared.index.write_flushed(|connection| index::insert(connection, key, &record, sequence))?;
        }
        Ok(Found::Opened(Opened { id: record.id, key: key.to_owned(), instance: record.instance, folder, staging }))
    }

    /// At most `limit` sessions in the order of their ids' bytes, those after `after`.
    pub fn list_sessions(&self, limit: u32, after: Option<&str>) -> Result<Vec<SessionRow>> {
        self.shared.index.read(|connection| index::page(connection, limit, after))
    }

    /// Deletes a session, its files and all that is known of it. One that does not exist is fine; one whose turn runs
    /// is FS_BUSY.
    pub fn delete_session(&self, id: &str) -> Result<()> {
        let key = key::key_of(id)?;
        let sessions = &self.shared.sessions;
        let folder = match open_name(sessions, &key, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return self.forget(&key, None),
            Err(errno) => return Err(Error::from_errno(errno, "the session's folder", "opening")),
        };
        let instance = record::read(&folder).map(|record| record.instance);
        let gone = |error: Error| if crate::lock::names(sessions, &key, &folder) { Err(error) } else { Ok(()) };
        let turn = match LockFile::open(&folder, "turn.lock", "The session's turn") {
            Ok(turn) => turn,
            Err(error) => return gone(error),
        };
        let _turn = match turn.try_lock_at_once() {
            Ok(locked) => locked,
            Err(error) if error.is_held() => {
                return Err(Error::new(
                    Code::Busy,
                    "A turn of the session is running. Finish or abort it, then delete.",
                ));
            }
            Err(error) => return Err(error),
        };
        let publish = match LockFile::open(&folder, "publish.lock", "The session's publish lock") {
            Ok(publish) => publish,
            Err(error) => return gone(error),
        };
        let locked = publish.try_lock(folder.as_fd());
        // Another delete was first.
        if !crate::lock::names(sessions, &key, &folder) {
            return Ok(());
        }
        let _publish = locked?;
        if sys::has_mount_below(&self.shared.path.join("sessions").join(&key)) {
            let text = "The session's folder holds a mount point; it is not deleted. Unmount it first.";
            return Err(Error { reason: Some(Reason::Root), ..Error::new(Code::SandboxDenied, text) });
        }
        let name = random_name();
        let _claimed = trash::claim(sessions, &key);
        fs::renameat(sessions, key.as_str(), &self.shared.trash, name.as_str())
            .map_err(|errno| Error::from_errno(errno, "the session's folder", "deleting"))?;
        if let Err(error) = self.forget(&key, instance) {
            // A delete that fails leaves the session.
            let _ = sys::rename_new(&self.shared.trash, &name, sessions, &key);
            return Err(error);
        }
        trash::unlink_tree(self.shared.trash.as_fd(), &name);
        Ok(())
    }

    /// Takes the rows of a deleted session away: of `instance`, or where there was no record, of the folder.
    fn forget(&self, key: &str, instance: Option<i64>) -> Result<()> {
        self.shared.index.write(|connection| {
            let row =
                index::by_key(connection, key)?.filter(|row| instance.is_none_or(|instance| instance == row.instance));
            row.map_or(Ok(()), |row| index::drop_session(connection, row.instance))
        })
    }

    /// Removes, once a host, what earlier hosts had no time to remove.
    fn sweep_trash(&self) {
        self.swept.call_once(|| trash::sweep(self.shared.trash.as_fd()));
    }
}

enum Found {
    Opened(Opened),
    Missing,
    Gone,
}

fn best_resolver(folder: &File) -> Resolver {
    if sys::has_open_beneath(folder) { Resolver::Openat2 } else { Resolver::Walk }
}

/// Everything here rests on file locks. `probe` is a second handle on the folder that the index holds locked.
fn check_locks_exclude(probe: &File) -> Result<()> {
    match probe.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(()),
        Ok(()) | Err(TryLockError::Error(_)) => {
            let text =
                "dataDir cannot be used: file locks do not work on its file system. Choose a folder on a local disk.";
            Err(Error::new(Code::IoError, text))
        }
    }
}
