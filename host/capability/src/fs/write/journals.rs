//! The folder of the journals: one lock, and one file for each list of changes that is under way.

use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use hydrant_base::{FileLock, LockKind};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::record::Record;
use super::steps::Steps;
use super::{FsError, from_errno, from_io, stage};
use crate::fs::PRIVATE;
use crate::{BudgetExceeded, Meter};

/// The lock of the folder. It is never removed.
const LOCK: &str = "lock";

/// The ending of journals.
const ENDING: &str = ".json";

/// The ending of a journal that is being written.
const UNFINISHED: &str = ".json.new";

/// The ending of a journal that nothing can be done with.
const SET_ASIDE: &str = ".damaged";

/// Bytes of a journal, at most: [`super::MAX_CHANGES`] of the longest paths, twice, all escaped.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

const NO_LINK: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Where changes of files are journalled: a folder of the home's state, which nobody else can write.
#[derive(Debug, Clone)]
pub struct Journals {
    folder: PathBuf,
}

/// The folder while this holds its lock. The lock ends with the process at the latest.
#[derive(Debug)]
pub(super) struct Locked {
    folder: OwnedFd,
    _lock: FileLock,
}

impl Journals {
    /// The journals in `folder`, an absolute path; it is made, for its owner alone, when it is first needed.
    #[must_use]
    pub fn new(folder: PathBuf) -> Journals {
        Journals { folder }
    }

    /// Whether there is a journal, of a host that was killed or that is at work.
    pub(super) fn any(&self) -> bool {
        self.open()
            .is_ok_and(|folder| !leftovers(&folder).is_empty())
    }

    /// Waits for the lock of the folder.
    ///
    /// # Errors
    /// Outside: the deadline. Inside: [`FsError::NotAccessible`] if there can be no folder or no lock in it.
    pub(super) fn lock(&self, meter: &Meter) -> Result<Result<Locked, FsError>, BudgetExceeded> {
        let (folder, lock) = match self.open_lock() {
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(%error, "there can be no journal of changes");
                return Ok(Err(FsError::NotAccessible));
            }
        };
        meter.remaining()?;
        let mut spent = None;
        let waited = FileLock::wait(lock, LockKind::Exclusive, || {
            meter
                .remaining()
                .map_err(|budget| spent = Some(budget))
                .ok()
        });
        match (waited, spent) {
            (Ok(Some(lock)), _) => Ok(Ok(Locked {
                folder,
                _lock: lock,
            })),
            (_, Some(budget)) => Err(budget),
            (Ok(None) | Err(_), None) => Ok(Err(FsError::NotAccessible)),
        }
    }

    fn open_lock(&self) -> std::io::Result<(OwnedFd, OwnedFd)> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let folder = self.open()?;
        let flags = OFlags::RDWR | OFlags::CREATE | NO_LINK;
        let lock = rustix::fs::openat(&folder, LOCK, flags, PRIVATE)?;
        Ok((folder, lock))
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | NO_LINK;
        rustix::fs::openat(CWD, &self.folder, flags, Mode::empty())
    }
}

impl Locked {
    /// The names of all journals, by their bytes. What was never finished of a journal is removed.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = leftovers(&self.folder);
        names.retain(|name| {
            let finished = name.ends_with(ENDING);
            if !finished {
                self.remove(name);
            }
            finished
        });
        names.sort_unstable();
        names
    }

    /// A name for a new journal.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub(super) fn new_name() -> Result<String, FsError> {
        Ok(format!("{}{ENDING}", stage::random()?))
    }

    /// Puts a journal on the disk, in place of an earlier one of that name, whole or not at all.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn store(&self, name: &str, record: &Record, steps: &Steps) -> Result<(), FsError> {
        let bytes = record.to_bytes().ok_or(FsError::Io)?;
        stage::fits(bytes.len())?;
        let unfinished = format!("{}{UNFINISHED}", name.trim_end_matches(ENDING));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | NO_LINK;
        steps.pass()?;
        let opened = rustix::fs::openat(&self.folder, &unfinished, flags, PRIVATE);
        let mut file = File::from(opened.map_err(from_errno)?);
        let stored = steps
            .pass()
            .and_then(|()| file.write_all(&bytes).map_err(from_io))
            .and_then(|()| file.sync_data().map_err(from_io))
            .and_then(|()| steps.pass())
            .and_then(|()| {
                rustix::fs::renameat(&self.folder, &unfinished, &self.folder, name)
                    .map_err(from_errno)
            });
        if stored.is_err() {
            self.remove(&unfinished);
        }
        stored?;
        rustix::fs::fsync(&self.folder).map_err(from_errno)
    }

    /// Reads a journal; none if there is no making sense of it.
    ///
    /// # Errors
    /// It cannot be read now.
    pub(super) fn load(&self, name: &str) -> Result<Option<Record>, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | NO_LINK;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = File::from(file).take(MAX_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(Record::parse(&bytes))
    }

    /// Removes a journal, whose work is done.
    pub(super) fn remove(&self, name: &str) {
        match rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => tracing::warn!(%error, name, "a journal of changes cannot be removed"),
        }
    }

    /// Puts a journal aside that nothing can be done with, for a person to look at.
    pub(super) fn set_aside(&self, name: &str) {
        let aside = format!("{name}{SET_ASIDE}");
        tracing::warn!(kept = %aside, "a journal of changes is damaged, or its mount is another directory");
        let _ = rustix::fs::renameat(&self.folder, name, &self.folder, &aside);
    }
}

/// The names of all journals, finished or not.
fn leftovers(folder: impl AsFd) -> Vec<String> {
    let Ok(directory) = rustix::fs::Dir::read_from(folder) else {
        return Vec::new();
    };
    directory
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str().ok()?.to_owned()))
        .filter(|name| name.ends_with(ENDING) || name.ends_with(UNFINISHED))
        .collect()
}
