//! What a tool hears of its write, beside what was written.

use std::fs::File;
use std::io::Read;

use rustix::fs::OFlags;

use super::{PendingWrite, Placed};
use crate::index::Facts;
use crate::publish::Swapped;
use crate::root::open_name;
use crate::version::FileVersion;
use crate::window::Content;

/// Of a write that is done.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The file as it is now.
    pub version: FileVersion,
    /// Nothing was there before.
    pub created: bool,
    /// The content before, where it was asked for and is not too long.
    pub before: Option<Vec<u8>>,
}

impl Outcome {
    /// The content before, where it is text.
    #[must_use]
    pub fn before_text(self) -> Option<String> {
        let before = self.before.filter(|content| matches!(Content::of(content, true), Content::Text))?;
        String::from_utf8(before).ok()
    }
}

impl PendingWrite {
    /// Once, after [`PendingWrite::publish`].
    #[must_use]
    pub fn outcome(&mut self) -> Option<Outcome> {
        self.outcome.take()
    }

    /// Before the file that was displaced goes.
    pub(super) fn outcome_of(&self, placed: &Placed, facts: &Facts) -> Outcome {
        let before = match &placed.swapped {
            Some(Swapped::For(displaced)) if self.options.keep_before > 0 => self.content_of(displaced),
            _ => None,
        };
        let version = FileVersion { stamp: facts.stamp, digest: Some(facts.digest) };
        Outcome { version, created: placed.before.is_none(), before }
    }

    fn content_of(&self, displaced: &str) -> Option<Vec<u8>> {
        let limit = self.options.keep_before;
        let file = open_name(self.session.staging.folder(), displaced, OFlags::RDONLY).ok()?;
        let mut content = Vec::new();
        File::from(file).take(limit.saturating_add(1)).read_to_end(&mut content).ok()?;
        (content.len() as u64 <= limit).then_some(content)
    }
}
