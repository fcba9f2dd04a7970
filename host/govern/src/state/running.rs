//! Which processes are at work, and which calls are theirs: a call without an end is interrupted only when its process is
//! gone, not because another one starts.
//!
//! Each process holds the lock of a file of its own in `running/`; the file lists its calls, 0 for none. It is never synced:
//! after a loss of power no process is there either.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FlockOperation, OFlags};

use super::folder::{Folder, FolderError};
use crate::digest::hex;

const FOLDER: &str = "running";

pub(super) struct Running {
    folder: Folder,
    name: String,
    file: File,
    calls: BTreeSet<u64>,
    /// Bytes of the file, which gets no shorter: that would cost more than all the rest.
    length: usize,
}

impl Running {
    /// This process is at work; answers the calls of the others. Called with the lock of the state held, like the rest.
    pub(super) fn start(state: &Folder) -> Result<(Self, BTreeSet<u64>), FolderError> {
        let folder = state.make_child(FOLDER)?;
        let mut others = BTreeSet::new();
        for name in folder.names()?.iter().filter(|name| named(name)) {
            let Some(file) = folder.open(name, OFlags::RDWR)? else {
                continue;
            };
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // Its process is gone.
                folder.remove(name)?;
            } else {
                others.extend(calls(&file).map_err(|source| folder.failed(name, source))?);
            }
        }
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random)
            .map_err(|error| state.failed(FOLDER, io::Error::other(error.to_string())))?;
        let name = hex(&random);
        let file = folder.create(&name, OFlags::RDWR)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| folder.failed(&name, error.into()))?;
        let running = Self {
            folder,
            name,
            file,
            calls: BTreeSet::new(),
            length: 0,
        };
        Ok((running, others))
    }

    /// Before a call's record is written.
    pub(super) fn begin(&mut self, call: u64) -> Result<(), FolderError> {
        if self.calls.insert(call) {
            self.list()?;
        }
        Ok(())
    }

    /// After the record of its end is written.
    pub(super) fn end(&mut self, call: u64) -> Result<(), FolderError> {
        if self.calls.remove(&call) {
            self.list()?;
        }
        Ok(())
    }

    fn list(&mut self) -> Result<(), FolderError> {
        let calls = self.calls.iter().flat_map(|call| call.to_le_bytes());
        let mut bytes: Vec<u8> = calls.collect();
        self.length = self.length.max(bytes.len());
        bytes.resize(self.length, 0);
        self.file
            .write_all_at(&bytes, 0)
            .map_err(|source| self.folder.failed(&self.name, source))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What stays is removed by whoever starts next.
        let _ = self.folder.remove(&self.name);
    }
}

fn named(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn calls(file: &File) -> io::Result<BTreeSet<u64>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    file.take(1 << 20).read_to_end(&mut bytes)?;
    Ok(bytes
        .as_chunks()
        .0
        .iter()
        .map(|chunk| u64::from_le_bytes(*chunk))
        .filter(|call| *call != 0)
        .collect())
}
