//! The one writer: an exclusive lock on a file of the state directory, held for one change.

use std::fs::File;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};

use super::folder::{Folder, FolderError};

const NAME: &str = "govern.lock";
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code)] File);

/// Why it is not held.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another process has been writing for 5 s")]
    Busy,
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl Lock {
    /// Waits for it until then.
    pub(crate) fn take(folder: &Folder, until: Instant) -> Result<Self, LockError> {
        Self::named(folder, NAME, until)
    }

    /// The same on another file, for something else that only one may do at a time.
    pub(super) fn named(folder: &Folder, name: &str, until: Instant) -> Result<Self, LockError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let file = folder.open_or_make(name, OFlags::RDWR)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // A lock on a file that somebody has taken away in the meantime keeps nobody out.
                Ok(()) if stands(folder, name, &file)? => return Ok(Self(file)),
                Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(folder.failed(name, error.into()).into()),
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(LockError::Busy);
            }
            std::thread::sleep(pause.min(left));
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// The same for somebody who only reads: shared, none where it cannot be had (a copy on read-only media, another's).
    pub(crate) fn share(folder: &Folder, until: Instant) -> Option<Self> {
        let file = folder.open(NAME, OFlags::RDONLY).ok()??;
        loop {
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
                return Some(Self(file));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(LONGEST_PAUSE.min(left));
        }
    }
}

fn stands(folder: &Folder, name: &str, file: &File) -> Result<bool, FolderError> {
    let held = rustix::fs::fstat(file).map_err(|error| folder.failed(name, error.into()))?;
    Ok(folder
        .stat(name)?
        .is_some_and(|stat| stat.st_ino == held.st_ino && stat.st_dev == held.st_dev))
}
