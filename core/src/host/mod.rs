//! A host: one `dataDir`, its index, and the sessions that are open in it.

mod sessions;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use rustix::fd::OwnedFd;
use rustix::fs::{self, OFlags};
use rustix::io::Errno;
use serde_json::json;

use crate::error::{Code, Error, Result, errno_of};
use crate::event::{Draft, Redaction};
use crate::index::Index;
use crate::lock::HeldLock;
use crate::persistent::{Cache, Declaration, Dirs, check_sources};
use crate::root::{Resolver, open_name};
use crate::session::Session;
use crate::stamp::Stamp;
use crate::sys::{self, DiskKind};

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
