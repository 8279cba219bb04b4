//! What a model gets in place of a large result: a reference to the file, never longer than its limit (promise G5).
//!
//! The path always stands whole. What is left of the limit goes to the message, the preview and the sketch; where it is
//! short, the sketch gives way first, then the preview, then the message.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};
use crate::measure::{Format, Measured};

/// The least limit that is accepted, in bytes.
pub const MIN_INLINE_BYTES: usize = 1_024;
/// Of a tool's name and of a call's id: names are cut, ids left out.
const MAX_NAME_BYTES: usize = 128;
/// The structure in a message, in bytes.
const MAX_WORDS: usize = 300;

/// The result that was written to a file.
#[derive(Debug, Clone)]
pub struct StoredResult<'a> {
    /// Of the tool.
    pub tool_name: &'a str,
    /// Of the call.
    pub tool_call_id: Option<&'a str>,
    /// Of the file.
    pub path: &'a str,
    /// Size of the file.
    pub bytes: u64,
    /// Of the file, 64 hex digits.
    pub sha256: &'a str,
    /// Of the file.
    pub media_type: &'a str,
    /// `None` for bytes that are no text.
    pub measured: Option<&'a Measured>,
    /// The limit that the result was over, in bytes.
    pub max_inline_bytes: usize,
}

/// The reference as JSON text of at most `max_inline_bytes`.
pub fn reference(result: &StoredResult<'_>) -> Result<String> {
    let limit = result.max_inline_bytes;
    let mut fields = fixed_fields(result);
    let used = size(&fields);
    if used > limit {
        let text = format!("A reference to {} does not fit in {limit} bytes. Choose a shorter outputDir.", result.path);
        return Err(Error::at(Code::InvalidOption, result.path, text));
    }
    let mut room = limit - used;
    let message = messages(result).into_iter().find(|text| escaped(text) <= room).unwrap_or_default();
    room -= escaped(&message);
    fields["message"] = message.into();
    if let Some(measured) = result.measured {
        let preview = cut_escaped(&measured.preview, room);
        room -= escaped(preview);
        fields["preview"] = preview.into();
        // `,"structure":` stands before it.
        let sketch = measured.structure.as_ref().zip(room.checked_sub(13));
        if let Some(structure) = sketch.and_then(|(sketch, room)| sketch.within(room)) {
            fields["summary"]["structure"] = structure;
        }
    }
    Ok(Value::Object(fields).to_string())
}

/// All that has a bounded size, and the path; the rest empty.
fn fixed_fields(result: &StoredResult<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("type".into(), "harness.tool_result_file".into());
    fields.insert("toolName".into(), cut_escaped(result.tool_name, MAX_NAME_BYTES).into());
    if let Some(id) = result.tool_call_id.filter(|id| escaped(id) <= MAX_NAME_BYTES) {
        fields.insert("toolCallId".into(), id.into());
    }
    fields.insert("path".into(), result.path.into());
    fields.insert("bytes".into(), result.bytes.into());
    fields.insert("sha256".into(), result.sha256.into());
    fields.insert("mediaType".into(), result.media_type.into());
    fields.insert("truncated".into(), true.into());
    let mut summary = Map::new();
    summary.insert("format".into(), result.measured.map_or("binary", |measured| measured.format.as_str()).into());
    if let Some(measured) = result.measured {
        summary.insert("characters".into(), measured.characters.into());
        summary.insert("lines".into(), measured.lines.into());
    }
    fields.insert("summary".into(), summary.into());
    fields.insert("preview".into(), "".into());
    fields.insert("message".into(), "".into());
    fields
}

/// From all that is to say down to what must be said.
fn messages(result: &StoredResult<'_>) -> [String; 3] {
    let StoredResult { path, bytes, max_inline_bytes, .. } = result;
    let summary = match result.measured {
        None => format!("binary ({bytes} bytes)"),
        Some(measured) => {
            let kind = match (measured.format, &measured.structure) {
                (Format::Json, Some(sketch)) => format!("JSON {}", words(&sketch.in_words())),
                (Format::Ndjson, Some(sketch)) => format!("NDJSON {}", words(&sketch.in_words())),
                _ => "text".to_owned(),
            };
            format!("{kind} ({}, {})", count(measured.lines, "line"), count(measured.characters, "character"))
        }
    };
    [
        format!(
            "Tool result exceeded {max_inline_bytes} bytes and was written to {path}; summary: {summary}; read that file for the full result."
        ),
        format!(
            "Tool result exceeded {max_inline_bytes} bytes and was written to {path}; read that file for the full result."
        ),
        "The tool result is in the file at path.".to_owned(),
    ]
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn words(text: &str) -> String {
    if text.len() <= MAX_WORDS {
        text.to_owned()
    } else {
        format!("{}...", &text[..text.floor_char_boundary(MAX_WORDS - 3)])
    }
}

fn size(fields: &Map<String, Value>) -> usize {
    serde_json::to_string(fields).map_or(usize::MAX, |text| text.len())
}

/// Bytes of a text between JSON's quotes.
fn escaped(text: &str) -> usize {
    text.chars().map(escaped_char).sum()
}

fn escaped_char(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

/// As much of the beginning as fits, whole characters.
fn cut_escaped(text: &str, budget: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += escaped_char(c);
        if used > budget {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::measure::Measure;

    fn measured(text: &str) -> Measured {
        let mut measure = Measure::new(512);
        measure.update(text.as_bytes());
        measure.finish()
    }

    fn of(text: &str, limit: usize, path: &str, name: &str, id: Option<&str>) -> Value {
        let measured = measured(text);
        let digest = "0".repeat(64);
        let result = StoredResult {
            tool_name: name,
            tool_call_id: id,
            path,
            bytes: text.len() as u64,
            sha256: &digest,
            media_type: "application/json",
            measured: Some(&measured),
            max_inline_bytes: limit,
        };
        let json = reference(&result).expect("fits");
        assert!(json.len() <= limit, "{} > {limit}", json.len());
        assert_eq!(json, reference(&result).expect("fits"), "the same again");
        serde_json::from_str(&json).expect("JSON")
    }

    #[test]
    fn a_plain_one() {
        let rows = json!({"rows": [{"id": "a"}, {"id": "b"}], "next": null}).to_string();
        let reference = of(&rows, 16_384, "/artifacts/tool-results/q/call_1.json", "q", Some("call_1"));
        assert_eq!(reference["toolCallId"], "call_1");
        assert_eq!(reference["preview"], rows.as_str());
        assert_eq!(reference["summary"]["structure"]["keys"]["rows"]["length"], 2);
        assert_eq!(
            reference["message"],
            "Tool result exceeded 16384 bytes and was written to /artifacts/tool-results/q/call_1.json; summary: JSON object{rows: array[2] of object{id: string}, next: null} (1 line, 44 characters); read that file for the full result."
        );
    }

    #[test]
    fn a_value_made_to_burst_it() {
        // 12 keys wide, 4 deep, long keys.
        let mut value = json!("x");
        for level in 0..4 {
            let wide: Map<String, Value> =
                (0..12).map(|n| (format!("{level}-{n}-{}", "k".repeat(40)), value.clone())).collect();
            value = wide.into();
        }
        let reference = of(&value.to_string(), 1_024, "/artifacts/tool-results/q/c.json", "q", Some("c"));
        assert_eq!(reference["summary"]["format"], "json");
        let key = json!({"k".repeat(200_000): 1}).to_string();
        of(&key, 1_024, "/artifacts/tool-results/q/c.json", &"n".repeat(5_000), Some(&"i".repeat(5_000)));
    }

    proptest! {
        #[test]
        fn never_over_its_limit(text in "[\\x00-\\x1f\"\\\\a🦀é\\[\\]{}:,0]{0,600}", limit in 1_024_usize..3_000, name in any::<String>(), id in any::<Option<String>>()) {
            let reference = of(&text, limit, "/artifacts/tool-results/tool/call.txt", &name, id.as_deref());
            prop_assert!(text.starts_with(reference["preview"].as_str().expect("preview")));
        }
    }
}
