//! The home folder: configuration, state and the store of one user.
//!
//! It is made when it is first needed, for its owner alone. Where there is none, all that needs no state still works.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// `$HYDRANT_HOME`, from the working directory where it is relative; else `$HOME/.hydrant`. None if neither is set.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    named("HYDRANT_HOME").or_else(of_the_user)
}

/// TA-30: the home of the commands that provenact has too, where `$PROVENACT_HOME` counts before `$HOME/.hydrant`.
#[must_use]
pub fn compatible_folder() -> Option<PathBuf> {
    named("HYDRANT_HOME")
        .or_else(|| named("PROVENACT_HOME"))
        .or_else(of_the_user)
}

fn of_the_user() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    home.is_absolute().then(|| home.join(".hydrant"))
}

/// Whether a directory is too much for a workspace: it is the home directory of this user, or holds it, as `/` does. Links and
/// bind mounts of such a directory are found as well.
#[must_use]
pub fn is_too_wide(directory: &Path) -> bool {
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(wanted) = identity(directory) else {
        return false;
    };
    let homes = std::env::var_os("HOME").map(PathBuf::from);
    let homes = homes.into_iter().chain(registered_home());
    std::iter::once(PathBuf::from("/"))
        .chain(homes.filter_map(|home| home.canonicalize().ok()))
        .any(|home| home.ancestors().any(|part| identity(part) == Some(wanted)))
}

/// The home directory that the system's table of users has for this user, who may have been started without `$HOME`.
fn registered_home() -> Option<PathBuf> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let own = rustix::process::getuid().as_raw().to_string();
    let line = users
        .lines()
        .find(|line| line.split(':').nth(2) == Some(&own))?;
    line.split(':').nth(5).map(PathBuf::from)
}

/// What somebody named is never passed over for another home, with other approvals and secrets. What is empty names none.
fn named(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty())?;
    Some(std::path::absolute(&path).unwrap_or_else(|_| path.into()))
}
