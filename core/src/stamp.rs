//! Stamps: how a file changed behind our back is noticed without reading it (STORAGE, "Stamps").

use std::time::Duration;

use rustix::fs::Stat;
use rustix::time::{ClockId, clock_gettime};

/// The same where the file system stores whole seconds.
const SETTLED_NANOS_WHOLE_SECONDS: i128 = 2_000_000_000;

/// What identifies the content of a file as long as nobody writes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime: i64,
    /// Last change of content or inode, in nanoseconds since 1970.
    pub ctime: i64,
}

impl Stamp {
    /// Youngest age at which a stamp proves something: two ticks of the coarsest kernel clock in use (100 Hz).
    pub(crate) const SETTLED_NANOS: i64 = 20_000_000;

    /// From what fstat says.
    #[must_use]
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "field types differ by platform; sizes are never negative"
    )]
    #[cfg_attr(target_os = "linux", expect(clippy::cast_possible_wrap, reason = "nanoseconds are below 2^30"))]
    pub fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            size: stat.st_size as u64,
            mtime: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Whether a change right after this stamp could leave it the same: the clock had not ticked on yet. Call it when
    /// the stamp has just been taken.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        let now = clock_gettime(ClockId::Realtime);
        self.is_fresh_at(i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec))
    }

    /// How long a fresh stamp takes to settle if nobody writes; none where that is long.
    #[must_use]
    pub(crate) fn settles_in(&self) -> Option<Duration> {
        let now = clock_gettime(ClockId::Realtime);
        let age = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec) - i128::from(self.ctime);
        let left = u64::try_from(i128::from(Self::SETTLED_NANOS) - age).ok()?;
        let soon = i128::from(left) <= i128::from(Self::SETTLED_NANOS)
            && !self.is_fresh_at(i128::from(self.ctime) + i128::from(Self::SETTLED_NANOS));
        soon.then(|| Duration::from_nanos(left))
    }

    fn is_fresh_at(&self, now_nanos: i128) -> bool {
        let whole_seconds = self.ctime % 1_000_000_000 == 0 && self.mtime % 1_000_000_000 == 0;
        let settled = if whole_seconds { SETTLED_NANOS_WHOLE_SECONDS } else { i128::from(Self::SETTLED_NANOS) };
        // A time in the future (the clock was set back) proves nothing either.
        now_nanos - i128::from(self.ctime) < settled
    }

    /// The same content as far as a stamp can say after a rename, which moves ctime on.
    #[must_use]
    pub fn same_but_renamed(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino && self.size == other.size && self.mtime == other.mtime
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_by_age() {
        let at = |ctime| Stamp { dev: 1, ino: 1, size: 1, mtime: 5, ctime };
        let now = 10_000_000_123;
        assert!(at(now).is_fresh_at(i128::from(now)));
        assert!(at(now - 19_999_999).is_fresh_at(i128::from(now)));
        assert!(!at(now - 20_000_000).is_fresh_at(i128::from(now)));
        assert!(at(now + 1_000).is_fresh_at(i128::from(now)), "from the future");
        let whole = Stamp { mtime: 8_000_000_000, ..at(9_000_000_000) };
        assert!(whole.is_fresh_at(i128::from(now)), "whole seconds");
    }
}
