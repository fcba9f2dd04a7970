//! The store: every installed skill in a directory of its own, named by the digest of its archive.
//!
//! Relies on the caller for all checks; what comes here is written. A directory appears complete or not
//! at all, because it is filled under another name and then renamed. Nothing is written through a link.

mod index;
mod index_lock;

use hydrant_base::{
    Digest, FileError, JsonError, escaped_path, pretty_json, read_bounded, temporary_path,
    write_replacing,
};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::archive::{Package, PackageFile};

pub use index::{Index, IndexEntry};

/// The version of `meta.json` and `index.json`.
const SCHEMA_VERSION: &str = "1.0.0";

/// The mode of files: they are for the owner alone.
const FILE_MODE: u32 = 0o600;

/// For the owner alone, as the home folder is.
const DIRECTORY_MODE: u32 = 0o700;

/// Why something is not in the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file of the store cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A directory of the store cannot be made, renamed or looked at.
    #[error("store path {}: {source}", escaped_path(.path))]
    Directory {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something that is no directory, perhaps a link, stands in place of a store directory.
    #[error("store path {} is not a directory", escaped_path(.0))]
    NotADirectory(PathBuf),
    /// The index has to name the directory, and holds text.
    #[error("store path {} is not UTF-8", escaped_path(.0))]
    NotUtf8(PathBuf),
    /// The index is no index.
    #[error("index.json parse failed: {0}")]
    Index(JsonError),
    /// The index is of a version that this program does not know.
    #[error("unsupported index.json schema version: {0}")]
    IndexVersion(String),
    /// With one more entry the index would be too large to be read again.
    #[error("index.json exceeds maximum size ({bytes} bytes > {maximum} bytes)")]
    IndexFull {
        /// What it would have.
        bytes: usize,
        /// What it may have.
        maximum: u64,
    },
    /// Another process keeps the lock.
    #[error("failed to acquire index lock {} after retries", escaped_path(.0))]
    Locked(PathBuf),
    /// The lock file cannot be made.
    #[error("failed to acquire index lock {}: {source}", escaped_path(.path))]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The store of one home folder.
#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
}

impl Store {
    /// The store in `home`; nothing is made yet.
    ///
    /// # Errors
    /// [`StoreError::Directory`] if `home` is relative and there is no working directory.
    pub fn new(home: &Path) -> Result<Self, StoreError> {
        let home = std::path::absolute(home).map_err(|source| StoreError::Directory {
            path: home.to_owned(),
            source,
        })?;
        Ok(Self { home })
    }

    /// The directory of a skill, whether it is installed or not.
    #[must_use]
    pub fn directory(&self, skill: &Digest) -> PathBuf {
        self.skills().join(skill.hex())
    }

    fn skills(&self) -> PathBuf {
        self.home.join("store").join("sha256")
    }

    /// Puts the files of an archive into the store and the skill into the index. The caller has made all
    /// checks.
    ///
    /// # Errors
    /// [`StoreError`]; a directory that is new is then complete or absent.
    pub fn install(&self, package: &Package, entry: &IndexEntry) -> Result<PathBuf, StoreError> {
        let directory = self.directory(&entry.skill);
        let Some(text) = directory.to_str() else {
            return Err(StoreError::NotUtf8(directory));
        };
        self.put(package, entry, &directory)?;
        let store = text.to_owned();
        index::add(
            &self.home,
            IndexEntry {
                store,
                ..entry.clone()
            },
        )?;
        Ok(directory)
    }

    /// The index of this store; empty if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if there is one that cannot be read.
    pub fn index(&self) -> Result<Index, StoreError> {
        Ok(Index::read(&self.home)?.unwrap_or_default())
    }

    fn put(
        &self,
        package: &Package,
        entry: &IndexEntry,
        directory: &Path,
    ) -> Result<(), StoreError> {
        let meta = pretty_json(&json!({
            "installed_at": entry.installed_at,
            "manifest_name": entry.manifest_name,
            "manifest_version": entry.manifest_version,
            "schema_version": SCHEMA_VERSION,
            "skill": entry.skill,
            "source": entry.source,
        }));
        make_directory(&self.skills())?;
        if directory.symlink_metadata().is_err() {
            let staging = Staging::new(directory)?;
            for (file, bytes) in package.files() {
                write_replacing(&staging.path.join(file.name()), bytes, FILE_MODE)?;
            }
            write_replacing(&staging.path.join(META), &meta, FILE_MODE)?;
            match fs::rename(&staging.path, directory) {
                Ok(()) => return Ok(()),
                // Another install was faster; its directory is brought up to date below.
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(failed(directory)(error)),
            }
        }
        let metadata = directory.symlink_metadata().map_err(failed(directory))?;
        if !metadata.is_dir() {
            return Err(StoreError::NotADirectory(directory.to_owned()));
        }
        for file in PackageFile::ALL {
            repair(&directory.join(file.name()), package.get(file))?;
        }
        Ok(write_replacing(&directory.join(META), &meta, FILE_MODE)?)
    }
}

const META: &str = "meta.json";

/// Makes a file of an existing directory what the archive says: these bytes, or no file.
fn repair(path: &Path, wanted: Option<&[u8]>) -> Result<(), StoreError> {
    let present = path.symlink_metadata().ok();
    match (present, wanted) {
        (None, None) => Ok(()),
        // A link is removed, not followed.
        (Some(metadata), None) if !metadata.is_dir() => fs::remove_file(path).map_err(failed(path)),
        (Some(_), None) => Err(StoreError::File(FileError::NotRegular {
            path: path.to_owned(),
        })),
        (present, Some(bytes)) => {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let same = present
                .is_some_and(|metadata| metadata.is_file() && metadata.len() == length)
                && read_bounded(path, length).is_ok_and(|found| found == bytes);
            if same {
                return Ok(());
            }
            Ok(write_replacing(path, bytes, FILE_MODE)?)
        }
    }
}

/// A directory that is filled before it gets its name; removed if it never does.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn new(directory: &Path) -> Result<Self, StoreError> {
        let path = temporary_path(directory).map_err(failed(directory))?;
        let mut builder = DirBuilder::new();
        builder.mode(DIRECTORY_MODE);
        builder.create(&path).map_err(failed(&path))?;
        Ok(Self { path })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After the rename there is nothing of this name; before it, what is left is of no use.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn make_directory(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(DIRECTORY_MODE);
    builder.create(path).map_err(failed(path))
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Directory { path, source }
}

#[cfg(test)]
mod tests;
