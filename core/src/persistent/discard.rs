//! Giving up uncommitted changes, or the whole checkout.

use std::collections::BTreeSet;

use rustix::fs::{self, Dir, OFlags};

use super::batch::Batch;
use super::checkout::Checkout;
use super::conflict::{Side, covers, sweep};
use super::place::Placed;
use super::scan::{Looked, Odd};
use crate::cancel::Cancel;
use crate::clock::now_millis;
use crate::error::{Error, Result};
use crate::flush::changed_folders;
use crate::root::open_name;

impl Checkout {
    /// Gives up the uncommitted changes at or below `paths`, or all. Returns the paths whose content only the store has.
    pub(crate) fn discard(&mut self, paths: Option<&[String]>, cancel: &Cancel) -> Result<Vec<String>> {
        let odd = self.scan(cancel)?;
        let pending: Vec<String> = self
            .rows
            .iter()
            .filter(|(path, row)| row.since.is_some() && covers(paths, path))
            .map(|(path, _)| path.clone())
            .collect();
        for path in &pending {
            // Before anything is given up.
            if let Some(obstacle) = self.hidden_by(path, paths, cancel)? {
                return Err(self.in_the_way(&obstacle, path));
            }
        }
        let (mut needed, mut folders) = (Vec::new(), BTreeSet::new());
        let mut batch = Batch::new(self.session.staging.folder())?;
        for path in pending {
            let Some(row) = self.rows.get(&path) else { continue };
            if row.is_conflict() {
                self.decide(&path, Side::Theirs, cancel)?;
            } else if row.is_blocked() {
                return Err(self.in_the_way(&self.obstacle(&path), &path));
            } else if row.base.is_some() {
                needed.push(path);
            } else {
                let looked = self.look(&path, cancel)?;
                let session = std::sync::Arc::clone(&self.session);
                let _locked = session.lock_publish_waiting(cancel)?;
                if matches!(looked, Looked::Nothing) && odd.get(&path) == Some(&Odd::Unnameable) {
                    self.take_shown(&mut batch, &path)?;
                }
                if let Placed::Done(_, had) = self.take(&mut batch, &path, looked)? {
                    let full = self.harness_path(&path);
                    folders.extend(changed_folders(&full, had).map(|(_, segments)| segments));
                    let row = self.row_mut(&path);
                    row.seen = None;
                    row.advance(None, now_millis());
                }
            }
        }
        self.flush_folders(&folders)?;
        self.save(true)?;
        Ok(needed)
    }

    /// What has the place of a folder that a deleted file of the store needs to come back, and is not given up as well.
    fn hidden_by(&self, path: &str, paths: Option<&[String]>, cancel: &Cancel) -> Result<Option<String>> {
        if !self.rows.get(path).is_some_and(|row| row.seen.is_none() && row.base.is_some()) {
            return Ok(None);
        }
        let at = self.obstacle(path);
        let goes = || covers(paths, &at) && self.rows.get(&at).is_some_and(|row| row.since.is_some());
        let hides = at != path && matches!(self.look(&at, cancel)?, Looked::File(_)) && !goes();
        Ok(hides.then_some(at))
    }

    /// Empties the checkout and forgets its base.
    pub(crate) fn reset(&mut self, cancel: &Cancel) -> Result<()> {
        let mut batch = Batch::new(self.session.staging.folder())?;
        {
            let session = std::sync::Arc::clone(&self.session);
            let _locked = session.lock_publish_waiting(cancel)?;
            let wrap = |errno| Error::from_errno(errno, &self.name, "emptying");
            let folder = self.root().folder();
            // A handle that only stands for the folder cannot be read.
            let open = open_name(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY).map_err(wrap)?;
            for entry in Dir::read_from(open).map_err(wrap)? {
                let entry = entry.map_err(wrap)?;
                let name = entry.file_name();
                if !matches!(name.to_bytes(), b"." | b"..") {
                    let moved = batch.next_name();
                    fs::renameat(folder, name, batch.folder(), moved.as_str()).map_err(wrap)?;
                }
            }
        }
        self.forget()?;
        sweep(self);
        Ok(())
    }
}
