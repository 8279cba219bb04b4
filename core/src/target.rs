//! What a path names, whatever its spelling: the key by which tools tell files apart.

use std::collections::VecDeque;

use rustix::fs::{self, AtFlags, FileType};

use crate::error::Result;
use crate::path::{HarnessPath, Use};
use crate::root::{Links, RootDir};
use crate::session::Session;

/// As many as the kernel follows.
const MAX_LINKS: usize = 40;

impl Session {
    /// The path as on the disk, and a key that is the same for every way to the same file: the path with the links in it
    /// resolved. A link that is not followed (absolute, or out of its root) stands for itself, and what is not there
    /// is named as it would be made.
    pub fn target(&self, path: &str) -> Result<(String, String)> {
        let path = self.resolve(path, Use::Stat)?;
        let root = self.root_of(&path);
        let found = root.locate(&path, Links::FollowInside);
        let key = HarnessPath { root: path.root, segments: resolved(root, &found.segments) };
        // Names in links are bytes of the disk as well, but may need their NFC form where nothing is there yet.
        let key = root.locate(&key, Links::Refuse);
        Ok((found.to_string(), key.to_string()))
    }
}

fn resolved(root: &RootDir, segments: &[String]) -> Vec<String> {
    // The names of the folder itself are no links.
    let above = root.above().min(segments.len());
    let mut done: Vec<String> = segments[..above].to_vec();
    let mut todo: VecDeque<String> = segments[above..].iter().cloned().collect();
    let mut links = 0;
    while let Some(name) = todo.pop_front() {
        match link_at(root, &done, &name) {
            Some(target) if links < MAX_LINKS && stays_inside(&done[above.min(done.len())..], &target) => {
                links += 1;
                for part in target.split('/').rev() {
                    todo.push_front(part.to_owned());
                }
            }
            _ => match name.as_str() {
                "" | "." => {}
                ".." => {
                    done.pop();
                }
                _ => done.push(name),
            },
        }
    }
    done
}

/// Where a link leads; `None` for anything else, and for what is not there.
fn link_at(root: &RootDir, above: &[String], name: &str) -> Option<String> {
    if matches!(name, "" | "." | "..") {
        return None;
    }
    let folder = root.open_folder(above, Links::Refuse).ok()?;
    let stat = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        return None;
    }
    fs::readlinkat(&folder, name, Vec::new()).ok()?.into_string().ok()
}

/// Whether a link in the folder `above` is one that reads follow.
fn stays_inside(above: &[String], target: &str) -> bool {
    let mut depth = above.len();
    !target.starts_with('/')
        && target.split('/').all(|part| match part {
            "" | "." => true,
            ".." => {
                let inside = depth > 0;
                depth = depth.saturating_sub(1);
                inside
            }
            _ => {
                depth += 1;
                true
            }
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use crate::testing::open;

    #[test]
    fn one_key_for_every_way() {
        let open = open();
        std::fs::create_dir_all(open.file("d/e")).expect("folders");
        open.put("d/a", b"a");
        for (link, to) in [
            ("l", "d/a"),
            ("f", "d"),
            ("d/e/up", "../../d/./a"),
            ("out", "../../x"),
            ("abs", "/etc"),
            ("loop", "loop"),
            ("l2", "l"),
            ("dangling", "d/none"),
        ] {
            symlink(to, open.file(link)).expect("link");
        }
        let table = [
            ("/session/d/a", "/session/d/a"),
            ("/session//d/./a", "/session/d/a"),
            ("/session/l", "/session/d/a"),
            ("/session/l2", "/session/d/a"),
            ("/session/f/a", "/session/d/a"),
            ("/session/f/e/up", "/session/d/a"),
            ("/session/f/new/b", "/session/d/new/b"),
            ("/session/out", "/session/out"),
            ("/session/abs/passwd", "/session/abs/passwd"),
            ("/session/dangling", "/session/d/none"),
            ("/session", "/session"),
        ];
        for (path, key) in table {
            assert_eq!(open.session.target(path).expect(path).1, key, "{path}");
        }
        assert!(open.session.target("/session/loop").is_ok(), "ends");
        let decomposed = "/session/e\u{301}";
        assert_eq!(open.session.target(decomposed).expect("new").1, "/session/é");
    }
}
