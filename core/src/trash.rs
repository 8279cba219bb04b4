//! Removing trees by handle, with few of them open however deep a tree is.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::root::open_name;
use crate::stage::random_name;

/// Folders that are open at once at the most; a deeper one is moved up and done later.
const MAX_OPEN: usize = 24;

/// Hears of each thing before it goes.
pub(crate) trait Witness {
    /// `below`: names under the tree's top.
    fn leaving(&mut self, folder: BorrowedFd<'_>, below: &[String], stat: &Stat);
}

struct Nobody;
impl Witness for Nobody {
    fn leaving(&mut self, _: BorrowedFd<'_>, _: &[String], _: &Stat) {}
}

/// Unlinks `name` in `parent` and all below it. What cannot be removed stays for the next sweep.
pub(crate) fn unlink_tree(parent: BorrowedFd<'_>, name: &str) {
    unlink_witnessed(parent, name, &mut Nobody);
}

/// The same, with a witness.
pub(crate) fn unlink_witnessed(parent: BorrowedFd<'_>, name: &str, witness: &mut dyn Witness) {
    let mut later = vec![(name.to_owned(), Vec::new())];
    while let Some((name, below)) = later.pop() {
        // A folder into which somebody still writes (a host that just found its session deleted) is tried again.
        for _ in 0..3 {
            let mut tree = Tree { top: parent, later: &mut later, witness: &mut *witness };
            if tree.unlink(parent, &name, &mut below.clone(), 0) != Err(Errno::NOTEMPTY) {
                break;
            }
        }
    }
}

struct Tree<'a> {
    top: BorrowedFd<'a>,
    later: &'a mut Vec<(String, Vec<String>)>,
    witness: &'a mut dyn Witness,
}

impl Tree<'_> {
    fn unlink(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &str,
        below: &mut Vec<String>,
        depth: usize,
    ) -> rustix::io::Result<()> {
        let stat = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            self.witness.leaving(parent, below, &stat);
            return fs::unlinkat(parent, name, AtFlags::empty());
        }
        if depth >= MAX_OPEN {
            let moved = random_name();
            fs::renameat(parent, name, self.top, moved.as_str())?;
            self.later.push((moved, below.clone()));
            return Ok(());
        }
        let folder = open_name(parent, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        // A mount inside the tree: its content belongs to somebody else.
        if fs::fstat(&folder)?.st_dev != fs::fstat(parent)?.st_dev {
            return Err(Errno::XDEV);
        }
        self.empty(&folder, below, depth)?;
        drop(folder);
        fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
    }

    fn empty(&mut self, folder: &OwnedFd, below: &mut Vec<String>, depth: usize) -> rustix::io::Result<()> {
        // Names first: a folder that changes while it is read may hide some.
        let names: Vec<_> = Dir::read_from(folder)?.flatten().map(|entry| entry.file_name().to_owned()).collect();
        for name in names {
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            // A name that is not UTF-8 is no harness path, but it has to go all the same.
            let Ok(text) = name.to_str() else {
                let moved = random_name();
                fs::renameat(folder, &name, self.top, moved.as_str())?;
                let no_name = "/".to_owned(); // which no path can hold, so that witnesses leave it out
                self.later.push((moved, [below.as_slice(), &[no_name]].concat()));
                continue;
            };
            below.push(text.to_owned());
            let done = self.unlink(folder.as_fd(), text, below, depth + 1);
            below.pop();
            match done {
                // Gone already; or something in it stays, and the rest can still go.
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}
