//! The audit log: a file of lines, appended to.
//!
//! It is opened before anything runs, so that an execution that cannot be recorded is refused before it starts.
//! Relies on the system for `O_APPEND`: the lines of a call are one write, so those of processes that share a log never mix.
//! What a full disk cut off stays as it is, and the next line begins on a line of its own.
//! Refuses everything that is not a regular file, and never follows a symlink at the end of the path.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::retry_on_intr;

/// Where audit lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditTarget {
    /// Nowhere, because somebody said `off` or there is no target.
    Off,
    /// To this file; a call that cannot be recorded there is refused.
    Required(PathBuf),
    /// To this file if it can be written; else a warning and no line.
    Default(PathBuf),
}

/// Where a target may be named, the first of which counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct TargetSources<'a> {
    /// `--audit`.
    pub flag: Option<&'a OsStr>,
    /// `HYDRANT_AUDIT`.
    pub variable: Option<&'a OsStr>,
    /// `audit` of the configuration; own commands only.
    pub configuration: Option<&'a OsStr>,
    /// The home folder, for the default target; own commands only.
    pub home: Option<&'a Path>,
}

/// How often, and how long between, a line that does not end is looked at before it counts as cut off.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// Non-blocking, so that a pipe that nobody reads does not hang the program before its type is known.
const OPEN: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The word that means no log.
const OFF: &str = "off";

impl AuditTarget {
    /// Returns where the audit log goes: the flag decides, then the variable, the configuration, the home folder. An empty
    /// variable counts as absent.
    #[must_use]
    pub fn of(sources: TargetSources<'_>) -> Self {
        let named = [sources.flag, sources.variable, sources.configuration]
            .into_iter()
            .flatten()
            .find(|name| !name.is_empty());
        match (named, sources.home) {
            (Some(name), _) if name == OFF => Self::Off,
            (Some(name), _) => Self::Required(PathBuf::from(name)),
            (None, Some(home)) => Self::Default(home.join("state").join("audit.jsonl")),
            (None, None) => Self::Off,
        }
    }
}

impl AuditTarget {
    /// The file, if there is one.
    #[must_use]
    pub fn into_path(self) -> Option<PathBuf> {
        match self {
            Self::Off => None,
            Self::Required(path) | Self::Default(path) => Some(path),
        }
    }
}

/// Why a call cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be opened for appending.
    #[error("the audit log {} cannot be opened: {source}", .path.escape_default())]
    Open {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is a pipe, a device, a directory or a socket.
    #[error("the audit log {} is no regular file", .path.escape_default())]
    NotAFile {
        /// The file.
        path: String,
    },
    /// A line cannot be written whole.
    #[error("the audit log {} cannot be written: {source}", .path.escape_default())]
    Write {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// An open audit log.
#[derive(Debug)]
pub struct AuditLog {
    file: File,
    /// The same file, where it may be read.
    reader: Option<File>,
    path: PathBuf,
    required: bool,
}

impl AuditLog {
    /// Opens the log, creating the file, of a default target also its folders.
    ///
    /// There is none for [`AuditTarget::Off`], and none, after one warning, where a default target cannot be opened.
    ///
    /// # Errors
    /// [`AuditError`] for a required target.
    pub fn open(target: &AuditTarget) -> Result<Option<Self>, AuditError> {
        match target {
            AuditTarget::Off => Ok(None),
            AuditTarget::Required(path) => Ok(Some(Self::new(open(path)?, path, true))),
            AuditTarget::Default(path) => match create_folder(path).and_then(|()| open(path)) {
                Ok(file) => Ok(Some(Self::new(file, path, false))),
                Err(error) => {
                    tracing::warn!("this call is not recorded: {error}");
                    Ok(None)
                }
            },
        }
    }

    fn new(file: File, path: &Path, required: bool) -> Self {
        Self {
            reader: reader(path, &file),
            file,
            path: path.to_owned(),
            required,
        }
    }

    /// Appends the lines of one call, in one write.
    ///
    /// # Errors
    /// [`AuditError::Write`] for a required target; for a default target there is one warning instead.
    pub(super) fn lines(&self, lines: &[u8]) -> Result<(), AuditError> {
        let after_cut = self.reader.as_ref().is_some_and(is_cut_off);
        match append(&self.file, after_cut, lines) {
            Ok(()) => Ok(()),
            Err(source) => {
                let error = AuditError::Write {
                    path: self.path.display().to_string(),
                    source,
                };
                if self.required {
                    return Err(error);
                }
                tracing::warn!("this call is not recorded: {error}");
                Ok(())
            }
        }
    }
}

fn create_folder(path: &Path) -> Result<(), AuditError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| AuditError::Open {
            path: path.display().to_string(),
            source,
        })
}

fn open(path: &Path) -> Result<File, AuditError> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OPEN;
    let failed = |source| AuditError::Open {
        path: path.display().to_string(),
        source,
    };
    let opened = retry_on_intr(|| openat(CWD, path, flags, Mode::RUSR | Mode::WUSR));
    let file = File::from(opened.map_err(|error| failed(error.into()))?);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(AuditError::NotAFile {
            path: path.display().to_string(),
        });
    }
    Ok(file)
}

/// One write for all of it; what a full disk cut off is an error, never finished by a second write that
/// another process could come before.
fn append(mut file: &File, after_cut: bool, lines: &[u8]) -> io::Result<()> {
    let lines = if after_cut {
        Cow::Owned([b"\n", lines].concat())
    } else {
        Cow::Borrowed(lines)
    };
    loop {
        match file.write(&lines) {
            Ok(written) if written == lines.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The same file for reading; none where it may only be written.
fn reader(path: &Path, log: &File) -> Option<File> {
    let opened = retry_on_intr(|| openat(CWD, path, OFlags::RDONLY | OPEN, Mode::empty()));
    let file = File::from(opened.ok()?);
    let (there, own) = (file.metadata().ok()?, log.metadata().ok()?);
    ((there.dev(), there.ino()) == (own.dev(), own.ino())).then_some(file)
}

/// Whether somebody's line at the end of the file was cut off. One that is being written looks the same for a moment.
fn is_cut_off(file: &File) -> bool {
    let ends_a_line = || {
        let last = file.metadata().ok()?.len().checked_sub(1)?;
        let mut byte = [0];
        let read = file.read_at(&mut byte, last).ok()?;
        (read == 1).then_some(byte == *b"\n")
    };
    for _ in 0..LOOKS {
        if ends_a_line() != Some(false) {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

#[cfg(test)]
mod tests;
