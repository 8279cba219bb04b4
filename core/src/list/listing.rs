//! Listing a folder, or the tree below it, in the order of the whole paths' bytes, a batch at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Dir, OFlags};
use rustix::io::Errno;

use super::{Entry, Kind};
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::index;
use crate::path::{HarnessPath, MAX_DEPTH, MAX_PATH_BYTES, Root, Use, is_valid_name};
use crate::root::{Links, open_name, refused_link};
use crate::session::Session;

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
}

/// Compiles a glob whose `*` and `?` stay within a segment.
pub(crate) fn glob(pattern: &str) -> Result<GlobMatcher> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| {
            let text =
                format!(r"Not a glob: {}. For signs as they are, put \ before each, as in \[a\].txt", error.kind());
            Error::new(Code::InvalidOption, text)
        })
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
