//! Making a folder, for tools that ask for one by itself: a write makes those that it needs.

use std::sync::PoisonError;

use rustix::fs::FileType;

use crate::error::{Code, Error, Result};
use crate::path::Use;
use crate::root::Links;
use crate::session::Session;

impl Session {
    /// Makes a folder and those above it, 0700; one that is there is fine. Gives its path as on the disk. Something else
    /// there is an error. May be called again when the lock is held.
    pub fn make_folder(&self, path: &str) -> Result<String> {
        let path = self.resolve(path, Use::Write)?;
        let path = self.root_of(&path).locate(&path, Links::Refuse);
        let root = self.root_of(&path);
        let _locked = self.lock_publish()?;
        match root.stat(&path) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => return Ok(path.to_string()),
            Ok(_) => {
                let text = format!("Something that is no folder is already there: {path}");
                return Err(Error::at(Code::AlreadyExists, &path, text));
            }
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => return Err(error),
        }
        // A name below it, so that its own folder is made as well.
        let below = path.join("_");
        let (_, had) = self.told(root.make_parent(&below))?;
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner).made(&below, had);
        Ok(path.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Host, HostOptions};

    #[test]
    fn folders_are_made_once_and_never_over_files() {
        let dir = tempfile::tempdir().expect("tempdir");
        let host = Host::open(dir.path(), HostOptions::default()).expect("host");
        let session = host.open_session("one", true, None).expect("session").expect("made");
        for _ in 0..2 {
            assert_eq!(session.make_folder("/session/a/b").expect("made"), "/session/a/b");
        }
        std::fs::write(dir.path().join("sessions/one/session/file"), "").expect("file");
        assert_eq!(session.make_folder("/session/file").expect_err("a file").code, Code::AlreadyExists);
        assert_eq!(session.make_folder("/session/file/x").expect_err("below a file").code, Code::NotDirectory);
        assert_eq!(session.make_folder("/session").expect_err("a root").code, Code::SandboxDenied);
        session.flush().expect("flush");
    }
}
