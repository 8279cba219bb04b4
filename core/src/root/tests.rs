//! Each look-up on both backends: a table of trees with links, then the same while folders and links change places.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::path::{Root, Use};

const BOTH: [Resolver; 2] = [Resolver::Openat2, Resolver::Walk];

/// `root` to look below, beside it `outside` with a secret.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("tempdir");
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("top/a/b")).expect("folders");
    fs::create_dir_all(at("outside")).expect("outside");
    fs::write(at("outside/secret"), "secret").expect("secret");
    fs::write(at("top/a/b/file"), "inside").expect("file");
    for (link, target) in [
        ("top/in", "a/b/file"),
        ("top/dir", "a/b"),
        ("top/dirslash", "a/b/"),
        ("top/fileslash", "a/b/file/"),
        ("top/a/up", "../a/b/file"),
        ("top/out", "../outside/secret"),
        ("top/outdir", "../outside"),
        ("top/around", "../top/a/b/file"),
        ("top/abs", "/etc/passwd"),
        ("top/dangling", "a/new"),
        ("top/danglingout", "../outside/new"),
        ("top/self", "self"),
        ("top/loop1", "loop2"),
        ("top/loop2", "loop1"),
        ("top/chain", "a/../dir/file"),
    ] {
        symlink(target, at(link)).expect("link");
    }
    symlink(at("top/a/b/file"), at("top/absinside")).expect("link");
    for n in 0..45 {
        symlink(if n == 0 { "a/b/file".to_owned() } else { format!("n{}", n - 1) }, at(&format!("top/n{n}")))
            .expect("link");
    }
    dir
}

fn open_root(dir: &Path, resolver: Resolver) -> RootDir {
    RootDir::new(File::open(dir.join("top")).expect("top").into(), resolver)
}

fn path(below: &str) -> HarnessPath {
    HarnessPath::parse(&format!("/session/{below}"), Use::Stat).expect("path")
}

#[test]
fn reads_follow_links_only_inside() {
    let dir = tree();
    let table: [(&str, std::result::Result<&str, Errno>); 22] = [
        ("a/b/file", Ok("inside")),
        ("in", Ok("inside")),
        ("dir/file", Ok("inside")),
        ("dirslash/file", Ok("inside")),
        ("a/up", Ok("inside")),
        ("chain", Ok("inside")),
        ("n30", Ok("inside")),
        ("fileslash", Err(Errno::NOTDIR)),
        ("out", Err(Errno::XDEV)),
        ("outdir/secret", Err(Errno::XDEV)),
        ("outdir/missing", Err(Errno::XDEV)),
        ("around", Err(Errno::XDEV)),
        ("abs", Err(Errno::XDEV)),
        ("absinside", Err(Errno::XDEV)),
        ("dangling", Err(Errno::NOENT)),
        ("danglingout", Err(Errno::XDEV)),
        ("self", Err(Errno::LOOP)),
        ("loop1", Err(Errno::LOOP)),
        ("n44", Err(Errno::LOOP)),
        ("missing", Err(Errno::NOENT)),
        ("missing/x", Err(Errno::NOENT)),
        ("in/x", Err(Errno::NOTDIR)),
    ];
    for resolver in BOTH {
        let root = open_root(dir.path(), resolver);
        for (below, expected) in table {
            let opened = root.open(&path(below).segments, OFlags::RDONLY, Links::FollowInside);
            let content = opened.map(|file| std::io::read_to_string(File::from(file)).expect("read"));
            assert_eq!(content.as_deref().map_err(|errno| *errno), expected, "{resolver:?} {below}");
        }
    }
}

#[test]
fn writes_refuse_links_everywhere() {
    let dir = tree();
    for resolver in BOTH {
        let root = open_root(dir.path(), resolver);
        for below in ["in", "dir/file", "out", "outdir/secret", "abs", "dangling", "self", "outdir"] {
            let opened = root.open(&path(below).segments, OFlags::RDONLY, Links::Refuse);
            assert_eq!(opened.expect_err(below), Errno::LOOP, "{resolver:?} {below}");
        }
        for below in ["dir/new", "outdir/new", "self/new", "dangling/new"] {
            let error = root.make_parent(&path(below)).expect_err(below);
            assert_eq!(error.reason, Some(Reason::Symlink), "{resolver:?} {below}");
        }
        let (_, had) = root.make_parent(&path("a/x/y/z")).expect("made");
        assert_eq!(had, 1);
        root.unmake_parent(&path("a/x/y/z"), had);
        assert!(!dir.path().join("top/a/x").exists());
    }
    assert_eq!(fs::read_dir(dir.path().join("outside")).expect("outside").count(), 1);
}

#[test]
fn special_files_neither_block_nor_open() {
    let dir = tree();
    rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("top/fifo"), FileType::Fifo, Mode::RUSR, 0).expect("fifo");
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("top/socket")).expect("socket");
    assert!(fs::symlink_metadata(dir.path().join("top/socket")).expect("stat").file_type().is_socket());
    for resolver in BOTH {
        let root = open_root(dir.path(), resolver);
        for below in ["fifo", "socket", "a"] {
            let error = root.open_file(&path(below)).expect_err(below);
            assert_eq!(error.code, crate::error::Code::NotRegularFile, "{resolver:?} {below}");
        }
    }
}

#[test]
fn names_are_taken_as_they_stand_then_composed() {
    let dir = tree();
    let (decomposed, composed) = ("e\u{301}", "\u{e9}");
    let at = |name: &str| dir.path().join("top").join(name);
    for resolver in BOTH {
        let root = open_root(dir.path(), resolver);
        let located = |below: &str| root.locate(&path(below), Links::Refuse).segments.join("/");
        assert_eq!(located(decomposed), composed, "new names are composed");
        fs::create_dir_all(at(decomposed)).expect("folder");
        assert_eq!(located(&format!("{decomposed}/{decomposed}")), format!("{decomposed}/{composed}"));
        fs::create_dir_all(at(composed)).expect("twin");
        assert_eq!(located(decomposed), decomposed, "each twin by its own bytes");
        assert_eq!(located(composed), composed);
        fs::remove_dir(at(decomposed)).expect("clean");
        assert_eq!(located(decomposed), composed, "the composed one is found");
        fs::remove_dir(at(composed)).expect("clean");
    }
    assert_eq!(path("a").root, Root::Session);
}

/// Ends the swapping thread, also when an assertion fails.
struct StopOnDrop<'a>(&'a AtomicBool);
impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    let dir = tree();
    fs::create_dir_all(dir.path().join("top/swap")).expect("folder");
    fs::write(dir.path().join("top/swap/secret"), "inside").expect("file");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            let root = File::open(dir.path().join("top")).expect("top");
            while !stop.load(Ordering::Relaxed) {
                sys::exchange(&root, "swap", &root, "outdir").expect("exchange");
            }
        });
        for resolver in BOTH {
            let root = open_root(dir.path(), resolver);
            for _ in 0..3_000 {
                for links in [Links::Refuse, Links::FollowInside] {
                    match root.open(&path("swap/secret").segments, OFlags::RDONLY, links) {
                        Ok(file) => assert_eq!(std::io::read_to_string(File::from(file)).expect("read"), "inside"),
                        // ENOTDIR: it was a link when it was opened and a folder again when it was looked at.
                        Err(errno) => assert!(
                            matches!(errno, Errno::LOOP | Errno::XDEV | Errno::NOENT | Errno::NOTDIR),
                            "{errno}"
                        ),
                    }
                }
                if let Ok((folder, _)) = root.make_parent(&path("swap/made/x")) {
                    drop(folder);
                }
            }
        }
    });
    let names: Vec<_> =
        fs::read_dir(dir.path().join("outside")).expect("outside").flatten().map(|entry| entry.file_name()).collect();
    // The folder and the link have changed places an unknown number of times; the secret's folder holds just the secret.
    assert_eq!(names, ["secret"]);
}
