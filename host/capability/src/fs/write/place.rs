//! One change on its way: a target, the staged file beside it, and which of the two holds what.
//!
//! A step that replaces something keeps it under the staged name and then looks at what it kept. Undoing, and finishing
//! what a killed host began, go by what the two names hold and not by what is remembered, so they may be interrupted
//! and begun again. What holds neither the old content nor ours is somebody else's: it keeps its name or gets it back,
//! and is never removed.

use std::os::fd::BorrowedFd;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::look::{Held, HeldFile, Stamp, instance, is_free, look};
use super::record::ChangeRecord;
use super::renames::{are_one_file, exchange, rename_away, rename_to_free, settle};
use super::steps::Steps;
use super::{FsError, from_errno};

/// Whose content a name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Ours,
    Old,
    Somebody,
}

/// `directory` is that of the target.
impl ChangeRecord {
    /// Carries the change out. What was replaced is kept; its stamp is answered.
    ///
    /// # Errors
    /// [`FsError::Conflict`] if the target is not as expected, or what the system says. The change may then have been
    /// carried out in part: [`ChangeRecord::undo`] it.
    pub(super) fn commit(
        &self,
        directory: BorrowedFd<'_>,
        steps: &Steps,
    ) -> Result<Option<Stamp>, FsError> {
        steps.pass()?;
        match (self.old, self.new) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                rename_to_free(directory, &self.staged, &self.name, steps).map_err(disturbed)?;
                return Ok(None);
            }
            (Some(_), Some(_)) => exchange(directory, &self.staged, &self.name, steps),
            (Some(_), None) => rename_away(directory, &self.name, &self.staged, steps),
        }
        .map_err(disturbed)?;
        steps.pass()?;
        match look(directory, &self.staged)? {
            Held::File(file) if self.is_old(&file) => Ok(Some(file.stamp)),
            _ => Err(FsError::Conflict),
        }
    }

    /// Makes the target what it was, from whatever moment of [`ChangeRecord::commit`] or of this, and removes the staged file.
    ///
    /// # Errors
    /// What the system says; the undoing can be tried again.
    pub(super) fn undo(&self, directory: BorrowedFd<'_>, steps: &Steps) -> Result<(), FsError> {
        settle(directory, &self.staged).map_err(from_errno)?;
        if self.old.is_none() {
            self.take_back(directory, steps)?;
        }
        match self.staged(directory)? {
            Owner::Nobody => Ok(()),
            Owner::Ours => self.discard(directory, steps),
            Owner::Old | Owner::Somebody => self.put_back(directory, steps),
        }
    }

    /// Carries out what is still to be done, where the target is as expected, and removes the staged file.
    ///
    /// # Errors
    /// What the system says; this can be tried again.
    pub(super) fn finish(&self, directory: BorrowedFd<'_>, steps: &Steps) -> Result<(), FsError> {
        settle(directory, &self.staged).map_err(from_errno)?;
        match self.staged(directory)? {
            Owner::Ours => match self.commit_if_expected(directory, steps)? {
                Owner::Somebody => self.put_back(directory, steps),
                Owner::Nobody | Owner::Ours | Owner::Old => self.discard(directory, steps),
            },
            // Where the file is gone, this was done; one of the same content that somebody put there since is theirs.
            Owner::Nobody if self.new.is_none() => {
                if self.deleted.is_none() || instance(directory, &self.name) != self.deleted {
                    if !is_free(directory, &self.name) {
                        tracing::warn!(name = %self.name, "a file that was to be deleted is another by now, and stays");
                    }
                    return Ok(());
                }
                match self.commit_if_expected(directory, steps)? {
                    Owner::Nobody => Ok(()),
                    Owner::Somebody => self.put_back(directory, steps),
                    Owner::Ours | Owner::Old => self.discard(directory, steps),
                }
            }
            Owner::Nobody => Ok(()),
            Owner::Old => self.discard(directory, steps),
            Owner::Somebody => self.put_back(directory, steps),
        }
    }

    /// Removes the staged file, or what was replaced.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn discard(&self, directory: BorrowedFd<'_>, steps: &Steps) -> Result<(), FsError> {
        steps.mark();
        match rustix::fs::unlinkat(directory, &self.staged, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // A file system that can only be read says so of names that are not there, too.
            Err(Errno::ROFS) if is_free(directory, &self.staged) => Ok(()),
            Err(errno) => Err(from_errno(errno)),
        }
    }

    /// Commits what was not committed yet, and answers what the staged name holds then.
    fn commit_if_expected(
        &self,
        directory: BorrowedFd<'_>,
        steps: &Steps,
    ) -> Result<Owner, FsError> {
        let expected = match self.old {
            Some(_) => Owner::Old,
            None => Owner::Nobody,
        };
        match self.target(directory)? {
            // Two names of one file: a link was made and the staged name not yet removed.
            Owner::Ours => {}
            held if held == expected => match self.commit(directory, steps) {
                Ok(_) | Err(FsError::Conflict) => {}
                Err(error) => return Err(error),
            },
            _ => tracing::warn!("a file that was to be changed is another by now, and stays"),
        }
        self.staged(directory)
    }

    /// Gives a new file that took its place its staged name back.
    fn take_back(&self, directory: BorrowedFd<'_>, steps: &Steps) -> Result<(), FsError> {
        if self.target(directory)? != Owner::Ours {
            return Ok(());
        }
        if self.staged(directory)? == Owner::Ours {
            // Two names of one file: a link was made and the staged name not yet removed.
            self.discard(directory, steps)?;
        }
        steps.mark();
        match rename_away(directory, &self.name, &self.staged, steps) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(from_errno(errno)),
        }
    }

    /// Gives what was replaced its name back, where ours or nothing has it.
    fn put_back(&self, directory: BorrowedFd<'_>, steps: &Steps) -> Result<(), FsError> {
        steps.mark();
        match self.target(directory)? {
            Owner::Ours => {
                exchange(directory, &self.staged, &self.name, steps).map_err(disturbed)?;
                if self.staged(directory)? == Owner::Ours {
                    return self.discard(directory, steps);
                }
                // Somebody replaced ours in this moment: theirs is the newest.
                exchange(directory, &self.staged, &self.name, steps).map_err(disturbed)?;
            }
            Owner::Nobody => match rename_to_free(directory, &self.staged, &self.name, steps) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(from_errno(errno)),
            },
            Owner::Old | Owner::Somebody => {
                if are_one_file(directory, &self.staged, &self.name) {
                    return self.discard(directory, steps);
                }
            }
        }
        // Somebody has put another file there. What we replaced was theirs to replace; what was not ours to replace
        // stays beside it.
        if self.new.is_some() && self.staged(directory)? == Owner::Old {
            return self.discard(directory, steps);
        }
        tracing::warn!(kept = %self.staged, "a file was replaced while it was put back; what it was is kept");
        Ok(())
    }

    fn staged(&self, directory: BorrowedFd<'_>) -> Result<Owner, FsError> {
        Ok(match look(directory, &self.staged)? {
            Held::Nothing => Owner::Nobody,
            // Nobody else knows the name, so the content will do where it tells old from new.
            Held::File(file)
                if self.new == Some(file.digest)
                    && (self.is_ours(&file) || self.old != self.new) =>
            {
                Owner::Ours
            }
            Held::File(file) if self.is_old(&file) => Owner::Old,
            _ => Owner::Somebody,
        })
    }

    fn target(&self, directory: BorrowedFd<'_>) -> Result<Owner, FsError> {
        Ok(match look(directory, &self.name)? {
            Held::Nothing => Owner::Nobody,
            Held::File(file) if self.is_ours(&file) => Owner::Ours,
            Held::File(file) if self.is_old(&file) => Owner::Old,
            _ => Owner::Somebody,
        })
    }

    fn is_ours(&self, file: &HeldFile) -> bool {
        self.new == Some(file.digest) && self.inode == Some(file.stamp.inode)
    }

    fn is_old(&self, file: &HeldFile) -> bool {
        self.old == Some(file.digest) && self.inode != Some(file.stamp.inode)
    }
}

/// What it means that a name could not be moved.
fn disturbed(errno: Errno) -> FsError {
    match errno {
        Errno::NOENT | Errno::EXIST | Errno::ISDIR | Errno::NOTDIR | Errno::NOTEMPTY => {
            FsError::Conflict
        }
        other => from_errno(other),
    }
}
