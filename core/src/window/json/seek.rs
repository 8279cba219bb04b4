//! Following a pointer through JSON as it streams by.

use super::capture::{Characters, Compact, decoded};
use super::found::{Found, Stage, named};
use super::pointer::{Pointer, escaped};
use super::{JsonItem, JsonType, JsonWindowOptions};

/// Most of a key that is shown.
pub(super) const MAX_KEY: usize = 1_024;
/// Keys that an error names.
const NAMED_KEYS: usize = 8;

/// One way to read the file: as one value, or as the values of its lines. Both are followed until it shows which it is.
#[derive(Debug)]
pub(super) struct Seeker<'a> {
    pointer: &'a Pointer,
    options: &'a JsonWindowOptions,
    several: bool,
    pub(super) stage: Stage,
    depth: usize,
    /// Tokens that were found.
    level: usize,
    kind: JsonType,
    /// Items that began, in what is looked into.
    count: u64,
    key: Option<String>,
    key_cut: bool,
    keys: Vec<String>,
    /// What is taken just now, and from where in the block.
    taking: Option<Taking>,
    from: usize,
    /// Of what the pointer names, inside.
    inside: usize,
    used: usize,
    full: bool,
}

#[derive(Debug)]
enum Taking {
    Item { key: Option<String>, key_cut: bool, kind: JsonType, size: u64, compact: Compact },
    Text(Characters),
    Scalar(Compact),
}

impl<'a> Seeker<'a> {
    pub(super) fn new(pointer: &'a Pointer, options: &'a JsonWindowOptions, several: bool) -> Self {
        let found = Found { kind: JsonType::Ndjson, total: 0, items: Vec::new(), text: None };
        let stage = if several && pointer.tokens.is_empty() { Stage::Inside(found) } else { Stage::Seeking };
        Self {
            pointer,
            options,
            several,
            stage,
            depth: 0,
            level: 0,
            kind: JsonType::Ndjson,
            count: 0,
            key: None,
            key_cut: false,
            keys: Vec::new(),
            taking: None,
            from: 0,
            inside: 0,
            used: 0,
            full: false,
        }
    }

    fn max_bytes(&self) -> usize {
        self.options.max_bytes.max(64)
    }

    /// The depth of the items that are looked at.
    fn looked_at(&self) -> usize {
        self.level + usize::from(!self.several)
    }

    pub(super) fn begin(&mut self, kind: JsonType, at: usize) {
        match self.stage {
            Stage::Seeking if self.depth == 0 && !self.several => self.arrive(0, kind, at),
            Stage::Seeking if self.depth == self.looked_at() => {
                let token = &self.pointer.tokens[self.level];
                let hit = match self.kind {
                    JsonType::Object => !self.key_cut && self.key.take().as_deref() == Some(token.name.as_str()),
                    _ => token.index == Some(self.count),
                };
                self.count += 1;
                if hit {
                    self.arrive(self.level + 1, kind, at);
                }
            }
            Stage::Inside(_) if self.depth == self.inside => self.begin_item(kind, at),
            Stage::Inside(_) if self.depth == self.inside + 1 => {
                if let Some(Taking::Item { size, .. }) = &mut self.taking {
                    *size += 1;
                }
            }
            _ => {}
        }
        self.depth += usize::from(is_container(kind));
    }

    fn arrive(&mut self, level: usize, kind: JsonType, at: usize) {
        (self.level, self.kind, self.count, self.key) = (level, kind, 0, None);
        self.keys.clear();
        if level < self.pointer.tokens.len() {
            if !is_container(kind) {
                self.stage = Stage::Missing { level, kind, count: 0, keys: Vec::new() };
            }
            return;
        }
        self.stage = Stage::Inside(Found { kind, total: 1, items: Vec::new(), text: None });
        self.inside = self.depth + 1;
        self.from = at;
        let (offset, limit) = (self.options.offset, self.options.limit);
        self.taking = match kind {
            JsonType::Object | JsonType::Array => None,
            JsonType::String => Some(Taking::Text(Characters::new(offset, limit, self.max_bytes()))),
            _ => Some(Taking::Scalar(Compact::new(self.max_bytes()))),
        };
    }

    fn is_wanted(&self) -> bool {
        let limit = self.options.offset.saturating_add(self.options.limit);
        !self.full && (self.options.offset..limit).contains(&self.count)
    }

    /// An item may have a fair share of the bytes; a longer one is only named.
    fn share(&self) -> usize {
        self.max_bytes() / usize::try_from(self.options.limit.clamp(1, 4)).unwrap_or(4)
    }

    fn begin_item(&mut self, kind: JsonType, at: usize) {
        if self.is_wanted() {
            let (key, key_cut) = (self.key.take(), self.key_cut);
            let compact = Compact::new(self.share());
            self.taking = Some(Taking::Item { key, key_cut, kind, size: 0, compact });
            self.from = at;
        }
        self.count += 1;
    }

    fn end_item(&mut self, block: &[u8], end: usize) {
        let Some(Taking::Item { key, key_cut, kind, size, mut compact }) = self.taking.take() else { return };
        compact.extend(&block[self.from..end]);
        let (bytes, json) = compact.finish();
        let cost = key.as_ref().map_or(0, String::len) + json.as_ref().map_or(0, String::len);
        let number = self.count - 1;
        let (share, max_bytes) = (self.share(), self.max_bytes());
        let Stage::Inside(found) = &mut self.stage else { return };
        if self.used + cost > max_bytes && !found.items.is_empty() {
            self.full = true;
            return;
        }
        self.used += cost;
        let whole = self.pointer.text.as_str();
        let pointer = match &key {
            Some(_) if key_cut => whole.to_owned(),
            Some(key) => format!("{whole}/{}", escaped(key)),
            None => format!("{whole}/{number}"),
        };
        let size = match kind {
            JsonType::String => Some(bytes.saturating_sub(2)),
            JsonType::Object | JsonType::Array => Some(size),
            _ => None,
        };
        // A long key leaves less for its value, but the two are never more than what there is.
        let json = json.filter(|json| json.len() <= share && self.used <= max_bytes);
        found.items.push(JsonItem { key, pointer, kind, size, json, bytes });
    }

    pub(super) fn end_scalar(&mut self, block: &[u8], end: usize) {
        match self.stage {
            Stage::Inside(_) if self.taking.is_some() && self.depth == self.inside => self.end_item(block, end),
            Stage::Inside(_) if self.depth + 1 == self.inside => self.end_value(block, end),
            _ => {}
        }
    }

    /// The end of the scalar that the pointer names.
    fn end_value(&mut self, block: &[u8], end: usize) {
        let piece = &block[self.from..end];
        let (total, text) = match self.taking.take() {
            Some(Taking::Text(mut characters)) => {
                characters.extend(piece);
                characters.finish()
            }
            Some(Taking::Scalar(mut compact)) => {
                compact.extend(piece);
                (1, compact.finish().1.or_else(|| Some(String::new())))
            }
            _ => return,
        };
        let found = std::mem::replace(&mut self.stage, Stage::Seeking);
        if let Stage::Inside(found) = found {
            self.stage = Stage::Done(Found { total, text, ..found });
        }
    }

    pub(super) fn end_container(&mut self, block: &[u8], end: usize) {
        let inner = self.depth;
        self.depth -= 1;
        match std::mem::replace(&mut self.stage, Stage::Seeking) {
            Stage::Seeking if inner == self.looked_at() => {
                let keys = std::mem::take(&mut self.keys);
                self.stage = Stage::Missing { level: self.level, kind: self.kind, count: self.count, keys };
            }
            Stage::Inside(found) if inner == self.inside => {
                self.stage = Stage::Done(Found { total: self.count, ..found });
            }
            other => {
                self.stage = other;
                if self.depth == self.inside && matches!(self.stage, Stage::Inside(_)) {
                    self.end_item(block, end);
                }
            }
        }
    }

    pub(super) fn wants_key(&self) -> bool {
        match self.stage {
            Stage::Seeking => self.kind == JsonType::Object && self.depth == self.looked_at(),
            Stage::Inside(_) => self.depth == self.inside && self.depth > 0 && self.is_wanted(),
            _ => false,
        }
    }

    pub(super) fn key(&mut self, raw: &[u8], cut: bool) {
        let key = decoded(raw);
        if matches!(self.stage, Stage::Seeking) {
            if self.keys.len() < NAMED_KEYS {
                self.keys.push(named(key.chars().take(40).collect()));
            }
            (self.key, self.key_cut) = (Some(key), cut);
            return;
        }
        let most = MAX_KEY.min(self.max_bytes() / 4);
        let end = key.floor_char_boundary(most);
        self.key_cut = cut || end < key.len();
        self.key = Some(key[..end].to_owned());
    }

    /// Before the next block takes this one's place.
    pub(super) fn keep(&mut self, block: &[u8]) {
        let piece = &block[self.from.min(block.len())..];
        match &mut self.taking {
            Some(Taking::Item { compact, .. } | Taking::Scalar(compact)) => compact.extend(piece),
            Some(Taking::Text(characters)) => characters.extend(piece),
            None => {}
        }
        self.from = 0;
    }

    pub(super) fn finish(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Seeking) {
            Stage::Inside(found) if self.several && self.pointer.tokens.is_empty() => {
                self.stage = Stage::Done(Found { total: self.count, ..found });
            }
            Stage::Seeking if self.several => {
                let keys = Vec::new();
                self.stage = Stage::Missing { level: 0, kind: JsonType::Ndjson, count: self.count, keys };
            }
            other => self.stage = other,
        }
    }
}

fn is_container(kind: JsonType) -> bool {
    matches!(kind, JsonType::Object | JsonType::Array)
}
