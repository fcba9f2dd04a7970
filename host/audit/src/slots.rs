//! The paths at which a run leaves its output and its receipt.
//!
//! Whatever was there before is removed before anything else happens, so that no earlier receipt survives a run that
//! fails at any step. Until [`Slots::keep`] says so, dropping the slots removes what they hold: also what a guest
//! may have put there itself. Refuses paths whose removal would hurt: symlinks, directories, anything else that is
//! no regular file, and every file that the run reads.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hydrant_base::{FileError, write_replacing};

/// See the module.
#[derive(Debug)]
pub struct Slots {
    output: Option<Slot>,
    receipt: Option<Slot>,
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Empty,
    Written,
    /// Not removed on drop.
    Kept,
}

/// Why a path cannot take an output or a receipt.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// A symlink, a directory, a device, a pipe or a socket is there.
    #[error("refusing to write {what} {}: it is a {kind}", .path.escape_default())]
    NotAFile {
        /// `the output` or `the receipt`.
        what: &'static str,
        /// The path.
        path: String,
        /// What is there.
        kind: &'static str,
    },
    /// It is one of the files that the run reads.
    #[error("refusing to write {what} {}: it is the same file as {}", .path.escape_default(), .other.escape_default())]
    SameFile {
        /// `the output` or `the receipt`.
        what: &'static str,
        /// The path.
        path: String,
        /// The path of the file that is read.
        other: String,
    },
    /// Output and receipt have the same path.
    #[error("the output and the receipt cannot both be {}", .0.escape_default())]
    SamePath(String),
    /// The system refuses.
    #[error("{}: {source}", .path.escape_default())]
    Io {
        /// The path.
        path: String,
        /// What it says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
}

impl SlotError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }
}

/// Refuses an audit log that is one of the files that a run reads: a line in it would change what is read.
///
/// # Errors
/// [`SlotError::SameFile`].
pub fn check_log(log: &Path, read: &[&Path]) -> Result<(), SlotError> {
    let own = fs::metadata(log).ok();
    let same = |other: &&&Path| {
        let number = |metadata: Metadata| (metadata.dev(), metadata.ino());
        same_path(log, other)
            || own.clone().is_some_and(|own| {
                fs::metadata(other).is_ok_and(|other| number(other) == number(own))
            })
    };
    match read.iter().find(same) {
        Some(other) => Err(SlotError::SameFile {
            what: "the audit log",
            path: log.display().to_string(),
            other: other.display().to_string(),
        }),
        None => Ok(()),
    }
}

impl Slots {
    /// Takes the paths: looks at both and compares them with the files in `read`, those that the run reads or appends
    /// to, then removes what is there.
    ///
    /// # Errors
    /// [`SlotError`]; then nothing was removed, unless it is the removal itself that failed.
    pub fn take(
        output: Option<&Path>,
        receipt: Option<&Path>,
        read: &[&Path],
    ) -> Result<Self, SlotError> {
        let wanted = [("the output", output), ("the receipt", receipt)];
        let mut found = Vec::new();
        for (what, path) in wanted {
            let Some(path) = path else { continue };
            // By name too: a file that is only about to be written, such as the audit log.
            if let Some(other) = read.iter().find(|other| same_path(path, other)) {
                return Err(SlotError::SameFile {
                    what,
                    path: path.display().to_string(),
                    other: other.display().to_string(),
                });
            }
            if let Some(metadata) = look(path)? {
                check(what, path, &metadata, read)?;
                found.push(path);
            }
        }
        if let (Some(output), Some(receipt)) = (output, receipt)
            && same_path(output, receipt)
        {
            return Err(SlotError::SamePath(receipt.display().to_string()));
        }
        for path in found {
            remove(path)?;
        }
        let slot = |path: Option<&Path>| {
            path.map(|path| Slot {
                path: path.to_owned(),
                state: State::Empty,
            })
        };
        Ok(Self {
            output: slot(output),
            receipt: slot(receipt),
        })
    }

    /// Writes the output, if a path for it was given.
    ///
    /// # Errors
    /// [`SlotError`].
    pub fn write_output(&mut self, bytes: &[u8]) -> Result<(), SlotError> {
        self.output
            .as_mut()
            .map_or(Ok(()), |slot| slot.write(bytes))
    }

    /// Writes the receipt, if a path for it was given.
    ///
    /// # Errors
    /// [`SlotError`].
    pub fn write_receipt(&mut self, bytes: &[u8]) -> Result<(), SlotError> {
        self.receipt
            .as_mut()
            .map_or(Ok(()), |slot| slot.write(bytes))
    }

    /// The run is over and everything it had to do is done: what was written stays.
    pub fn keep(mut self) {
        for slot in [&mut self.output, &mut self.receipt].into_iter().flatten() {
            if slot.state == State::Written {
                slot.state = State::Kept;
            }
        }
    }
}

impl Slot {
    /// 0600, never through a symlink. Missing parent directories are created, as by the original.
    fn write(&mut self, bytes: &[u8]) -> Result<(), SlotError> {
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(|source| SlotError::io(parent, source))?;
        }
        // The file replaces whatever came to be there since, as a whole.
        write_replacing(&self.path, bytes, 0o600)?;
        self.state = State::Written;
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.state == State::Kept {
            return;
        }
        // A run that did not come to its end leaves nothing. Here is nobody who could be told of an error.
        match remove(&self.path) {
            Ok(()) => {}
            Err(error) => tracing::warn!("what a failed run left cannot be removed: {error}"),
        }
    }
}

/// What is at the path; none if nothing is.
fn look(path: &Path) -> Result<Option<Metadata>, SlotError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SlotError::io(path, error)),
    }
}

/// Only a regular file that the run does not read may be removed.
fn check(
    what: &'static str,
    path: &Path,
    metadata: &Metadata,
    read: &[&Path],
) -> Result<(), SlotError> {
    let kind = metadata.file_type();
    if !kind.is_file() {
        return Err(SlotError::NotAFile {
            what,
            path: path.display().to_string(),
            kind: if kind.is_symlink() {
                "symlink"
            } else if kind.is_dir() {
                "directory"
            } else {
                "special file"
            },
        });
    }
    // Device and inode, so that neither another spelling nor a hard link gets past.
    let same = |other: &&&Path| {
        fs::metadata(other)
            .is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
    };
    match read.iter().find(same) {
        Some(other) => Err(SlotError::SameFile {
            what,
            path: path.display().to_string(),
            other: other.display().to_string(),
        }),
        None => Ok(()),
    }
}

/// Whether two paths, of which neither need exist, name the same file.
fn same_path(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
        path.file_name().map(|name| parent.join(name))
    };
    one == other || resolved(one).is_some_and(|one| resolved(other) == Some(one))
}

/// Removes what is at the path; nothing there is as good. Directories stay: they are never a receipt.
fn remove(path: &Path) -> Result<(), SlotError> {
    match look(path)? {
        Some(metadata) if !metadata.is_dir() => match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SlotError::io(path, error))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
