//! The sessions of a `dataDir`: opened, listed, deleted.

use std::sync::{Arc, PoisonError, Weak};

use rustix::fd::AsFd;
use rustix::fs::{self, OFlags};
use rustix::io::Errno;
use serde_json::{Map, Value};

use super::Host;
use crate::clock::now_millis;
use crate::error::{Code, Error, Reason, Result, errno_of};
use crate::index::{self, SessionRow};
use crate::lock::LockFile;
use crate::root::open_name;
use crate::session::record::{self, SessionRecord};
use crate::session::{Opened, Session, key};
use crate::stage::{Staging, random_name};
use crate::sys;
use crate::trash;

impl Host {
    /// Opens a session; `None` when it does not exist and is not to be made. `metadata` is for a new one.
    pub fn open_session(
        &self,
        id: &str,
        create: bool,
        metadata: Option<&Map<String, Value>>,
    ) -> Result<Option<Arc<Session>>> {
        let key = key::key_of(id)?;
        self.sweep_trash();
        // One at a time: two calls for one session in this host get the same one.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = open.get(&key).and_then(Weak::upgrade)
            && session.check_exists().is_ok()
            && session.has_its_dirs()
        {
            return Ok(Some(session));
        }
        open.retain(|_, session| session.strong_count() > 0);
        let session = loop {
            let opened = match self.open_folder(id, &key, create, metadata)? {
                Found::Opened(opened) => opened,
                Found::Missing => return Ok(None),
                // Deleted under our hands by another process: start over.
                Found::Gone => continue,
            };
            let folder = opened
                .folder
                .try_clone()
                .map_err(|error| Error::from_errno(errno_of(&error), "the session's folder", "opening"))?;
            let session = Session::open(Arc::clone(&self.shared), opened);
            if crate::lock::names(&self.shared.sessions, &key, &folder) {
                break Arc::new(session?);
            }
        };
        session.rescan()?;
        open.insert(key, Arc::downgrade(&session));
        Ok(Some(session))
    }

    fn open_folder(&self, id: &str, key: &str, create: bool, metadata: Option<&Map<String, Value>>) -> Result<Found> {
        let wrap = |errno| Error::from_errno(errno, "the session's folder", "opening");
        if create {
            match sys::make_folder(&self.shared.sessions, key) {
                // Deleted by another process as soon as it was made.
                Err(Errno::NOENT) => return Ok(Found::Gone),
                made => made.map_err(wrap)?,
            };
        }
        let folder = match open_name(&self.shared.sessions, key, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(Errno::NOENT) if create => return Ok(Found::Gone),
            Err(Errno::NOENT) => return Ok(Found::Missing),
            other => other.map_err(wrap)?,
        };
        let present = record::read(&folder);
        if present.is_none() && !create {
            return Ok(Found::Missing);
        }
        let built = Staging::open(&folder).and_then(|staging| {
            let wanted = SessionRecord::new(id, now_millis(), metadata.cloned());
            let record = present.map_or_else(|| record::write_once(&folder, &staging, &wanted), Ok)?;
            Ok((staging, record))
        });
        // Whatever failed in a folder that was moved to the trash meanwhile failed for that.
        if !crate::lock::names(&self.shared.sessions, key, &folder) {
            return Ok(Found::Gone);
        }
        let (staging, record) = built?;
        let row = self.shared.index.read(|connection| index::by_key(connection, key))?;
        if row.is_none_or(|row| row.instance != record.instance) {
            let sequence = crate::trace::last_sequence(&folder);
            // Flushed like its session.json, so that a power cut does not hide it from listings.
            self.shared.index.write_flushed(|connection| index::insert(connection, key, &record, sequence))?;
        }
        Ok(Found::Opened(Opened { id: record.id, key: key.to_owned(), instance: record.instance, folder, staging }))
    }

    /// At most `limit` sessions in the order of their ids' bytes, those after `after`.
    pub fn list_sessions(&self, limit: u32, after: Option<&str>) -> Result<Vec<SessionRow>> {
        self.shared.index.read(|connection| index::page(connection, limit, after))
    }

    /// Deletes a session, its files and all that is known of it. One that does not exist is fine; one whose turn runs
    /// is FS_BUSY.
    pub fn delete_session(&self, id: &str) -> Result<()> {
        let key = key::key_of(id)?;
        let sessions = &self.shared.sessions;
        let folder = match open_name(sessions, &key, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return self.forget(&key, None),
            Err(errno) => return Err(Error::from_errno(errno, "the session's folder", "opening")),
        };
        let instance = record::read(&folder).map(|record| record.instance);
        let gone = |error: Error| if crate::lock::names(sessions, &key, &folder) { Err(error) } else { Ok(()) };
        let turn = match LockFile::open(&folder, "turn.lock", "The session's turn") {
            Ok(turn) => turn,
            Err(error) => return gone(error),
        };
        let _turn = match turn.try_lock_at_once() {
            Ok(locked) => locked,
            Err(error) if error.is_held() => {
                return Err(Error::new(
                    Code::Busy,
                    "A turn of the session is running. Finish or abort it, then delete.",
                ));
            }
            Err(error) => return Err(error),
        };
        let publish = match LockFile::open(&folder, "publish.lock", "The session's publish lock") {
            Ok(publish) => publish,
            Err(error) => return gone(error),
        };
        let locked = publish.try_lock(folder.as_fd());
        // Another delete was first.
        if !crate::lock::names(sessions, &key, &folder) {
            return Ok(());
        }
        let _publish = locked?;
        if sys::has_mount_below(&self.shared.path.join("sessions").join(&key)) {
            let text = "The session's folder holds a mount point; it is not deleted. Unmount it first.";
            return Err(Error { reason: Some(Reason::Root), ..Error::new(Code::SandboxDenied, text) });
        }
        let name = random_name();
        let _claimed = trash::claim(sessions, &key);
        fs::renameat(sessions, key.as_str(), &self.shared.trash, name.as_str())
            .map_err(|errno| Error::from_errno(errno, "the session's folder", "deleting"))?;
        if let Err(error) = self.forget(&key, instance) {
            // A delete that fails leaves the session.
            let _ = sys::rename_new(&self.shared.trash, &name, sessions, &key);
            return Err(error);
        }
        trash::unlink_tree(self.shared.trash.as_fd(), &name);
        Ok(())
    }

    /// Takes the rows of a deleted session away: of `instance`, or where there was no record, of the folder.
    fn forget(&self, key: &str, instance: Option<i64>) -> Result<()> {
        self.shared.index.write(|connection| {
            let row =
                index::by_key(connection, key)?.filter(|row| instance.is_none_or(|instance| instance == row.instance));
            row.map_or(Ok(()), |row| index::drop_session(connection, row.instance))
        })
    }

    /// Removes, once a host, what earlier hosts had no time to remove.
    fn sweep_trash(&self) {
        self.swept.call_once(|| trash::sweep(self.shared.trash.as_fd()));
    }
}

enum Found {
    Opened(Opened),
    Missing,
    Gone,
}
