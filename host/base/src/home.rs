//! The home folder: configuration, state and the store of one user.
//!
//! It is made when it is first needed, for its owner alone. Where there is none, all that needs no state still works. One that
//! somebody else may write is not used: the policy and what was approved could be theirs.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// `$HYDRANT_HOME`, from the working directory where it is relative; else `$HOME/.hydrant`. None if neither is set.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    named("HYDRANT_HOME").or_else(of_the_user)
}

/// The home of the commands that provenact has too, where `$PROVENACT_HOME` counts before `$HOME/.hydrant`.
#[must_use]
pub fn compatible_folder() -> Option<PathBuf> {
    named("HYDRANT_HOME")
        .or_else(|| named("PROVENACT_HOME"))
        .or_else(of_the_user)
}

/// Why a home folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Its owner is neither this user nor root.
    #[error("the home folder {} belongs to user {owner}, who could change what is allowed", .path.display())]
    Owner {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Its mode lets others write.
    #[error("others may write to the home folder {} (mode {mode:04o}); look at what is in it, then close it with `chmod 700`, or let HYDRANT_HOME name a directory in it that is yours", .path.display())]
    Writable {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It cannot be looked at.
    #[error("the home folder {}: {source}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Refuses a home folder that somebody else may have written to, and closes one that others may read. Of root's, who works in
/// other people's, only the mode counts.
///
/// # Errors
/// [`HomeError`]
pub fn check(path: &Path) -> Result<(), HomeError> {
    let path = path.to_owned();
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(HomeError::Io { path, source }),
    };
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    let user = rustix::process::geteuid();
    if owner != user.as_raw() && owner != 0 && !user.is_root() {
        return Err(HomeError::Owner { path, owner });
    }
    if mode & 0o022 != 0 {
        return Err(HomeError::Writable { path, mode });
    }
    if mode & 0o077 != 0
        && let Err(error) = fs::set_permissions(&path, Permissions::from_mode(mode & 0o700))
    {
        tracing::debug!(%error, "others may look into the home folder");
    }
    Ok(())
}

/// What is hydrant's own on this machine, for whatever a host is made: home folders, and the folder of signing keys.
pub fn own_folders() -> impl Iterator<Item = PathBuf> {
    [folder(), compatible_folder(), named("HYDRANT_SIGNING_KEYS")]
        .into_iter()
        .flatten()
}

fn of_the_user() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    home.is_absolute().then(|| home.join(".hydrant"))
}

/// Whether a directory is too much for a workspace: it is the home directory of this user, or holds it, as `/` does. Links and
/// bind mounts of such a directory are found as well.
#[must_use]
pub fn holds_home(directory: &Path) -> bool {
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
