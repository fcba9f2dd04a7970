//! Staging a new content in a file beside its target.

use std::fs::File;
use std::io::Write;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Gid, Mode, Uid};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::directories::Syncing;
use super::look::Permissions;
use super::steps::Steps;
use super::{Content, FsError, from_errno, from_io};
use crate::fs::create_private;
use hydrant_base::{is_lower_hex, random_hex};

/// The bits of a mode that a file keeps: those of the user, the group and others, and no setuid.
const KEPT: u32 = 0o777;

const EXECUTABLE: u32 = 0o111;
const OWNER_EXECUTABLE: u32 = 0o100;
const READABLE: u32 = 0o444;

/// Bytes of randomness in a name.
const RANDOM: usize = 12;

const PREFIX: &str = ".hydrant-";
const SUFFIX: &str = ".tmp";

/// A name that nobody can guess.
///
/// # Errors
/// The system has no randomness to give.
pub(super) fn name() -> Result<String, FsError> {
    Ok(format!("{PREFIX}{}{SUFFIX}", random()?))
}

/// Digits that nobody can guess.
///
/// # Errors
/// As [`name`].
pub(super) fn random() -> Result<String, FsError> {
    random_hex::<RANDOM>().map_err(|_| FsError::Io)
}

/// Whether [`name`] could have made it.
pub(super) fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .is_some_and(|digits| is_lower_hex(digits, 2 * RANDOM))
}

/// Writes a new file of this content, with the permissions of the file it will replace, and with [`Syncing::Each`] puts it
/// on the disk. Answers its inode.
///
/// # Errors
/// What the system says; nothing is left behind.
pub(super) fn stage(
    directory: BorrowedFd<'_>,
    name: &str,
    content: &Content,
    replaced: Option<Permissions>,
    (sync, steps): (Syncing, &Steps),
) -> Result<u64, FsError> {
    fits(content.bytes.len())?;
    steps.pass()?;
    let file = create_private(directory, name).map_err(refused)?;
    let written = fill(file, content, replaced, (sync, steps));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
    }
    written
}

fn fill(
    mut file: File,
    content: &Content,
    replaced: Option<Permissions>,
    (sync, steps): (Syncing, &Steps),
) -> Result<u64, FsError> {
    steps.pass()?;
    file.write_all(&content.bytes).map_err(from_io)?;
    if let Some(replaced) = replaced {
        let stat = rustix::fs::fstat(&file).map_err(from_errno)?;
        if (stat.st_uid, stat.st_gid) != (replaced.user, replaced.group) {
            // Mostly only the administrator may.
            let (user, group) = (Uid::from_raw(replaced.user), Gid::from_raw(replaced.group));
            let _ = rustix::fs::fchown(&file, Some(user), Some(group))
                .or_else(|_| rustix::fs::fchown(&file, None, Some(group)));
        }
    }
    steps.pass()?;
    let mode = mode(replaced, content.executable);
    #[allow(
        clippy::useless_conversion,
        reason = "the widths differ between systems"
    )]
    let mode = Mode::from_raw_mode(mode.try_into().map_err(|_| FsError::Io)?);
    rustix::fs::fchmod(&file, mode).map_err(from_errno)?;
    if sync == Syncing::Each {
        file.sync_all().map_err(from_io)?;
    }
    Ok(rustix::fs::fstat(&file).map_err(from_errno)?.st_ino)
}

/// What a new file gets, or the bits of the old one with only those that let it be executed changed.
fn mode(replaced: Option<Permissions>, executable: bool) -> u32 {
    let Some(Permissions { mode, .. }) = replaced else {
        return if executable { 0o755 } else { 0o644 };
    };
    let mode = mode & KEPT;
    if (mode & OWNER_EXECUTABLE != 0) == executable {
        mode
    } else if executable {
        // Whoever may read it may execute it; its owner always.
        mode | (mode & READABLE) >> 2 | OWNER_EXECUTABLE
    } else {
        mode & !EXECUTABLE
    }
}

/// A write beyond this limit would end the process by a signal.
///
/// # Errors
/// [`FsError::Io`].
pub(super) fn fits(length: usize) -> Result<(), FsError> {
    let limit = getrlimit(Resource::Fsize).current;
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    match limit {
        Some(limit) if length > limit => Err(FsError::Io),
        _ => Ok(()),
    }
}

/// Why no file can be made.
fn refused(errno: Errno) -> FsError {
    match errno {
        // The directory was removed meanwhile.
        Errno::NOENT => FsError::Conflict,
        other => from_errno(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bits_change_that_let_a_file_be_executed() {
        for (old, executable, new) in [
            (0o644, false, 0o644),
            (0o644, true, 0o755),
            (0o640, true, 0o750),
            (0o600, true, 0o700),
            (0o200, true, 0o300),
            (0o755, false, 0o644),
            (0o755, true, 0o755),
            // Its owner may not execute it now, so nothing changes, whatever others may.
            (0o655, false, 0o655),
            (0o744, true, 0o744),
            (0o4755, true, 0o755),
        ] {
            let replaced = Permissions {
                mode: 0o100_000 | old,
                user: 0,
                group: 0,
            };
            assert_eq!(
                mode(Some(replaced), executable),
                new,
                "{old:o} {executable}"
            );
        }
        assert_eq!((mode(None, false), mode(None, true)), (0o644, 0o755));
    }

    #[test]
    fn names_are_told_from_others() {
        let name = name().unwrap();
        assert!(is_name(&name), "{name}");
        for other in [
            "a",
            ".hydrant-.tmp",
            &name.to_uppercase(),
            &format!("{name}.old"),
            &format!("../{name}"),
        ] {
            assert!(!is_name(other), "{other}");
        }
    }
}
