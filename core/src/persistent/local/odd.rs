//! Links and special files in a source: left alone, so that what they stand in the way of cannot be sent.

use std::collections::HashSet;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, OFlags};
use rustix::io::Errno;

use super::LocalStore;
use crate::error::{Code, Error, Result};
use crate::persistent::checkout::Checkout;
use crate::persistent::incoming::Incoming;
use crate::root::open_name;

impl LocalStore {
    /// Why the source can never take what is at `path`, if so.
    pub(super) fn refusal(&self, path: &str) -> Result<Option<Error>> {
        let dir = &self.dir;
        let odd = self.odd_at(path).map_err(|errno| self.failed(errno))?;
        Ok(odd.map(|odd| {
            let text = format!(
                "{dir}/{path} is not committed: in the source a link or a special file stands at {dir}/{odd}, which is left alone. Remove it there, or discard the change."
            );
            Error::at(Code::NotRegularFile, format!("{dir}/{path}"), text)
        }))
    }

    /// The first thing at `path` or on the way to it that is neither a file nor a folder.
    fn odd_at<'p>(&self, path: &'p str) -> rustix::io::Result<Option<&'p str>> {
        let mut folder: Option<OwnedFd> = None;
        let mut from = 0;
        for to in path.match_indices('/').map(|(at, _)| at).chain([path.len()]) {
            let here = folder.as_ref().map_or(self.source.folder(), AsFd::as_fd);
            let name = &path[from..to];
            let kind = match fs::statat(here, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(errno),
            };
            match kind {
                FileType::Directory if to < path.len() => {
                    match open_name(here, name, OFlags::RDONLY | OFlags::DIRECTORY) {
                        Ok(next) => folder = Some(next),
                        // Another thing by now.
                        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                        Err(errno) => return Err(errno),
                    }
                }
                FileType::Directory | FileType::RegularFile => return Ok(None),
                _ => return Ok(Some(&path[..to])),
            }
            from = to + 1;
        }
        Ok(None)
    }
}

/// They are not content; but where content was, or a folder of it, they are no deletion either.
pub(super) fn keep_hidden(checkout: &Checkout, incoming: &mut Incoming, odd: &HashSet<String>) {
    for (path, _) in checkout.rows.iter().filter(|(_, row)| row.base.is_some()) {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let is_hidden = odd.contains(path) || above.any(|above| odd.contains(above));
        if is_hidden && !incoming.discard.contains(path) {
            incoming.same.insert(path.as_str().into());
        }
    }
}
