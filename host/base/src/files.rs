//! Files that come from outside, read within bounds and written without surprises.
//!
//! Nothing here blocks: a FIFO is opened without waiting for its writer and then refused, as is everything
//! else that is no regular file. Nothing is written through a symbolic link in the last component.

use std::fs::{File, Permissions};
use std::io::{Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::digest::random_hex;
use super::escape::{escaped, escaped_path};

/// Read and write for the owner, nothing for others.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system says so.
    #[error("{}: {source}", escaped_path(.path))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory, a FIFO, a socket or a device.
    #[error("{}: not a regular file", escaped_path(.path))]
    NotRegular {
        /// What was named.
        path: PathBuf,
    },
    /// Longer than such a file may be.
    #[error("{} exceeds maximum size ({bytes} bytes > {maximum} bytes): {}", escaped(.name), escaped_path(.path))]
    TooLarge {
        /// The file by the name its format gives it.
        name: String,
        /// Its path.
        path: PathBuf,
        /// Its size, or as much of it as was read.
        bytes: u64,
        /// The limit.
        maximum: u64,
    },
    /// A link could lead anywhere.
    #[error("refusing to write through symlink: {}", escaped_path(.path))]
    Symlink {
        /// The link.
        path: PathBuf,
    },
}

impl FileError {
    /// Whether nothing has that name.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }
}

/// All bytes of a regular file; a symbolic link to one is followed.
///
/// # Errors
///
/// [`FileError`]: unreadable, no regular file, or longer than `maximum` bytes.
pub fn read_bounded(path: &Path, maximum: u64) -> Result<Vec<u8>, FileError> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    read_bounded_as(path, maximum, &name.to_string_lossy())
}

/// [`read_bounded`], whose error calls the file `name` however the caller's file is called.
///
/// # Errors
///
/// As [`read_bounded`].
pub fn read_bounded_as(path: &Path, maximum: u64, name: &str) -> Result<Vec<u8>, FileError> {
    let file = open(path)?;
    let too_large = |bytes| FileError::TooLarge {
        name: name.to_owned(),
        path: path.to_owned(),
        bytes,
        maximum,
    };
    let size = file.metadata().map_err(|source| io(path, source))?.len();
    if size > maximum {
        return Err(too_large(size));
    }
    // The file may grow while it is read.
    read_at_most(file, size, maximum)
        .map_err(|source| io(path, source))?
        .ok_or_else(|| too_large(maximum.saturating_add(1)))
}

/// All bytes that `reader` has left, probably `expected`; none if these are more than `maximum`, which is seen at the first
/// byte beyond it.
///
/// # Errors
///
/// As [`Read::read_to_end`](std::io::Read::read_to_end).
pub fn read_at_most(
    reader: impl Read,
    expected: u64,
    maximum: u64,
) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(maximum)).unwrap_or_default());
    let mut limited = reader.take(maximum.saturating_add(1));
    limited.read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= maximum);
    Ok(fits.then_some(bytes))
}

/// Replaces a file in one step: a reader sees the old bytes or the new ones, also after a crash.
///
/// # Errors
///
/// [`FileError`]: a symbolic link or no regular file has that name, or the operating system refuses. The old file
/// then stays, unless what failed is the last step, which makes its directory remember the new one.
pub fn write_replacing(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let old = std::fs::symlink_metadata(path).map(|old| old.file_type());
    match old {
        Ok(old) if old.is_symlink() => {
            return Err(FileError::Symlink {
                path: path.to_owned(),
            });
        }
        Ok(old) if !old.is_file() => {
            return Err(FileError::NotRegular {
                path: path.to_owned(),
            });
        }
        _ => {}
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = temporary_path(path).map_err(|source| io(path, source))?;
    let replace = || -> std::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let opened =
            retry_on_intr(|| rustix::fs::open(&temporary, flags | OFlags::CLOEXEC, PRIVATE))?;
        let mut file = File::from(opened);
        file.write_all(bytes)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        File::open(directory)?.sync_all()
    };
    replace().map_err(|source| {
        // Already renamed or never made: then there is nothing to remove.
        let _ = std::fs::remove_file(&temporary);
        io(path, source)
    })
}

/// A path beside `path` for what is to get its name when it is complete: `.<name>.<16 hex digits>.tmp`.
///
/// # Errors
///
/// The system gives no random bytes.
pub fn temporary_path(path: &Path) -> std::io::Result<PathBuf> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", random_hex::<8>()?));
    Ok(path.with_file_name(name))
}

/// Opens a regular file for reading; type and content belong to the same handle.
fn open(path: &Path) -> Result<File, FileError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    let file = File::from(opened.map_err(|errno| match errno {
        // A socket.
        Errno::NXIO => FileError::NotRegular {
            path: path.to_owned(),
        },
        errno => io(path, errno.into()),
    })?);
    let status = rustix::fs::fstat(&file).map_err(|errno| io(path, errno.into()))?;
    if FileType::from_raw_mode(status.st_mode).is_file() {
        Ok(file)
    } else {
        Err(FileError::NotRegular {
            path: path.to_owned(),
        })
    }
}

fn io(path: &Path, source: std::io::Error) -> FileError {
    FileError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
