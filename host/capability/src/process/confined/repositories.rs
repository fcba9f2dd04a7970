//! The git directories below a directory that a program may write: they decide what git starts next, outside of any jail.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::Meter;
use crate::fs::{Found, descriptor_path};

/// Git directories below one directory, at most: each is a mount of the jail, and so are the directories above it.
const MAX_FOUND: usize = 48;

/// Whether a path is a `.git` or lies in one.
pub(super) fn is_in_git(path: &Path) -> bool {
    path.iter().any(is_git)
}

/// Every `.git` below `directory`, and every git directory of another name, relative to it. What lies in one of them is not
/// looked at.
///
/// # Errors
/// They cannot all be known: a directory cannot be read, the time is up, or there are too many.
pub(super) fn find(directory: &Found, meter: &Meter) -> io::Result<Vec<PathBuf>> {
    let top = PathBuf::from(descriptor_path(directory.reference()));
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(below) = pending.pop() {
        meter.remaining().map_err(io::Error::other)?;
        let entries = match top.join(&below).read_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // Nobody knows what is in it, so that all of it stays as it is.
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && below != Path::new("") =>
            {
                found.push(below);
                continue;
            }
            entries => entries?.collect::<io::Result<Vec<_>>>()?,
        };
        let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
        let is_repository = has("HEAD") && (has("commondir") || has("objects") && has("refs"));
        // The policy has named the directory itself.
        if is_repository && below != Path::new("") {
            found.push(below);
            continue;
        }
        for entry in entries {
            let path = below.join(entry.file_name());
            if is_git(&entry.file_name()) {
                found.push(path);
            } else if entry.file_type()?.is_dir() {
                pending.push(path);
            }
        }
        if found.len() > MAX_FOUND {
            return Err(io::Error::other("there are too many of them"));
        }
    }
    Ok(found)
}

fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}
