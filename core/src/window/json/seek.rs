//! Following a pointer through JSON as it streams by.

use super::capture::{Characters, Compact, decoded};
use super::pointer::{Pointer, escaped};
use super::{JsonItem, JsonType, JsonWindowOptions};
use crate::error::{Code, Error};
use crate::path::HarnessPath;
use crate::sketch::scan::{Listener, Scalar, Scanner};

/// Most of a key that is shown.
const MAX_KEY: usize = 1_024;
/// Keys that an error names.
const NAMED_KEYS: usize = 8;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: JsonType,
    pub(super) total: u64,
    pub(super) items: Vec<JsonItem>,
    pub(super) text: Option<String>,
}

/// How far the pointer was followed.
#[derive(Debug)]
pub(super) enum Stage {
    /// In the object or array that the first `level` tokens name.
    Seeking,
    /// In what the whole pointer names.
    Inside(Found),
    Done(Found),
    /// The first `level` tokens name something that has no such item.
    Missing {
        level: usize,
        kind: JsonType,
        count: u64,
        keys: Vec<String>,
    },
}

impl Stage {
    /// FS_NOT_FOUND, with how far it leads.
    pub(super) fn names_nothing(&self, path: &HarnessPath, pointer: &Pointer) -> Error {
        let (level, kind, count, keys) = match self {
            Self::Missing { level, kind, count, keys } => (*level, *kind, *count, keys.as_slice()),
            _ => (0, JsonType::Null, 0, [].as_slice()),
        };
        let there = pointer.first(level);
        let there = if there.is_empty() { "the whole" } else { there };
        let what = match kind {
            JsonType::Array => format!("an array of {count} items, from 0"),
            JsonType::Ndjson => format!("{count} lines of JSON, from 0"),
            JsonType::Object if count > keys.len() as u64 => {
                format!("an object with {count} keys, such as {}", keys.join(", "))
            }
            JsonType::Object if count == 0 => "an empty object".to_owned(),
            JsonType::Object => format!("an object with the keys {}", keys.join(", ")),
            other => format!("a {}, which has no items", other.as_str()),
        };
        let wanted: String = pointer.text.chars().take(300).collect();
        Error::at(Code::NotFound, path, format!("{wanted} names nothing in {path}: {there} is {what}."))
    }
}

/// One way to read the file: as one value, or as the values of its lines. Both are followed until it shows which it is.
#[derive(Debug)]
struct Seeker<'a> {
    pointer: &'a Pointer,
    options: &'a JsonWindowOptions,
    several: bool,
    stage: Stage,
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
    fn new(pointer: &'a Pointer, options: &'a JsonWindowOptions, several: bool) -> Self {
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

    fn begin(&mut self, kind: JsonType, at: usize) {
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

    fn end_scalar(&mut self, block: &[u8], end: usize) {
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

    fn end_container(&mut self, block: &[u8], end: usize) {
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

    fn wants_key(&self) -> bool {
        match self.stage {
            Stage::Seeking => self.kind == JsonType::Object && self.depth == self.looked_at(),
            Stage::Inside(_) => self.depth == self.inside && self.depth > 0 && self.is_wanted(),
            _ => false,
        }
    }

    fn key(&mut self, raw: &[u8], cut: bool) {
        let key = decoded(raw);
        if matches!(self.stage, Stage::Seeking) {
            if self.keys.len() < NAMED_KEYS {
                self.keys.push(key.chars().take(40).collect());
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
    fn keep(&mut self, block: &[u8]) {
        let piece = &block[self.from.min(block.len())..];
        match &mut self.taking {
            Some(Taking::Item { compact, .. } | Taking::Scalar(compact)) => compact.extend(piece),
            Some(Taking::Text(characters)) => characters.extend(piece),
            None => {}
        }
        self.from = 0;
    }

    fn finish(&mut self) {
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

/// Both ways to read the file.
#[derive(Debug)]
pub(super) struct Seekers<'a> {
    one: Seeker<'a>,
    several: Seeker<'a>,
    key_limit: usize,
}

impl<'a> Seekers<'a> {
    pub(super) fn new(pointer: &'a Pointer, options: &'a JsonWindowOptions) -> Self {
        // As long as a key that matters is with every byte of it escaped.
        let longest = pointer.tokens.iter().map(|token| token.name.len()).max().unwrap_or(0);
        let key_limit = 6 * longest.max(MAX_KEY) + 1;
        Self { one: Seeker::new(pointer, options, false), several: Seeker::new(pointer, options, true), key_limit }
    }

    /// Reads the next block; false once it is no JSON.
    pub(super) fn read(&mut self, scanner: &mut Scanner, block: &[u8]) -> bool {
        let (start, limit) = (scanner.position(), self.key_limit);
        let mut tap = Tap { one: &mut self.one, several: &mut self.several, block, start, place: start, limit };
        let fits = scanner.update(block, &mut tap);
        self.one.keep(block);
        self.several.keep(block);
        fits
    }

    /// Whether no more can be learnt: there are several values, and what is named in one of them was found.
    pub(super) fn is_done(&self, values: u64) -> bool {
        values > 1 && matches!(self.several.stage, Stage::Done(_))
    }

    /// How many values there were; `None`: no JSON.
    pub(super) fn finish(&mut self, scanner: Scanner) -> Option<u64> {
        if self.is_done(scanner.values()) {
            return Some(scanner.values());
        }
        let (start, limit) = (scanner.position(), self.key_limit);
        let mut tap = Tap { one: &mut self.one, several: &mut self.several, block: &[], start, place: start, limit };
        let values = scanner.finish(&mut tap)?;
        self.one.finish();
        self.several.finish();
        Some(values)
    }

    pub(super) fn take(self, several: bool) -> Stage {
        if several { self.several.stage } else { self.one.stage }
    }
}

/// Hears what comes, with its place in the block.
struct Tap<'s, 'a, 'b> {
    one: &'s mut Seeker<'a>,
    several: &'s mut Seeker<'a>,
    block: &'b [u8],
    start: u64,
    place: u64,
    limit: usize,
}

impl Tap<'_, '_, '_> {
    fn at(&self) -> usize {
        usize::try_from(self.place - self.start).unwrap_or(0)
    }

    /// After the byte that is told of, which may have been the last one of the block before.
    fn after(&self) -> usize {
        usize::try_from((self.place + 1).saturating_sub(self.start)).unwrap_or(0)
    }

    fn begin(&mut self, kind: JsonType) {
        let at = self.at();
        self.one.begin(kind, at);
        self.several.begin(kind, at);
    }
}

impl Listener for Tap<'_, '_, '_> {
    fn place(&mut self, at: u64) {
        self.place = at;
    }

    fn begin_scalar(&mut self) {
        self.begin(JsonType::of(self.block.get(self.at()).copied().unwrap_or(b'0')));
    }

    fn scalar(&mut self, _: Scalar) {
        let end = self.after();
        self.one.end_scalar(self.block, end);
        self.several.end_scalar(self.block, end);
    }

    fn begin_object(&mut self) {
        self.begin(JsonType::Object);
    }

    fn begin_array(&mut self) {
        self.begin(JsonType::Array);
    }

    fn end(&mut self) {
        let end = self.after();
        self.one.end_container(self.block, end);
        self.several.end_container(self.block, end);
    }

    fn wants_key(&self) -> bool {
        self.one.wants_key() || self.several.wants_key()
    }

    fn key(&mut self, raw: &[u8], cut: bool) {
        for seeker in [&mut *self.one, &mut *self.several] {
            if seeker.wants_key() {
                seeker.key(raw, cut);
            }
        }
    }

    fn key_limit(&self) -> usize {
        self.limit
    }
}
