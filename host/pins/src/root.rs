//! The tree that is verified: a directory on disk, or the files compiled into this binary. Both behave alike.
//!
//! A directory is opened once. Every file is opened beneath that handle, component by component, and no component
//! may be a symbolic link: what was checked is what is read, and a name in a lock leads nowhere else.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

use super::folder::{FileFault, Folder, Reason};
use hydrant_base::escaped;
use hydrant_trust::Carried;

/// Files by their path below the root, `/` between the segments.
pub(crate) type EmbeddedFiles = &'static [(&'static str, &'static [u8])];

/// The directory of the ring, the lock and its signature.
pub const PINS: &str = "pins";
/// The directory of the bundles.
pub const SKILLS: &str = "skills";
/// The lock.
pub(super) const LOCK: &str = "pins/skills.lock.json";
/// The signatures over the lock.
pub(super) const LOCK_SIGNATURE: &str = "pins/skills.lock.json.sig";
/// The ring.
pub const RING: &str = "pins/public-keys.json";

/// A tree with `pins/` and `skills/`.
#[derive(Debug)]
pub struct Root {
    top: Folder,
}

/// A directory that cannot be opened. Names the path as the operator did.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the directory {}: {source}", escaped(&path.to_string_lossy()))]
pub struct RootError {
    /// As given.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl Root {
    /// Opens a directory; the path itself is the operator's and may go through links.
    ///
    /// # Errors
    /// [`RootError`] when it is no directory that can be opened.
    pub fn open(directory: &Path) -> Result<Self, RootError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        retry_on_intr(|| rustix::fs::open(directory, flags, Mode::empty()))
            .map(|handle| Self {
                top: Folder::opened(handle),
            })
            .map_err(|source| RootError {
                path: directory.to_owned(),
                source: source.into(),
            })
    }

    /// The files compiled into a binary.
    #[must_use]
    pub const fn embedded(files: EmbeddedFiles) -> Self {
        Self {
            top: Folder::embedded(files),
        }
    }

    /// The same root for a program that carries these components: an embedded root has their files, a directory that holds the same
    /// bytes does not keep them in memory, and their descriptions are known without starting them.
    #[must_use]
    pub fn carrying(self, carried: &'static [Carried]) -> Self {
        Self {
            top: self.top.carrying(carried),
        }
    }

    /// The nearest directory at or above `from` that holds a lock.
    #[must_use]
    pub fn find(from: &Path) -> Option<PathBuf> {
        from.ancestors()
            .find(|directory| directory.join(LOCK).symlink_metadata().is_ok())
            .map(Path::to_owned)
    }

    /// The directory itself.
    pub(super) fn top(&self) -> &Folder {
        &self.top
    }

    /// Opens a directory below the root.
    ///
    /// # Errors
    /// [`FileFault`]: missing, no directory, through a link, or no plain relative path.
    pub(super) fn folder(&self, path: &str) -> Result<Folder, FileFault> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let mut folder = self.top.folder(first)?;
        for name in rest.split('/').filter(|_| path.contains('/')) {
            folder = folder.folder(name)?;
        }
        Ok(folder)
    }

    /// Reads a file in a directory below the root.
    ///
    /// # Errors
    /// [`FileFault`]: missing, no regular file, through a link, larger than `maximum` bytes, unreadable.
    pub(super) fn read(&self, path: &str, maximum: u64) -> Result<Cow<'static, [u8]>, FileFault> {
        let (folder, name) = path.rsplit_once('/').ok_or_else(|| FileFault {
            path: path.to_owned(),
            reason: Reason::NotPlain,
        })?;
        self.folder(folder)?.read(name, maximum)
    }
}

#[cfg(test)]
mod tests;
