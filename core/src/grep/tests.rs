use std::os::unix::fs::symlink;

use super::*;
use crate::testing::{Open, open};

fn options(pattern: &str) -> GrepOptions {
    GrepOptions {
        pattern: pattern.to_owned(),
        limit: 100,
        max_line_characters: 200,
        max_bytes: 50_000,
        ..GrepOptions::default()
    }
}

fn grep(open: &Open, path: &str, options: &GrepOptions) -> Grep {
    open.session.grep(path, options, &Cancel::new()).expect("grep")
}

/// As `path:line:text`, context with `-`.
fn shown(found: &Grep) -> Vec<String> {
    let line = |file: &GrepFile, line: &GrepLine| {
        let mark = if line.is_match { ':' } else { '-' };
        format!("{}{mark}{}{mark}{}", file.path, line.line, line.text)
    };
    found.files.iter().flat_map(|file| file.lines.iter().map(move |it| line(file, it))).collect()
}

fn tree() -> Open {
    let open = open();
    std::fs::create_dir_all(open.file("d/e")).expect("folders");
    open.put("a.txt", b"one\ntwo\r\nthree\n");
    open.put("d/b.md", "Zwei\ndrei, two\nvier\nfünf\nsechs two".as_bytes());
    open.put("d/e/c.txt", b"nothing\n");
    open.put("bin", b"two\0\n");
    let wide: Vec<u8> = [0xFEFF].into_iter().chain("a\ntwo\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    open.put("wide.txt", &wide);
    symlink("a.txt", open.file("link")).expect("link");
    symlink("../..", open.file("d/up")).expect("link");
    rustix::fs::mknodat(rustix::fs::CWD, open.file("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .expect("fifo");
    open
}

#[test]
fn matching_lines_in_the_order_of_paths() {
    let open = tree();
    let found = grep(&open, "/session", &options("two"));
    assert_eq!(
        shown(&found),
        [
            "/session/a.txt:2:two",
            "/session/d/b.md:2:drei, two",
            "/session/d/b.md:5:sechs two",
            "/session/wide.txt:2:two",
        ]
    );
    assert_eq!((found.total_matches, found.total_files, found.searched_files), (4, 3, 4));
    assert_eq!((found.binary_files, found.skipped_files), (1, 0));
    assert!(found.complete && !found.truncated);
    let one = grep(&open, "/session/a.txt", &options("^two$"));
    assert_eq!(shown(&one), ["/session/a.txt:2:two"]);
    assert_eq!(shown(&grep(&open, "/session/link", &options("two"))), ["/session/link:2:two"]);
    assert!(grep(&open, "/session/d/e", &options("two")).files.is_empty());
}

#[test]
fn case_globs_and_context() {
    let open = tree();
    let found = grep(&open, "/session", &GrepOptions { ignore_case: true, ..options("ZWEI|FÜNF") });
    assert_eq!(shown(&found), ["/session/d/b.md:1:Zwei", "/session/d/b.md:4:fünf"]);
    for (glob, files) in [("*.txt", 3), ("b.*", 1), ("d/**", 2), ("/d/*.md", 1), ("d/*.txt", 0), ("**/*.{md,txt}", 4)] {
        let found = grep(&open, "/session", &GrepOptions { glob: Some(glob.to_owned()), ..options("two") });
        assert_eq!(found.searched_files, files, "{glob}");
    }
    let found = grep(&open, "/session/d", &GrepOptions { context: 1, ..options("vier") });
    assert_eq!(shown(&found), ["/session/d/b.md-2-drei, two", "/session/d/b.md:3:vier", "/session/d/b.md-4-fünf"]);
}

#[test]
fn limits_hold_and_counts_are_exact() {
    let open = open();
    for file in 0..40 {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n} of {file}\n")).collect();
        open.put(&format!("{file:02}"), lines.concat().as_bytes());
    }
    let found = grep(&open, "/session", &GrepOptions { limit: 150, context: 2, ..options("line .*[05] of") });
    assert_eq!((found.total_matches, found.total_files, found.truncated), (800, 40, true));
    let matches = found.files.iter().flat_map(|file| &file.lines).filter(|line| line.is_match).count();
    assert_eq!(matches, 150);
    let found = grep(&open, "/session", &GrepOptions { max_bytes: 1_000, ..options("line") });
    let bytes: usize =
        found.files.iter().map(|f| f.path.len() + f.lines.iter().map(|l| l.text.len() + 1).sum::<usize>()).sum();
    assert!(bytes <= 1_000 && bytes > 900 && found.truncated && found.total_matches == 4_000);
    let none = grep(&open, "/session", &GrepOptions { limit: 0, ..options("line") });
    assert_eq!((none.files.len(), none.total_matches), (0, 4_000));
}

#[test]
fn a_long_line_shows_what_matched() {
    let open = open();
    let line = format!("{}needle{}", "é".repeat(100_000), "x".repeat(100_000));
    open.put("a", format!("short\n{line}\n").as_bytes());
    let found = grep(&open, "/session/a", &GrepOptions { max_line_characters: 40, ..options("needle") });
    let shown = &found.files[0].lines[0];
    assert!(shown.text.contains("needle") && shown.text.chars().count() <= 40 && shown.cut && shown.line == 2);
    let at = usize::try_from(shown.byte_offset).expect("small");
    assert!(open.get("a")[at..].starts_with(shown.text.as_bytes()));
}

#[test]
fn refusals_and_ends() {
    let open = tree();
    let refuse = |path: &str, options: &GrepOptions| open.session.grep(path, options, &Cancel::new()).expect_err(path);
    for pattern in ["(", "a{9999999}", "[z-a]", "\\p{Greek", "a\\nb"] {
        let error = refuse("/session", &options(pattern));
        assert_eq!(error.code, Code::InvalidOption, "{error}");
        assert!(error.to_string().len() < 2_048);
    }
    assert_eq!(
        refuse("/session", &GrepOptions { glob: Some("[".to_owned()), ..options("a") }).code,
        Code::InvalidOption
    );
    assert_eq!(refuse("/session/none", &options("a")).code, Code::NotFound);
    assert_eq!(refuse("/session/fifo", &options("a")).code, Code::NotRegularFile);
    assert_eq!(refuse("/etc", &options("a")).code, Code::SandboxDenied);
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(open.session.grep("/session", &options("a"), &cancel).expect_err("aborted").code, Code::Aborted);
}
