//! Turns, large results and tracking as a host of the core uses them.

use std::fs;
use std::sync::Arc;

use little_files::cancel::Cancel;
use little_files::error::Code;
use little_files::host::{Host, HostOptions};
use little_files::offload::{OffloadOptions, PendingOffload};
use little_files::path::Root;
use little_files::remove::RemoveOptions;
use little_files::session::Session;
use little_files::track::{Change, FileChange};
use little_files::write::{Origin, PendingWrite, WriteOptions};
use serde_json::Value;

fn open() -> (tempfile::TempDir, Host, Arc<Session>) {
    let dir = tempfile::tempdir().expect("tempdir");
    let host = Host::open(dir.path(), HostOptions::default()).expect("host");
    let session = host.open_session("one", true, None).expect("session").expect("made");
    (dir, host, session)
}

fn write(session: &Arc<Session>, path: &str, content: &[u8]) {
    let mut pending = PendingWrite::begin(session, path, WriteOptions::default(), Cancel::new()).expect("begun");
    pending.push(content).expect("pushed");
    pending.publish().expect("published");
}

fn offload(session: &Arc<Session>, id: Option<&str>, content: &str) -> (String, Value) {
    let options = OffloadOptions {
        output_dir: "/artifacts/tool-results".into(),
        tool_name: "query".into(),
        tool_call_id: id.map(str::to_owned),
        extension: "json".into(),
        media_type: "application/json".into(),
        max_inline_bytes: 1_024,
        preview_bytes: 100,
        text: true,
        source: "tool".into(),
        turn_id: None,
        origin: Origin::Tool,
    };
    let mut pending = PendingOffload::begin(session, options, Cancel::new()).expect("begun");
    for piece in content.as_bytes().chunks(7) {
        pending.push(piece).expect("pushed");
    }
    let (written, reference) = pending.finish().expect("stored");
    let file = session.host_path(Root::Artifacts).join(written.path.trim_start_matches("/artifacts/"));
    assert_eq!(fs::read_to_string(file).expect("file"), content);
    (written.path, serde_json::from_str(&reference).expect("JSON"))
}

#[test]
fn one_turn_at_a_time_and_no_delete_meanwhile() {
    let (_dir, host, session) = open();
    let turn = session.begin_turn().expect("free");
    assert!(session.begin_turn().expect_err("held").is_held());
    assert_eq!(host.delete_session("one").expect_err("turn runs").code, Code::Busy);
    drop(turn);
    drop(session.begin_turn().expect("free again"));
    host.delete_session("one").expect("deleted");
    assert_eq!(session.begin_turn().expect_err("gone").code, Code::Closed);
}

#[test]
fn results_are_never_stored_over_different_content() {
    let (_dir, _host, session) = open();
    let (first, reference) = offload(&session, Some("call_1"), r#"{"a":[1,2]}"#);
    assert_eq!(first, "/artifacts/tool-results/query/call_1.json");
    assert_eq!(reference["summary"]["structure"]["keys"]["a"]["length"], 2);
    let (again, same) = offload(&session, Some("call_1"), r#"{"a":[1,2]}"#);
    assert_eq!((again, same), (first.clone(), reference));
    let (other, _) = offload(&session, Some("call_1"), r#"{"a":[1,2,3]}"#);
    assert_ne!(other, first);
    let (nameless, _) = offload(&session, None, "[]");
    let (also, _) = offload(&session, Some(""), "[1]");
    assert_ne!(nameless, also);
    for id in ["../../x", "CON", &"A".repeat(1_400)] {
        let (path, reference) = offload(&session, Some(id), "{}");
        assert!(path.starts_with("/artifacts/tool-results/query/"), "{path}");
        assert!(reference.to_string().len() <= 1_024);
    }
}

#[test]
fn what_other_programs_changed() {
    let (_dir, _host, session) = open();
    let root = session.host_path(Root::Session);
    for name in ["same", "edited", "removed", "touched", "ours", "taken"] {
        write(&session, &format!("/session/{name}"), name.as_bytes());
    }
    fs::write(root.join("unknown"), "there before").expect("planted");
    let before = session.snapshot().expect("snapshot");
    // Other programs, right after our writes: some to the same size.
    fs::write(root.join("edited"), "EDITED").expect("edit");
    fs::remove_file(root.join("removed")).expect("remove");
    fs::write(root.join("touched"), "touched").expect("rewrite with the same");
    fs::create_dir(root.join("dir")).expect("folder");
    fs::write(root.join("dir/new"), "new").expect("new");
    fs::remove_file(root.join("unknown")).expect("remove");
    // Ours meanwhile.
    write(&session, "/session/ours", b"ours again");
    session.remove("/session/taken", &RemoveOptions::default(), &Cancel::new()).expect("remove");
    let changes = session.changes_since(&before, "shell", Some("turn-1")).expect("changes");
    let told: Vec<_> = changes.iter().map(|FileChange { path, change, .. }| (path.as_str(), *change)).collect();
    assert_eq!(
        told,
        [
            ("/session/dir/new", Change::Created),
            ("/session/edited", Change::Updated),
            ("/session/removed", Change::Deleted),
            ("/session/unknown", Change::Deleted),
        ]
    );
    let edited = &changes[1];
    assert_eq!(edited.before.expect("known").bytes, 6);
    assert_ne!(edited.before.map(|before| before.digest), edited.after.map(|after| after.digest));
    // Told once.
    let now = session.snapshot().expect("snapshot");
    assert!(session.changes_since(&now, "shell", None).expect("changes").is_empty());
    let events = session.take_events(1_000);
    let of_shell = events.iter().filter(|event| event.contains(r#""source":"shell""#));
    assert_eq!(of_shell.clone().count(), 4);
    assert!(of_shell.clone().all(|event| event.contains(r#""turnId":"turn-1""#)));
}
