//! `fs-write`: changing files below the writable mounts of a call, all or nothing.
//!
//! The policy decides on the text of all paths before any file is touched. Then, under a lock that
//! every host of this home takes, new contents are staged in files beside their targets, and take their places one by
//! one: an existing file is exchanged with the staged one, so that what was replaced is still there and is looked at
//! again; a file that somebody else changed in the meantime is put back, and so is all that came before it.
//!
//! A journal in the home's state says what is under way, so that a host that is killed at any moment leaves nothing
//! that the next one could not finish or undo. The journal is trusted and lies outside every mount; what it says of
//! the mounts is checked against what they hold.
//!
//! No directory is looked up by a path that was checked before: the handles of the directories are held from the
//! first look to the last step, and no component of a path is a link. Not kept of a file that is replaced: extended
//! attributes, and the owner where the system does not let the host set it.

mod directories;
mod journals;
mod look;
mod place;
mod plan;
mod record;
mod recovery;
mod renames;
mod stage;
mod steps;
#[cfg(test)]
mod tests;
mod transaction;

use rustix::io::Errno;

use super::FsError;
use crate::{BudgetExceeded, Call};

pub use self::journals::Journals;
use self::journals::Locked;
use self::plan::Plan;
use self::steps::Steps;
use self::transaction::Transaction;

/// Changes of one list, at most.
pub const MAX_CHANGES: usize = 2_000;

/// Bytes of content of one list, at most.
pub const MAX_CONTENT_BYTES: usize = 64 * 1024 * 1024;

/// Directories that are made for the files of one list, at most.
pub const MAX_DIRECTORIES: usize = 2_000;

/// What a path must hold for a change to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing of that name.
    Absent,
    /// A regular file of at most [`super::MAX_FILE_BYTES`] whose bytes have this SHA-256 digest.
    Sha256([u8; 32]),
    /// What no file can have: a digest of another length. Such a change is refused with [`FsError::Conflict`].
    Impossible,
}

/// What a file is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// All of its bytes, at most [`super::MAX_FILE_BYTES`].
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it. A new file gets mode 0755 or 0644; of an existing one the bits that let it be
    /// executed change where its owner's differs from this, and no others.
    pub executable: bool,
}

/// One file to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// A virtual path.
    pub path: String,
    /// What it must hold.
    pub expected: Expected,
    /// The new content, or none to delete the file. Nothing that is to be absent and gets no content is only checked.
    pub content: Option<Content>,
}

/// Why nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The change, counted from 0, that could not be made.
    pub change: u32,
    /// Why.
    pub reason: FsError,
}

/// Makes all changes, in the order given, or none.
///
/// Directories that a new file needs are made, [`MAX_DIRECTORIES`] at most; none is removed. When this returns, the
/// changes are on the disk. Without [`Call::journals`] only a list of one change is made, which needs no journal to be
/// whole.
///
/// # Errors
/// Outside, with nothing changed: [`BudgetExceeded`] for the hostcalls (one for each change) or the deadline.
/// Inside, with nothing changed: [`Failure`]. [`FsError::Denied`] and [`FsError::InvalidPath`] (also of two changes of
/// one file, or of a file and what lies below it) and [`FsError::TooLarge`] before any file is touched; also
/// [`FsError::Denied`] for what is hydrant's own ([`Call::own`]), wherever it is mounted;
/// [`FsError::Symlink`] where a component is a link; [`FsError::Conflict`], [`FsError::NotFound`],
/// [`FsError::IsDirectory`], [`FsError::NotDirectory`] and [`FsError::Special`] where a path does not hold what is
/// expected; [`FsError::NotAccessible`] where the system refuses, or several changes have no journal;
/// [`FsError::Io`].
pub fn apply(call: &Call, changes: Vec<Change>) -> Result<Result<(), Failure>, BudgetExceeded> {
    apply_by_steps(call, changes, &Steps::default())
}

fn apply_by_steps(
    call: &Call,
    changes: Vec<Change>,
    steps: &Steps,
) -> Result<Result<(), Failure>, BudgetExceeded> {
    call.meter
        .hostcalls(u64::try_from(changes.len()).unwrap_or(u64::MAX))?;
    call.meter.remaining()?;
    let paths: Vec<_> = changes.iter().map(|change| change.path.clone()).collect();
    match plan_and_run(call, changes, steps) {
        Ok(()) => {
            if !paths.is_empty() {
                call.journal.files_changed();
            }
            Ok(Ok(()))
        }
        Err(Ended::Call(exceeded)) => Err(exceeded),
        Err(Ended::Change(change, reason)) => {
            call.journal.obstacle(reason);
            if let (FsError::Symlink | FsError::LeavesMount, Some(path)) =
                (reason, paths.get(change))
            {
                call.journal.denied_capability(format!("fs.write:{path}"));
            }
            Ok(Err(Failure {
                change: u32::try_from(change).unwrap_or(u32::MAX),
                reason,
            }))
        }
    }
}

/// What it means that something could not be written.
fn from_errno(errno: Errno) -> FsError {
    match errno {
        Errno::NOSPC | Errno::DQUOT => FsError::NoSpace,
        Errno::ROFS => FsError::ReadOnly,
        Errno::PERM => FsError::Immutable,
        errno => super::from_errno(errno),
    }
}

/// As [`from_errno`].
fn from_io(error: std::io::Error) -> FsError {
    Errno::from_io_error(&error).map_or(FsError::Io, from_errno)
}

fn plan_and_run(call: &Call, changes: Vec<Change>, steps: &Steps) -> Result<(), Ended> {
    let plan = Plan::new(call, changes)?;
    if plan.items.is_empty() {
        return Ok(());
    }
    let locked = match &call.journals {
        Some(journals) => Some(lock(journals, call)?),
        None if plan.items.len() > 1 => return Err(Ended::Change(1, FsError::NotAccessible)),
        None => None,
    };
    if let Some(locked) = &locked {
        recovery::recover(call, locked, steps);
    }
    Transaction::new(call, plan, locked.as_ref(), steps)?.run()
}

fn lock(journals: &Journals, call: &Call) -> Result<Locked, Ended> {
    journals
        .lock(&call.meter)?
        .map_err(|reason| Ended::Change(0, reason))
}

/// Finishes or undoes what a host that was killed left behind, as far as the call may make every change of it: one that may
/// only read changes nothing, not even this. Cheap where there is nothing: to be called before a call
/// reads its first file. Never fails: what cannot be finished now stays journalled, and is told by `tracing`.
///
/// # Errors
/// [`BudgetExceeded`]: another host was at work until the deadline.
pub fn recover(call: &Call) -> Result<(), BudgetExceeded> {
    let Some(journals) = &call.journals else {
        return Ok(());
    };
    if !call.grant.writes() || !journals.any() {
        return Ok(());
    }
    match journals.lock(&call.meter)? {
        Ok(locked) => recovery::recover(call, &locked, &Steps::default()),
        Err(error) => tracing::warn!(%error, "the journals of changes cannot be locked"),
    }
    Ok(())
}

/// Why a list of changes was not made.
#[derive(Debug)]
enum Ended {
    /// This one could not be made.
    Change(usize, FsError),
    /// The call is over: a budget ran out.
    Call(BudgetExceeded),
}

impl From<BudgetExceeded> for Ended {
    fn from(exceeded: BudgetExceeded) -> Self {
        Ended::Call(exceeded)
    }
}

/// The SHA-256 digest of a file's bytes.
type Digest = [u8; 32];
