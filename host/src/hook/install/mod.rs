//! Putting the hook into the settings of an agent, and taking it out again.
//!
//! The settings are the user's own: they are read within a limit, changed in one place, replaced in one step, and what
//! was there is kept beside them. A link, somebody else's file, or what is no JSON is left alone.

mod diff;
mod edit;
mod spans;

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::trust::{read_bounded, write_replacing};

pub use self::diff::diff;
pub use self::edit::{EditError, entry, settings};

/// Bytes of a settings file.
const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;
/// What the name of the copy ends with.
const BACKUP: &str = ".hydrant-backup";

/// A change that is not made yet.
#[derive(Debug)]
pub struct Change {
    file: PathBuf,
    /// None: there is no file.
    before: Option<String>,
    after: String,
    mode: u32,
}

/// Why settings are left alone.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Its kind, its owner, or what the system says.
    #[error("{}: {reason}", file.display())]
    File {
        /// The settings.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// Its content.
    #[error("{}: {error}", file.display())]
    Edit {
        /// The settings.
        file: PathBuf,
        /// Why.
        error: EditError,
    },
}

/// The change that puts the hook into `file`; none if it is there.
///
/// # Errors
/// [`InstallError`]
pub fn install(file: &Path, command: &str) -> Result<Option<Change>, InstallError> {
    let (before, mode) = read(file)?;
    let text = before.as_deref().unwrap_or("{}\n");
    let edit = |error| InstallError::Edit {
        file: file.to_owned(),
        error,
    };
    if !edit::installed(text).map_err(edit)?.is_empty() {
        return Ok(None);
    }
    Ok(Some(Change {
        after: edit::with_hook(text, command).map_err(edit)?,
        file: file.to_owned(),
        before,
        mode,
    }))
}

/// The change that takes the hook out of `file`; none if it is not there. Where nothing else has changed since it was put
/// in, the result is what was there before, byte for byte.
///
/// # Errors
/// [`InstallError`]
pub fn uninstall(file: &Path) -> Result<Option<Change>, InstallError> {
    let (before, mode) = read(file)?;
    let Some(text) = before else {
        return Ok(None);
    };
    let without = edit::without_hook(&text).map_err(|error| InstallError::Edit {
        file: file.to_owned(),
        error,
    })?;
    Ok(without.map(|without| {
        let kept = read(&backup(file)).ok().and_then(|(kept, _)| kept);
        let kept = kept.filter(|kept| is_same(kept, &without));
        Change {
            after: kept.unwrap_or(without),
            file: file.to_owned(),
            before: Some(text),
            mode,
        }
    }))
}

/// Whether two texts mean the same, but for lists of hooks that are empty.
fn is_same(one: &str, other: &str) -> bool {
    let meaning = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
        if let Some(hooks) = value.get_mut("hooks").and_then(|one| one.as_object_mut()) {
            hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        }
        let root = value.as_object_mut()?;
        root.retain(|name, value| name != "hooks" || *value != serde_json::json!({}));
        Some(value)
    };
    meaning(one).is_some_and(|one| Some(one) == meaning(other))
}

impl Change {
    /// The settings.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What changes, for people.
    #[must_use]
    pub fn diff(&self) -> String {
        diff(self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// Makes the change, and says where what was there is kept; nowhere if there was nothing.
    ///
    /// # Errors
    /// [`InstallError`]: the settings have changed since they were shown, or the system refuses.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let failed = |reason: String| InstallError::File {
            file: self.file.clone(),
            reason,
        };
        if let Some(folder) = self.file.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| failed(error.to_string()))?;
        }
        let (now, _) = read(&self.file)?;
        if now != self.before {
            return Err(failed(
                "it has changed meanwhile; nothing is written".to_owned(),
            ));
        }
        let kept = match &self.before {
            None => None,
            Some(before) => {
                let kept = backup(&self.file);
                write_replacing(&kept, before.as_bytes(), self.mode)
                    .map_err(|error| failed(error.to_string()))?;
                Some(kept)
            }
        };
        write_replacing(&self.file, self.after.as_bytes(), self.mode)
            .map_err(|error| failed(error.to_string()))?;
        Ok(kept)
    }
}

/// Where the old settings are kept.
fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}

/// Text and permissions of a file; no text if there is no file.
fn read(file: &Path) -> Result<(Option<String>, u32), InstallError> {
    let refused = |reason: &str| InstallError::File {
        file: file.to_owned(),
        reason: reason.to_owned(),
    };
    let owner = rustix::process::geteuid().as_raw();
    let metadata = match fs::symlink_metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = file.parent().and_then(|folder| fs::metadata(folder).ok());
            return match folder {
                Some(folder) if folder.uid() != owner => {
                    Err(refused("its directory belongs to another user"))
                }
                _ => Ok((None, 0o600)),
            };
        }
        Err(error) => return Err(refused(&error.to_string())),
    };
    if metadata.is_symlink() {
        return Err(refused(
            "it is a symbolic link; name the file itself with --settings",
        ));
    }
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    if metadata.uid() != owner {
        return Err(refused("it belongs to another user"));
    }
    let bytes =
        read_bounded(file, MAX_SETTINGS_BYTES).map_err(|error| refused(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    Ok((Some(text), metadata.permissions().mode() & 0o777))
}
