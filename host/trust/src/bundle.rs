//! A bundle: its files, the checks that they name each other, and the checks of who signed.
//!
//! Three types for three degrees of belief: [`BundleFiles`] are bytes, a [`Bundle`] is whole, and a
//! [`VerifiedBundle`] is whole and signed by a key the caller chose. Each file is read once; everything
//! after works on those bytes.

use hydrant_base::{Digest, FileError, canonical_digest, excerpt, read_bounded_as};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::Path;

use serde::Serialize;

use super::file_names::{BUNDLE_META, MANIFEST, SIGNATURES, WASM};
use super::limits::{MAX_JSON_BYTES, MAX_WASM_BYTES};
use super::{
    Experimental, KeyError, KeyRing, Manifest, ManifestError, SignatureError, Signatures,
    SignaturesError, Wasm, WasmForm, verify_entry,
};

/// The files of a bundle that are looked into; nothing is checked yet.
#[derive(Debug, Clone)]
pub struct BundleFiles {
    /// `skill.wasm`
    pub wasm: Wasm,
    /// `manifest.json`
    pub manifest: Cow<'static, [u8]>,
    /// `signatures.json`, which archives and installs may lack.
    pub signatures: Option<Cow<'static, [u8]>>,
}

impl BundleFiles {
    /// Reads a directory. Symbolic links to regular files are followed, as compatible commands do (pins have
    /// their own reader, which follows none).
    ///
    /// # Errors
    ///
    /// [`BundleError::Read`]: a required file is missing, or one is unreadable or too large.
    pub fn read(directory: &Path) -> Result<Self, BundleError> {
        let read = |name, maximum| read_bounded_as(&directory.join(name), maximum, name);
        let optional = |name| match read(name, MAX_JSON_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        };
        let files = Self {
            wasm: read(WASM, MAX_WASM_BYTES)?.into(),
            manifest: read(MANIFEST, MAX_JSON_BYTES)?.into(),
            signatures: optional(SIGNATURES)?.map(Cow::from),
        };
        // Of no use here, but a bundle with one that cannot be read is none.
        optional(BUNDLE_META)?;
        Ok(files)
    }
}

/// Where verification stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Reading the files.
    Read,
    /// Parsing the manifest.
    Manifest,
    /// Parsing the signatures.
    Signatures,
    /// The digest of `skill.wasm`.
    Artifact,
    /// The digest of the manifest.
    ManifestHash,
    /// The schema gate.
    Schema,
    /// The digest of the ring.
    KeysDigest,
    /// Parsing the ring.
    Keys,
    /// The signatures.
    Signature,
    /// Cosign, which the command line runs.
    Cosign,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Manifest => "manifest",
            Self::Signatures => "signatures",
            Self::Artifact => "artifact",
            Self::ManifestHash => "manifest_hash",
            Self::Schema => "schema",
            Self::KeysDigest => "keys_digest",
            Self::Keys => "keys",
            Self::Signature => "signature",
            Self::Cosign => "cosign",
        })
    }
}

/// Why a bundle is refused, in the order of the checks.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// A file is not there.
    #[error("bundle has no {0}")]
    Missing(&'static str),
    /// The manifest cannot be parsed.
    #[error(transparent)]
    Manifest(ManifestError),
    /// The signatures cannot be parsed.
    #[error(transparent)]
    Signatures(#[from] SignaturesError),
    /// Manifest and signatures mean different wasm.
    #[error("manifest.artifact must equal signatures.artifact ({manifest} and {signatures})")]
    OtherArtifact {
        /// What the manifest says.
        manifest: Digest,
        /// What the signatures say.
        signatures: Digest,
    },
    /// Another manifest was signed.
    #[error("signatures.manifest_hash must equal canonical manifest hash ({signed} and {actual})")]
    OtherManifest {
        /// What was signed.
        signed: Digest,
        /// What the manifest hashes to.
        actual: Digest,
    },
    /// `skill.wasm` is not the manifest's.
    #[error("digest mismatch: expected {expected}, got {actual}")]
    OtherWasm {
        /// What the manifest says.
        expected: Digest,
        /// What the bytes say.
        actual: Digest,
    },
    /// The schema gate.
    #[error(transparent)]
    Schema(ManifestError),
    /// The ring is not the one the caller means.
    #[error(transparent)]
    KeysDigest(KeyError),
    /// The ring cannot be parsed.
    #[error(transparent)]
    Keys(KeyError),
    /// Nobody signed.
    #[error("signature set is empty")]
    NoSignatures,
    /// A signature does not count.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// Somebody signed whom the manifest does not name.
    #[error("signature signer is not declared in manifest.signers: {}", excerpt(.0))]
    UndeclaredSigner(String),
}

impl BundleError {
    /// Which step failed.
    #[must_use]
    pub fn step(&self) -> Step {
        match self {
            Self::Read(_) | Self::Missing(_) => Step::Read,
            Self::Manifest(_) => Step::Manifest,
            Self::Signatures(_) => Step::Signatures,
            Self::OtherArtifact { .. } | Self::OtherWasm { .. } => Step::Artifact,
            Self::OtherManifest { .. } => Step::ManifestHash,
            Self::Schema(_) => Step::Schema,
            Self::KeysDigest(_) => Step::KeysDigest,
            Self::Keys(_) => Step::Keys,
            Self::NoSignatures | Self::Signature(_) | Self::UndeclaredSigner(_) => Step::Signature,
        }
    }
}

/// A bundle whose parts name each other; who signed it is not checked yet.
#[derive(Debug, Clone)]
pub struct Bundle {
    wasm: Wasm,
    manifest: Manifest,
    manifest_hash: Digest,
    signatures: Signatures,
}

/// What `bundle_hash` is over.
#[derive(Serialize)]
struct BundleHashed<'a> {
    artifact: &'a Digest,
    manifest_hash: &'a Digest,
    signatures_hash: &'a Digest,
}

impl Bundle {
    /// Makes the checks from parsing to the schema gate, in the order of [`BundleError`]'s variants.
    ///
    /// # Errors
    ///
    /// [`BundleError`]: the first check that fails.
    pub fn open(files: BundleFiles, experimental: Experimental) -> Result<Self, BundleError> {
        let signatures = files.signatures.ok_or(BundleError::Missing(SIGNATURES))?;
        let manifest = Manifest::parse(&files.manifest).map_err(BundleError::Manifest)?;
        let signatures = Signatures::parse(&signatures)?;
        Self::from_parts(files.wasm, manifest, signatures, experimental)
    }

    /// Makes the checks of [`open`](Self::open) that follow parsing.
    ///
    /// # Errors
    ///
    /// [`BundleError`]: the first check that fails.
    pub fn from_parts(
        wasm: Wasm,
        manifest: Manifest,
        signatures: Signatures,
        experimental: Experimental,
    ) -> Result<Self, BundleError> {
        check_named(&manifest, &signatures)?;
        if *wasm.digest() != manifest.artifact {
            return Err(BundleError::OtherWasm {
                expected: manifest.artifact,
                actual: wasm.digest().clone(),
            });
        }
        manifest
            .check_schema(experimental)
            .map_err(BundleError::Schema)?;
        Ok(Self {
            wasm,
            manifest_hash: signatures.manifest_hash.clone(),
            manifest,
            signatures,
        })
    }

    /// `manifest.json`
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The digest of the manifest in canonical JSON, which is what the signers signed.
    #[must_use]
    pub fn manifest_hash(&self) -> &Digest {
        &self.manifest_hash
    }

    /// The digest of `skill.wasm`.
    #[must_use]
    pub fn artifact(&self) -> &Digest {
        &self.manifest.artifact
    }

    /// `signatures.json`
    #[must_use]
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// `skill.wasm`
    #[must_use]
    pub fn wasm(&self) -> &Wasm {
        &self.wasm
    }

    /// What `skill.wasm` announces itself as.
    #[must_use]
    pub fn form(&self) -> WasmForm {
        self.wasm.form()
    }

    /// One digest for wasm, manifest and signatures.
    #[must_use]
    pub fn bundle_hash(&self) -> Digest {
        canonical_digest(&BundleHashed {
            artifact: self.artifact(),
            manifest_hash: &self.manifest_hash,
            signatures_hash: &self.signatures.hash(),
        })
    }

    /// Ring digest, ring, then [`verify`](Self::verify).
    ///
    /// # Errors
    ///
    /// [`BundleError`]: the first check that fails.
    pub fn verify_with(
        self,
        keys_file: &[u8],
        keys_digest: &str,
    ) -> Result<VerifiedBundle, BundleError> {
        KeyRing::check_digest(keys_file, keys_digest).map_err(BundleError::KeysDigest)?;
        let keys = KeyRing::parse(keys_file).map_err(BundleError::Keys)?;
        self.verify(&keys)
    }

    /// Every signature must be a declared signer's, and there must be one.
    ///
    /// # Errors
    ///
    /// [`BundleError`]: the first signature that does not count.
    pub fn verify(self, keys: &KeyRing) -> Result<VerifiedBundle, BundleError> {
        let entries = &self.signatures.signatures;
        if entries.is_empty() {
            return Err(BundleError::NoSignatures);
        }
        // The 71 characters of the hash are the message.
        let message = self.manifest_hash.as_str().as_bytes();
        for entry in entries {
            verify_entry(entry, message, keys)?;
        }
        let declared = &self.manifest.signers;
        match entries
            .iter()
            .find(|entry| !declared.contains(&entry.signer))
        {
            Some(entry) => Err(BundleError::UndeclaredSigner(entry.signer.clone())),
            None => Ok(VerifiedBundle(self)),
        }
    }
}

/// Manifest and signatures mean the same wasm and the same manifest.
pub(super) fn check_named(manifest: &Manifest, signatures: &Signatures) -> Result<(), BundleError> {
    if manifest.artifact != signatures.artifact {
        return Err(BundleError::OtherArtifact {
            manifest: manifest.artifact.clone(),
            signatures: signatures.artifact.clone(),
        });
    }
    let actual = manifest.hash();
    if actual != signatures.manifest_hash {
        return Err(BundleError::OtherManifest {
            signed: signatures.manifest_hash.clone(),
            actual,
        });
    }
    Ok(())
}

/// A bundle that is whole and signed; only [`Bundle::verify`] makes one.
#[derive(Debug, Clone)]
pub struct VerifiedBundle(Bundle);

impl Deref for VerifiedBundle {
    type Target = Bundle;

    fn deref(&self) -> &Bundle {
        &self.0
    }
}

#[cfg(test)]
mod tests;
