//! Registering hydrant with an agent's client: its MCP server, the prompt hook and the subagent, and taking them out again.
//!
//! A configuration is the user's own: it is read within a limit, changed in one place, replaced in one step, and what was
//! there is kept beside it. A link, a file of another user, a read-only file, or what cannot be parsed is left alone.

mod client;
mod codex;
mod diff;
pub mod hook;
mod json;
pub mod server;
mod spans;
pub mod subagent;

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hydrant_base::{read_bounded, write_replacing};

pub use self::client::{Client, Scope, claude_folder};
use self::diff::diff;

/// Bytes of a configuration. Claude Code keeps much else in the one that names its MCP servers.
const MAX_CONFIGURATION_BYTES: u64 = 32 * 1024 * 1024;
/// What the name of the copy ends with.
const BACKUP: &str = ".hydrant-backup";

/// A change of one file that is not made yet.
#[derive(Debug)]
pub struct Change {
    file: PathBuf,
    /// None: there is no file.
    before: Option<String>,
    /// None: there is no file any more.
    after: Option<String>,
    mode: u32,
    replaces: bool,
}

/// What a text becomes.
enum Edit {
    /// It is as wanted already.
    Nothing,
    /// This, with everything that was there.
    Text(String),
    /// This, in which something of the user's own is replaced.
    Replacing(String),
}

/// Why a text cannot be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum EditError {
    /// It is not of its format.
    #[error("it is not valid {format}: {reason} at line {line} column {column}")]
    Syntax {
        format: &'static str,
        reason: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// What it says is not of the form that the client reads.
    #[error("{0}")]
    Form(&'static str),
    /// The change would touch something else.
    #[error("it is written in a way that cannot be changed in place; change it by hand")]
    InPlace,
}

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct SetupError {
    file: PathBuf,
    reason: String,
}

impl Edit {
    /// The new text.
    fn text(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Text(text) | Self::Replacing(text) => Some(text),
        }
    }
}

impl SetupError {
    fn new(file: &Path, reason: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            reason: reason.into(),
        }
    }
}

impl Change {
    /// The change that `edit` makes of a file's text; none if it makes none.
    fn of(
        file: &Path,
        edit: impl FnOnce(Option<&str>) -> Result<Edit, EditError>,
    ) -> Result<Option<Self>, SetupError> {
        let (before, mode) = read(file)?;
        let edit =
            edit(before.as_deref()).map_err(|error| SetupError::new(file, error.to_string()))?;
        let (after, replaces) = match edit {
            Edit::Nothing => return Ok(None),
            Edit::Text(after) => (after, false),
            Edit::Replacing(after) => (after, true),
        };
        Ok(Some(Self {
            file: file.to_owned(),
            before,
            after: Some(after),
            mode,
            replaces,
        }))
    }

    /// The change that takes out what is ours; none if nothing is.
    ///
    /// The copy from before it was put in comes back, if putting it in `again` gives what is there now: then nothing else has
    /// changed. `again` is told the copy and what is there. A file in which nothing is left, and of which there is no copy,
    /// was made by us, and goes.
    fn undoing(
        file: &Path,
        without: impl Fn(&str) -> Result<Option<String>, EditError>,
        again: impl Fn(&str, &str) -> Option<String>,
    ) -> Result<Option<Self>, SetupError> {
        let (before, mode) = read(file)?;
        let Some(text) = &before else {
            return Ok(None);
        };
        let left = without(text).map_err(|error| SetupError::new(file, error.to_string()))?;
        let Some(left) = left else {
            return Ok(None);
        };
        let copy = read(&backup(file)).ok().and_then(|(copy, _)| copy);
        let after = match copy {
            Some(copy)
                if matches!(without(&copy), Ok(None))
                    && again(&copy, text).as_ref() == Some(text) =>
            {
                Some(copy)
            }
            None if matches!(left.trim(), "" | "{}") => None,
            _ => Some(left),
        };
        Ok(Some(Self {
            file: file.to_owned(),
            before,
            after,
            mode,
            replaces: false,
        }))
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether something that the user made is replaced.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    /// What changes, for people.
    #[must_use]
    pub fn diff(&self) -> String {
        let [before, after] =
            [&self.before, &self.after].map(|text| text.as_deref().unwrap_or_default());
        diff(before, after)
    }

    /// Makes the change, and says where what was there is kept; nowhere if there was nothing, or nothing but ours.
    ///
    /// # Errors
    /// [`SetupError`]: the file has changed since it was shown, or the system refuses.
    pub fn apply(&self) -> Result<Option<PathBuf>, SetupError> {
        let failed = |error: &dyn ToString| SetupError::new(&self.file, error.to_string());
        let folder = self.file.parent();
        if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| failed(&format!("{}: {error}", folder.display())))?;
        }
        let (now, _) = read(&self.file)?;
        if now != self.before {
            return Err(failed(&"it has changed meanwhile; nothing is written"));
        }
        let Some(after) = &self.after else {
            fs::remove_file(&self.file).map_err(|error| failed(&error))?;
            return Ok(None);
        };
        let copy = match &self.before {
            None => None,
            Some(before) => {
                let copy = backup(&self.file);
                write_replacing(&copy, before.as_bytes(), self.mode)
                    .map_err(|error| failed(&error))?;
                Some(copy)
            }
        };
        write_replacing(&self.file, after.as_bytes(), self.mode).map_err(|error| failed(&error))?;
        Ok(copy)
    }
}

/// Where what was there is kept.
fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}

/// Text and permissions of a file; no text if there is no file.
fn read(file: &Path) -> Result<(Option<String>, u32), SetupError> {
    let refused = |reason: &str| SetupError::new(file, reason);
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
        let target = fs::read_link(file).unwrap_or_default();
        return Err(refused(&format!(
            "it is a symbolic link to {}; name the file itself",
            target.display()
        )));
    }
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    if metadata.uid() != owner {
        return Err(refused("it belongs to another user"));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o200 == 0 {
        return Err(refused("it is read-only"));
    }
    let bytes =
        read_bounded(file, MAX_CONFIGURATION_BYTES).map_err(|error| refused(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    Ok((Some(text), mode))
}
