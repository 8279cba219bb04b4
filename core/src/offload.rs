//! Writing a large result to a file and making the reference that takes its place. A caller of the writer like any
//! other: the file is staged, hashed and measured in one pass.

use std::sync::Arc;

use crate::cancel::Cancel;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::index::Artifact;
use crate::measure::{Measure, Measured};
use crate::names::portable;
use crate::path::{HarnessPath, Use};
use crate::reference::{MIN_INLINE_BYTES, StoredResult, reference};
use crate::session::Session;
use crate::write::{Origin, PendingWrite, WriteOptions, Written};

/// Longest name of a tool's folder, and of a call's file without its extension.
const MAX_NAME_BYTES: usize = 96;

/// How a result is stored.
#[derive(Debug, Clone)]
pub struct OffloadOptions {
    /// The folder of all results.
    pub output_dir: String,
    /// Of the tool.
    pub tool_name: String,
    /// Of the call; without one the file is named by its content.
    pub tool_call_id: Option<String>,
    /// Of the file, without a dot.
    pub extension: String,
    /// Of the file.
    pub media_type: String,
    /// The most that the reference may have, in bytes.
    pub max_inline_bytes: usize,
    /// The most of the beginning that the reference shows, in bytes.
    pub preview_bytes: usize,
    /// Whether it is text, with counts, a preview and maybe a structure.
    pub text: bool,
    /// Label for events.
    pub source: String,
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// The writer.
    pub origin: Origin,
}

/// A result that is being stored.
#[derive(Debug)]
pub struct PendingOffload {
    session: Arc<Session>,
    write: PendingWrite,
    measure: Option<Measure>,
    measured: Option<Measured>,
    options: OffloadOptions,
    cancel: Cancel,
}

impl PendingOffload {
    /// Checks the options; stages nothing yet.
    pub fn begin(session: &Arc<Session>, options: OffloadOptions, cancel: Cancel) -> Result<Self> {
        if options.max_inline_bytes < MIN_INLINE_BYTES {
            let text = format!("maxInlineBytes is at least {MIN_INLINE_BYTES}, not {}", options.max_inline_bytes);
            return Err(Error::new(Code::InvalidOption, text));
        }
        let write_options = WriteOptions {
            media_type: Some(options.media_type.clone()),
            source: options.source.clone(),
            turn_id: options.turn_id.clone(),
            origin: options.origin,
            artifact: Artifact { marked: Some(true), ..Artifact::default() },
            if_none_match: true,
            ..WriteOptions::default()
        };
        let name = options.tool_call_id.as_deref().filter(|id| !id.is_empty()).unwrap_or("result");
        let write = PendingWrite::begin(session, &path_of(&options, name), write_options, cancel.clone())?;
        let measure = options.text.then(|| Measure::new(options.preview_bytes));
        Ok(Self { session: Arc::clone(session), write, measure, measured: None, options, cancel })
    }

    /// Appends a batch.
    pub fn push(&mut self, batch: &[u8]) -> Result<()> {
        /// From this size on a batch is measured on a second thread while this one stages it.
        const OVERLAP_BYTES: usize = 128 * 1024;
        let (write, measure) = (&mut self.write, self.measure.as_mut());
        match measure {
            None => write.push(batch),
            Some(measure) if batch.len() < OVERLAP_BYTES => {
                measure.update(batch);
                write.push(batch)
            }
            Some(measure) => std::thread::scope(|scope| {
                scope.spawn(|| measure.update(batch));
                write.push(batch)
            }),
        }
    }

    /// Publishes, never over different content, and gives what was written with its reference as JSON text. May be
    /// called again when a lock is held.
    pub fn finish(&mut self) -> Result<(Written, String)> {
        if let Some(measure) = self.measure.take() {
            self.measured = Some(measure.finish());
        }
        let digest = self.write.digest()?;
        let hex = digest.to_string();
        let id = self.options.tool_call_id.clone().filter(|id| !id.is_empty());
        let name = id.map_or_else(|| format!("result_{}", &hex[..16]), |id| portable(&id, MAX_NAME_BYTES));
        // The id came before with another content: the content's digest tells the files apart.
        for name in [name.clone(), format!("{name}-{}", &hex[..16])] {
            let path = HarnessPath::parse(&path_of(&self.options, &name), Use::Write)?;
            if let Some(written) = self.publish_at(&path, digest)? {
                let text = self.reference(&written)?;
                return Ok((written, text));
            }
        }
        Err(Error::new(
            Code::AlreadyExists,
            format!("Other results are already stored as {name}.{}", self.options.extension),
        ))
    }

    /// `None` when another content is there.
    fn publish_at(&mut self, path: &HarnessPath, digest: Digest) -> Result<Option<Written>> {
        self.write.set_path(path.clone());
        match self.write.publish() {
            Err(error) if error.code == Code::AlreadyExists => {}
            other => return other.map(Some),
        }
        // The same result of the same call (a retry): the file that is there already is the one.
        match self.session.expect_version(path, digest, &self.cancel) {
            Ok(_) => Ok(Some(Written {
                path: path.to_string(),
                bytes: self.write.bytes(),
                digest,
                media_type: Some(self.options.media_type.clone()),
                artifact: Some(Artifact { marked: Some(true), ..Artifact::default() }),
            })),
            Err(error) if matches!(error.code, Code::StaleVersion | Code::NotRegularFile | Code::SandboxDenied) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn reference(&self, written: &Written) -> Result<String> {
        let sha256 = written.digest.to_string();
        reference(&StoredResult {
            tool_name: &self.options.tool_name,
            tool_call_id: self.options.tool_call_id.as_deref().filter(|id| !id.is_empty()),
            path: &written.path,
            bytes: written.bytes,
            sha256: &sha256,
            media_type: &self.options.media_type,
            measured: self.measured.as_ref(),
            max_inline_bytes: self.options.max_inline_bytes,
        })
    }
}

fn path_of(options: &OffloadOptions, name: &str) -> String {
    let (tool, name) = (portable(&options.tool_name, MAX_NAME_BYTES), portable(name, MAX_NAME_BYTES + 17));
    format!("{}/{tool}/{name}.{}", options.output_dir.trim_end_matches('/'), options.extension)
}
