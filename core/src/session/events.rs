//! Giving events their numbers and handing them on.

use std::io::Write;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::Session;
use crate::clock::now_millis;
use crate::error::{Code, Error, Result};
use crate::event::Draft;
use crate::index::{self, Change};
use crate::trace;

impl Session {
    /// Numbers, traces and queues events. `first` is the number of the first one.
    ///
    /// The change they tell of is done, so nothing here fails it: a trace that cannot be written is missing lines.
    pub(crate) fn emit(&self, drafts: Vec<Draft>, turn: Option<&str>, first: i64) {
        let lines: Vec<String> =
            drafts.into_iter().zip(first..).map(|(draft, sequence)| draft.line(&self.id, turn, sequence)).collect();
        if self.host.options.trace {
            let mut open = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
            if open.is_none() {
                *open = trace::open(&self.folder).ok();
            }
            if let Some(file) = open.as_mut() {
                for line in &lines {
                    // One write a line, so that lines of several processes do not mix.
                    let _ = file.write_all(format!("{line}\n").as_bytes());
                }
            }
        }
        self.events.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
    }

    /// Numbers for `count` events that go with no other record.
    pub(crate) fn reserve(&self, count: usize) -> Result<i64> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let change = Change { events: count, ..Change::default() };
        let first =
            self.host.index.write(|connection| index::change(connection, self.instance, change, now_millis()))?;
        first.ok_or_else(|| Error::new(Code::Closed, "The session was deleted. Open it anew."))
    }

    /// The same for what is done already: waits for another process that holds the index.
    pub(crate) fn reserve_waiting(&self, count: usize) -> Result<i64> {
        let change = Change { events: i64::try_from(count).unwrap_or(i64::MAX), ..Change::default() };
        let write = |connection: &rusqlite::Connection| index::change(connection, self.instance, change, now_millis());
        let first = self.host.index.write_waiting(write)?;
        first.ok_or_else(|| Error::new(Code::Closed, "The session was deleted. Open it anew."))
    }

    /// An event for a call that was turned away.
    pub fn refused(&self, refusal: &Refusal<'_>) -> Result<()> {
        let Refusal { operation, code, message, path, reason, source, turn_id } = *refusal;
        let first = self.reserve(1)?;
        let fields = json!({
            "operation": operation, "path": path, "code": code, "reason": reason, "source": source, "message": message,
        });
        self.emit(vec![Draft::new("harness.file.refused", fields)], turn_id, first);
        Ok(())
    }

    /// One event, while the session is open, for a link or special file in a Persistent Dir.
    pub(crate) fn tell_odd(&self, path: &str) {
        let first = self.odd.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        if !first {
            return;
        }
        let message = format!("{path} is a link or a special file, not a regular file: it is not committed.");
        let refusal = Refusal {
            operation: "commit",
            code: Code::NotRegularFile.as_str(),
            message: &message,
            path: Some(path),
            reason: None,
            source: None,
            turn_id: None,
        };
        // Another process holds the index: it is told of the next time.
        if self.refused(&refusal).is_err() {
            self.odd.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        }
    }

    /// An event that the caller has composed: `metadata` is JSON text of an object, whose own `metadata` is redacted.
    pub fn tell(&self, kind: &str, metadata: &str, turn_id: Option<&str>) -> Result<()> {
        let mut fields: Value = serde_json::from_str(metadata)
            .map_err(|error| Error::new(Code::InvalidOption, format!("An event's metadata is no JSON: {error}")))?;
        if let Some(metadata) = fields.get_mut("metadata") {
            self.host.options.redaction.scrub(metadata);
        }
        let first = self.reserve(1)?;
        self.emit(vec![Draft::new(kind.to_owned(), fields)], turn_id, first);
        Ok(())
    }
}

/// What was refused and why.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields of the event, as the contract names them")]
pub struct Refusal<'a> {
    pub operation: &'a str,
    pub code: &'a str,
    pub message: &'a str,
    pub path: Option<&'a str>,
    pub reason: Option<&'a str>,
    pub source: Option<&'a str>,
    pub turn_id: Option<&'a str>,
}
