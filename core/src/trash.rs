//! Removing trees by handle, with few of them open however deep a tree is.
//!
//! A tree on its way out lies in `trash/` and is locked by whoever removes it; a sweep takes only those whose lock it
//! gets, so it never snatches a tree from under another host.

use std::fs::File;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::lock::lock_folder;
use crate::root::open_name;
use crate::stage::random_name;
use crate::stamp::Stamp;
use crate::sys;

/// Folders that are open at once at the most; a deeper one is moved up to the tree's top and done later.
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

/// Locks a folder that is about to be moved into the trash. `None`: another program holds a lock of its own on it, and
/// the worst that then happens is that a sweep helps.
pub(crate) fn claim(parent: impl AsFd, name: &str) -> Option<File> {
    lock_folder(parent, name).ok().flatten()
}

/// Removes what earlier hosts had no time to remove.
pub(crate) fn sweep(folder: BorrowedFd<'_>) {
    for name in names(folder).unwrap_or_default() {
        let Ok(name) = name.to_str() else { continue };
        match lock_folder(folder, name) {
            Ok(Some(_claimed)) => unlink_tree(folder, name),
            // Somebody is at it.
            Ok(None) => {}
            // No folder.
            Err(_) => unlink_tree(folder, name),
        }
    }
}

/// Unlinks `name` in `parent` and all below it. What cannot be removed stays for the next sweep.
pub(crate) fn unlink_tree(parent: BorrowedFd<'_>, name: &str) {
    unlink_witnessed(parent, name, &mut Nobody);
}

/// The same, with a witness.
pub(crate) fn unlink_witnessed(parent: BorrowedFd<'_>, name: &str, witness: &mut dyn Witness) {
    let Ok(stat) = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        witness.leaving(parent, &[], &stat);
        let _ = fs::unlinkat(parent, name, AtFlags::empty());
        return;
    }
    if stat.st_mode & 0o700 != 0o700 {
        let _ = sys::grant_owner(parent, name);
    }
    let Ok(top) = open_name(parent, name, OFlags::RDONLY | OFlags::DIRECTORY) else { return };
    // A folder into which somebody still writes (a host that just found its session deleted) is tried again.
    for _ in 0..3 {
        let mut tree = Tree { top: &top, dev: Stamp::of(&stat).dev, later: Vec::new(), witness: &mut *witness };
        let _ = tree.empty(&top, &mut Vec::new(), 0);
        while let Some((moved, mut below)) = tree.later.pop() {
            let _ = tree.unlink(top.as_fd(), &moved, &mut below, 1);
        }
        if fs::unlinkat(parent, name, AtFlags::REMOVEDIR) != Err(Errno::NOTEMPTY) {
            return;
        }
    }
}

fn names(folder: BorrowedFd<'_>) -> rustix::io::Result<Vec<std::ffi::CString>> {
    let names = Dir::read_from(folder)?.flatten().map(|entry| entry.file_name().to_owned());
    Ok(names.filter(|name| !matches!(name.to_bytes(), b"." | b"..")).collect())
}

struct Tree<'a> {
    top: &'a OwnedFd,
    dev: u64,
    /// What was moved up, with the names that it had.
    later: Vec<(String, Vec<String>)>,
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
        // A mount inside the tree: its content belongs to somebody else.
        if Stamp::of(&stat).dev != self.dev || sys::is_mount(parent, name) {
            return Err(Errno::XDEV);
        }
        // A folder that its owner may not change (as in caches of packages) goes all the same.
        if stat.st_mode & 0o700 != 0o700 {
            sys::grant_owner(parent, name)?;
        }
        if depth >= MAX_OPEN {
            return self.move_up(parent, name, below.clone());
        }
        let folder = open_name(parent, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        self.empty(&folder, below, depth)?;
        drop(folder);
        fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
    }

    fn empty(&mut self, folder: &OwnedFd, below: &mut Vec<String>, depth: usize) -> rustix::io::Result<()> {
        // Names first: a folder that changes while it is read may hide some.
        for name in names(folder.as_fd())? {
            let Ok(text) = name.to_str() else {
                // No harness path, but it has to go all the same. No path can hold a slash in a name, so that
                // witnesses leave it out.
                self.move_up(folder.as_fd(), &name, [below.as_slice(), &["/".to_owned()]].concat())?;
                continue;
            };
            below.push(text.to_owned());
            let done = self.unlink(folder.as_fd(), text, below, depth + 1);
            below.pop();
            match done {
                // Gone already; or something in it stays, and the rest can still go.
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::XDEV) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn move_up(
        &mut self,
        parent: BorrowedFd<'_>,
        name: impl rustix::path::Arg,
        below: Vec<String>,
    ) -> rustix::io::Result<()> {
        let moved = random_name();
        fs::renameat(parent, name, self.top, moved.as_str())?;
        self.later.push((moved, below));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs as std_fs;

    use super::*;

    #[derive(Default)]
    struct Paths(Vec<String>);
    impl Witness for Paths {
        fn leaving(&mut self, _: BorrowedFd<'_>, below: &[String], _: &Stat) {
            self.0.push(below.join("/"));
        }
    }

    #[test]
    fn deep_trees_and_odd_names_go_and_are_witnessed_by_their_paths() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().expect("tempdir");
        let parent = File::open(dir.path()).expect("open");
        let deep = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join("/");
        std_fs::create_dir_all(dir.path().join("tree").join(&deep)).expect("folders");
        std_fs::write(dir.path().join("tree").join(&deep).join("file"), "").expect("file");
        std_fs::write(dir.path().join("tree").join(std::ffi::OsStr::from_bytes(b"\xFF")), "").expect("odd name");
        std::os::unix::fs::symlink("/", dir.path().join("tree/link")).expect("link");
        let mut paths = Paths::default();
        unlink_witnessed(parent.as_fd(), "tree", &mut paths);
        assert!(!dir.path().join("tree").exists());
        paths.0.sort();
        assert_eq!(paths.0, ["/".to_owned(), format!("{deep}/file"), "link".to_owned()]);
    }

    #[test]
    fn a_sweep_leaves_what_is_claimed() {
        let dir = tempfile::tempdir().expect("tempdir");
        let parent = File::open(dir.path()).expect("open");
        for name in ["claimed", "left"] {
            std_fs::create_dir(dir.path().join(name)).expect("folder");
        }
        let claimed = claim(&parent, "claimed");
        sweep(parent.as_fd());
        let names = || std_fs::read_dir(dir.path()).expect("read").flatten().count();
        assert_eq!(names(), 1);
        drop(claimed);
        sweep(parent.as_fd());
        assert_eq!(names(), 0);
    }
}
