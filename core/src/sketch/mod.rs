//! The structure of JSON, sketched: what a reader needs to know to find its way in a large value, in few bytes.
//!
//! Four levels deep, 12 keys an object, 3 samples an array; lengths are exact. Built while the text streams by.

mod merge;
pub(crate) mod scan;

use serde_json::{Map, Value, json};

use scan::{Listener, Scalar, Scanner};

/// Levels that are shown; a container below is named only.
const MAX_DEPTH: usize = 4;
/// Keys an object shows, in the order of the text.
const MAX_KEYS: usize = 12;
/// Items of an array that are looked at.
const MAX_SAMPLES: u64 = 3;

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    pub(crate) shape: Shape,
    /// Missing in some of the samples.
    pub(crate) optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Scalar(&'static str),
    Array { length: u64, items: Option<Box<Sketch>>, truncated: bool },
    Object { keys: Vec<(String, Sketch)>, truncated_keys: u64, truncated: bool },
    Union(Vec<Sketch>),
}

impl From<Shape> for Sketch {
    fn from(shape: Shape) -> Self {
        Self { shape, optional: false }
    }
}

/// How much of a sketch is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail {
    pub(crate) depth: usize,
    pub(crate) keys: usize,
    pub(crate) key_bytes: usize,
}

impl Detail {
    /// From all there is down to the type alone.
    pub(crate) const STEPS: [Self; 7] = [
        Self { depth: MAX_DEPTH, keys: MAX_KEYS, key_bytes: 64 },
        Self { depth: MAX_DEPTH, keys: 8, key_bytes: 32 },
        Self { depth: 3, keys: 8, key_bytes: 32 },
        Self { depth: 3, keys: 4, key_bytes: 24 },
        Self { depth: 2, keys: 4, key_bytes: 24 },
        Self { depth: 1, keys: 4, key_bytes: 16 },
        Self { depth: 0, keys: 0, key_bytes: 0 },
    ];
}

impl Sketch {
    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.in_detail(Detail::STEPS[0])
    }

    /// The most detailed JSON of at most `budget` bytes.
    pub(crate) fn within(&self, budget: usize) -> Option<Value> {
        Detail::STEPS.into_iter().map(|detail| self.in_detail(detail)).find(|json| json.to_string().len() <= budget)
    }

    fn in_detail(&self, detail: Detail) -> Value {
        let mut value = match &self.shape {
            Shape::Scalar(kind) => json!({ "type": kind }),
            Shape::Array { length, items, truncated } => {
                let mut fields = json!({ "type": "array", "length": length });
                if *truncated || (detail.depth == 0 && items.is_some()) {
                    fields["truncated"] = true.into();
                } else if let Some(items) = items {
                    fields["items"] = items.in_detail(Detail { depth: detail.depth - 1, ..detail });
                    if *length > MAX_SAMPLES {
                        fields["sampled"] = MAX_SAMPLES.into();
                    }
                }
                fields
            }
            Shape::Object { keys, truncated_keys, truncated } => {
                let mut fields = json!({ "type": "object" });
                if *truncated || (detail.depth == 0 && !keys.is_empty()) {
                    fields["truncated"] = true.into();
                } else {
                    let mut shown = Map::new();
                    for (key, sketch) in keys.iter().take(detail.keys) {
                        shown.insert(
                            cut_key(key, detail.key_bytes),
                            sketch.in_detail(Detail { depth: detail.depth - 1, ..detail }),
                        );
                    }
                    let left_out = *truncated_keys + (keys.len() - shown.len()) as u64;
                    fields["keys"] = shown.into();
                    if left_out > 0 {
                        fields["truncatedKeys"] = left_out.into();
                    }
                }
                fields
            }
            Shape::Union(variants) => {
                let variants: Vec<Value> = variants.iter().map(|variant| variant.in_detail(detail)).collect();
                json!({ "type": "union", "variants": variants })
            }
        };
        if self.optional {
            value["optional"] = true.into();
        }
        value
    }

    /// In a line, as a message has it.
    pub(crate) fn in_words(&self) -> String {
        match &self.shape {
            Shape::Scalar(kind) => (*kind).to_owned(),
            Shape::Array { length, items: Some(items), truncated: false } => {
                format!("array[{length}] of {}", items.in_words())
            }
            Shape::Array { length, .. } => format!("array[{length}]"),
            Shape::Object { truncated: true, .. } => "object".to_owned(),
            Shape::Object { keys, truncated_keys, .. } => {
                let mut parts: Vec<String> = keys
                    .iter()
                    .map(|(key, sketch)| {
                        format!("{}{}: {}", cut_key(key, 64), if sketch.optional { "?" } else { "" }, sketch.in_words())
                    })
                    .collect();
                if *truncated_keys > 0 {
                    parts.push(format!("...{truncated_keys} more"));
                }
                format!("object{{{}}}", parts.join(", "))
            }
            Shape::Union(variants) => variants.iter().map(Self::in_words).collect::<Vec<_>>().join(" | "),
        }
    }
}

fn cut_key(key: &str, bytes: usize) -> String {
    if key.len() <= bytes { key.to_owned() } else { format!("{}…", &key[..key.floor_char_boundary(bytes)]) }
}

/// Builds a sketch from text that streams by.
#[derive(Debug, Default)]
pub(crate) struct SketchBuilder {
    scanner: Scanner,
    levels: Levels,
}

impl SketchBuilder {
    /// Reads the next piece; false once it cannot be JSON or NDJSON any more.
    pub(crate) fn update(&mut self, piece: &[u8]) -> bool {
        self.scanner.update(piece, &mut self.levels)
    }

    /// The sketch, and whether it is of NDJSON: then of the array of its values.
    pub(crate) fn finish(mut self) -> Option<(Sketch, bool)> {
        let values = self.scanner.finish(&mut self.levels)?;
        let whole = self.levels.whole?;
        if values == 1 {
            return Some((whole, false));
        }
        Some((Shape::Array { length: values, items: Some(Box::new(whole)), truncated: false }.into(), true))
    }
}

/// The containers that are open and looked at.
#[derive(Debug, Default)]
struct Levels {
    open: Vec<Level>,
    /// How many containers deep in something that is only counted.
    skipped: usize,
    whole: Option<Sketch>,
    values: u64,
}

#[derive(Debug)]
enum Level {
    Array { length: u64, items: Option<Sketch>, truncated: bool },
    Object { keys: Vec<(String, Sketch)>, key: Option<String>, more: u64, truncated: bool },
}

impl Levels {
    /// Whether the value that comes now is looked at.
    fn looks(&self) -> bool {
        match self.open.last() {
            None => self.values < MAX_SAMPLES,
            Some(Level::Array { length, truncated, .. }) => !truncated && *length < MAX_SAMPLES,
            Some(Level::Object { key, .. }) => key.is_some(),
        }
    }

    fn begin(&mut self, level: impl FnOnce(bool) -> Level) {
        if self.skipped > 0 || !self.looks() {
            self.skipped += 1;
            return;
        }
        // The levels above, and this one.
        let truncated = self.open.len() >= MAX_DEPTH;
        self.open.push(level(truncated));
    }

    /// A value is over: looked at, or only counted.
    fn put(&mut self, sketch: Option<Sketch>) {
        match self.open.last_mut() {
            None => {
                self.values += 1;
                if let Some(sketch) = sketch {
                    self.whole = Some(merge::samples(self.whole.take(), sketch, MAX_KEYS));
                }
            }
            Some(Level::Array { length, items, .. }) => {
                *length += 1;
                if let Some(sketch) = sketch {
                    *items = Some(merge::samples(items.take(), sketch, MAX_KEYS));
                }
            }
            Some(Level::Object { keys, key, .. }) => {
                if let (Some(key), Some(sketch)) = (key.take(), sketch) {
                    // A key that comes again means its last value.
                    match keys.iter_mut().find(|(other, _)| *other == key) {
                        Some((_, known)) => *known = sketch,
                        None => keys.push((key, sketch)),
                    }
                }
            }
        }
    }
}

impl Listener for Levels {
    fn scalar(&mut self, scalar: Scalar) {
        if self.skipped > 0 {
            return;
        }
        let kind = match scalar {
            Scalar::String => "string",
            Scalar::Number => "number",
            Scalar::Boolean => "boolean",
            Scalar::Null => "null",
        };
        let sketch = self.looks().then(|| Shape::Scalar(kind).into());
        self.put(sketch);
    }

    fn begin_object(&mut self) {
        self.begin(|truncated| Level::Object { keys: Vec::new(), key: None, more: 0, truncated });
    }

    fn begin_array(&mut self) {
        self.begin(|truncated| Level::Array { length: 0, items: None, truncated });
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            if self.skipped == 0 {
                self.put(None);
            }
            return;
        }
        let shape = match self.open.pop() {
            // An empty one hides nothing.
            Some(Level::Array { length, items, truncated }) => {
                Shape::Array { length, items: items.map(Box::new), truncated: truncated && length > 0 }
            }
            Some(Level::Object { keys, more, truncated, .. }) => {
                Shape::Object { keys, truncated_keys: more, truncated: truncated && more > 0 }
            }
            None => return,
        };
        // A truncated object counts its keys only to know whether it is empty.
        let shape = match shape {
            Shape::Object { truncated: true, .. } => {
                Shape::Object { keys: Vec::new(), truncated_keys: 0, truncated: true }
            }
            other => other,
        };
        self.put(Some(shape.into()));
    }

    fn wants_key(&self) -> bool {
        self.skipped == 0
    }

    fn key(&mut self, raw: &[u8], cut: bool) {
        if let Some(Level::Object { keys, key, more, truncated }) = self.open.last_mut() {
            let name = unescape(raw, cut);
            if *truncated || (keys.len() >= MAX_KEYS && keys.iter().all(|(other, _)| *other != name)) {
                *more += 1;
            } else {
                *key = Some(name);
            }
        }
    }
}

/// A key's text; one that was cut ends at its last whole character or escape.
fn unescape(raw: &[u8], cut: bool) -> String {
    for end in (0..=raw.len()).rev().take(13) {
        let quoted = [b"\"", &raw[..end], b"\""].concat();
        if let Ok(key) = serde_json::from_slice::<String>(&quoted) {
            return if cut || end < raw.len() { key + "…" } else { key };
        }
    }
    // Lone surrogates, or bytes that are no text.
    String::from_utf8_lossy(raw).into_owned()
}

#[cfg(test)]
mod tests;
