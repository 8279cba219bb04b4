//! What a session may hold.

use rustix::fs::Stat;

use super::PendingWrite;
use crate::error::{Code, Error, Result};
use crate::index;
use crate::path::HarnessPath;
use crate::stage::Staged;
use crate::stamp::Stamp;

impl PendingWrite {
    /// Under the lock: whether the session may grow by this write.
    pub(super) fn check_quota(&self, path: &HarnessPath, before: Option<&Stat>) -> Result<()> {
        let quota = self.session.host.options.quota;
        let (new, old) = (self.staged.as_ref().map_or(0, Staged::bytes), before.map(|stat| Stamp::of(stat).size));
        let over = |counted: Option<u64>| -> Result<Option<(u64, &str)>> {
            let (session, instance) = (&self.session, self.session.instance);
            let (files, bytes) =
                session.host.index.read(|connection| index::totals(connection, instance))?.unwrap_or((0, 0));
            let grown = bytes.saturating_sub(counted.unwrap_or(0)).saturating_add(new);
            // A write that makes its file smaller is never refused.
            let bytes = quota.session_bytes.filter(|limit| new > old.unwrap_or(0) && grown > *limit);
            let files = quota.session_files.filter(|limit| old.is_none() && files + 1 > *limit);
            Ok(bytes.map(|limit| (limit, "bytes")).or(files.map(|limit| (limit, "files"))))
        };
        if quota.session_bytes.is_none() && quota.session_files.is_none() {
            return Ok(());
        }
        let name = path.to_string();
        let row = self.session.host.index.read(|connection| index::row(connection, self.session.instance, &name))?;
        if over(row.map(|facts| facts.stamp.size))?.is_none() {
            return Ok(());
        }
        // Other programs may have removed files since the last scan; only the disk can say.
        self.session.rescan()?;
        let Some((limit, what)) = over(old)? else { return Ok(()) };
        let text =
            format!("Writing {path} would take the session over its quota of {limit} {what}. Remove files first.");
        Err(Error::at(Code::QuotaExceeded, path, text))
    }
}
