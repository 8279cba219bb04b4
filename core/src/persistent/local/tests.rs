//! A commit that fails, or dies, at each of its steps: afterwards the source holds all of it or none, whoever opens it
//! next, and the sender can always bring it to its end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::steps::fault::{self, Fault};
use crate::cancel::Cancel;
use crate::error::{Code, Error};
use crate::host::{Host, HostOptions};
use crate::persistent::{Below, Declaration, LocalSource, Operation, Source};
use crate::remove::RemoveOptions;
use crate::session::Session;
use crate::write::{PendingWrite, WriteOptions};

const DIR: &str = "/persistent/notes";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(files: &Tree) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let source = dir.path().join("source");
        for (path, content) in files {
            let full = source.join(path);
            fs::create_dir_all(full.parent().expect("parent")).expect("folders");
            fs::write(full, content).expect("file");
        }
        Self { dir }
    }

    fn source(&self) -> LocalSource {
        LocalSource { below: Below::Root, path: self.dir.path().join("source").to_string_lossy().into_owned() }
    }

    fn session(&self, data_dir: &str) -> (Host, Arc<Session>) {
        let source = Some(self.source());
        let declaration = Declaration { harness_dir: DIR.to_owned(), read_only: false, local: true, source };
        let options = HostOptions { persistent_dirs: vec![declaration], ..HostOptions::default() };
        let host = Host::open(&self.dir.path().join(data_dir), options).expect("host");
        let session = host.open_session("one", true, None).expect("session").expect("made");
        (host, session)
    }

    fn begin(&self, session: &Arc<Session>) -> Operation {
        let source = Source::Local(self.source(), Vec::new());
        Operation::begin(session, 0, Some(&source), true).expect("operation")
    }

    /// What the source holds, without what is ours in it.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        read_tree(&self.dir.path().join("source"), "", &mut tree);
        tree
    }
}

type Tree = BTreeMap<String, String>;

fn read_tree(folder: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == ".little-harness" {
            continue;
        }
        if entry.file_type().expect("type").is_dir() {
            read_tree(&entry.path(), &format!("{name}/"), tree);
        } else {
            tree.insert(name, fs::read_to_string(entry.path()).expect("file"));
        }
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|&(path, content)| (path.to_owned(), content.to_owned())).collect()
}

fn before() -> Tree {
    tree(&[("kept", "k"), ("update", "old"), ("delete", "gone"), ("file", "f"), ("folder/below", "b")])
}

/// An update, a deletion, a new file in a new folder, a file that becomes a folder and a folder that becomes a file.
fn after() -> Tree {
    tree(&[("kept", "k"), ("update", "new"), ("made/in/folders", "m"), ("file/below", "f"), ("folder", "b")])
}

fn write(session: &Arc<Session>, path: &str, content: &str) {
    let mut pending = PendingWrite::begin(session, path, WriteOptions::default(), Cancel::new()).expect("begin");
    pending.push(content.as_bytes()).expect("push");
    pending.publish().expect("publish");
}

fn change(session: &Arc<Session>) {
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    for gone in ["delete", "file", "folder"] {
        session.remove(&format!("{DIR}/{gone}"), &options, &Cancel::new()).expect("remove");
    }
    for (path, content) in after() {
        if before().get(&path) != Some(&content) {
            write(session, &format!("{DIR}/{path}"), &content);
        }
    }
}

/// As the caller of the core does it; a conflict or failure is noted.
fn commit(operation: &mut Operation, fault: Fault) -> Result<u64, Error> {
    let cancel = Cancel::new();
    fault::arm(fault);
    let begun = operation.begin_commit(None, &cancel);
    let Ok(Some(mut commit)) = begun else {
        fault::arm(Fault::None);
        return begun.map(|_| 0);
    };
    let applied = operation.apply(&mut commit, &cancel);
    let (count, dead) = (fault::count(), fault::is_dead());
    if dead {
        // The process is gone: nobody cleans up.
        drop(commit);
        fault::arm(Fault::None);
        return applied.map(|()| count);
    }
    fault::arm(Fault::None);
    if let Err(error) = &applied {
        let conflict = error.code == Code::Conflict;
        operation.failed(error.code.as_str(), &error.message, !conflict).expect("noted");
    }
    applied.map(|()| count)
}

fn load(operation: &mut Operation) {
    operation.load_local(Vec::new(), &Cancel::new()).expect("load");
}

fn committed(place: &Place, session: &Arc<Session>) {
    let mut operation = place.begin(session);
    load(&mut operation);
    commit(&mut operation, Fault::None).expect("commit");
    assert_eq!(place.tree(), after());
    assert!(operation.pending(&Cancel::new()).expect("scan").is_empty());
    assert!(operation.conflicts().is_empty());
}

#[test]
fn a_commit_that_dies_at_any_step_is_all_or_nothing() {
    let mut outcomes = [0, 0];
    for at in 1.. {
        let place = Place::new(&before());
        let (_host, session) = place.session("data");
        let mut operation = place.begin(&session);
        load(&mut operation);
        change(&session);
        let died = commit(&mut operation, Fault::DieAt(at));
        drop(operation);
        if let Ok(count) = died
            && count < at
        {
            assert!(at > 30, "only {at} steps");
            break;
        }
        // Whoever comes next, from whatever dataDir, sees all of it or nothing.
        let (_other_host, other) = place.session("elsewhere");
        load(&mut place.begin(&other));
        let seen = place.tree();
        outcomes[usize::from(seen == after())] += 1;
        assert!(seen == before() || seen == after(), "died at {at}: {seen:?}");
        // A commit that began and got no journal leaves its folder to the next commit.
        let left = fs::read_dir(place.dir.path().join("source/.little-harness")).map_or(0, |entries| {
            let unfinished =
                |entry: &fs::DirEntry| entry.path().extension().is_some_and(|kind| kind == "journal" || kind == "undo");
            entries.flatten().filter(unfinished).count()
        });
        assert_eq!(left, 0, "died at {at}: {left} unfinished");
        // The sender brings it to its end.
        let (_again, session) = place.session("data");
        committed(&place, &session);
    }
    assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
}

#[test]
fn a_commit_that_fails_at_any_step_can_be_tried_again() {
    for at in 1.. {
        let place = Place::new(&before());
        let (_host, session) = place.session("data");
        let mut operation = place.begin(&session);
        load(&mut operation);
        change(&session);
        let failed = commit(&mut operation, Fault::FailAt(at));
        if let Ok(count) = failed
            && count < at
        {
            break;
        }
        let seen = place.tree();
        assert!(seen == before() || seen == after() || failed.is_err(), "failed at {at}: {seen:?}");
        drop(operation);
        committed(&place, &session);
    }
}

#[test]
fn a_change_of_another_program_is_a_conflict_and_nothing_is_applied() {
    let place = Place::new(&before());
    let (_host, session) = place.session("data");
    let mut operation = place.begin(&session);
    load(&mut operation);
    change(&session);
    fs::write(place.dir.path().join("source/update"), "by hand").expect("write");
    let error = commit(&mut operation, Fault::None).expect_err("conflict");
    assert_eq!(error.code, Code::Conflict);
    let mut expected = before();
    expected.insert("update".to_owned(), "by hand".to_owned());
    assert_eq!(place.tree(), expected);
    load(&mut operation);
    let conflicts = operation.conflicts();
    assert_eq!(conflicts.iter().map(|conflict| conflict.path.as_str()).collect::<Vec<_>>(), ["update"]);
    operation.resolve("update", crate::persistent::Side::Ours, &Cancel::new()).expect("resolve");
    drop(operation);
    committed(&place, &session);
}
