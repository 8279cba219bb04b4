//! A session on a temporary folder, for the tests of whole calls.

use std::path::PathBuf;
use std::sync::Arc;

use crate::host::{Host, HostOptions};
use crate::path::Root;
use crate::session::Session;

pub(crate) struct Open {
    pub(crate) session: Arc<Session>,
    _host: Host,
    _dir: tempfile::TempDir,
}

pub(crate) fn open() -> Open {
    let dir = tempfile::tempdir().expect("tempdir");
    let host = Host::open(dir.path(), HostOptions::default()).expect("host");
    let session = host.open_session("one", true, None).expect("session").expect("made");
    Open { session, _host: host, _dir: dir }
}

impl Open {
    /// Where `/session/<name>` is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.session.host_path(Root::Session).join(name)
    }

    /// As another program would write it.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        std::fs::write(self.file(name), content).expect("written");
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).expect("read")
    }
}
