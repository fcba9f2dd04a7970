//! What a call read, so that somebody can tell later whether it would read the same again.
//!
//! A guest is deterministic: the same request with the same answers of hostcalls gives the same bytes. A call that read
//! files and did nothing else has the same answer for as long as each of its lookups leads to the same file with the same
//! stamp, and each lookup that failed fails as it did.
//!
//! A file that changed just before it was read may change again without a trace ([`FileStamp`]): such a read counts for
//! nothing.
//! What is written through a mapping that was written through before leaves no trace either, on any system; who edits
//! documents that way has them noticed when the mapping is flushed.

use std::time::{Duration, SystemTime};

use hydrant_base::FileStamp;

use super::open;
use super::{FsError, Symlinks};
use hydrant_policy::AllowedPath;

/// Reads that are kept of one call.
const MAX_READS: usize = 512;
/// How long ago a file must have changed for its stamp to count: more than any clock of a file system is coarse.
const SETTLED: Duration = Duration::from_secs(2);

/// One lookup, and what it led to.
#[derive(Debug, Clone)]
struct Read {
    path: AllowedPath,
    symlinks: Symlinks,
    found: Result<FileStamp, FsError>,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Reads {
    reads: Vec<Read>,
    /// Something else was asked than files, or too much.
    spoiled: bool,
}

impl Reads {
    pub(crate) fn add(
        &mut self,
        path: AllowedPath,
        symlinks: Symlinks,
        found: Result<FileStamp, FsError>,
    ) {
        let counts = match &found {
            Ok(stamp) => stamp.changed_before(SystemTime::now(), SETTLED),
            // What the path means, and nothing of the moment.
            Err(error) => matches!(
                error,
                FsError::NotFound | FsError::IsDirectory | FsError::LeavesMount | FsError::Symlink
            ),
        };
        if !counts || self.reads.len() >= MAX_READS {
            self.spoil();
        }
        if !self.spoiled {
            self.reads.push(Read {
                path,
                symlinks,
                found,
            });
        }
    }

    /// The call did what is not known to be the same next time.
    pub(crate) fn spoil(&mut self) {
        self.spoiled = true;
        self.reads = Vec::new();
    }

    /// Whether files are all that the answer depends on.
    #[must_use]
    pub fn are_all(&self) -> bool {
        !self.spoiled
    }

    /// Whether the same call would read the same now.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.are_all()
            && self
                .reads
                .iter()
                .all(|read| open::stamp(&read.path, read.symlinks) == read.found)
    }
}
