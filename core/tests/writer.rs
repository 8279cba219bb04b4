//! The writer as a host of the core uses it: bytes in any chunking, guards, locks, totals.

use std::fs;
use std::sync::Arc;

use little_files::cancel::Cancel;
use little_files::digest::Digest;
use little_files::error::{Code, Error};
use little_files::host::{Host, HostOptions, Quota};
use little_files::list::ListOptions;
use little_files::path::Root;
use little_files::read::ReadOptions;
use little_files::remove::RemoveOptions;
use little_files::root::Resolver;
use little_files::session::Session;
use little_files::write::{PendingWrite, WriteOptions, Written};
use proptest::prelude::*;

struct Open {
    dir: tempfile::TempDir,
    host: Host,
    session: Arc<Session>,
}

fn open(options: HostOptions) -> Open {
    let dir = tempfile::tempdir().expect("tempdir");
    let host = Host::open(dir.path(), options).expect("host");
    let session = host.open_session("one", true, None).expect("session").expect("made");
    Open { dir, host, session }
}

fn write(session: &Arc<Session>, path: &str, content: &[u8], options: WriteOptions) -> Result<Written, Error> {
    let mut pending = PendingWrite::begin(session, path, options, Cancel::new())?;
    pending.push(content)?;
    pending.publish()
}

fn read(session: &Session, path: &str) -> Result<Vec<u8>, Error> {
    let all = ReadOptions { start: None, end: None, max_bytes: u64::MAX, utf8: false };
    session.read(path, &all, &Cancel::new()).map(|data| data.content)
}

/// Names in the staging folders of all hosts.
fn staged(open: &Open) -> usize {
    let folders = fs::read_dir(open.dir.path().join("sessions/one/staging")).expect("staging").flatten();
    folders.map(|folder| fs::read_dir(folder.path()).expect("folder").count()).sum()
}

#[test]
fn a_guarded_write_needs_the_version_it_names() {
    for resolver in [None, Some(Resolver::Walk)] {
        let open = open(HostOptions { resolver, ..HostOptions::default() });
        let first = write(&open.session, "/session/a", b"one", WriteOptions::default()).expect("new");
        let guard = |digest| WriteOptions { if_match: Some(digest), ..WriteOptions::default() };
        write(&open.session, "/session/a", b"two", guard(first.digest)).expect("unchanged");
        let stale = write(&open.session, "/session/a", b"three", guard(first.digest)).expect_err("changed");
        assert_eq!(stale.code, Code::StaleVersion);
        let absent = write(&open.session, "/session/b", b"x", guard(first.digest)).expect_err("absent");
        assert_eq!(absent.code, Code::StaleVersion);
        // By another program, to the same size and with its old times: only the content tells.
        let file = open.session.host_path(Root::Session).join("a");
        let times = fs::metadata(&file).expect("stat").modified().expect("time");
        fs::write(&file, b"TWO").expect("rewrite");
        fs::File::options().write(true).open(&file).expect("open").set_modified(times).expect("times");
        let stale = write(&open.session, "/session/a", b"three", guard(Digest::of(b"two"))).expect_err("changed");
        assert_eq!(stale.code, Code::StaleVersion);
        assert_eq!(read(&open.session, "/session/a").expect("read"), b"TWO");
        let only_new = WriteOptions { if_none_match: true, ..WriteOptions::default() };
        assert_eq!(
            write(&open.session, "/session/a", b"x", only_new.clone()).expect_err("there").code,
            Code::AlreadyExists
        );
        write(&open.session, "/session/new", b"x", only_new).expect("new");
        assert_eq!(staged(&open), 0);
    }
}

#[test]
fn one_of_many_guarded_writers_wins() {
    let open = open(HostOptions::default());
    let first = write(&open.session, "/session/a", b"start", WriteOptions::default()).expect("new");
    let wins = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..16)
            .map(|n| {
                let session = &open.session;
                scope.spawn(move || {
                    let options = WriteOptions { if_match: Some(first.digest), ..WriteOptions::default() };
                    write(session, "/session/a", format!("writer {n}").as_bytes(), options)
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().expect("no panic")).count()
    });
    assert_eq!(wins, 1);
    assert_eq!(staged(&open), 0);
}

#[test]
fn a_held_lock_is_told_and_nothing_is_lost_by_trying_again() {
    let open = open(HostOptions::default());
    let lock = fs::File::open(open.dir.path().join("sessions/one/publish.lock")).expect("lock file");
    lock.lock().expect("lock");
    let mut pending =
        PendingWrite::begin(&open.session, "/session/a", WriteOptions::default(), Cancel::new()).expect("begun");
    pending.push(b"content").expect("pushed");
    assert!(pending.publish().expect_err("held").is_held());
    assert_eq!(read(&open.session, "/session/a").expect_err("not there").code, Code::NotFound);
    lock.unlock().expect("unlock");
    assert_eq!(pending.publish().expect("free").bytes, 7);
}

#[test]
fn totals_follow_each_change() {
    let quota = Quota { session_bytes: Some(100), session_files: Some(3), file_bytes: Some(60) };
    let open = open(HostOptions { quota, ..HostOptions::default() });
    let put = |path: &str, size: usize| {
        write(&open.session, path, &vec![b'x'; size], WriteOptions::default()).map(|written| written.bytes)
    };
    put("/session/a", 60).expect("fits");
    assert_eq!(put("/session/b", 61).expect_err("file limit").code, Code::QuotaExceeded);
    assert_eq!(put("/session/b", 41).expect_err("session limit").code, Code::QuotaExceeded);
    put("/session/b", 40).expect("fits just");
    put("/session/a", 10).expect("shrinks");
    put("/session/c", 50).expect("fits again");
    assert_eq!(put("/session/d", 0).expect_err("too many files").code, Code::QuotaExceeded);
    let all = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    open.session.remove("/session/c", &all, &Cancel::new()).expect("removed");
    put("/session/d", 50).expect("fits");
    let status = open.session.status().expect("status");
    assert_eq!((status.files, status.bytes), (3, 100));
}

#[test]
fn a_second_host_sees_what_the_first_recorded() {
    let open = open(HostOptions::default());
    let options = WriteOptions { media_type: Some("x/y".into()), ..WriteOptions::default() };
    write(&open.session, "/session/a", b"content", options).expect("written");
    let other = Host::open(open.dir.path(), HostOptions::default()).expect("second host");
    let session = other.open_session("one", false, None).expect("open").expect("there");
    let entry = session.stat("/session/a").expect("stat");
    assert_eq!(entry.facts.expect("known").media_type.as_deref(), Some("x/y"));
    assert!(other.open_session("two", false, None).expect("open").is_none());
    open.host.delete_session("one").expect("deleted");
    assert_eq!(session.stat("/session/a").expect_err("deleted").code, Code::Closed);
    assert!(other.open_session("one", false, None).expect("open").is_none());
}

fn order(session: &Arc<Session>, after: Option<String>, limit: Option<u64>) -> Vec<String> {
    let options = ListOptions { recursive: true, after, limit, ..ListOptions::default() };
    let mut listing = session.list("/session", &options, Cancel::new()).expect("list");
    let mut paths = Vec::new();
    loop {
        let batch = listing.next_batch(3).expect("batch");
        if batch.is_empty() {
            return paths;
        }
        paths.extend(batch.into_iter().map(|entry| entry.path));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_in_any_chunking_are_the_same_file(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300_000), 0..5)) {
        let open = open(HostOptions::default());
        let mut pending = PendingWrite::begin(&open.session, "/session/a", WriteOptions::default(), Cancel::new()).expect("begun");
        for chunk in &chunks {
            pending.push(chunk).expect("pushed");
        }
        let written = pending.publish().expect("published");
        let whole = chunks.concat();
        prop_assert_eq!(written.digest, Digest::of(&whole));
        prop_assert_eq!(written.bytes, whole.len() as u64);
        prop_assert_eq!(read(&open.session, "/session/a").expect("read"), whole);
    }

    #[test]
    fn listings_are_in_the_order_of_whole_paths_and_pages_join(names in prop::collection::btree_set("[-a./]{1,6}", 1..12), limit in 1_u64..4) {
        let open = open(HostOptions::default());
        for name in &names {
            // Names that are refused, or whose folder is a file already, are not the matter here.
            let _ = write(&open.session, &format!("/session/{name}"), b"", WriteOptions::default());
        }
        let whole = order(&open.session, None, None);
        let mut sorted = whole.clone();
        sorted.sort_unstable();
        prop_assert_eq!(&whole, &sorted);
        let mut pages = Vec::new();
        loop {
            let page = order(&open.session, pages.last().cloned(), Some(limit));
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        prop_assert_eq!(pages, whole);
    }
}
