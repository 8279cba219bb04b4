//! Events: what a host hears of each change and refusal, as `lh.trace.v2` envelopes.

use std::borrow::Cow;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

/// Its metadata before it has a number.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) metadata: Map<String, Value>,
}

impl Draft {
    /// `fields` without those that are null.
    pub(crate) fn new(kind: impl Into<Cow<'static, str>>, fields: Value) -> Self {
        let kind = kind.into();
        let Value::Object(mut metadata) = fields else { return Self { kind, metadata: Map::new() } };
        metadata.retain(|_, value| !value.is_null());
        Self { kind, metadata }
    }

    /// The whole event as one line of JSON, without the line's end.
    pub(crate) fn line(self, session: &str, turn: Option<&str>, sequence: i64) -> String {
        let now = SystemTime::now();
        let mut event = json!({
            "schemaVersion": "lh.trace.v2",
            "type": self.kind,
            "eventId": uuid::Uuid::now_v7().to_string(),
            "sequence": sequence,
            "sessionId": session,
        });
        if let Some(turn) = turn {
            event["turnId"] = turn.into();
        }
        event["timestamp"] = humantime::format_rfc3339_millis(now).to_string().into();
        event["metadata"] = self.metadata.into();
        event.to_string()
    }
}

/// Metadata keys whose values no event shows, in lower case.
const SECRET_KEYS: [&str; 7] = ["apikey", "authorization", "cookie", "set-cookie", "token", "password", "secret"];

/// What events leave out.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    /// Paths below which no content is shown.
    pub paths: Vec<String>,
    /// Metadata keys, beside the usual ones; case does not matter.
    pub keys: Vec<String>,
}

impl Redaction {
    /// Whether content at `path` stays unseen.
    pub(crate) fn hides(&self, path: &str) -> bool {
        self.paths
            .iter()
            .map(|prefix| prefix.trim_end_matches('/'))
            .any(|prefix| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    /// `metadata` (JSON text) with secret values replaced, at any depth.
    pub(crate) fn metadata(&self, text: Option<&str>) -> Value {
        let mut value: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
        self.scrub(&mut value);
        value
    }

    pub(crate) fn scrub(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if self.is_secret(key) {
                        *value = Value::from("[redacted]");
                    } else {
                        self.scrub(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub(item)),
            _ => {}
        }
    }

    fn is_secret(&self, key: &str) -> bool {
        let key = key.to_lowercase();
        SECRET_KEYS.contains(&key.as_str()) || self.keys.iter().any(|own| own.to_lowercase() == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_at_any_depth() {
        let redaction = Redaction { keys: vec!["Ssn".into()], ..Redaction::default() };
        let value = redaction.metadata(Some(r#"{"a":1,"Token":"x","b":[{"SSN":"y","c":{"password":{"d":1}}}]}"#));
        assert_eq!(value, json!({"a":1,"Token":"[redacted]","b":[{"SSN":"[redacted]","c":{"password":"[redacted]"}}]}));
    }

    #[test]
    fn path_prefixes_end_at_segments() {
        let redaction =
            Redaction { paths: vec!["/session/secret/".into(), "/artifacts".into()], ..Redaction::default() };
        assert!(
            redaction.hides("/session/secret/a")
                && redaction.hides("/session/secret")
                && redaction.hides("/artifacts/x")
        );
        assert!(!redaction.hides("/session/secrets") && !redaction.hides("/session"));
    }
}
