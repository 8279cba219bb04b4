//! Sketches of texts in any chunking, and which texts are JSON at all.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn sketch(text: &str, pieces: usize) -> Option<(Value, bool)> {
    let mut builder = SketchBuilder::default();
    for piece in text.as_bytes().chunks(pieces) {
        if !builder.update(piece) {
            return None;
        }
    }
    builder.finish().map(|(sketch, ndjson)| (sketch.to_json(), ndjson))
}

fn of(text: &str) -> Value {
    let (whole, _) = sketch(text, usize::MAX).expect("JSON");
    for pieces in 1..5 {
        assert_eq!(sketch(text, pieces).expect("JSON").0, whole, "in pieces of {pieces}");
    }
    whole
}

#[test]
fn shapes() {
    assert_eq!(of(" null "), json!({"type":"null"}));
    assert_eq!(of("-1.5e+3"), json!({"type":"number"}));
    assert_eq!(of(r#""a\u00e9\n""#), json!({"type":"string"}));
    assert_eq!(of("[]"), json!({"type":"array","length":0}));
    assert_eq!(of("{}"), json!({"type":"object","keys":{}}));
    assert_eq!(
        of(r#"{"rows":[{"id":1,"tag":"x"},{"id":2}],"next":null}"#),
        json!({"type":"object","keys":{
            "rows":{"type":"array","length":2,"items":{"type":"object","keys":{"id":{"type":"number"},"tag":{"type":"string","optional":true}}}},
            "next":{"type":"null"}}})
    );
    assert_eq!(
        of(r#"[1,"a",1,true,{}]"#),
        json!({"type":"array","length":5,"sampled":3,"items":{"type":"union","variants":[{"type":"number"},{"type":"string"}]}})
    );
}

#[test]
fn bounds() {
    let deep = of("[[[[[1]],[]]]]");
    assert_eq!(deep["items"]["items"]["items"]["items"], json!({"type":"array","length":1,"truncated":true}));
    let wide: Map<String, Value> = (0..20).map(|n| (format!("k{n}"), json!([n]))).collect();
    let wide = of(&Value::from(wide).to_string());
    assert_eq!(wide["keys"].as_object().expect("keys").len(), 12);
    assert_eq!(wide["truncatedKeys"], 8);
    let merged =
        of(&json!([{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}, {"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1}])
            .to_string());
    assert_eq!(merged["items"]["keys"].as_object().expect("keys").len(), 12);
    assert_eq!(merged["items"]["truncatedKeys"], 2);
    let long = of(&format!(r#"{{"{}":1}}"#, "é".repeat(100_000)));
    assert!(long.to_string().len() < 200);
    assert_eq!(of(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))["length"], 1);
}

#[test]
fn words() {
    let mut builder = SketchBuilder::default();
    builder.update(br#"{"rows":[{"id":"a","x":1},{"id":"b"}],"next":null}"#);
    let (sketch, _) = builder.finish().expect("JSON");
    assert_eq!(sketch.in_words(), "object{rows: array[2] of object{id: string, x?: number}, next: null}");
}

#[test]
fn lines_of_json() {
    let (value, ndjson) = sketch("{\"a\":1}\n\n{\"a\":2,\"b\":3}\r\n", 3).expect("NDJSON");
    assert!(ndjson);
    assert_eq!(value["length"], 2);
    assert_eq!(value["items"]["keys"]["b"]["optional"], true);
    for text in ["1 2", "{\n}\n{}", "{}{}", "1\n2 3", "", "  ", "{}\nx"] {
        assert!(sketch(text, 2).is_none(), "{text:?}");
    }
}

#[test]
fn odd_keys() {
    let keys = of(r#"{"__proto__":1,"a\"b":2,"\ud83e\udd80":3,"\ud800":4,"":5,"__proto__":"again"}"#);
    assert_eq!(keys["keys"]["__proto__"], json!({"type":"string"}));
    assert_eq!(keys["keys"]["a\"b"], json!({"type":"number"}));
    assert_eq!(keys["keys"]["🦀"], json!({"type":"number"}));
    assert_eq!(keys["keys"].as_object().expect("keys").len(), 5);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from)
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..16)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_reads_is_read(value in value(), pretty in any::<bool>(), pieces in 1_usize..40) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("text");
        let (sketch, ndjson) = sketch(&text, pieces).expect("JSON");
        prop_assert!(!ndjson);
        prop_assert!(sketch["type"].is_string());
    }

    #[test]
    fn what_serde_refuses_is_refused(text in r#"[\[\]{}":,\\ua0-9.eE+\-tfnrsl ]{1,12}"#, pieces in 1_usize..4) {
        let serde = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        let ours = sketch(&text, pieces).is_some();
        prop_assert_eq!(ours, serde, "{}", text);
    }

    #[test]
    fn budgets_hold(value in value(), budget in 40_usize..400) {
        let mut builder = SketchBuilder::default();
        builder.update(value.to_string().as_bytes());
        let (sketch, _) = builder.finish().expect("JSON");
        if let Some(json) = sketch.within(budget) {
            prop_assert!(json.to_string().len() <= budget);
        }
        prop_assert!(sketch.within(16_384).is_some());
    }
}
