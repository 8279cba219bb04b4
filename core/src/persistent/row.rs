//! What is known of one path of a Persistent Dir: in the store, in the checkout, and on the way between them.

use rustix::fs::Stat;

use crate::digest::Digest;
use crate::stamp::Stamp;
use crate::track::{Change, Version};

/// A path of a Persistent Dir. Gone from the database once nothing is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// What the store held when the checkout last agreed with it; `None`: not in the store.
    pub(crate) base: Option<Held>,
    /// What the checkout held when it was last looked at.
    pub(crate) seen: Option<Seen>,
    /// What a commit sends whose outcome is not recorded yet.
    pub(crate) sent: Option<Sent>,
    /// The store's side while it differs from both.
    pub(crate) theirs: Option<Theirs>,
    /// Since when there is an uncommitted change, in milliseconds since 1970; `None`: there is none.
    pub(crate) since: Option<i64>,
    /// How often it was tried to commit it.
    pub(crate) attempts: u32,
    /// Code and message of the last failure.
    pub(crate) error: Option<(String, String)>,
    /// Found by the scan under way; nothing that is recorded.
    pub(crate) met: bool,
}

/// What a commit sends: a content, or that there is none any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent(pub(crate) Option<Version>);

/// A content in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) version: Version,
    /// The store's own name of it, if it has any.
    pub(crate) tag: Option<String>,
}

/// A file of the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) stamp: Stamp,
    /// The stamp proves nothing: it was too young.
    pub(crate) fresh: bool,
    pub(crate) digest: Digest,
}

impl Seen {
    /// Of a file whose content is known, by a stat that was taken after that.
    pub(crate) fn new(stat: &Stat, digest: Digest) -> Self {
        let stamp = Stamp::of(stat);
        Self { stamp, fresh: stamp.is_fresh(), digest }
    }

    pub(crate) fn version(&self) -> Version {
        Version { bytes: self.stamp.size, digest: self.digest }
    }
}

/// The store's side of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Theirs {
    pub(crate) state: TheirState,
    /// `None`: not there.
    pub(crate) held: Option<Held>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TheirState {
    /// On its way into the checkout.
    Incoming,
    /// Both sides have changed.
    Conflict,
    /// Has no place in the checkout while the conflict of a folder above it stands.
    Blocked,
}

impl Row {
    /// What the checkout holds.
    pub(crate) fn ours(&self) -> Option<Version> {
        self.seen.map(|seen| seen.version())
    }

    /// What the store holds, as far as known.
    pub(crate) fn base(&self) -> Option<Version> {
        self.base.as_ref().map(|base| base.version)
    }

    /// How the checkout differs from the store.
    pub(crate) fn change(&self) -> Option<Change> {
        match (self.base(), self.ours()) {
            (None, Some(_)) => Some(Change::Created),
            (Some(_), None) => Some(Change::Deleted),
            (Some(base), Some(ours)) if base.digest != ours.digest => Some(Change::Updated),
            _ => None,
        }
    }

    pub(crate) fn is_conflict(&self) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.state == TheirState::Conflict)
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.state == TheirState::Blocked)
    }

    /// Whether there is an uncommitted change, noted since `now` unless it was before.
    pub(crate) fn note_change(&mut self, changed: bool, now: i64) {
        if changed {
            self.since.get_or_insert(now);
        } else {
            (self.since, self.attempts, self.error) = (None, 0, None);
        }
    }

    /// The store and the checkout agree, or would if the checkout had not changed since.
    pub(crate) fn advance(&mut self, base: Option<Held>, now: i64) {
        self.base = base;
        self.sent = None;
        self.theirs = None;
        self.note_change(self.change().is_some(), now);
    }

    /// Nothing is known of the path any more.
    pub(crate) fn is_void(&self) -> bool {
        self.base.is_none()
            && self.seen.is_none()
            && self.sent.is_none()
            && self.theirs.is_none()
            && self.since.is_none()
    }
}
