//! Getting a verified bundle in one step, for programs that embed hydrant: from a directory, an archive or the store.

use hydrant_base::{Digest, FileError, read_bounded_as};
use std::path::Path;

use super::archive::{ArchiveError, PackageFile, read_archive};
use super::limits::MAX_ARCHIVE_BYTES;
use super::store::{Store, StoreError};
use super::{Bundle, BundleError, BundleFiles, Experimental, KeyRing, VerifiedBundle};

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The archive cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The archive is refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The store is unusable.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bundle is not whole, or not signed by these keys.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

impl VerifiedBundle {
    /// Reads a bundle directory and verifies it against `keys`.
    ///
    /// # Errors
    ///
    /// [`LoadError`]: the first check that fails.
    pub fn from_directory(directory: &Path, keys: &KeyRing) -> Result<Self, LoadError> {
        let files = BundleFiles::read(directory)?;
        Ok(Bundle::open(files, Experimental::Refused)?.verify(keys)?)
    }

    /// Reads an archive of at most 128 MiB and verifies its bundle against `keys`. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`LoadError`]: the first check that fails.
    pub fn from_archive(file: &Path, keys: &KeyRing) -> Result<Self, LoadError> {
        let archive = read_bounded_as(file, MAX_ARCHIVE_BYTES, "artifact")?;
        let package = read_archive(&archive)?;
        let own = |file| package.get(file).map(|bytes| bytes.to_vec().into());
        let files = BundleFiles {
            wasm: package.wasm().to_vec().into(),
            manifest: package.manifest().to_vec().into(),
            signatures: own(PackageFile::Signatures),
        };
        Ok(Bundle::open(files, Experimental::Refused)?.verify(keys)?)
    }

    /// Reads an installed skill, known by the digest of its archive, from the store below `home`, and verifies
    /// it against `keys`.
    ///
    /// # Errors
    ///
    /// [`LoadError`]: the first check that fails.
    pub fn from_store(home: &Path, skill: &Digest, keys: &KeyRing) -> Result<Self, LoadError> {
        Self::from_directory(&Store::new(home)?.directory(skill), keys)
    }
}
