//! Lines that match a regular expression, in a file or in all files below a folder. The matching is ripgrep's own; files
//! are found and opened by the root's handles alone (promise G1).

mod file;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::list::{Kind, ListOptions, Listing, glob};
use crate::path::{HarnessPath, Use};
use crate::root::Links;
use crate::session::Session;

pub use file::GrepLine;
use file::{Answer, Limits, Search};

/// Files that are searched together; what they give is put in order before the next ones.
const BATCH: usize = 512;
/// Counting alone may go on for so long.
const COUNTING: Duration = Duration::from_secs(2);
/// More threads wait on the same disk.
const MAX_THREADS: usize = 4;

/// What is looked for, and how much of it is shown.
#[derive(Debug, Clone, Default)]
pub struct GrepOptions {
    /// Regular expression.
    pub pattern: String,
    /// Whatever the case.
    pub ignore_case: bool,
    /// Only files that match: without a slash by name, else by path below the folder.
    pub glob: Option<String>,
    /// Lines before and after each match; at most 20.
    pub context: usize,
    /// The most matching lines shown.
    pub limit: u64,
    /// The most characters of a line.
    pub max_line_characters: usize,
    /// The most bytes of paths and lines.
    pub max_bytes: usize,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Grep {
    /// Files with shown lines, in the order of their paths.
    pub files: Vec<GrepFile>,
    /// Matching lines of all files.
    pub total_matches: u64,
    /// Files with any.
    pub total_files: u64,
    /// Files that were looked into to their end.
    pub searched_files: u64,
    /// Left out: with a NUL byte at the beginning.
    pub binary_files: u64,
    /// Left out: unreadable, or with a line too long.
    pub skipped_files: u64,
    /// Fewer lines are shown than match.
    pub truncated: bool,
    /// The totals are of all files.
    pub complete: bool,
}

/// A file with lines that match.
#[derive(Debug, Clone)]
pub struct GrepFile {
    /// As on the disk.
    pub path: String,
    /// In their order.
    pub lines: Vec<GrepLine>,
}

impl Session {
    /// Searches a file, or all files below a folder. Links are not followed.
    pub fn grep(self: &Arc<Self>, path: &str, options: &GrepOptions, cancel: &Cancel) -> Result<Grep> {
        let matcher = matcher(options)?;
        let filter = options.glob.as_deref().map(Filter::new).transpose()?;
        let path = self.resolve(path, Use::List)?;
        let path = self.root_of(&path).locate(&path, Links::FollowInside);
        let mut stat = self.told(self.root_of(&path).stat(&path))?;
        if Kind::of(&stat) == Kind::Symlink {
            // Only those below are not followed.
            stat = self.told(self.root_of(&path).stat_following(&path))?;
        }
        let mut run = Run {
            session: self,
            options,
            matcher,
            cancel,
            found: Grep::default(),
            shown: 0,
            used: 0,
            full_since: None,
        };
        let kind = Kind::of(&stat);
        match kind {
            Kind::File => run.found.complete = run.search(&[path], || {})?,
            Kind::Other => return Err(Error::at(Code::NotRegularFile, &path, format!("Not a regular file: {path}"))),
            _ => run.search_below(&path, filter.as_ref())?,
        }
        let truncated = run.shown < run.found.total_matches;
        Ok(Grep { truncated, ..run.found })
    }
}

fn matcher(options: &GrepOptions) -> Result<RegexMatcher> {
    RegexMatcherBuilder::new()
        .case_insensitive(options.ignore_case)
        .multi_line(true)
        .crlf(true)
        .size_limit(10 * 1024 * 1024)
        .dfa_size_limit(20 * 1024 * 1024)
        .nest_limit(100)
        .build(&options.pattern)
        .map_err(|error| {
            // Without the drawing around it, which shows another pattern than the one that was given.
            let said = error.to_string();
            let why = said.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&said);
            let mut text = format!("pattern is not a regular expression (Rust syntax): {why}");
            text.truncate(text.floor_char_boundary(1_024));
            text.push_str(r". To find signs as they are, put \ before each, as in f\(x\)");
            Error::new(Code::InvalidOption, text)
        })
}

/// Which files are searched.
struct Filter {
    glob: GlobMatcher,
    by_name: bool,
}

impl Filter {
    fn new(pattern: &str) -> Result<Self> {
        let by_name = !pattern.contains('/');
        Ok(Self { glob: glob(pattern.strip_prefix('/').unwrap_or(pattern))?, by_name })
    }

    fn wants(&self, below: &str) -> bool {
        self.glob.is_match(if self.by_name { below.rsplit('/').next().unwrap_or(below) } else { below })
    }
}

/// The next files to search; none at the end. `prefix`: the length of the folder's path and the slash after it.
fn next_paths(listing: &mut Listing, prefix: usize, filter: Option<&Filter>) -> Result<Vec<HarnessPath>> {
    let mut paths = Vec::new();
    while paths.len() < BATCH {
        let batch = listing.next_batch(BATCH)?;
        if batch.is_empty() {
            break;
        }
        for entry in batch {
            let wants = |below| filter.is_none_or(|filter| filter.wants(below));
            if entry.kind == Kind::File && entry.path.get(prefix..).is_some_and(wants) {
                paths.push(HarnessPath::parse(&entry.path, Use::Read)?);
            }
        }
    }
    Ok(paths)
}

/// A search under way.
struct Run<'a> {
    session: &'a Arc<Session>,
    options: &'a GrepOptions,
    matcher: RegexMatcher,
    cancel: &'a Cancel,
    found: Grep,
    /// Matching lines that are shown, and the bytes of all that is.
    shown: u64,
    used: usize,
    full_since: Option<Instant>,
}

impl Run<'_> {
    fn search_below(&mut self, folder: &HarnessPath, filter: Option<&Filter>) -> Result<()> {
        let all = ListOptions { recursive: true, ..ListOptions::default() };
        let folder = folder.to_string();
        let mut listing = self.session.list(&folder, &all, self.cancel.clone())?.plain();
        let mut list = move || next_paths(&mut listing, folder.len() + 1, filter);
        let mut paths = list()?;
        while !paths.is_empty() {
            // The next ones are listed while these are searched.
            let mut next = Ok(Vec::new());
            if !self.search(&paths, || next = list())? {
                return Ok(());
            }
            paths = next?;
        }
        self.found.complete = true;
        Ok(())
    }

    /// Searches files and takes what they give in their order; false when it has taken long enough.
    fn search(&mut self, paths: &[HarnessPath], meanwhile: impl FnOnce()) -> Result<bool> {
        let left = self.options.limit.saturating_sub(self.shown);
        let room = self.options.max_bytes.saturating_sub(self.used);
        let limits = Limits {
            matches: if self.full_since.is_some() { 0 } else { left },
            bytes: room,
            line_characters: self.options.max_line_characters,
            context: self.options.context.min(20),
            until: self.full_since.map(|since| since + COUNTING),
        };
        for (path, answer) in paths.iter().zip(self.answers(paths, &limits, meanwhile)) {
            match answer.transpose()? {
                None | Some(Answer::Unfinished) => {
                    self.cancel.check()?;
                    return Ok(false);
                }
                Some(answer) => self.take(path, answer),
            }
        }
        Ok(true)
    }

    /// What each file gives; none for those that were not reached in time.
    fn answers(&self, paths: &[HarnessPath], limits: &Limits, meanwhile: impl FnOnce()) -> Vec<Option<Result<Answer>>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut search = Search::new(self.session, self.matcher.clone(), *limits, self.cancel);
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(at) else { return done };
                if limits.is_over() || self.cancel.check().is_err() {
                    return done;
                }
                done.push((at, search.file(path)));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        // A thread costs as much as some small files.
        let helpers = (threads - 1).min(paths.len() / 8);
        let mut answers: Vec<Option<Result<Answer>>> = paths.iter().map(|_| None).collect();
        let mut put = |done: Vec<(usize, Result<Answer>)>| {
            for (at, answer) in done {
                answers[at] = Some(answer);
            }
        };
        std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            meanwhile();
            put(work());
            for helper in helpers {
                // What a helper that panicked has not done counts as not reached.
                put(helper.join().unwrap_or_default());
            }
        });
        answers
    }

    fn take(&mut self, path: &HarnessPath, answer: Answer) {
        let found = &mut self.found;
        let (matches, mut lines) = match answer {
            Answer::Searched { matches, lines } => (matches, lines),
            Answer::Binary => {
                found.binary_files += 1;
                return;
            }
            Answer::Skipped | Answer::Unfinished => {
                found.skipped_files += 1;
                return;
            }
        };
        found.searched_files += 1;
        found.total_matches += matches;
        found.total_files += u64::from(matches > 0);
        if matches == 0 || self.full_since.is_some() {
            return;
        }
        let path = path.to_string();
        let mut left = self.options.limit.saturating_sub(self.shown);
        let mut used = self.used + path.len();
        let kept = lines
            .iter()
            .take_while(|line| {
                used += line.text.len() + 1;
                let fits = used <= self.options.max_bytes && (!line.is_match || left > 0);
                left -= u64::from(fits && line.is_match);
                fits
            })
            .count();
        let cut = kept < lines.len();
        lines.truncate(kept);
        // Context alone shows nothing.
        while lines.last().is_some_and(|line| cut && !line.is_match) {
            lines.pop();
        }
        if !lines.is_empty() {
            self.shown += lines.iter().filter(|line| line.is_match).count() as u64;
            self.used += path.len() + lines.iter().map(|line| line.text.len() + 1).sum::<usize>();
            self.found.files.push(GrepFile { path, lines });
        }
        if cut || self.shown >= self.options.limit || self.used >= self.options.max_bytes {
            self.full_since = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests;
