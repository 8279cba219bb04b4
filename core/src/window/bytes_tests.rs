use proptest::prelude::*;

use super::*;
use crate::error::Code;
use crate::testing::{Open, open};

fn window(open: &Open, offset: u64, limit: u64) -> Result<ByteWindow> {
    open.session.byte_window("/session/a", &ByteWindowOptions { offset, limit }, &Cancel::new())
}

#[test]
fn from_the_start_of_the_character_that_the_offset_parts() {
    let open = open();
    open.put("a", "a🦀b".as_bytes());
    for offset in 1..5 {
        let window = window(&open, offset, 4).expect("window");
        assert_eq!((window.text.as_str(), window.start, window.end), ("🦀", 1, 5), "{offset}");
    }
    let past = window(&open, 99, 4).expect("window");
    assert_eq!((past.text.as_str(), past.start, past.end, past.bytes), ("", 6, 6, 6));
}

#[test]
fn not_text_says_where() {
    let open = open();
    open.put("a", &[vec![b'a'; 9_000], b"\xFFbc".to_vec()].concat());
    assert!(window(&open, 0, 9_000).is_ok());
    let error = window(&open, 8_999, 9).expect_err("no text");
    assert_eq!(error.code, Code::NotText);
    assert!(error.message.contains("byte 9000"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn windows_put_together_give_the_file(text in "[aé€🦀\n\u{FEFF}]{0,60}", limit in 0_u64..12) {
        let open = open();
        open.put("a", text.as_bytes());
        let (mut all, mut offset) = (String::new(), 0);
        loop {
            let window = window(&open, offset, limit).expect("window");
            prop_assert!(window.text.len() as u64 <= limit.max(4));
            prop_assert_eq!(window.start, offset);
            all.push_str(&window.text);
            if window.end == window.bytes {
                break;
            }
            prop_assert!(window.end > offset, "no progress");
            offset = window.end;
        }
        prop_assert_eq!(all, text);
    }
}
