//! The files that an archive carries, in memory.

use hydrant_base::{Digest, read_bounded_as};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::ArchiveError;
use crate::bundle::check_named;
use crate::file_names::{MANIFEST, SBOM, SIGNATURES, SIGSTORE, WASM};
use crate::limits::{MAX_JSON_BYTES, MAX_WASM_BYTES};
use crate::{BundleError, Manifest, Signatures};

/// A file that an archive may carry. The order is that of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageFile {
    /// `manifest.json`
    Manifest,
    /// `skill.wasm`
    Wasm,
    /// `sbom.spdx.json`, opaque
    Sbom,
    /// `sigstore.bundle.json`, opaque
    Sigstore,
    /// `signatures.json`
    Signatures,
}

impl PackageFile {
    /// All five, in the order of the entries.
    pub const ALL: [Self; 5] = [
        Self::Manifest,
        Self::Wasm,
        Self::Sbom,
        Self::Sigstore,
        Self::Signatures,
    ];

    /// The name in the archive, in the bundle directory and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manifest => MANIFEST,
            Self::Wasm => WASM,
            Self::Sbom => SBOM,
            Self::Sigstore => SIGSTORE,
            Self::Signatures => SIGNATURES,
        }
    }

    /// The most bytes the file may have.
    #[must_use]
    pub const fn maximum(self) -> u64 {
        match self {
            Self::Wasm => MAX_WASM_BYTES,
            _ => MAX_JSON_BYTES,
        }
    }

    /// The file with this name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|file| file.name().as_bytes() == name)
    }
}

impl fmt::Display for PackageFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The raw bytes of the files of one archive. Manifest and wasm are never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    files: BTreeMap<PackageFile, Vec<u8>>,
}

impl Package {
    /// A package of these files.
    ///
    /// # Errors
    /// [`ArchiveError::Missing`] if the manifest or the wasm is missing or empty.
    pub fn new(files: BTreeMap<PackageFile, Vec<u8>>) -> Result<Self, ArchiveError> {
        for required in [PackageFile::Manifest, PackageFile::Wasm] {
            if files.get(&required).is_none_or(Vec::is_empty) {
                return Err(ArchiveError::Missing(required));
            }
        }
        Ok(Self { files })
    }

    /// Reads what an archive carries of a bundle directory, and checks that the files belong together:
    /// wasm, manifest and, if there are any, signatures.
    ///
    /// # Errors
    /// [`ArchiveError`] names the file, or what does not match.
    pub fn read_directory(directory: &Path) -> Result<Self, ArchiveError> {
        let mut files = BTreeMap::new();
        for file in PackageFile::ALL {
            let path = directory.join(file.name());
            let optional = !matches!(file, PackageFile::Manifest | PackageFile::Wasm);
            match read_bounded_as(&path, file.maximum(), file.name()) {
                Ok(bytes) => _ = files.insert(file, bytes),
                Err(error) if optional && error.is_missing() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let package = Self::new(files)?;
        package.check()?;
        Ok(package)
    }

    /// The digests agree. No signature is checked.
    fn check(&self) -> Result<(), ArchiveError> {
        let manifest = Manifest::parse(self.manifest())?;
        let actual = Digest::of(self.wasm());
        if manifest.artifact != actual {
            return Err(ArchiveError::Bundle(BundleError::OtherWasm {
                expected: manifest.artifact,
                actual,
            }));
        }
        if let Some(signatures) = self.get(PackageFile::Signatures) {
            check_named(&manifest, &Signatures::parse(signatures)?)?;
        }
        Ok(())
    }

    /// The bytes of a file, if the package has it.
    #[must_use]
    pub fn get(&self, file: PackageFile) -> Option<&[u8]> {
        self.files.get(&file).map(Vec::as_slice)
    }

    /// The bytes of `manifest.json`.
    #[must_use]
    pub fn manifest(&self) -> &[u8] {
        self.get(PackageFile::Manifest).unwrap_or_default()
    }

    /// The bytes of `skill.wasm`.
    #[must_use]
    pub fn wasm(&self) -> &[u8] {
        self.get(PackageFile::Wasm).unwrap_or_default()
    }

    /// The files and their bytes, in the order of the entries.
    pub fn files(&self) -> impl Iterator<Item = (PackageFile, &[u8])> {
        self.files
            .iter()
            .map(|(file, bytes)| (*file, bytes.as_slice()))
    }
}
