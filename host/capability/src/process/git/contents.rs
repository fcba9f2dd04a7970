//! What a repository consists of: its files lie in the mount, and none of them makes git wait.
//!
//! Git follows links in a git directory (`objects`, `packed-refs`, a pack), and opens whatever is there. A link out of the
//! mount would make it show what lies elsewhere, and a FIFO would make it wait for somebody to write.

use std::collections::HashSet;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

use super::{Clock, Place, ProcessError};

/// What git, of which every program is off, does not read.
const UNREAD: [&str; 3] = ["hooks", "lfs", "annex"];

/// Looks at everything at and below these real directories, until the time is up: the command does not begin then.
///
/// # Errors
/// [`ProcessError::DirectoryDenied`] when a link leads out of the mount, or a file is a FIFO or a device.
pub(super) fn check(
    place: Place<'_>,
    directories: [&Path; 2],
    clock: Clock,
) -> Result<(), ProcessError> {
    let mut pending: Vec<PathBuf> = directories.map(Path::to_owned).into();
    let mut seen = HashSet::new();
    while let Some(directory) = pending.pop() {
        if clock.left().is_none() {
            return Ok(());
        }
        if !seen.insert(directory.clone()) {
            continue;
        }
        // What cannot be listed here git, which runs as the same user, does not list either.
        let Ok(entries) = directory.read_dir() else {
            continue;
        };
        let top = directories.contains(&directory.as_path());
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            if top && UNREAD.iter().any(|unread| name == *unread) {
                continue;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let real = if kind.is_symlink() {
                led_to(place, &path)?
            } else {
                Some((path, kind))
            };
            match real {
                Some((directory, kind)) if kind.is_dir() => pending.push(directory),
                Some((path, kind)) if waits(kind) => {
                    tracing::warn!(name = ?path.file_name(), "a FIFO or device in a git directory: git is not started");
                    return Err(ProcessError::DirectoryDenied);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What a link leads to; none for nothing at all.
fn led_to(place: Place<'_>, link: &Path) -> Result<Option<(PathBuf, FileType)>, ProcessError> {
    let refused = || {
        tracing::warn!(name = ?link.file_name(), "a link in a git directory leads out of the mount: git is not started");
        ProcessError::DirectoryDenied
    };
    match link.canonicalize() {
        Ok(real) if real.starts_with(place.real) => {
            let kind = real.symlink_metadata().map(|metadata| metadata.file_type());
            Ok(kind.ok().map(|kind| (real, kind)))
        }
        Ok(_) => Err(refused()),
        // As the name of a branch without a commit yet: it is made beside the link, if ever.
        Err(_) => match link.read_link() {
            Ok(to)
                if to
                    .components()
                    .all(|part| matches!(part, Component::Normal(_))) =>
            {
                Ok(None)
            }
            _ => Err(refused()),
        },
    }
}

fn waits(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}
