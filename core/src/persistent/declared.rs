//! Which Persistent Dirs a host has, and what a path has to do with them.

use crate::error::{Code, Error, Reason, Result};
use crate::path::{HarnessPath, Root, Use, to_nfc};

/// In a `localDir`'s source and, so that it is never sent, at the top of its checkout.
pub(crate) const RESERVED: &str = ".little-harness";

/// A Persistent Dir as a host declares it.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// Its path, below `/persistent`.
    pub harness_dir: String,
    /// Never written to, never committed.
    pub read_only: bool,
    /// Backed by a folder: [`RESERVED`] is a name of ours in it.
    pub local: bool,
    /// The folder, where that is the same for everybody.
    pub source: Option<LocalSource>,
}

/// A folder that backs a Persistent Dir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSource {
    /// What the path starts from.
    pub below: Below,
    /// As the developer wrote it.
    pub path: String,
}

/// What a source's path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// `dataDir`; it cannot leave that.
    DataDir,
    /// `projectRoot`; it cannot leave that.
    Project,
    /// The file system's root: taken as written.
    Root,
}

/// The declared dirs of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dirs(Vec<Declared>);

#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// In NFC, below `/persistent`.
    pub(crate) segments: Vec<String>,
    pub(crate) read_only: bool,
    pub(crate) local: bool,
}

impl Declared {
    /// The harness path.
    pub(crate) fn path(&self) -> HarnessPath {
        HarnessPath { root: Root::Persistent, segments: self.segments.clone() }
    }
}

impl Dirs {
    /// Refuses a dir that is no folder below `/persistent`, and dirs of which one holds another.
    pub(crate) fn new(declarations: &[Declaration]) -> Result<Self> {
        let mut dirs = Vec::<Declared>::new();
        for declaration in declarations {
            let dir = declare(declaration)?;
            let overlaps = |other: &&Declared| {
                other.segments.starts_with(&dir.segments) || dir.segments.starts_with(&other.segments)
            };
            if let Some(other) = dirs.iter().find(overlaps) {
                let text =
                    format!("harnessDir {} overlaps {}: each needs a folder of its own", dir.path(), other.path());
                return Err(Error::new(Code::InvalidOption, text));
            }
            dirs.push(dir);
        }
        Ok(Self(dirs))
    }

    /// The same for a disk that takes no account of case.
    pub(crate) fn check_folded(&self) -> Result<()> {
        let fold = |dir: &Declared| dir.segments.iter().map(|segment| segment.to_lowercase()).collect::<Vec<_>>();
        let folded: Vec<Vec<String>> = self.iter().map(fold).collect();
        for (at, dir) in folded.iter().enumerate() {
            if let Some(before) = folded[..at].iter().position(|other| other.starts_with(dir) || dir.starts_with(other))
            {
                let text = format!(
                    "harnessDir {} overlaps {} on this disk, which takes no account of case: each needs a folder of its own",
                    self.0[at].path(),
                    self.0[before].path()
                );
                return Err(Error::new(Code::InvalidOption, text));
            }
        }
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.0.iter()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Declared> {
        self.0.get(index)
    }

    /// The dir that is or holds `path`.
    pub(crate) fn holding(&self, path: &HarnessPath) -> Option<usize> {
        self.0.iter().position(|dir| path.root == Root::Persistent && starts_with(&path.segments, &dir.segments))
    }

    /// The dirs that lie below `path`.
    pub(crate) fn below(&self, path: &HarnessPath) -> impl Iterator<Item = usize> {
        let dirs = self.0.iter().enumerate();
        dirs.filter(|(_, dir)| path.root == Root::Persistent && starts_with(&dir.segments, &path.segments))
            .map(|(index, _)| index)
    }

    /// Refuses what a caller may never do: roots, what lies below `/persistent` without a dir, read-only dirs. Spells the
    /// dir's own segments as it was declared.
    pub(crate) fn check(&self, mut path: HarnessPath, purpose: Use) -> Result<HarnessPath> {
        let changes = matches!(purpose, Use::Write | Use::Remove);
        if path.segments.is_empty() && changes {
            let text = format!("{path} is a managed root: it cannot be replaced or removed");
            return Err(Error::denied(Reason::Root, &path, text));
        }
        if path.root != Root::Persistent || path.segments.is_empty() {
            return Ok(path);
        }
        let Some(dir) = self.holding(&path).and_then(|index| self.get(index)) else {
            if self.below(&path).next().is_none() {
                let text = format!(
                    "No Persistent Dir covers {path}: declare one, or use the managed roots /session and /artifacts"
                );
                return Err(Error::denied(Reason::UndeclaredPersistentDir, &path, text));
            }
            if changes {
                let text = format!("{path} holds a Persistent Dir: it cannot be replaced or removed");
                return Err(Error::denied(Reason::Root, &path, text));
            }
            return Ok(path);
        };
        path.segments[..dir.segments.len()].clone_from_slice(&dir.segments);
        let below = &path.segments[dir.segments.len()..];
        if !changes {
            return Ok(path);
        }
        if dir.read_only {
            let text = format!("{path} is in a read-only Persistent Dir: it cannot be changed");
            return Err(Error::denied(Reason::ReadOnly, &path, text));
        }
        match below.first() {
            None => {
                let text = format!("{path} is a Persistent Dir: it cannot be replaced or removed. Name what is in it.");
                Err(Error::denied(Reason::Root, &path, text))
            }
            Some(first) if dir.local && first == RESERVED => {
                let text =
                    format!("{path}: {RESERVED} is a reserved name, outside the managed roots. Choose another one.");
                Err(Error::denied(Reason::OutsideRoots, &path, text))
            }
            Some(_) => Ok(path),
        }
    }
}

fn declare(declaration: &Declaration) -> Result<Declared> {
    let invalid = |why: &str| {
        let shown: String = declaration.harness_dir.chars().filter(|c| !c.is_control()).take(200).collect();
        Error::new(Code::InvalidOption, format!("harnessDir {shown:?} {why}"))
    };
    let path = HarnessPath::parse(&declaration.harness_dir, Use::Write)
        .map_err(|error| invalid(&format!("is no path of a folder below /persistent: {}", error.message)))?;
    if path.root != Root::Persistent || path.segments.is_empty() {
        return Err(invalid("must lie below /persistent, like /persistent/notes"));
    }
    if path.to_string() != declaration.harness_dir {
        return Err(invalid(&format!("must be spelled plainly: {path}")));
    }
    if path.segments.iter().any(|segment| to_nfc(segment).is_some()) {
        return Err(invalid("must be in Unicode normalization form C: \"…\".normalize()"));
    }
    Ok(Declared { segments: path.segments, read_only: declaration.read_only, local: declaration.local })
}

/// Whether `start` are the first of `segments`, whatever their normalization; `start` is in NFC or from the same caller.
fn starts_with(segments: &[String], start: &[String]) -> bool {
    let same = |(a, b): (&String, &String)| {
        a == b || to_nfc(a).unwrap_or_else(|| a.clone()) == to_nfc(b).unwrap_or_else(|| b.clone())
    };
    segments.len() >= start.len() && segments.iter().zip(start).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirs(list: &[(&str, bool)]) -> Result<Dirs> {
        let all: Vec<_> = list
            .iter()
            .map(|&(dir, read_only)| Declaration { harness_dir: dir.to_owned(), read_only, local: true, source: None })
            .collect();
        Dirs::new(&all)
    }

    #[test]
    fn bad_and_overlapping_dirs_are_refused() {
        for bad in [
            "/session/a",
            "/persistent",
            "/persistent/",
            "persistent/a",
            "/persistent/a/",
            "/persistent/../a",
            "/persistent//a",
            "",
            "/persistent/./a",
        ] {
            assert_eq!(dirs(&[(bad, false)]).expect_err(bad).code, Code::InvalidOption, "{bad}");
        }
        for (one, two) in [
            ("/persistent/a", "/persistent/a"),
            ("/persistent/a", "/persistent/a/b"),
            ("/persistent/a/b", "/persistent/a"),
        ] {
            assert!(dirs(&[(one, false), (two, false)]).is_err(), "{one} {two}");
        }
        let apart =
            dirs(&[("/persistent/a", false), ("/persistent/ab", false), ("/persistent/b/a", false)]).expect("apart");
        apart.check_folded().expect("apart");
        for (one, two) in [("/persistent/a", "/persistent/A"), ("/persistent/A/b", "/persistent/a")] {
            let twins = dirs(&[(one, false), (two, false)]).expect("apart where case counts");
            assert_eq!(twins.check_folded().expect_err(one).code, Code::InvalidOption, "{one} {two}");
        }
    }

    #[test]
    fn what_may_be_done_where() {
        let dirs = dirs(&[
            ("/persistent/team/notes", false),
            ("/persistent/team/laws", true),
            ("/persistent/caf\u{e9}", false),
        ])
        .expect("dirs");
        let check = |path: &str, purpose| {
            dirs.check(HarnessPath::parse(path, purpose).expect(path), purpose).map_err(|error| error.reason)
        };
        for (path, purpose, reason) in [
            ("/persistent", Use::Remove, Some(Reason::Root)),
            ("/persistent/team", Use::Remove, Some(Reason::Root)),
            ("/persistent/team", Use::Write, Some(Reason::Root)),
            ("/persistent/team/notes", Use::Remove, Some(Reason::Root)),
            ("/persistent/team/laws", Use::Remove, Some(Reason::ReadOnly)),
            ("/persistent/team/laws/a", Use::Write, Some(Reason::ReadOnly)),
            ("/persistent/team/other", Use::Write, Some(Reason::UndeclaredPersistentDir)),
            ("/persistent/other", Use::List, Some(Reason::UndeclaredPersistentDir)),
            ("/persistent/team/notes/.little-harness/x", Use::Write, Some(Reason::OutsideRoots)),
        ] {
            assert_eq!(check(path, purpose).expect_err(path), reason, "{path}");
        }
        for (path, purpose) in [
            ("/persistent", Use::List),
            ("/persistent/team", Use::List),
            ("/persistent/team/laws/a", Use::Read),
            ("/persistent/team/notes/a", Use::Write),
            ("/persistent/team/notes/a/.little-harness", Use::Write),
        ] {
            check(path, purpose).expect(path);
        }
        let found = check("/persistent/cafe\u{301}/a", Use::Write).expect("another spelling");
        assert_eq!(found.segments[0], "caf\u{e9}");
    }
}
