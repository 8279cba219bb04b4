use proptest::prelude::*;

use super::*;
use crate::testing::{Open, open};

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }
}

fn all(old: &str, new: &str) -> Edit {
    Edit { replace_all: true, ..edit(old, new) }
}

fn run_with(open: &Open, edits: Vec<Edit>, options: EditOptions) -> Result<Edited> {
    let options = EditOptions { diff_bytes: 100_000, ..options };
    PendingEdit::begin(&open.session, "/session/a", edits, options, Cancel::new())?.publish()
}

fn run(open: &Open, edits: Vec<Edit>) -> Result<Edited> {
    run_with(open, edits, EditOptions::default())
}

#[test]
fn what_becomes_of_a_text() {
    let table: [(&str, Vec<Edit>, &str, u64); 19] = [
        ("one two", vec![edit("two", "2")], "one 2", 1),
        ("a a a", vec![all("a", "b")], "b b b", 3),
        ("a b", vec![edit("a", "b"), edit("b", "a")], "b a", 2), // all against the original
        ("ab", vec![edit("b", "2"), edit("a", "1")], "12", 2),
        ("a\n", vec![edit("a", "")], "\n", 1),
        // A BOM, trailing white space and the last line end stay.
        ("\u{FEFF}a \t\nb", vec![edit("b", "c")], "\u{FEFF}a \t\nc", 1),
        ("\u{FEFF}a", vec![edit("a", "b")], "\u{FEFF}b", 1),
        // Line ends: each stays, and what is new follows the place.
        ("a\r\nb\r\nc", vec![edit("b", "x\ny")], "a\r\nx\r\ny\r\nc", 1),
        ("a\r\nb\r\nc", vec![edit("a\nb", "a\nx\nb")], "a\r\nx\r\nb\r\nc", 1),
        ("a\rb\rc", vec![edit("a\nb", "b\na")], "b\ra\rc", 1),
        ("a\nb\r\nc\n", vec![edit("a\nb\nc", "x\ny\nz")], "x\ny\r\nz\n", 1),
        ("a\nb\r\nc\r\n", vec![edit("a\nb", "x\ny")], "x\ny\r\nc\r\n", 1), // literally there
        ("a\nb\r\n", vec![edit("a", "x\ny")], "x\ny\nb\r\n", 1),
        ("a\nb\r\n", vec![edit("b", "x\ny")], "a\nx\r\ny\r\n", 1),
        ("a\r\nb", vec![edit("b", "x\r\ny")], "a\r\nx\r\ny", 1),
        ("a\nb\n", vec![edit("a\r\nb", "x\r\ny")], "x\ny\n", 1), // the model thinks of CRLF, the file has none
        ("a\r\nb\r\n", vec![edit("\nb", "\nc")], "a\r\nc\r\n", 1),
        ("a\r\nb\r\na\r\nb", vec![all("a\nb", "c\nd")], "c\r\nd\r\nc\r\nd", 2),
        ("x", vec![edit("x", "a\nb")], "a\nb", 1),
    ];
    let open = open();
    for (before, edits, after, replacements) in table {
        open.put("a", before.as_bytes());
        let edited = run(&open, edits).expect(before);
        assert_eq!(String::from_utf8(open.get("a")).expect("text"), after, "{before:?}");
        assert_eq!(edited.replacements, replacements, "{before:?}");
        assert_eq!(edited.written.digest, Digest::of(after.as_bytes()));
    }
}

#[test]
fn a_text_that_repeats_itself_takes_no_longer_than_another() {
    let open = open();
    let (text, old) = ("x".repeat(1 << 20), "x".repeat(1 << 19)); // half a million places, each half a million bytes long
    open.put("a", text.as_bytes());
    let error = run(&open, vec![edit(&old, "y")]).expect_err("ambiguous");
    assert_eq!(error.code, Code::AmbiguousEdit);
    assert!(error.to_string().contains("at least"), "{error}");
    assert_eq!(run(&open, vec![Edit { replace_all: true, ..edit(&old, "y") }]).expect("all").replacements, 2);
}

#[test]
fn refusals() {
    let table: [(&[u8], Vec<Edit>, Code, &str); 15] = [
        (b"a", vec![], Code::InvalidOption, "no edits"),
        (b"a", vec![edit("", "b")], Code::InvalidOption, "empty"),
        (b"a", vec![edit("a", "a")], Code::InvalidOption, "equals"),
        (b"a", vec![edit("a", "b"), edit("c", "c")], Code::InvalidOption, "edit 2 of 2"),
        (b"a", vec![edit("b", "c")], Code::EditNotFound, "not in /session/a."),
        (b"x\n  a\n", vec![edit("a\nb", "c")], Code::EditNotFound, "first line is at line 2"),
        (b"x\na  b\n", vec![edit(" a  b\n", "c")], Code::EditNotFound, "line 2 it stands with other white space"),
        (b"a\nb\na\n", vec![edit("a", "c")], Code::AmbiguousEdit, "2 times, at lines 1, 3 of"),
        (b"aaa", vec![edit("aa", "c")], Code::AmbiguousEdit, "2 times, some of them overlapping, at lines 1, 1"),
        (b"a\r\nb\r\na\r\nb", vec![edit("a\nb", "c")], Code::AmbiguousEdit, "(whatever the line ends), at lines 1, 3"),
        (b"abc", vec![edit("ab", "x"), edit("bc", "y")], Code::InvalidOption, "Edits 1 and 2 overlap at line 1"),
        (b"a\r\nb", vec![edit("a\nb", "a\r\nb")], Code::InvalidOption, "changes nothing"),
        (b"a\0b", vec![edit("a", "b")], Code::NotText, "NUL"),
        (b"\xFF\xFEa\0", vec![edit("a", "b")], Code::NotText, "UTF-16"),
        (b"\x89PNG\r\n\x1A\n", vec![edit("a", "b")], Code::NotText, "image/png"),
    ];
    let open = open();
    for (before, edits, code, says) in table {
        open.put("a", before);
        let error = run(&open, edits).expect_err(says);
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(says), "{error}");
        assert_eq!(open.get("a"), before);
    }
    let late = [vec![b'a'; 9_000], b"\n\xFFb".to_vec()].concat();
    open.put("a", &late);
    let error = run(&open, vec![edit("b", "c")]).expect_err("no text");
    assert!(error.code == Code::NotText && error.message.contains("line 2"), "{error}");
    std::fs::remove_file(open.file("a")).expect("removed");
    assert_eq!(run(&open, vec![edit("a", "b")]).expect_err("gone").code, Code::NotFound);
}

#[test]
fn a_version_is_compared_before_the_match() {
    let open = open();
    open.put("a", b"one");
    let version = open.session.version("/session/a", false).expect("stat").version;
    let guarded = |version| EditOptions { if_version: Some(version), ..EditOptions::default() };
    let edited = run_with(&open, vec![edit("one", "two")], guarded(version)).expect("same");
    // Neither its own match nor the lack of one matters by then.
    for old in ["two", "three"] {
        let stale = run_with(&open, vec![edit(old, "x")], guarded(version)).expect_err("changed");
        assert_eq!(stale.code, Code::StaleVersion);
    }
    run_with(&open, vec![edit("two", "three")], guarded(edited.version)).expect("as the edit left it");
    std::fs::remove_file(open.file("a")).expect("removed");
    let stale = run_with(&open, vec![edit("three", "x")], guarded(edited.version)).expect_err("gone");
    assert_eq!(stale.code, Code::StaleVersion);
}

#[test]
fn a_change_within_the_clocks_tick_is_noticed() {
    let open = open();
    for round in 0..50 {
        open.put("a", b"one");
        let version = open.session.version("/session/a", false).expect("stat").version;
        open.put("a", b"two"); // in place: same inode, same size, and often the same stamp
        let options = EditOptions { if_version: Some(version), ..EditOptions::default() };
        let stale = run_with(&open, vec![edit("two", "x")], options).expect_err("changed");
        assert_eq!(stale.code, Code::StaleVersion, "{round}");
    }
}

#[test]
fn content_that_is_back_is_the_version_again() {
    let open = open();
    open.put("a", b"zero");
    // Of a file that was written here the digest is known, however old its stamp is by now.
    let version = run(&open, vec![edit("zero", "one")]).expect("edited").version;
    open.put("a", b"two");
    open.put("a", b"one");
    let options = EditOptions { if_version: Some(version), ..EditOptions::default() };
    run_with(&open, vec![edit("one", "x")], options).expect("the same content");
}

#[test]
fn racing_editors_lose_nothing() {
    let open = open();
    let lines: String = (0..8).map(|n| "line ".to_owned() + &n.to_string() + ";\n").collect();
    open.put("a", lines.as_bytes());
    std::thread::scope(|scope| {
        for n in 0..8 {
            let open = &open;
            scope.spawn(move || {
                let edits = vec![edit(&format!("line {n};"), &format!("done {n};"))];
                let mut pending =
                    PendingEdit::begin(&open.session, "/session/a", edits, EditOptions::default(), Cancel::new())
                        .expect("begun");
                loop {
                    match pending.publish() {
                        Err(error) if error.is_held() => std::thread::yield_now(),
                        other => return other.expect("edited"),
                    }
                }
            });
        }
    });
    assert_eq!(open.get("a"), lines.replace("line", "done").as_bytes());
}

#[test]
fn one_of_two_guarded_editors_wins() {
    let open = open();
    for _ in 0..20 {
        open.put("a", b"one");
        let version = open.session.version("/session/a", false).expect("stat").version;
        let won = std::thread::scope(|scope| {
            let editor = |new: &'static str| {
                let open = &open;
                scope.spawn(move || {
                    let options = EditOptions { if_version: Some(version), ..EditOptions::default() };
                    let mut pending =
                        PendingEdit::begin(&open.session, "/session/a", vec![edit("one", new)], options, Cancel::new())
                            .expect("begun");
                    loop {
                        match pending.publish() {
                            Err(error) if error.is_held() => {}
                            Ok(_) => return true,
                            Err(error) => {
                                assert_eq!(error.code, Code::StaleVersion);
                                return false;
                            }
                        }
                    }
                })
            };
            let (one, other) = (editor("two"), editor("three"));
            usize::from(one.join().expect("one")) + usize::from(other.join().expect("other"))
        });
        assert_eq!(won, 1);
    }
}

#[test]
fn the_file_keeps_what_it_was_said_to_be() {
    let open = open();
    let options = WriteOptions {
        media_type: Some("text/x-odd".to_owned()),
        artifact: index::Artifact { marked: Some(true), name: Some("n".to_owned()), metadata: None },
        ..WriteOptions::default()
    };
    let mut write = PendingWrite::begin(&open.session, "/session/a", options, Cancel::new()).expect("begun");
    write.push(b"one").expect("pushed");
    write.publish().expect("written");
    let edited = run(&open, vec![edit("one", "two")]).expect("edited");
    assert_eq!(edited.written.media_type.as_deref(), Some("text/x-odd"));
    assert_eq!(edited.written.artifact.and_then(|artifact| artifact.name).as_deref(), Some("n"));
}

#[test]
fn the_diff_has_true_places_and_a_bound() {
    let open = open();
    let before: String = (1..=40).map(|n| n.to_string() + "\n").collect();
    open.put("a", before.as_bytes());
    let edited =
        run(&open, vec![edit("\n20\n", "\nx\ny\n"), edit("\n30\n", "\n"), edit("40\n", "40")]).expect("edited");
    let expected = "--- /session/a\n+++ /session/a\n\
        @@ -17,7 +17,8 @@\n 17\n 18\n 19\n-20\n+x\n+y\n 21\n 22\n 23\n\
        @@ -27,7 +28,6 @@\n 27\n 28\n 29\n-30\n 31\n 32\n 33\n\
        @@ -37,4 +37,4 @@\n 37\n 38\n 39\n-40\n+40\n\\ No newline at end of file\n";
    assert_eq!(edited.diff, expected);
    assert_eq!((edited.first_changed_line, edited.diff_truncated), (19, false));
    open.put("a", before.as_bytes());
    let options = EditOptions { diff_bytes: 60, ..EditOptions::default() };
    let mut short =
        PendingEdit::begin(&open.session, "/session/a", vec![all("1", "one")], options, Cancel::new()).expect("begun");
    let short = short.publish().expect("edited");
    assert!(short.diff_truncated && short.diff.len() <= 60 && short.diff.ends_with('\n'), "{}", short.diff);
}

/// Applies a unified diff to lines without their ends.
pub(crate) fn patched(lines: &[&str], diff: &str) -> Vec<String> {
    let (mut out, mut at) = (Vec::new(), 0);
    for line in diff.lines().skip(2).filter(|line| !line.starts_with('\\')) {
        if let Some(header) = line.strip_prefix("@@ -") {
            let (start, rest) = header.split_once(',').expect("header");
            let count: usize = rest.split(' ').next().expect("count").parse().expect("number");
            let start = start.parse::<usize>().expect("number") - usize::from(count > 0);
            out.extend(lines[at..start].iter().map(|line| (*line).to_owned()));
            at = start;
        } else if let Some(added) = line.strip_prefix('+') {
            out.push(added.to_owned());
        } else {
            assert_eq!(lines[at], &line[1..]);
            if line.starts_with(' ') {
                out.push(lines[at].to_owned());
            }
            at += 1;
        }
    }
    out.extend(lines[at..].iter().map(|line| (*line).to_owned()));
    out
}

pub(crate) fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        lines.push(&rest[..end]);
        let after = &rest[end..];
        rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix(['\n', '\r'])).unwrap_or(after);
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_but_the_match_changes(
        parts in prop::collection::vec(prop_oneof![
            Just("\n"), Just("\r\n"), Just("\r"), Just("a"), Just("bc"), Just("é"), Just("🦀"), Just(" "), Just("\n\n"),
        ], 1..30),
        bom: bool, from: prop::sample::Index, length in 1_usize..8, new in "[a-c\n🦀]{0,6}", everywhere: bool,
    ) {
        let text = format!("{}{}", if bom { "\u{FEFF}" } else { "" }, parts.concat());
        let characters: Vec<(usize, char)> = text.char_indices().collect();
        let first = from.index(characters.len());
        let start = characters[first].0;
        let end = characters.get(first + length).map_or(text.len(), |character| character.0);
        let old = &text[start..end];
        prop_assume!(old != new);
        let open = open();
        open.put("a", text.as_bytes());
        let count = (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(old.as_bytes())).count();
        match run(&open, vec![Edit { replace_all: everywhere, ..edit(old, &new) }]) {
            Err(error) => {
                let expected = if count > 1 { Code::AmbiguousEdit } else { Code::InvalidOption };
                prop_assert_eq!(error.code, expected, "{}", error);
                prop_assert!(!everywhere || expected == Code::InvalidOption);
                prop_assert_eq!(open.get("a"), text.as_bytes());
            }
            Ok(edited) => {
                let after = String::from_utf8(open.get("a")).expect("text");
                prop_assert!(everywhere || count == 1);
                if !everywhere {
                    prop_assert!(after.starts_with(&text[..start]) && after.ends_with(&text[end..]));
                    let middle = &after[start..after.len() - (text.len() - end)];
                    let unix = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
                    prop_assert_eq!(unix(middle), unix(&new));
                }
                // A CR and an LF that meet where two edits do are shown as the two line ends that they were.
                if !everywhere || !text.replace("\r\n", "").contains('\r') {
                    prop_assert_eq!(patched(&lines(&text), &edited.diff), lines(&after), "{}", edited.diff);
                }
                prop_assert!(!edited.diff_truncated);
            }
        }
    }
}
