//! The one error type. Its codes are an interface: they never change meaning (DESIGN, section 4).

use std::fmt;
use std::time::Duration;

use rustix::io::Errno;

/// What kind of thing went wrong; each has one stable name that callers match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is its own name; DESIGN section 4 says when it is used")]
pub enum Code {
    InvalidPath,
    InvalidOption,
    SandboxDenied,
    PermissionDenied,
    NotFound,
    NotDirectory,
    NotRegularFile,
    AlreadyExists,
    NotText,
    TooLarge,
    StaleVersion,
    AmbiguousEdit,
    EditNotFound,
    NoSpace,
    QuotaExceeded,
    CommitFailed,
    Conflict,
    Aborted,
    Busy,
    Closed,
    IoError,
}

impl Code {
    /// The stable name, as TypeScript sees it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidPath => "FS_INVALID_PATH",
            Self::InvalidOption => "FS_INVALID_OPTION",
            Self::SandboxDenied => "FS_SANDBOX_DENIED",
            Self::PermissionDenied => "FS_PERMISSION_DENIED",
            Self::NotFound => "FS_NOT_FOUND",
            Self::NotDirectory => "FS_NOT_DIRECTORY",
            Self::NotRegularFile => "FS_NOT_REGULAR_FILE",
            Self::AlreadyExists => "FS_ALREADY_EXISTS",
            Self::NotText => "FS_NOT_TEXT",
            Self::TooLarge => "FS_TOO_LARGE",
            Self::StaleVersion => "FS_STALE_VERSION",
            Self::AmbiguousEdit => "FS_AMBIGUOUS_EDIT",
            Self::EditNotFound => "FS_EDIT_NOT_FOUND",
            Self::NoSpace => "FS_NO_SPACE",
            Self::QuotaExceeded => "FS_QUOTA_EXCEEDED",
            Self::CommitFailed => "FS_COMMIT_FAILED",
            Self::Conflict => "FS_CONFLICT",
            Self::Aborted => "FS_ABORTED",
            Self::Busy => "FS_BUSY",
            Self::Closed => "FS_CLOSED",
            Self::IoError => "FS_IO_ERROR",
        }
    }
}

/// Which policy refused, for [`Code::SandboxDenied`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Not a managed root and not inside one.
    OutsideRoots,
    /// A mount that is only read.
    ReadOnly,
    /// A symbolic link where none is followed, or one that leaves its root.
    Symlink,
    /// A root itself, or an ancestor of one.
    Root,
    /// Below `/persistent/`, where no Persistent Dir covers it.
    UndeclaredPersistentDir,
}

impl Reason {
    /// The stable name, as TypeScript sees it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutsideRoots => "outside_roots",
            Self::ReadOnly => "read_only",
            Self::Symlink => "symlink",
            Self::Root => "root",
            Self::UndeclaredPersistentDir => "undeclared_persistent_dir",
        }
    }
}

/// A failure, with the harness path it is about. Never holds a host path, except where a directory that the developer
/// configured cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("[{}] {message}", code.as_str())]
pub struct Error {
    /// The stable code.
    pub code: Code,
    /// What happened, to which path, what to do. Without the code.
    pub message: String,
    /// The harness path.
    pub path: Option<String>,
    /// The kernel's name for it, for example `ENOENT`.
    pub os_code: Option<String>,
    /// Which policy refused.
    pub reason: Option<Reason>,
    /// More for programs: JSON text of an object.
    pub details: Option<String>,
    /// What was held just now, if that was all.
    pub(crate) held: Option<Held>,
}

/// What a call may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Lock,
    Database,
}

/// Of every fallible call here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure without a path.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, os_code: None, reason: None, details: None, held: None }
    }

    /// A failure about `path`.
    #[must_use]
    pub fn at(code: Code, path: impl fmt::Display, message: impl Into<String>) -> Self {
        let path = path.to_string();
        let mut message = message.into();
        if path.len() > MAX_SHOWN_PATH {
            // What happened and what to do must stay readable, so the path gives way.
            message = message.replace(&path, &elided(&path));
        }
        Self { path: Some(path), ..Self::new(code, message) }
    }

    /// A policy's refusal of `path`.
    #[must_use]
    pub fn denied(reason: Reason, path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { reason: Some(reason), ..Self::at(Code::SandboxDenied, path, message) }
    }

    /// The caller asked to stop.
    #[must_use]
    pub fn aborted() -> Self {
        Self::new(Code::Aborted, "The operation was aborted; nothing was changed.")
    }

    /// Somebody holds `what` just now. Whoever runs the call tries again until it gives up.
    #[must_use]
    pub fn held(what: &str) -> Self {
        Self {
            held: Some(Held::Lock),
            ..Self::new(Code::Busy, format!("{what} is held by another writer. Try again when it is done."))
        }
    }

    /// Whether trying again soon makes sense: nothing has changed, something was held just now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// How long trying again makes sense (STORAGE, "Locks" and "Database").
    #[must_use]
    pub fn patience(&self) -> Duration {
        match self.held {
            None => Duration::ZERO,
            Some(Held::Lock) => Duration::from_secs(30),
            Some(Held::Database) => Duration::from_secs(10),
        }
    }

    /// What an errno means for an operation on `path`. Callers handle the errnos that say more in their place (links,
    /// missing parents) before they come here.
    #[must_use]
    pub fn from_errno(errno: Errno, path: impl fmt::Display, doing: &str) -> Self {
        let path = path.to_string();
        let name = errno_name(errno);
        let (code, message) = match errno {
            // The last component, or a folder on the way to it, is not there.
            Errno::NOENT => (Code::NotFound, format!("No such file: {path} (ENOENT)")),
            // A component on the way is a file.
            Errno::NOTDIR => (Code::NotDirectory, format!("Not a folder, or not in one: {path}")),
            // A file operation met a folder.
            Errno::ISDIR => (Code::NotRegularFile, format!("Is a folder, not a file: {path}")),
            // Opening a socket, or a FIFO that nobody reads.
            Errno::NXIO => (Code::NotRegularFile, format!("Not a regular file: {path}")),
            Errno::EXIST => (Code::AlreadyExists, format!("Already there: {path}")),
            // Permission bits; the owner of a sticky folder; a file system mounted read-only.
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                (Code::PermissionDenied, format!("The system refused {doing} {path} ({name})"))
            }
            // The disk is full, or the user's quota on it.
            Errno::NOSPC | Errno::DQUOT => {
                (Code::NoSpace, format!("No space left on the disk for {path} ({name}). Free some and try again."))
            }
            // More than 40 links, or a link where none is followed.
            Errno::LOOP => {
                return Self {
                    os_code: Some(name),
                    ..Self::denied(Reason::Symlink, &path, format!("{path} leads through a symbolic link"))
                };
            }
            // A name longer than this file system takes (some take fewer than 255 bytes).
            Errno::NAMETOOLONG => (Code::InvalidPath, format!("A name is too long for this disk: {path}")),
            // The staging folder and the target are on different file systems.
            Errno::XDEV => (
                Code::IoError,
                format!("{path} is on another file system than its session; a managed root cannot be a mount (EXDEV)"),
            ),
            // The process has no file handle left.
            Errno::MFILE | Errno::NFILE => {
                (Code::IoError, format!("Too many open files while {doing} {path} ({name}). Close some sessions."))
            }
            _ => (Code::IoError, format!("{} {path} failed ({name})", capital(doing))),
        };
        Self { os_code: Some(name), ..Self::at(code, path, message) }
    }
}

/// Longest path that a message repeats in full, in bytes.
const MAX_SHOWN_PATH: usize = 512;

fn elided(path: &str) -> String {
    let half = MAX_SHOWN_PATH / 2;
    format!("{}…{}", &path[..path.floor_char_boundary(half)], &path[path.ceil_char_boundary(path.len() - half)..])
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The name that Node users know an errno by.
fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::NOENT => "ENOENT",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        Errno::NXIO => "ENXIO",
        Errno::EXIST => "EEXIST",
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::ROFS => "EROFS",
        Errno::NOSPC => "ENOSPC",
        Errno::DQUOT => "EDQUOT",
        Errno::LOOP => "ELOOP",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::XDEV => "EXDEV",
        Errno::MFILE => "EMFILE",
        Errno::NFILE => "ENFILE",
        Errno::IO => "EIO",
        Errno::FBIG => "EFBIG",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::BUSY => "EBUSY",
        Errno::INVAL => "EINVAL",
        Errno::STALE => "ESTALE",
        Errno::NOMEM => "ENOMEM",
        Errno::TXTBSY => "ETXTBSY",
        Errno::NOTSUP => "ENOTSUP",
        Errno::NOLCK => "ENOLCK",
        Errno::MLINK => "EMLINK",
        other => return format!("errno {}", other.raw_os_error()),
    };
    name.to_owned()
}

/// The errno inside a `std` error; those without one (short reads) count as EIO.
#[must_use]
pub fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_starts_with_the_code_and_keeps_upstream_texts() {
        let error = Error::from_errno(Errno::NOENT, "/session/a", "reading");
        assert_eq!(error.to_string(), "[FS_NOT_FOUND] No such file: /session/a (ENOENT)");
        assert_eq!(error.os_code.as_deref(), Some("ENOENT"));
    }

    #[test]
    fn a_long_path_gives_way_to_what_happened() {
        let path = format!("/session/{}", "é".repeat(1_500));
        let error = Error::from_errno(Errno::NOENT, &path, "reading");
        assert!(error.to_string().len() < 700 && error.to_string().ends_with("é (ENOENT)"), "{error}");
        assert_eq!(error.path, Some(path));
    }

    #[test]
    fn an_unknown_errno_keeps_its_number() {
        let error = Error::from_errno(Errno::from_raw_os_error(131), "/session/a", "writing");
        assert_eq!(error.code, Code::IoError);
        assert_eq!(error.os_code.as_deref(), Some("errno 131"));
    }
}
