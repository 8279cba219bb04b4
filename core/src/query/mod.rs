//! RFC 9535 JSONPath over JSON and NDJSON files. The evaluation itself cannot be stopped, so what it could cost at most is
//! known before it starts, and what would cost too much is refused.

mod constants;
mod cost;
mod lines;
mod places;
mod shape;
mod signs;
mod tree;

use serde_json::Value;

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;
use crate::session::Session;
use crate::version::FileVersion;
use crate::window::{BOM, Content, JsonType, SNIFF_BYTES, Source, not_text};

use cost::Expression;
use places::Place;
use tree::Tree;

/// Longest JSON text, and longest line of NDJSON, that is read as a whole.
pub const MAX_JSON_BYTES: u64 = 64 * 1024 * 1024;

/// What is asked.
#[derive(Debug, Clone)]
pub struct QueryOptions {
    /// JSONPath.
    pub expression: String,
    /// The most matches shown.
    pub limit: u64,
    /// The most bytes of paths and JSON shown, from 64 on.
    pub max_bytes: usize,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Query {
    /// As on the disk.
    pub path: String,
    /// Of the file when it was opened.
    pub version: FileVersion,
    /// Several values, each on a line of its own.
    pub ndjson: bool,
    /// All matches.
    pub total: u64,
    /// The first of them.
    pub matches: Vec<QueryMatch>,
}

/// A value that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryMatch {
    /// Normalized, as RFC 9535 has it.
    pub path: String,
    /// RFC 6901; in NDJSON with the value's number in front.
    pub pointer: String,
    /// Of NDJSON, from 1.
    pub line: Option<u64>,
    /// What it is.
    pub kind: JsonType,
    /// Compact; none where the match alone is too long.
    pub json: Option<String>,
    /// Of the compact JSON.
    pub bytes: u64,
}

impl Session {
    /// Values of a JSON or NDJSON file that a JSONPath selects.
    pub fn query(&self, path: &str, options: &QueryOptions, cancel: &Cancel) -> Result<Query> {
        let expression = Expression::parse(&options.expression)?;
        let mut source = Source::open(self, path, cancel)?;
        let first = source.range(0, SNIFF_BYTES as u64)?;
        match Content::of(&first, first.len() as u64 == source.size()) {
            Content::Text => {}
            Content::Media(what) | Content::Other(what) => return Err(not_text(source.path(), what)),
        }
        let path = source.path().clone();
        let mut run = Run {
            path: &path,
            expression: &expression,
            options,
            cancel,
            total: 0,
            matches: Vec::new(),
            used: 0,
            full: false,
            matching: 0.0,
        };
        let ndjson = if source.size() > MAX_JSON_BYTES {
            run.long(&mut source)?;
            true
        } else {
            let content = source.whole()?;
            run.short(content.strip_prefix(BOM).unwrap_or(&content))?
        };
        let (total, matches) = (run.total, run.matches);
        let version = source.finish()?;
        Ok(Query { path: path.to_string(), version, ndjson, total, matches })
    }
}

/// A query under way.
struct Run<'a> {
    path: &'a HarnessPath,
    expression: &'a Expression,
    options: &'a QueryOptions,
    cancel: &'a Cancel,
    total: u64,
    matches: Vec<QueryMatch>,
    used: usize,
    full: bool,
    /// What the regular expressions took, in seconds.
    matching: f64,
}

impl Run<'_> {
    /// A text in memory; whether it is NDJSON.
    fn short(&mut self, text: &[u8]) -> Result<bool> {
        let shape = tree::measure(text, self.path)?;
        if shape.values == 1 {
            self.value(text, None, &shape.largest)?;
            return Ok(false);
        }
        let mut lines = lines::Lines::default();
        lines.take(text, &mut |line, number| self.line(line, number))?;
        lines.finish(&mut |line, number| self.line(line, number))?;
        Ok(true)
    }

    /// One that is too long to be a single value.
    fn long(&mut self, source: &mut Source<'_>) -> Result<()> {
        let (mut lines, mut failed, mut skip) = (lines::Lines::default(), None, true);
        source.blocks(|block| {
            let block = if skip { block.strip_prefix(BOM).unwrap_or(block) } else { block };
            skip = false;
            match lines.take(block, &mut |line, number| self.line(line, number)) {
                Ok(()) => std::ops::ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    std::ops::ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)?;
        lines.finish(&mut |line, number| self.line(line, number))
    }

    /// A line of NDJSON: `None` where it was too long to keep.
    fn line(&mut self, line: Option<&[u8]>, number: lines::Number) -> Result<()> {
        self.cancel.check()?;
        let Some(line) = line else {
            let text = format!(
                "Line {} of {} is longer than {MAX_JSON_BYTES} bytes, which is what a query reads of JSON. Read it with a pointer.",
                number.line, self.path
            );
            return Err(Error::at(Code::TooLarge, self.path, text));
        };
        let shape = tree::measure(line, self.path).map_err(|error| {
            let text =
                format!("{} is not NDJSON: line {} is not one JSON value. Read it as text.", self.path, number.line);
            if error.code == Code::NotText { Error::at(Code::NotText, self.path, text) } else { error }
        })?;
        self.value(line, Some(number), &shape.largest)
    }

    fn value(&mut self, text: &[u8], number: Option<lines::Number>, tree: &Tree) -> Result<()> {
        self.expression.check(tree, self.path)?;
        let value = tree::parse(text, self.path)?;
        self.expression.check_texts(&value, tree, text.len(), self.path)?;
        self.matching = self.expression.check_matching(&value, tree, self.path, self.matching)?;
        self.cancel.check()?;
        let nodes = self.expression.path().query(&value).all();
        let left = usize::try_from(self.options.limit).unwrap_or(usize::MAX).saturating_sub(self.matches.len());
        self.total += nodes.len() as u64;
        if self.full || left == 0 {
            return Ok(());
        }
        let shown = &nodes[..nodes.len().min(left)];
        for (node, place) in shown.iter().zip(places::of(&value, shown)) {
            if !self.show(node, &place, number) {
                self.full = true;
                break;
            }
        }
        Ok(())
    }

    fn show(&mut self, node: &Value, place: &Place<'_>, number: Option<lines::Number>) -> bool {
        let max_bytes = self.options.max_bytes.max(64);
        let share = max_bytes / usize::try_from(self.options.limit.clamp(1, 4)).unwrap_or(4);
        let (bytes, json) = tree::compact(node, share);
        let mut pointer = place.pointer();
        if let Some(number) = number {
            pointer = format!("/{}{pointer}", number.value);
        }
        let path = place.normalized();
        let cost = path.len() + json.as_ref().map_or(0, String::len);
        if self.used + cost > max_bytes && !self.matches.is_empty() {
            return false;
        }
        self.used += cost;
        // A long path leaves less for its value.
        let json = json.filter(|_| self.used <= max_bytes);
        let line = number.map(|number| number.line);
        self.matches.push(QueryMatch { path, pointer, line, kind: tree::kind(node), json, bytes });
        true
    }
}

#[cfg(test)]
mod tests;
