//! Counting line ends at the speed of memory. LF, CR and CRLF each end one line.

use memchr::{memchr, memchr_iter};

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// There is no line end.
    None,
    /// All by LF.
    Lf,
    /// All by CR and LF.
    Crlf,
    /// All by CR.
    Cr,
    /// More than one kind.
    Mixed,
}

impl LineEnding {
    /// The name that TypeScript sees.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::Crlf => "crlf",
            Self::Cr => "cr",
            Self::Mixed => "mixed",
        }
    }
}

/// The line ends of what has come so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    feeds: u64,
    returns: u64,
    pairs: u64,
    last: Option<u8>,
}

impl Ends {
    /// Of bytes in memory.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut ends = Self::default();
        ends.count(bytes);
        ends
    }

    /// Takes the next block.
    pub(crate) fn count(&mut self, block: &[u8]) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else { return };
        let parted = self.last == Some(b'\r') && *first == b'\n';
        self.feeds += memchr_iter(b'\n', block).count() as u64;
        if let Some(at) = memchr(b'\r', block) {
            let rest = &block[at..];
            self.returns += memchr_iter(b'\r', rest).count() as u64;
            self.pairs += pairs(rest);
        }
        self.pairs += u64::from(parted);
        self.last = Some(*last);
    }

    /// How many.
    pub(crate) fn total(&self) -> u64 {
        self.feeds + self.returns - self.pairs
    }

    /// Whether what comes next starts with the rest of a CRLF, if it is an LF.
    pub(crate) fn after_return(&self) -> bool {
        self.last == Some(b'\r')
    }

    /// Whether all that came ends with a line end.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.last, Some(b'\n' | b'\r'))
    }

    /// Their kind.
    pub(crate) fn kind(&self) -> LineEnding {
        match (self.feeds - self.pairs, self.returns - self.pairs, self.pairs) {
            (0, 0, 0) => LineEnding::None,
            (_, 0, 0) => LineEnding::Lf,
            (0, 0, _) => LineEnding::Crlf,
            (0, _, 0) => LineEnding::Cr,
            _ => LineEnding::Mixed,
        }
    }
}

/// How many CR are followed by LF. Simple enough for the compiler to turn it into vector instructions.
fn pairs(bytes: &[u8]) -> u64 {
    let next = bytes.get(1..).unwrap_or_default();
    let count = |(one, other): (&[u8], &[u8])| {
        let pairs = one.iter().zip(other).map(|(one, other)| u8::from(*one == b'\r') & u8::from(*other == b'\n'));
        u64::from(pairs.sum::<u8>())
    };
    bytes.chunks(128).zip(next.chunks(128)).map(count).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds() {
        for (text, kind) in [
            ("", LineEnding::None),
            ("a\nb\n", LineEnding::Lf),
            ("a\r\nb", LineEnding::Crlf),
            ("a\rb\r", LineEnding::Cr),
            ("a\r\nb\n", LineEnding::Mixed),
        ] {
            assert_eq!(Ends::of(text.as_bytes()).kind(), kind, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn as_a_plain_count_says(text in "[\n\ra]{0,400}", block in 1_usize..300) {
            let unix = text.replace("\r\n", "\n").replace('\r', "\n");
            let mut ends = Ends::default();
            text.as_bytes().chunks(block).for_each(|block| ends.count(block));
            prop_assert_eq!(ends.total(), unix.matches('\n').count() as u64);
            prop_assert_eq!(ends.at_end(), unix.ends_with('\n'));
        }
    }
}
