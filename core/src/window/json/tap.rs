//! Hearing JSON as it streams by, for both ways to read it: as one value, and as the values of its lines.

use super::found::Stage;
use super::pointer::Pointer;
use super::seek::{MAX_KEY, Seeker};
use super::{JsonType, JsonWindowOptions};
use crate::sketch::scan::{Listener, Scalar, Scanner};

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
