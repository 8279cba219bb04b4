//! Listing a folder, or the tree below it, in the order of the whole paths' bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::index::{self, Artifact, Facts};
use crate::path::{HarnessPath, MAX_DEPTH, MAX_PATH_BYTES, Root, Use, is_valid_name};
use crate::root::{Links, open_name, refused_link};
use crate::session::{Session, is_artifact};
use crate::stamp::Stamp;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link, whatever it points to.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

impl Kind {
    pub(crate) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }

    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Other => "other",
        }
    }
}

/// One line of a listing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// As on the disk.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// A file's size.
    pub bytes: Option<u64>,
    /// Last change of the content, in milliseconds since 1970.
    pub updated_at: i64,
    /// What is known of a file while its stamp holds.
    pub facts: Option<Facts>,
    /// The mark, if it is an artifact.
    pub artifact: Option<Artifact>,
}

impl Entry {
    /// What the disk says.
    fn of(path: &HarnessPath, stat: &Stat) -> Self {
        let (kind, stamp) = (Kind::of(stat), Stamp::of(stat));
        let bytes = (kind == Kind::File).then_some(stamp.size);
        let updated_at = stamp.mtime.div_euclid(1_000_000);
        Self { path: path.to_string(), kind, bytes, updated_at, facts: None, artifact: None }
    }
}

/// What is listed.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// The whole tree.
    pub recursive: bool,
    /// Glob on the path below the listed folder.
    pub pattern: Option<String>,
    /// At most so many.
    pub limit: Option<u64>,
    /// Only paths after this one.
    pub after: Option<String>,
}

impl Session {
    /// What stands at a path, a link itself and not its target.
    pub fn stat(&self, path: &str) -> Result<Entry> {
        let path = self.resolve(path, Use::Stat)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        let stat = self.told(self.root_of(&path).stat(&path))?;
        self.entry(&path, &stat)
    }

    fn entry(&self, path: &HarnessPath, stat: &Stat) -> Result<Entry> {
        let mut entry = Entry::of(path, stat);
        if entry.kind == Kind::File {
            entry.facts = self.known(path, stat)?;
        }
        entry.artifact =
            entry.facts.as_ref().filter(|facts| is_artifact(path, &facts.artifact)).map(|facts| facts.artifact.clone());
        Ok(entry)
    }

    /// Opens a listing.
    pub fn list(self: &Arc<Self>, path: &str, options: &ListOptions, cancel: Cancel) -> Result<Listing> {
        let path = self.resolve(path, Use::List)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        let pattern = options.pattern.as_deref().map(glob).transpose()?;
        let left = options.limit.unwrap_or(u64::MAX);
        let mut listing = Listing {
            session: Arc::clone(self),
            prefix: path.to_string().len() + 1,
            recursive: options.recursive,
            pattern,
            left,
            after: options.after.clone(),
            artifacts: false,
            plain: false,
            marked: VecDeque::new(),
            open: Vec::new(),
            cancel,
        };
        let folder = self
            .root_of(&path)
            .open(&path.segments, OFlags::RDONLY | OFlags::DIRECTORY, Links::FollowInside)
            .map_err(|errno| refused_link(errno, &path, "listing"));
        let folder = self.told(folder)?;
        listing.enter(path, folder)?;
        Ok(listing)
    }

    /// All artifacts: what lies below `/artifacts`, and what was marked elsewhere. Files that nobody has hashed yet are.
    pub fn list_artifacts(self: &Arc<Self>) -> Result<Listing> {
        let all = ListOptions { recursive: true, ..ListOptions::default() };
        let mut listing = self.list("/artifacts", &all, Cancel::new())?;
        let mut marked = VecDeque::new();
        for root in [Root::Persistent, Root::Session] {
            let folder = format!("/{}", root.name());
            let rows =
                self.host.index.read(|connection| index::rows_below(connection, self.instance, &folder, true))?;
            marked.extend(rows.into_iter().map(|(path, _)| path));
        }
        (listing.artifacts, listing.marked) = (true, marked);
        Ok(listing)
    }

    /// An artifact's entry; `None` when it is not one.
    fn artifact_entry(&self, path: &HarnessPath, stat: &Stat) -> Result<Option<Entry>> {
        let mut entry = self.entry(path, stat)?;
        if entry.kind == Kind::File && entry.facts.is_none() && path.root == Root::Artifacts {
            entry.facts = self.learn(path)?;
            entry.artifact = entry.facts.as_ref().map(|facts| facts.artifact.clone());
        }
        Ok(entry.artifact.is_some().then_some(entry))
    }

    /// Hashes a file that another program made and records what it is now.
    fn learn(&self, path: &HarnessPath) -> Result<Option<Facts>> {
        use crate::digest::Digest;
        let Ok((file, stat)) = self.root_of(path).open_file(path) else { return Ok(None) };
        let stamp = Stamp::of(&stat);
        let fresh = stamp.is_fresh();
        let (digest, bytes) = Digest::read(std::fs::File::from(file), path, &Cancel::new())?;
        if bytes != stamp.size {
            return Ok(None); // it is being written to
        }
        let facts = Facts {
            stamp,
            fresh,
            digest,
            media_type: None,
            source: None,
            metadata: None,
            artifact: Artifact::default(),
        };
        let name = path.to_string();
        let learned = self.host.index.write(|connection| {
            // A row by now is a newer write's, or the one whose stamp did not hold.
            let known = index::row(connection, self.instance, &name)?;
            if known.is_none_or(|known| known.stamp.ctime < stamp.ctime) {
                index::upsert(connection, self.instance, &name, &facts)?;
            }
            Ok(())
        });
        match learned {
            // Another process writes to the index just now: the next listing hashes it again.
            Err(error) if error.is_held() => {}
            other => other?,
        }
        Ok(Some(facts))
    }
}

/// Compiles a glob whose `*` and `?` stay within a segment.
pub(crate) fn glob(pattern: &str) -> Result<GlobMatcher> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Error::new(Code::InvalidOption, format!("Not a glob: {}", error.kind())))
}

/// A listing under way: gives its entries in order, a batch at a time.
#[derive(Debug)]
pub struct Listing {
    session: Arc<Session>,
    /// Length of the listed folder's path and the slash after it.
    prefix: usize,
    recursive: bool,
    pattern: Option<GlobMatcher>,
    left: u64,
    after: Option<String>,
    artifacts: bool,
    /// Without what the index knows.
    plain: bool,
    /// Artifacts outside `/artifacts`, which come after it.
    marked: VecDeque<String>,
    open: Vec<Frame>,
    cancel: Cancel,
}

/// A folder whose names are being given.
#[derive(Debug)]
struct Frame {
    path: HarnessPath,
    folder: OwnedFd,
    todo: VecDeque<Step>,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Give the entry itself.
    Give(String),
    /// Give what is below it. Its place in the order is that of the name with a slash.
    Enter(String),
}

impl Listing {
    /// Leaves out what the index knows of files, for those who need no more than what the disk says.
    #[must_use]
    pub(crate) fn plain(self) -> Self {
        Self { plain: true, ..self }
    }

    /// The next entries, at most `max`; none at the end.
    pub fn next_batch(&mut self, max: usize) -> Result<Vec<Entry>> {
        let mut batch = Vec::new();
        while batch.len() < max && self.left > 0 {
            self.cancel.check()?;
            let Some(frame) = self.open.last_mut() else {
                let Some(path) = self.marked.pop_front() else { break };
                batch.extend(self.marked_entry(&path)?);
                continue;
            };
            match frame.todo.pop_front() {
                None => {
                    self.open.pop();
                }
                Some(Step::Enter(name)) => {
                    let path = frame.path.join(&name);
                    match open_name(&frame.folder, &name, OFlags::RDONLY | OFlags::DIRECTORY) {
                        Ok(folder) => self.enter(path, folder)?,
                        // Gone, or swapped for a link or a file, since its name was read.
                        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                        Err(errno) => return Err(Error::from_errno(errno, path, "listing")),
                    }
                }
                Some(Step::Give(name)) => {
                    let path = frame.path.join(&name);
                    let Ok(stat) = fs::statat(&frame.folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) else {
                        continue;
                    };
                    if self.recursive && Kind::of(&stat) == Kind::Directory {
                        frame.enter_later(name);
                    }
                    if !self.is_wanted(&path.to_string()) {
                        continue;
                    }
                    let entry = if self.artifacts {
                        self.session.artifact_entry(&path, &stat)?
                    } else if self.plain {
                        Some(Entry::of(&path, &stat))
                    } else {
                        Some(self.session.entry(&path, &stat)?)
                    };
                    if let Some(entry) = entry {
                        self.left -= 1;
                        batch.push(entry);
                    }
                }
            }
        }
        Ok(batch)
    }

    fn is_wanted(&self, path: &str) -> bool {
        self.after.as_deref().is_none_or(|after| path > after)
            && self
                .pattern
                .as_ref()
                .is_none_or(|pattern| path.get(self.prefix..).is_some_and(|below| pattern.is_match(below)))
    }

    fn marked_entry(&self, path: &str) -> Result<Option<Entry>> {
        match self.session.stat(path) {
            Ok(entry) => Ok(entry.artifact.is_some().then_some(entry)),
            // Removed by another program.
            Err(error) if matches!(error.code, Code::NotFound | Code::NotDirectory | Code::SandboxDenied) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn enter(&mut self, path: HarnessPath, folder: OwnedFd) -> Result<()> {
        let wrap = |errno| Error::from_errno(errno, &path, "listing");
        let prefix = format!("{path}/");
        // Nothing below comes after `after`.
        if self.after.as_deref().is_some_and(|after| after > prefix.as_str() && !after.starts_with(&prefix)) {
            return Ok(());
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder).map_err(wrap)? {
            let entry = entry.map_err(wrap)?;
            // What the grammar refuses no path can name.
            let Ok(name) = entry.file_name().to_str() else { continue };
            if is_valid_name(name)
                && prefix.len() + name.len() <= MAX_PATH_BYTES
                && path.segments.len() + 2 <= MAX_DEPTH
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        let todo = names.into_iter().map(Step::Give).collect();
        self.open.push(Frame { path, folder, todo });
        Ok(())
    }
}

impl Frame {
    /// Puts a folder's content where its paths stand in the order: after names such as `a-b` that sort before `a/`.
    fn enter_later(&mut self, name: String) {
        let key = format!("{name}/");
        let at = self.todo.partition_point(|step| match step {
            Step::Give(other) => other.as_str() < key.as_str(),
            Step::Enter(other) => format!("{other}/") < key,
        });
        self.todo.insert(at, Step::Enter(name));
    }
}
