//! The one writer: an exclusive lock on a file of the state directory, held for one change.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use hydrant_base::{FileLock, LockKind};
use rustix::fs::OFlags;

use super::folder::{Folder, FolderError};
use crate::failure::{Code, Failure};

const NAME: &str = "govern.lock";

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _held: FileLock,
}

/// Why it is not held.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another process has been writing for 5 s")]
    Busy,
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        Self::new(Code::AuditUnavailable, format!("state: {error}"))
    }
}

impl Lock {
    /// Waits for it until then.
    pub(crate) fn take(folder: &Folder, until: Instant) -> Result<Self, LockError> {
        Self::named(folder, NAME, until)
    }

    /// The same on another file, for something else that only one may do at a time.
    pub(super) fn named(folder: &Folder, name: &str, until: Instant) -> Result<Self, LockError> {
        loop {
            let file = folder.open_or_make(name, OFlags::RDWR)?;
            let held = FileLock::wait(file.into(), LockKind::Exclusive, || remaining(until))
                .map_err(|error| folder.failed(name, error))?
                .ok_or(LockError::Busy)?;
            // A lock on a file that somebody has taken away in the meantime keeps nobody out.
            if stands(folder, name, held.file())? {
                return Ok(Self { _held: held });
            }
            remaining(until).ok_or(LockError::Busy)?;
        }
    }

    /// The same for somebody who only reads: shared, none where there is none to be had (a copy on read-only media, another
    /// user's). Whoever read beside a writer would see a change half-way.
    pub(crate) fn share(folder: &Folder, until: Instant) -> Result<Option<Self>, LockError> {
        let Some(file) = folder.open(NAME, OFlags::RDONLY).ok().flatten() else {
            return Ok(None);
        };
        match FileLock::wait(file.into(), LockKind::Shared, || remaining(until)) {
            Ok(Some(held)) => Ok(Some(Self { _held: held })),
            Ok(None) => Err(LockError::Busy),
            Err(_) => Ok(None),
        }
    }
}

fn remaining(until: Instant) -> Option<Duration> {
    until.checked_duration_since(Instant::now())
}

fn stands(folder: &Folder, name: &str, file: impl AsFd) -> Result<bool, FolderError> {
    let held = rustix::fs::fstat(file).map_err(|error| folder.failed(name, error.into()))?;
    Ok(folder
        .stat(name)?
        .is_some_and(|stat| stat.st_ino == held.st_ino && stat.st_dev == held.st_dev))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn a_reader_never_reads_beside_a_writer() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::look(home.path()).unwrap();
        assert!(
            Lock::share(&folder, soon()).unwrap().is_none(),
            "no writer was ever here"
        );
        let writing = Lock::take(&folder, soon()).unwrap();
        assert!(matches!(Lock::share(&folder, soon()), Err(LockError::Busy)));
        assert!(matches!(Lock::take(&folder, soon()), Err(LockError::Busy)));
        drop(writing);
        let reading = Lock::share(&folder, soon()).unwrap();
        assert!(reading.is_some());
        assert!(Lock::share(&folder, soon()).unwrap().is_some());
        assert!(matches!(Lock::take(&folder, soon()), Err(LockError::Busy)));
    }
}
