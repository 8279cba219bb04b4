use serde_json::json;

use super::*;
use crate::testing::{Open, open};

fn ask(open: &Open, expression: &str) -> Result<Query> {
    let options = QueryOptions { expression: expression.to_owned(), limit: 100, max_bytes: 50_000 };
    open.session.query("/session/a", &options, &Cancel::new())
}

fn shown(query: &Query) -> Vec<(&str, &str)> {
    query.matches.iter().map(|it| (it.path.as_str(), it.json.as_deref().unwrap_or("…"))).collect()
}

#[test]
fn matches_with_their_paths() {
    let open = open();
    let value = json!({
        "store": { "book": [
            { "title": "A", "price": 8.95, "tags": ["x", "y"] }, { "title": "B'\\\n\u{1}/~", "price": 12 }, { "title": "C" },
        ] },
        "o'k/~": [1, 2], "": null,
    });
    open.put("a", format!("\u{FEFF}{value}").as_bytes());
    let table: [(&str, &[(&str, &str)]); 15] = [
        ("$.store.book[0].title", &[("$['store']['book'][0]['title']", "\"A\"")]),
        ("$..price", &[("$['store']['book'][0]['price']", "8.95"), ("$['store']['book'][1]['price']", "12")]),
        ("$.store.book[?@.price < 10].title", &[("$['store']['book'][0]['title']", "\"A\"")]),
        ("$.store.book[-1]", &[("$['store']['book'][2]", "{\"title\":\"C\"}")]),
        ("$['o\\'k/~'][1:]", &[("$['o\\'k/~'][1]", "2")]),
        ("$['o\\'k/~'][1,0,1]", &[("$['o\\'k/~'][1]", "2"), ("$['o\\'k/~'][0]", "1"), ("$['o\\'k/~'][1]", "2")]),
        ("$[?@ == null]", &[("$['']", "null")]),
        ("$.store.book[?match(@.title, '[A-B]')].price", &[("$['store']['book'][0]['price']", "8.95")]),
        ("$.store.book[?search(@.title, 'B.')].price", &[("$['store']['book'][1]['price']", "12")]),
        ("$.store.book[?length(@.title) == 1 && !@.price].title", &[("$['store']['book'][2]['title']", "\"C\"")]),
        ("$.store.book[?count(@.tags[*]) == 2].tags[1]", &[("$['store']['book'][0]['tags'][1]", "\"y\"")]),
        ("$.store.book[?value(@..tags[0]) == 'x'].price", &[("$['store']['book'][0]['price']", "8.95")]),
        ("$.store.book[?match(@.title, $.store.book[2].title)].price", &[]),
        ("$.store.book[?search(@.title, $.store.book[0].title)].price", &[("$['store']['book'][0]['price']", "8.95")]),
        ("$.none", &[]),
    ];
    for (expression, expected) in table {
        let found = ask(&open, expression).expect(expression);
        assert_eq!(shown(&found), expected, "{expression}");
        assert_eq!((found.total, found.ndjson), (expected.len() as u64, false));
        for one in &found.matches {
            assert_eq!(value.pointer(&one.pointer).map(Value::to_string), one.json, "{expression}");
        }
    }
    let root = ask(&open, "$").expect("root");
    assert_eq!(
        (root.matches[0].path.as_str(), root.matches[0].pointer.as_str(), root.matches[0].kind),
        ("$", "", JsonType::Object)
    );
}

#[test]
fn a_normalized_path_is_escaped_as_the_rfc_says() {
    let open = open();
    open.put("a", json!({ "a\\b'\"\n\t\u{b}\u{7f}é": 1 }).to_string().as_bytes());
    let found = ask(&open, "$.*").expect("found");
    assert_eq!(found.matches[0].path, "$['a\\\\b\\'\"\\n\\t\\u000b\u{7f}é']");
    assert_eq!(ask(&open, &found.matches[0].path).expect("its own path").total, 1);
}

#[test]
fn lines_are_asked_one_by_one() {
    let open = open();
    open.put("a", b"{\"id\":1,\"t\":\"a\"}\n\n{\"id\":2}\r\n[{\"id\":3}]\n");
    let found = ask(&open, "$..id").expect("found");
    let all: Vec<_> = found.matches.iter().map(|it| (it.line, it.path.as_str(), it.pointer.as_str())).collect();
    assert_eq!(all, [(Some(1), "$['id']", "/0/id"), (Some(3), "$['id']", "/1/id"), (Some(4), "$[0]['id']", "/2/0/id")]);
    assert_eq!((found.total, found.ndjson), (3, true));
    let options =
        crate::window::JsonWindowOptions { pointer: "/2/0/id".to_owned(), offset: 0, limit: 1, max_bytes: 99 };
    let window = open.session.json_window("/session/a", &options, &Cancel::new()).expect("its pointer");
    assert_eq!(window.text.as_deref(), Some("3"));
}

#[test]
fn counts_are_exact_past_the_cap() {
    let open = open();
    let rows: Vec<Value> = (0..1_000).map(|n| json!({ "id": n, "text": "x".repeat(n) })).collect();
    open.put("a", json!({ "rows": rows }).to_string().as_bytes());
    let options = QueryOptions { expression: "$.rows[*]".to_owned(), limit: 50, max_bytes: 2_000 };
    let found = open.session.query("/session/a", &options, &Cancel::new()).expect("found");
    let bytes: usize = found.matches.iter().map(|it| it.path.len() + it.json.as_ref().map_or(0, String::len)).sum();
    assert!(found.total == 1_000 && bytes <= 2_000 && !found.matches.is_empty());
    let long = QueryOptions { expression: "$".to_owned(), ..options };
    let found = open.session.query("/session/a", &long, &Cancel::new()).expect("found");
    assert!(found.matches[0].json.is_none() && found.matches[0].bytes > 500_000);
}

#[test]
fn odd_texts() {
    let open = open();
    for (content, code, says) in [
        ("", Code::NotText, "empty"),
        ("{\"a\":1", Code::NotText, "ends within"),
        ("{\"a\" 1}", Code::NotText, "byte 5"),
        ("1 2", Code::NotText, "byte 2"),
        (&"[".repeat(200), Code::NotText, "ends within"),
        (&format!("{}{}", "[".repeat(200), "]".repeat(200)), Code::TooLarge, "200 levels"),
        ("{\"a\":1e400}", Code::NotText, "out of range"),
    ] {
        open.put("a", content.as_bytes());
        let error = ask(&open, "$..a").expect_err(content);
        assert_eq!(error.code, code);
        assert!(error.message.contains(says), "{error}");
    }
    open.put("a", b"{\"a\":\"\\ud800x\\\\\\udc00\\ud83e\\udd80\",\"n\":118613.54984516147}");
    assert_eq!(
        shown(&ask(&open, "$.*").expect("found")),
        [("$['a']", "\"\u{FFFD}x\\\\\u{FFFD}🦀\""), ("$['n']", "118613.54984516147")]
    );
}
