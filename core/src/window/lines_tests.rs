use proptest::prelude::*;

use super::*;
use crate::error::Code;
use crate::testing::{Open, open};

const ALL: LineWindowOptions =
    LineWindowOptions { offset: 1, limit: 2_000, max_line_characters: 2_000, max_bytes: 51_200 };

fn window(open: &Open, options: LineWindowOptions) -> Result<LineWindow> {
    open.session.line_window("/session/a", &options, &Cancel::new())
}

/// As plainly as it can be said.
fn plain(text: &str) -> Vec<String> {
    let unix = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    if unix.is_empty() {
        return Vec::new();
    }
    unix.strip_suffix('\n').unwrap_or(&unix).split('\n').map(str::to_owned).collect()
}

#[test]
fn lines_and_what_the_file_is() {
    let table: [(&str, &str, u64, LineEnding, bool); 9] = [
        ("", "", 0, LineEnding::None, false),
        ("a", "a", 1, LineEnding::None, false),
        ("a\n", "a", 1, LineEnding::Lf, true),
        ("\n", "", 1, LineEnding::Lf, true),
        ("a\r\nb\r\n", "a\nb", 2, LineEnding::Crlf, true),
        ("a\rb", "a\nb", 2, LineEnding::Cr, false),
        ("a\n\rb\r\n\nc", "a\n\nb\n\nc", 5, LineEnding::Mixed, false),
        ("\u{FEFF}a\nb", "a\nb", 2, LineEnding::Lf, false),
        ("\u{FEFF}", "", 0, LineEnding::None, false),
    ];
    let open = open();
    for (content, text, lines, ending, end) in table {
        open.put("a", content.as_bytes());
        let window = window(&open, ALL).expect("window");
        assert_eq!((window.text.as_str(), window.total_lines), (text, lines), "{content:?}");
        assert_eq!((window.line_ending, window.final_newline), (ending, end), "{content:?}");
        assert_eq!((window.first_line, window.last_line), (u64::from(lines > 0), lines), "{content:?}");
        assert_eq!(window.bom, content.starts_with('\u{FEFF}'));
        assert!(!window.byte_capped && window.cut_lines.is_empty());
    }
}

#[test]
fn past_the_end_there_is_nothing_but_the_total() {
    let open = open();
    open.put("a", b"a\nb\n");
    let past = window(&open, LineWindowOptions { offset: 3, ..ALL }).expect("window");
    assert_eq!((past.first_line, past.last_line, past.total_lines), (0, 0, 2));
}

#[test]
fn a_long_line_is_cut_and_says_where_it_goes_on() {
    let open = open();
    let line = "é".repeat(100_000);
    open.put("a", format!("\u{FEFF}{line}\nb\n").as_bytes());
    let window = window(&open, LineWindowOptions { max_line_characters: 10, ..ALL }).expect("window");
    assert_eq!(window.text, format!("{}\nb", "é".repeat(10)));
    assert_eq!(window.cut_lines, [CutLine { line: 1, characters: 100_000, byte_offset: 23 }]);
    assert_eq!((window.total_lines, window.byte_capped), (2, false));
}

#[test]
fn a_first_line_over_the_byte_cap_is_cut_and_a_later_one_waits() {
    let open = open();
    open.put("a", "🦀🦀🦀\nb\nc\n".as_bytes());
    let first = window(&open, LineWindowOptions { max_bytes: 10, ..ALL }).expect("window");
    assert_eq!((first.text.as_str(), first.last_line, first.byte_capped), ("🦀🦀", 1, true));
    assert_eq!(first.cut_lines, [CutLine { line: 1, characters: 3, byte_offset: 8 }]);
    let later = window(&open, LineWindowOptions { offset: 2, max_bytes: 4, limit: 1, ..ALL }).expect("window");
    assert_eq!((later.text.as_str(), later.last_line, later.byte_capped, later.total_lines), ("b", 2, false, 3));
}

#[test]
fn what_is_no_text_says_what_it_is() {
    let open = open();
    let table: [(&[u8], &str); 5] = [
        (b"\xFF\xFEa\0", "UTF-16"),
        (b"caf\xE9\n", "Latin-1"),
        (b"a\0b", "NUL"),
        (&[vec![b'a'; 9_000], b"\nbc\xFF".to_vec()].concat(), "line 2"),
        (b"\xE2\x82", "Latin-1"),
    ];
    for (content, says) in table {
        open.put("a", content);
        let error = window(&open, LineWindowOptions { max_line_characters: 99_999, ..ALL }).expect_err("no text");
        assert_eq!(error.code, Code::NotText);
        assert!(error.message.contains(says), "{error}");
    }
    // A NUL after what is looked at is a character like any other.
    open.put("a", &[vec![b'a'; 9_000], b"\n\0\n".to_vec()].concat());
    assert_eq!(window(&open, LineWindowOptions { offset: 2, ..ALL }).expect("text").text, "\0");
    open.put("a", b"\x89PNG\r\n\x1A\n\0\0\xFF");
    let picture = window(&open, ALL).expect("window");
    assert_eq!((picture.media, picture.text.as_str(), picture.total_lines), (Some("image/png"), "", 0));
}

#[test]
fn blocks_part_nothing() {
    // A CRLF, a character and the lines themselves on the blocks' borders.
    let open = open();
    for shift in 0..8 {
        let filler = "x".repeat(super::super::source::BLOCK_BYTES - 4 + shift);
        let content = format!("{filler}\r\n🦀\r\n{filler}é\r\nend");
        open.put("a", content.as_bytes());
        let options = LineWindowOptions { offset: 2, limit: 1, ..ALL };
        let second = window(&open, options).expect("window");
        assert_eq!((second.text.as_str(), second.total_lines), ("🦀", 4), "{shift}");
        let last = window(&open, LineWindowOptions { offset: 4, ..options }).expect("window");
        assert_eq!((last.text.as_str(), last.line_ending), ("end", LineEnding::Crlf));
        let third = window(&open, LineWindowOptions { offset: 3, max_line_characters: 9, ..options }).expect("window");
        let byte_offset = (filler.len() + 2 + 6 + 9) as u64;
        let characters = filler.len() as u64 + 1;
        assert_eq!(third.cut_lines, [CutLine { line: 3, characters, byte_offset }]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn windows_put_together_give_the_lines(
        text in "\u{FEFF}?[aé🦀\n\r]{0,60}", limit in 1_u64..5, max_bytes in 4_usize..40, max_line_characters in 1_u64..12,
    ) {
        let open = open();
        open.put("a", text.as_bytes());
        let lines = plain(&text);
        let mut offset = 1;
        while offset <= lines.len() as u64 {
            let window = window(&open, LineWindowOptions { offset, limit, max_line_characters, max_bytes }).expect("window");
            prop_assert_eq!(window.total_lines, lines.len() as u64);
            prop_assert!(window.text.len() <= max_bytes);
            prop_assert_eq!(window.first_line, offset, "no progress");
            for (number, shown) in (offset..).zip(window.text.split('\n')) {
                let line = &lines[usize::try_from(number - 1).expect("small")];
                match window.cut_lines.iter().find(|cut| cut.line == number) {
                    None => prop_assert_eq!(shown, line),
                    Some(cut) => {
                        prop_assert!(line.starts_with(shown) && shown.len() < line.len());
                        prop_assert_eq!(cut.characters, line.chars().count() as u64);
                        let at = usize::try_from(cut.byte_offset).expect("small");
                        prop_assert!(text.is_char_boundary(at) && text[at..].starts_with(&line[shown.len()..]));
                    }
                }
            }
            let shown = window.text.split('\n').count() as u64;
            prop_assert_eq!(window.last_line, offset + shown - 1);
            prop_assert!(shown <= limit);
            prop_assert!(window.byte_capped || shown == limit || window.last_line == window.total_lines);
            offset = window.last_line + 1;
        }
    }
}
