//! Reads JSON as it streams by: checks it, and tells a listener what comes. No tree, and no recursion: a level of
//! nesting costs one bit.

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    String,
    Number,
    Boolean,
    Null,
}

/// Hears what comes, in order.
pub(crate) trait Listener {
    /// Of the byte that is told of next, counted from the first one of all: the first byte of what begins, the last one
    /// of what ends. For those who take values out of the text.
    #[inline]
    fn place(&mut self, _at: u64) {}
    #[inline]
    fn begin_scalar(&mut self) {}
    fn scalar(&mut self, scalar: Scalar);
    fn begin_object(&mut self);
    fn begin_array(&mut self);
    fn end(&mut self);
    /// Whether the next key is wanted at all.
    fn wants_key(&self) -> bool;
    /// The text between a key's quotes, as it stands, at most [`Self::key_limit`] bytes of it.
    fn key(&mut self, raw: &[u8], cut: bool);
    /// Longer keys are heard cut.
    #[inline]
    fn key_limit(&self) -> usize {
        MAX_KEY_BYTES
    }
}

/// Longer keys are heard cut.
pub(crate) const MAX_KEY_BYTES: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value must come.
    Value,
    /// After `[`.
    FirstItem,
    /// After `{`.
    FirstKey,
    /// After a comma in an object.
    Key,
    Colon,
    AfterValue,
    InString {
        key: bool,
    },
    Escape {
        key: bool,
    },
    Hex {
        key: bool,
        left: u8,
    },
    Number(Digits),
    /// The rest of `true`, `false` or `null`.
    Literal(&'static [u8], Scalar),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Digits {
    const fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Exponent)
    }

    #[inline]
    const fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Self::Integer,
            (Self::Zero | Self::Integer, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Self::E,
            (Self::E, b'+' | b'-') => Self::Sign,
            (Self::E | Self::Sign | Self::Exponent, b'0'..=b'9') => Self::Exponent,
            _ => return None,
        })
    }
}

/// Where the reading stands.
#[derive(Debug)]
pub(crate) struct Scanner {
    state: State,
    open: Nesting,
    key: Vec<u8>,
    key_cut: bool,
    key_limit: usize,
    /// Bytes before the piece that is read.
    base: u64,
    /// Whole values so far.
    values: u64,
    /// A line end inside a value: several values are then no NDJSON.
    broken_lines: bool,
    /// A line end since the last value.
    parted: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        let (key, open) = (Vec::new(), Nesting::default());
        Self {
            state: State::Value,
            open,
            key,
            key_cut: false,
            key_limit: MAX_KEY_BYTES,
            base: 0,
            values: 0,
            broken_lines: false,
            parted: true,
        }
    }
}

impl Scanner {
    /// Reads the next piece; false once it cannot be JSON or NDJSON any more.
    pub(crate) fn update(&mut self, bytes: &[u8], listener: &mut impl Listener) -> bool {
        self.key_limit = listener.key_limit();
        let (fits, read) = self.read(bytes, listener);
        self.base += read as u64;
        fits
    }

    /// Whole values so far.
    pub(crate) fn values(&self) -> u64 {
        self.values
    }

    /// How far it was read: once that went wrong, where.
    pub(crate) fn position(&self) -> u64 {
        self.base
    }

    /// Whether it may still be JSON or NDJSON, and how much was read.
    fn read(&mut self, bytes: &[u8], listener: &mut impl Listener) -> (bool, usize) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.state {
                // Strings and numbers are most of a text, so they are taken in one go as far as the piece has them.
                State::InString { key } => {
                    let plain = plain_length(&bytes[at..]);
                    self.keep_key(key, &bytes[at..at + plain]);
                    at += plain;
                    let Some(&byte) = bytes.get(at) else { return (true, at) };
                    listener.place(self.base + at as u64);
                    if !self.leave_string(key, byte, listener) {
                        return (false, at);
                    }
                    at += 1;
                }
                State::Number(mut digits) => {
                    while let Some(next) = bytes.get(at).and_then(|byte| digits.next(*byte)) {
                        digits = next;
                        at += 1;
                    }
                    self.state = State::Number(digits);
                    if at < bytes.len() {
                        if !digits.may_end() {
                            return (false, at);
                        }
                        listener.place(self.base + at as u64 - 1);
                        self.value_ended(Scalar::Number, listener);
                    }
                }
                State::Escape { .. } | State::Hex { .. } | State::Literal(..) => {
                    listener.place(self.base + at as u64);
                    if !self.step(byte, listener) {
                        return (false, at);
                    }
                    at += 1;
                }
                _ => {
                    listener.place(self.base + at as u64);
                    if !self.between(byte, listener) {
                        return (false, at);
                    }
                    at += 1;
                }
            }
        }
        (true, at)
    }

    /// How many values there were, once all has come: 1 is JSON, more is NDJSON. `None`: neither.
    pub(crate) fn finish(mut self, listener: &mut impl Listener) -> Option<u64> {
        if let State::Number(digits) = self.state {
            if !digits.may_end() {
                return None;
            }
            listener.place(self.base.saturating_sub(1));
            self.value_ended(Scalar::Number, listener);
        }
        let at_end = self.open.depth == 0 && matches!(self.state, State::AfterValue | State::Value) && self.values > 0;
        (at_end && (self.values == 1 || !self.broken_lines)).then_some(self.values)
    }

    /// The byte after the plain part of a string.
    #[inline]
    fn leave_string(&mut self, key: bool, byte: u8, listener: &mut impl Listener) -> bool {
        match byte {
            b'"' if key => {
                if listener.wants_key() {
                    listener.key(&self.key, self.key_cut);
                }
                self.state = State::Colon;
            }
            b'"' => self.value_ended(Scalar::String, listener),
            b'\\' => {
                self.keep_key(key, b"\\");
                self.state = State::Escape { key };
            }
            _ => return false, // a control character
        }
        true
    }

    /// A byte of an escape or of a word.
    fn step(&mut self, byte: u8, listener: &mut impl Listener) -> bool {
        match self.state {
            State::Escape { key } => {
                self.keep_key(key, &[byte]);
                self.state = match byte {
                    b'u' => State::Hex { key, left: 4 },
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => State::InString { key },
                    _ => return false,
                };
            }
            State::Hex { key, left } => {
                self.keep_key(key, &[byte]);
                self.state = if left == 1 { State::InString { key } } else { State::Hex { key, left: left - 1 } };
                return byte.is_ascii_hexdigit();
            }
            State::Literal(rest, scalar) => match rest.split_first() {
                Some((expected, [])) if *expected == byte => self.value_ended(scalar, listener),
                Some((expected, rest)) if *expected == byte => self.state = State::Literal(rest, scalar),
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    /// A byte between values.
    #[inline]
    fn between(&mut self, byte: u8, listener: &mut impl Listener) -> bool {
        match (self.state, byte) {
            (_, b' ' | b'\t') => {}
            (_, b'\n' | b'\r') => {
                if self.open.depth == 0 {
                    self.parted = true;
                } else {
                    self.broken_lines = true;
                }
            }
            (State::Value | State::FirstItem, _) if self.starts_value(byte, listener) => {}
            (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close(listener),
            (State::FirstKey | State::Key, b'"') => {
                self.key.clear();
                self.key_cut = false;
                self.state = State::InString { key: true };
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::AfterValue, b',') if self.open.depth > 0 => {
                self.state = if self.open.in_object() { State::Key } else { State::Value };
            }
            (State::AfterValue, b'}') if self.open.depth > 0 && self.open.in_object() => self.close(listener),
            (State::AfterValue, b']') if self.open.depth > 0 && !self.open.in_object() => self.close(listener),
            // Another value, on a line of its own.
            (State::AfterValue, _) if self.open.depth == 0 && self.parted && !self.broken_lines => {
                return self.starts_value(byte, listener);
            }
            _ => return false,
        }
        true
    }

    #[inline]
    fn starts_value(&mut self, byte: u8, listener: &mut impl Listener) -> bool {
        self.state = match byte {
            b'{' => {
                listener.begin_object();
                self.open.push(true);
                self.parted = false;
                self.state = State::FirstKey;
                return true;
            }
            b'[' => {
                listener.begin_array();
                self.open.push(false);
                self.parted = false;
                self.state = State::FirstItem;
                return true;
            }
            b'"' => State::InString { key: false },
            b'-' => State::Number(Digits::Minus),
            b'0' => State::Number(Digits::Zero),
            b'1'..=b'9' => State::Number(Digits::Integer),
            b't' => State::Literal(b"rue", Scalar::Boolean),
            b'f' => State::Literal(b"alse", Scalar::Boolean),
            b'n' => State::Literal(b"ull", Scalar::Null),
            _ => return false,
        };
        listener.begin_scalar();
        self.parted = false;
        true
    }

    #[inline]
    fn value_ended(&mut self, scalar: Scalar, listener: &mut impl Listener) {
        listener.scalar(scalar);
        self.after_value();
    }

    fn close(&mut self, listener: &mut impl Listener) {
        self.open.pop();
        listener.end();
        self.after_value();
    }

    #[inline]
    fn after_value(&mut self) {
        self.state = State::AfterValue;
        self.values += u64::from(self.open.depth == 0);
    }

    #[inline]
    fn keep_key(&mut self, key: bool, bytes: &[u8]) {
        if !key {
            return;
        }
        let room = self.key_limit.saturating_sub(self.key.len());
        self.key.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.key_cut |= bytes.len() > room;
    }
}

/// How many bytes at the beginning are neither a quote, nor a backslash, nor a control character. Eight at a time.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let mut at = 0;
    while let Some(eight) = bytes.get(at..at + 8).and_then(|slice| slice.try_into().ok()).map(u64::from_le_bytes) {
        // Marks a byte's high bit where it is zero (or follows a marked one, which the first mark rules out).
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
        let quote = zero(eight ^ (ONES * u64::from(b'"')));
        let backslash = zero(eight ^ (ONES * u64::from(b'\\')));
        let control = eight.wrapping_sub(ONES * 0x20) & !eight & HIGHS;
        let marks = quote | backslash | control;
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

/// What is open, a bit a level: set for an object.
#[derive(Debug, Default)]
struct Nesting {
    bits: Vec<u64>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = (self.bits[word] & !(1 << bit)) | (u64::from(object) << bit);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn in_object(&self) -> bool {
        let top = self.depth - 1;
        self.bits[top / 64] >> (top % 64) & 1 == 1
    }
}
