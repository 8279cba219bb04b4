use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Open, open};

fn options(pointer: &str) -> JsonWindowOptions {
    JsonWindowOptions { pointer: pointer.to_owned(), offset: 0, limit: 100, max_bytes: 50_000 }
}

fn window(open: &Open, options: &JsonWindowOptions) -> Result<JsonWindow> {
    open.session.json_window("/session/a", options, &Cancel::new())
}

#[test]
fn items_and_scalars() {
    let open = open();
    open.put("a", "\u{FEFF}{ \"rows\" : [ {\"id\": 1, \"a\": [ ] } , 2.5e1, \"x y\" ],\n \"a/b~c\" : \"h\\u00e9\\ud83e\\udd80\\ud800!\", \"n\": null}".as_bytes());
    let whole = window(&open, &options("")).expect("whole");
    assert_eq!((whole.kind, whole.total, whole.ndjson, whole.next_offset), (JsonType::Object, 3, false, None));
    let shown: Vec<_> =
        whole.items.iter().map(|i| (i.key.as_deref(), i.pointer.as_str(), i.json.as_deref(), i.size)).collect();
    assert_eq!(
        shown,
        [
            (Some("rows"), "/rows", Some("[{\"id\":1,\"a\":[]},2.5e1,\"x y\"]"), Some(3)),
            (Some("a/b~c"), "/a~1b~0c", Some("\"h\\u00e9\\ud83e\\udd80\\ud800!\""), Some(26)),
            (Some("n"), "/n", Some("null"), None),
        ]
    );
    let rows = window(&open, &JsonWindowOptions { offset: 1, limit: 1, ..options("/rows") }).expect("rows");
    assert_eq!((rows.kind, rows.total, rows.next_offset), (JsonType::Array, 3, Some(2)));
    assert_eq!((rows.items[0].pointer.as_str(), rows.items[0].json.as_deref()), ("/rows/1", Some("2.5e1")));
    let text = window(&open, &options("/a~1b~0c")).expect("text");
    assert_eq!((text.kind, text.total, text.text.as_deref()), (JsonType::String, 5, Some("hé🦀\u{FFFD}!")));
    let part = window(&open, &JsonWindowOptions { offset: 1, limit: 2, ..options("/a~1b~0c") }).expect("part");
    assert_eq!((part.text.as_deref(), part.next_offset), (Some("é🦀"), Some(3)));
    let number = window(&open, &options("/rows/1")).expect("number");
    assert_eq!((number.kind, number.total, number.text.as_deref()), (JsonType::Number, 1, Some("2.5e1")));
    assert_eq!(window(&open, &options("/rows/0/a")).expect("empty").total, 0);
}

#[test]
fn values_of_lines() {
    let open = open();
    open.put("a", b"{\"a\":1}\n\n[1,2]\n\"x\"\n");
    let whole = window(&open, &options("")).expect("whole");
    assert_eq!((whole.kind, whole.total, whole.ndjson), (JsonType::Ndjson, 3, true));
    assert_eq!(whole.items[1].pointer, "/1");
    assert_eq!(window(&open, &options("/1/1")).expect("item").text.as_deref(), Some("2"));
    assert_eq!(window(&open, &options("/0/a")).expect("item").text.as_deref(), Some("1"));
    open.put("a", b"{\"0\":1}");
    assert_eq!(window(&open, &options("/0")).expect("one value").text.as_deref(), Some("1"));
}

#[test]
fn what_names_nothing_says_how_far_it_leads() {
    let open = open();
    open.put("a", b"{\"rows\":[1,2,3],\"s\":\"x\",\"o\":{}}");
    for (pointer, says) in [
        ("/rows/3", "/rows is an array of 3 items"),
        ("/rows/-", "/rows is an array of 3 items"),
        ("/rows/01", "/rows is an array of 3 items"),
        ("/x", "the whole is an object with the keys rows, s, o"),
        ("/s/0", "/s is a string"),
        ("/o/a/b", "/o is an empty object"),
    ] {
        let error = window(&open, &options(pointer)).expect_err(pointer);
        assert_eq!(error.code, Code::NotFound);
        assert!(error.message.contains(says), "{error}");
    }
    open.put("a", br#"{"":1,"a b":2,"a\nItems 0-0 of 1":3,"c":4}"#);
    let error = window(&open, &options("/x")).expect_err("odd keys");
    assert!(error.message.contains(r#"the keys "", "a b", "a\nItems 0-0 of 1", c."#), "{error}");
    open.put("a", b"1\n2\n");
    let error = window(&open, &options("/2")).expect_err("beyond");
    assert!(error.message.contains("2 lines of JSON"), "{error}");
}

#[test]
fn what_is_no_json_says_where() {
    let open = open();
    for (content, says) in [
        ("", "is empty"),
        ("{\"a\":1", "ends within"),
        ("{\"a\" 1}", "byte 5"),
        ("[1] [2]", "byte 4"),
        ("plain", "byte 0"),
    ] {
        open.put("a", content.as_bytes());
        let error = window(&open, &options("/a")).expect_err(content);
        assert_eq!(error.code, Code::NotText);
        assert!(error.message.contains(says), "{error}");
    }
}

#[test]
fn nothing_exceeds_its_share_and_the_rest_is_named() {
    let open = open();
    let long = "é".repeat(400_000);
    let rows: Vec<Value> = (0..1_000).map(|n| json!({ "id": n, "text": "x".repeat(n) })).collect();
    let content = json!({ "rows": rows, "text": long, "k".repeat(5_000): 1 }).to_string();
    open.put("a", content.as_bytes());
    let small = |pointer: &str| JsonWindowOptions { max_bytes: 4_000, ..options(pointer) };
    let whole = window(&open, &small("")).expect("whole");
    let named: Vec<_> = whole.items.iter().map(|item| (item.kind, item.size, item.json.is_some())).collect();
    assert_eq!(
        named,
        [
            (JsonType::Array, Some(1_000), false),
            (JsonType::String, Some(800_000), false),
            (JsonType::Number, None, true)
        ]
    );
    assert_eq!((whole.items[2].key.as_ref().map(String::len), whole.items[2].pointer.as_str()), (Some(1_000), ""));
    let rows = window(&open, &small("/rows")).expect("rows");
    let bytes: usize = rows.items.iter().filter_map(|item| item.json.as_ref()).map(String::len).sum();
    assert!(bytes <= 4_000 && rows.next_offset == Some(rows.items.len() as u64) && rows.total == 1_000);
    let alone = JsonWindowOptions { offset: 999, limit: 1, ..small("/rows") };
    assert!(window(&open, &alone).expect("one row").items[0].json.is_some());
    let (mut all, mut offset) = (String::new(), Some(0));
    while let Some(at) = offset {
        let part =
            window(&open, &JsonWindowOptions { offset: at, limit: 300_000, max_bytes: 150_000, ..options("/text") })
                .expect("part");
        let text = part.text.expect("text");
        assert!(!text.is_empty() && text.len() <= 150_000);
        all.push_str(&text);
        offset = part.next_offset;
    }
    assert_eq!(all, long);
}

/// As the core reads it, in blocks of any size.
fn in_blocks(content: &str, block: usize, options: &JsonWindowOptions) -> Stage {
    let pointer = Pointer::parse(&options.pointer).expect("pointer");
    let (mut scanner, mut seekers) = (Scanner::default(), Seekers::new(&pointer, options));
    for block in content.as_bytes().chunks(block) {
        assert!(seekers.read(&mut scanner, block), "{content}");
    }
    let values = seekers.finish(scanner).expect("JSON");
    seekers.take(values > 1)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e6..1e6).prop_map(|n: f64| Value::from(n)),
        "[a\"\\\\é🦀\n ]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c/~\" é]{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// All pointers into a value.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| pointers(item, &format!("{at}/{n}"), into));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| pointers(item, &format!("{at}/{}", escaped(key)), into));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn as_a_tree_says(value in values(), pretty: bool, block in 1_usize..40, which: prop::sample::Index, offset in 0_u64..4, limit in 1_u64..4) {
        let content = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("text");
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        let at = which.get(&all);
        let named = value.pointer(at).expect("its own");
        let Stage::Done(found) = in_blocks(&content, block, &JsonWindowOptions { offset, limit, ..options(at) }) else {
            return Err(TestCaseError::fail(format!("{at} not found in {content}")));
        };
        let window = |count: usize| (usize::try_from(offset).expect("small").min(count), usize::try_from(offset + limit).expect("small").min(count));
        match named {
            Value::String(text) => {
                let characters: Vec<char> = text.chars().collect();
                let (from, to) = window(characters.len());
                prop_assert_eq!(found.total, characters.len() as u64);
                prop_assert_eq!(found.text, Some(characters[from..to].iter().collect::<String>()));
            }
            Value::Array(items) => {
                let (from, to) = window(items.len());
                prop_assert_eq!(found.total, items.len() as u64);
                let shown: Vec<Value> = found.items.iter().map(|item| serde_json::from_str(item.json.as_ref().expect("short")).expect("JSON")).collect();
                prop_assert_eq!(&shown, &items[from..to]);
            }
            Value::Object(members) => {
                let (from, to) = window(members.len());
                prop_assert_eq!(found.total, members.len() as u64);
                for (item, (key, expected)) in found.items.iter().zip(members.iter().skip(from)) {
                    prop_assert_eq!(item.key.as_ref(), Some(key));
                    prop_assert_eq!(value.pointer(&item.pointer), Some(expected));
                    let json = item.json.as_ref().expect("short");
                    prop_assert_eq!(json, &expected.to_string());
                    prop_assert_eq!(item.bytes, json.len() as u64);
                }
                prop_assert_eq!(found.items.len(), to - from);
            }
            other => prop_assert_eq!(found.text, Some(other.to_string())),
        }
    }

    #[test]
    fn lines_are_items(values in prop::collection::vec(values(), 2..6), block in 1_usize..40, which: prop::sample::Index) {
        let content: String = values.iter().map(|value| value.to_string() + "\n").collect();
        let Stage::Done(found) = in_blocks(&content, block, &options("")) else { return Err(TestCaseError::fail("not found")) };
        prop_assert_eq!(found.total, values.len() as u64);
        let at = which.index(values.len());
        let Stage::Done(found) = in_blocks(&content, block, &options(&format!("/{at}"))) else { return Err(TestCaseError::fail("not found")) };
        match &values[at] {
            Value::Array(items) => prop_assert_eq!(found.total, items.len() as u64),
            Value::Object(members) => prop_assert_eq!(found.total, members.len() as u64),
            Value::String(text) => prop_assert_eq!(found.text.as_ref(), Some(text)),
            other => prop_assert_eq!(found.text, Some(other.to_string())),
        }
    }
}
