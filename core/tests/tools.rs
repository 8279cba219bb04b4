//! What tools stand on, as several processes use it: versions, guarded writes and edits, windows of files that grow.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use little_files::cancel::Cancel;
use little_files::edit::{Edit, EditOptions, PendingEdit};
use little_files::error::{Code, Error};
use little_files::host::{Host, HostOptions};
use little_files::path::Root;
use little_files::root::Resolver;
use little_files::session::Session;
use little_files::version::FileVersion;
use little_files::window::{ByteWindowOptions, JsonWindowOptions, LineWindowOptions};
use little_files::write::{Outcome, PendingWrite, WriteOptions};

/// Two hosts on one folder share nothing but the disk, like two processes.
struct Two {
    _dir: tempfile::TempDir,
    _hosts: [Host; 2],
    sessions: [Arc<Session>; 2],
}

fn two(resolver: Option<Resolver>) -> Two {
    let dir = tempfile::tempdir().expect("tempdir");
    let host = || Host::open(dir.path(), HostOptions { resolver, ..HostOptions::default() }).expect("host");
    let hosts = [host(), host()];
    let session = |host: &Host| host.open_session("one", true, None).expect("session").expect("made");
    let sessions = [session(&hosts[0]), session(&hosts[1])];
    Two { _dir: dir, _hosts: hosts, sessions }
}

/// Tries again while a lock is held, as the addon does.
fn patient<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match attempt() {
            Err(error) if error.is_held() => std::thread::yield_now(),
            other => return other,
        }
    }
}

fn write(session: &Arc<Session>, content: &[u8], options: WriteOptions) -> Result<Outcome, Error> {
    let mut pending = PendingWrite::begin(session, "/session/a", options, Cancel::new())?;
    pending.push(content)?;
    patient(|| pending.publish())?;
    Ok(pending.outcome().expect("published"))
}

fn edit(session: &Arc<Session>, old: &str, new: &str, if_version: FileVersion) -> Result<FileVersion, Error> {
    let edits = vec![Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }];
    let options = EditOptions { if_version: Some(if_version), ..EditOptions::default() };
    let mut pending = PendingEdit::begin(session, "/session/a", edits, options, Cancel::new())?;
    patient(|| pending.publish()).map(|edited| edited.version)
}

#[test]
fn of_two_guarded_writers_and_editors_one_wins() {
    for resolver in [None, Some(Resolver::Walk)] {
        let two = two(resolver);
        let mut version = write(&two.sessions[0], b"start;", WriteOptions::default()).expect("new").version;
        for round in 0..30 {
            let race = |session: &Arc<Session>, n: usize| {
                if usize::is_multiple_of(round + n, 2) {
                    edit(session, ";", &format!("{n};"), version)
                } else {
                    let options = WriteOptions { if_version: Some(version), ..WriteOptions::default() };
                    write(session, format!("{round}-{n};").as_bytes(), options).map(|outcome| outcome.version)
                }
            };
            let results = std::thread::scope(|scope| {
                let racers = [0, 1].map(|n| {
                    let session = &two.sessions[n];
                    scope.spawn(move || race(session, n))
                });
                racers.map(|racer| racer.join().expect("no panic"))
            });
            let stale = |result: &Result<FileVersion, Error>| {
                result.as_ref().err().is_some_and(|error| error.code == Code::StaleVersion)
            };
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
            assert_eq!(results.iter().filter(|result| stale(result)).count(), 1, "{results:?}");
            version = results.into_iter().find_map(Result::ok).expect("a winner");
        }
    }
}

#[test]
fn a_file_is_made_once() {
    let two = two(None);
    for _ in 0..20 {
        let made = std::thread::scope(|scope| {
            let makers = [0, 1].map(|n| {
                let session = &two.sessions[n];
                scope.spawn(move || {
                    let options = WriteOptions { if_none_match: true, ..WriteOptions::default() };
                    write(session, b"x", options).map(|outcome| outcome.created)
                })
            });
            makers.map(|maker| maker.join().expect("no panic"))
        });
        assert_eq!(made.iter().filter(|made| matches!(made, Ok(true))).count(), 1, "{made:?}");
        let exists = |made: &Result<bool, Error>| made.as_ref().err().is_some_and(|it| it.code == Code::AlreadyExists);
        assert_eq!(made.iter().filter(|made| exists(made)).count(), 1, "{made:?}");
        std::fs::remove_file(two.sessions[0].host_path(Root::Session).join("a")).expect("removed");
    }
}

#[test]
fn a_write_tells_the_version_and_the_text_before() {
    let two = two(None);
    let [one, other] = &two.sessions;
    let first = write(one, "é".as_bytes(), WriteOptions::default()).expect("new");
    assert!(first.created && first.before.is_none());
    assert_eq!(other.version("/session/a", false).expect("stat").version.to_string(), first.version.to_string());
    let asked = |keep_before| WriteOptions { keep_before, if_version: Some(first.version), ..WriteOptions::default() };
    let short = write(other, b"b", asked(1)).expect("same version");
    assert!(!short.created && short.before.is_none(), "longer than what was asked for");
    let stale = write(other, b"c", asked(10)).expect_err("changed");
    assert_eq!(stale.code, Code::StaleVersion);
    let whole = write(one, b"\xFF\0", WriteOptions { keep_before: 10, ..WriteOptions::default() }).expect("written");
    assert_eq!(whole.before_text().as_deref(), Some("b"));
    let bytes = write(one, b"d", WriteOptions { keep_before: 10, ..WriteOptions::default() }).expect("written");
    assert_eq!(bytes.before_text(), None, "no text");
}

#[test]
fn a_version_survives_the_same_times_and_size() {
    let two = two(None);
    let session = &two.sessions[0];
    let file = session.host_path(Root::Session).join("a");
    std::fs::write(&file, b"one").expect("made");
    std::thread::sleep(Duration::from_millis(50));
    let seen = session.version("/session/a", false).expect("stat").version;
    let times = std::fs::metadata(&file).expect("stat").modified().expect("time");
    std::fs::write(&file, b"two").expect("changed");
    File::options().write(true).open(&file).expect("open").set_modified(times).expect("times");
    assert_eq!(edit(session, "two", "x", seen).expect_err("changed").code, Code::StaleVersion);
    assert_ne!(session.version("/session/a", false).expect("stat").version, seen);
}

#[test]
fn a_file_that_grows_gives_answers_of_one_state() {
    let two = two(None);
    let session = &two.sessions[0];
    let path = session.host_path(Root::Session).join("a");
    let mut file = File::create(&path).expect("made");
    file.write_all(&b"a line of twenty by\n".repeat(50_000)).expect("written");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                file.write_all(&b"a line of twenty by\n".repeat(17)).expect("grown");
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        for round in 0..40 {
            let options = LineWindowOptions { offset: 50_000, limit: 10, max_line_characters: 99, max_bytes: 999 };
            let window = session.line_window("/session/a", &options, &Cancel::new()).expect("window");
            // Between two writes or within one: whole lines and the beginning of another.
            assert_eq!(window.total_lines, window.bytes.div_ceil(20), "{round}");
            assert!(window.first_line == 50_000 && window.text.starts_with("a line of twenty by"));
            let bytes = ByteWindowOptions { offset: window.bytes, limit: 10 };
            let more = session.byte_window("/session/a", &bytes, &Cancel::new()).expect("window");
            assert!(more.bytes >= window.bytes && more.start == window.bytes);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let two = two(None);
    let session = &two.sessions[0];
    let fifo = session.host_path(Root::Session).join("a");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).expect("fifo");
    std::fs::create_dir(session.host_path(Root::Session).join("d")).expect("folder");
    for path in ["/session/a", "/session/d"] {
        let lines = LineWindowOptions { offset: 1, limit: 1, max_line_characters: 9, max_bytes: 99 };
        let json = JsonWindowOptions { pointer: String::new(), offset: 0, limit: 1, max_bytes: 99 };
        let cancel = Cancel::new();
        let refused = [
            session.line_window(path, &lines, &cancel).err(),
            session.byte_window(path, &ByteWindowOptions { offset: 0, limit: 9 }, &cancel).err(),
            session.json_window(path, &json, &cancel).err(),
        ];
        for error in refused {
            assert_eq!(error.expect(path).code, Code::NotRegularFile);
        }
    }
}
