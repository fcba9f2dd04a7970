//! What a name holds: looked at without following a link and without opening what is no regular file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Digest, FsError, from_errno};
use crate::fs::{MAX_FILE_BYTES, open};

/// Bytes that are digested at a time.
const STEP: usize = 128 * 1024;

/// What has a name.
#[derive(Debug)]
pub(super) enum Held {
    Nothing,
    File(HeldFile),
    /// A regular file of more than [`MAX_FILE_BYTES`].
    LargeFile,
    Symlink,
    Directory,
    Special,
}

/// A regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldFile {
    pub(super) digest: Digest,
    pub(super) stamp: Stamp,
}

/// What changes when a file is written, replaced or handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    length: i64,
    modified: (i64, i64),
    pub(super) permissions: Permissions,
}

/// Which file it is and when it was last touched: another file of the same content, or inode, differs in this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    inode: u64,
    length: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What a file that is replaced hands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Permissions {
    pub(super) mode: u32,
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Looks at a name and digests the file.
///
/// # Errors
/// [`FsError::NotAccessible`], [`FsError::NotFound`] of a name that is too long, and [`FsError::Io`].
pub(super) fn look(directory: BorrowedFd<'_>, name: &str) -> Result<Held, FsError> {
    let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Held::Nothing),
        Err(errno) => return Err(from_errno(errno)),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Ok(Held::Symlink),
        FileType::Directory => return Ok(Held::Directory),
        _ => return Ok(Held::Special),
    }
    let (file, stat) = open_file(directory, name)?;
    if stat.st_size > i64::from(MAX_FILE_BYTES) {
        return Ok(Held::LargeFile);
    }
    let Some(digest) = digest(file)? else {
        return Ok(Held::LargeFile);
    };
    Ok(Held::File(HeldFile {
        digest,
        stamp: Stamp::of(&stat),
    }))
}

/// The stamp of the regular file at a name; none for anything else.
pub(super) fn stamp(directory: BorrowedFd<'_>, name: &str) -> Option<Stamp> {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    (kind == FileType::RegularFile).then(|| Stamp::of(&stat))
}

/// Which regular file is at a name; none for anything else.
pub(super) fn instance(directory: BorrowedFd<'_>, name: &str) -> Option<Instance> {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    (kind == FileType::RegularFile).then(|| Instance::of(&stat))
}

/// Whether nothing has the name.
pub(super) fn is_free(directory: BorrowedFd<'_>, name: &str) -> bool {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    matches!(stat, Err(Errno::NOENT))
}

impl Stamp {
    #[allow(
        clippy::useless_conversion,
        reason = "the widths differ between systems"
    )]
    fn of(stat: &Stat) -> Stamp {
        Stamp {
            inode: stat.st_ino.into(),
            length: stat.st_size.into(),
            modified: (
                stat.st_mtime.into(),
                i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
            ),
            permissions: Permissions {
                mode: stat.st_mode.into(),
                user: stat.st_uid,
                group: stat.st_gid,
            },
        }
    }
}

impl Instance {
    #[allow(
        clippy::useless_conversion,
        reason = "the widths differ between systems"
    )]
    fn of(stat: &Stat) -> Instance {
        let Stamp {
            inode,
            length,
            modified,
            ..
        } = Stamp::of(stat);
        Instance {
            inode,
            length,
            modified,
            changed: (
                stat.st_ctime.into(),
                i64::try_from(stat.st_ctime_nsec).unwrap_or_default(),
            ),
        }
    }
}

/// Opens a regular file by way of a mere reference, which starts nothing; something else may have the name by now.
fn open_file(directory: BorrowedFd<'_>, name: &str) -> Result<(File, Stat), FsError> {
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    #[cfg(not(target_os = "linux"))]
    let flags = open::READ | OFlags::NOFOLLOW;
    let changed = |errno| match errno {
        Errno::NOENT | Errno::LOOP => FsError::Conflict,
        other => from_errno(other),
    };
    let reference = rustix::fs::openat(directory, name, flags, Mode::empty()).map_err(changed)?;
    let stat = rustix::fs::fstat(&reference).map_err(from_errno)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FsError::Conflict);
    }
    #[cfg(target_os = "linux")]
    let reference = open::open_again(&reference, OFlags::empty()).map_err(from_errno)?;
    Ok((File::from(reference), stat))
}

/// None if the file is longer than [`MAX_FILE_BYTES`].
fn digest(mut file: File) -> Result<Option<Digest>, FsError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; STEP];
    let mut left = usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(hasher.finalize().into())),
            Ok(amount) => {
                let Some(rest) = left.checked_sub(amount) else {
                    return Ok(None);
                };
                left = rest;
                hasher.update(buffer.get(..amount).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(FsError::Io),
        }
    }
}
