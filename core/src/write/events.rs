//! What a host hears of a write.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::{Origin, PendingWrite, Placed};
use crate::cancel::Cancel;
use crate::diff::{self, NoDiff};
use crate::digest::Digest;
use crate::event::Draft;
use crate::index::{Artifact, Facts};
use crate::path::HarnessPath;
use crate::publish::Swapped;
use crate::root::open_name;
use crate::session::is_artifact;
use crate::stamp::Stamp;

impl PendingWrite {
    pub(super) fn event_count(&self, path: &HarnessPath, artifact: &Artifact) -> i64 {
        1 + i64::from(self.second_event().is_some()) + i64::from(is_artifact(path, artifact))
    }

    /// Which writer it was, beside created and updated.
    fn second_event(&self) -> Option<&'static str> {
        match self.options.origin {
            Origin::Host => Some("harness.file.staged_from_host"),
            Origin::Tool => Some("harness.file.written_by_tool"),
            // `harness.file.staged_from_message` tells more, and comes from staging.
            Origin::Message => None,
        }
    }

    /// Events of the write that is done, with the file that was displaced, which then goes.
    pub(super) fn tell(&mut self, placed: &Placed, facts: &Facts, known_before: Option<Facts>, first: i64) {
        let session = Arc::clone(&self.session);
        let (path, options) = (&placed.path, &session.host.options);
        let name = path.to_string();
        let mut old = match &placed.swapped {
            Some(Swapped::For(displaced)) => {
                open_name(session.staging.folder(), displaced, OFlags::RDONLY).ok().map(File::from)
            }
            _ => None,
        };
        let before_bytes = placed.before.as_ref().map(|stat| Stamp::of(stat).size);
        let fits = facts.stamp.size <= diff::MAX_CONTENT_BYTES && before_bytes.unwrap_or(0) <= diff::MAX_CONTENT_BYTES;
        let wants_diff = options.diff && fits && !options.redaction.hides(&name);
        let mut old_content = Vec::new();
        if wants_diff && let Some(file) = &mut old {
            let _ = file.read_to_end(&mut old_content);
        }
        let holds = known_before
            .filter(|facts| !facts.fresh && placed.before.as_ref().is_some_and(|stat| facts.stamp == Stamp::of(stat)));
        let hashed = self.before_digest.filter(|_| {
            let expected = self.options.if_version.as_ref().map(|version| version.stamp);
            placed.before.as_ref().map(Stamp::of) == expected
        });
        let old_digest = match (holds.as_ref().map(|facts| facts.digest).or(hashed), &placed.before, old) {
            (Some(digest), Some(_), _) => Some(digest),
            (None, Some(_), Some(_)) if wants_diff => Some(Digest::of(&old_content)),
            (None, Some(_), Some(file)) => Digest::read(file, path, &Cancel::new()).ok().map(|(digest, _)| digest),
            _ => None,
        };
        let diff: Value = if !options.diff {
            NoDiff::Disabled.into()
        } else if options.redaction.hides(&name) {
            NoDiff::Redacted.into()
        } else if !fits {
            NoDiff::TooLarge.into()
        } else {
            match self.staged.as_mut().and_then(|staged| staged.content(diff::MAX_CONTENT_BYTES)) {
                Some(content) if placed.before.is_none() || old_digest.is_some() => {
                    diff::unified(&name, &old_content, &content)
                }
                _ => NoDiff::ContentUnavailable.into(),
            }
        };
        if let Some(Swapped::For(displaced)) = &placed.swapped {
            session.staging.discard(displaced);
        }
        let drafts = self.drafts(&name, placed, facts, old_digest, &diff);
        session.emit(drafts, self.options.turn_id.as_deref(), first);
    }

    fn drafts(
        &self,
        name: &str,
        placed: &Placed,
        facts: &Facts,
        old_digest: Option<Digest>,
        diff: &Value,
    ) -> Vec<Draft> {
        let bytes = facts.stamp.size;
        let before = placed.before.as_ref().map(
            |stat| json!({ "bytes": Stamp::of(stat).size, "sha256": old_digest.map(|digest| digest.to_string()) }),
        );
        let redaction = &self.session.host.options.redaction;
        let fields = |diff: Option<&Value>| {
            json!({
                "path": name,
                "root": placed.path.root.name(),
                "bytes": bytes,
                "sha256": facts.digest.to_string(),
                "mediaType": facts.media_type,
                "source": self.options.source,
                "metadata": redaction.metadata(self.options.metadata.as_deref()),
                "before": before,
                "after": { "bytes": bytes, "sha256": facts.digest.to_string() },
                "diff": diff,
                "durationMs": (self.started.elapsed().as_secs_f64() * 1_000_000.0).round() / 1_000.0,
            })
        };
        let kind = if placed.before.is_some() { "harness.file.updated" } else { "harness.file.created" };
        let mut drafts = vec![Draft::new(kind, fields(Some(diff)))];
        drafts.extend(self.second_event().map(|kind| Draft::new(kind, fields(None))));
        if is_artifact(&placed.path, &facts.artifact) {
            let mut artifact = Draft::new(
                "",
                json!({
                    "id": name, "path": name, "bytes": bytes, "sha256": facts.digest.to_string(), "mediaType": facts.media_type,
                    "name": facts.artifact.name, "metadata": redaction.metadata(facts.artifact.metadata.as_deref()),
                }),
            );
            artifact = Draft::new("harness.artifact.created", json!({ "path": name, "artifact": artifact.metadata }));
            drafts.push(artifact);
        }
        drafts
    }
}
