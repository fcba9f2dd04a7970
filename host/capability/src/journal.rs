//! What a call did and was refused, for its receipt and its audit record.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fs::{FsError, Reads, Symlinks};
use hydrant_base::FileStamp;
use hydrant_policy::{AllowedPath, Denial};

/// Refused operations of one call that its audit record names.
pub const MAX_DENIED_OPERATIONS: usize = 100;

/// Refused operations that are kept: those that the audit record names, and one more that says there were more.
const KEPT: usize = MAX_DENIED_OPERATIONS + 1;

/// Filled by the effects of one call.
#[derive(Debug, Default)]
pub struct Journal {
    entries: Mutex<Entries>,
}

/// What the journal of a call holds at its end.
#[derive(Debug, Default, Clone)]
pub struct Entries {
    /// The kinds of capability that a check let pass, whether or not the operation then succeeded.
    pub used: BTreeSet<&'static str>,
    /// What was refused, as `<kind>:<value>`, in order; at most 101.
    pub denied: Vec<String>,
    /// Files were changed, whatever became of the call then.
    pub files_changed: bool,
    /// What kept the last list of changes from being made, if its skill is not told.
    pub obstacle: Option<&'static str>,
    /// What was read.
    pub reads: Reads,
}

impl Journal {
    /// Notes that a capability of this kind was used.
    pub fn used(&self, kind: &'static str) {
        self.entries().used.insert(kind);
    }

    /// Notes that files were changed.
    pub fn files_changed(&self) {
        let mut entries = self.entries();
        entries.files_changed = true;
        entries.reads.spoil();
    }

    /// Notes what kept files from being changed: the contract with skills knows fewer reasons.
    pub(super) fn obstacle(&self, reason: FsError) {
        self.entries().obstacle = match reason {
            FsError::NoSpace => Some("no_space"),
            FsError::ReadOnly => Some("read_only_file_system"),
            FsError::Immutable => Some("immutable"),
            _ => None,
        };
    }

    /// Notes that a file was looked up, and what was found.
    pub(super) fn read(
        &self,
        path: AllowedPath,
        symlinks: Symlinks,
        found: Result<FileStamp, FsError>,
    ) {
        self.entries().reads.add(path, symlinks, found);
    }

    /// Notes that the answer depends on more than files.
    pub(super) fn not_repeatable(&self) {
        self.entries().reads.spoil();
    }

    /// Notes that an operation was refused.
    pub fn denied(&self, denial: &Denial) {
        tracing::debug!(%denial, "denied");
        self.denied_capability(denial.capability().to_owned());
    }

    /// Notes that an operation was refused, in the form `<kind>:<value>`.
    pub(crate) fn denied_capability(&self, capability: String) {
        let mut entries = self.entries();
        if entries.denied.len() < KEPT {
            entries.denied.push(capability);
        }
    }

    /// What was noted so far; the journal is empty afterwards.
    #[must_use]
    pub fn take(&self) -> Entries {
        std::mem::take(&mut self.entries())
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
