//! Making and signing bundles.

use hydrant_base::{
    Digest, FileError, escaped_path, excerpt, pretty_json, read_bounded, write_replacing,
};
use std::path::{Path, PathBuf};

use super::bundle::check_named;
use super::file_names::{BUNDLE_META, MANIFEST, SIGNATURES, WASM};
use super::limits::MAX_JSON_BYTES;
use super::{
    BundleError, BundleMeta, Experimental, Manifest, ManifestError, SecretKey, SignatureEntry,
    Signatures, SignaturesError,
};

/// The mode of files in a bundle: they are for the owner alone.
const FILE_MODE: u32 = 0o600;

/// Why a bundle is not made or signed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The manifest cannot be packed.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The manifest is another wasm's.
    #[error("manifest.artifact must match skill.wasm digest (expected {expected}, got {actual})")]
    OtherWasm {
        /// The digest of the wasm.
        expected: Digest,
        /// What the manifest says.
        actual: Digest,
    },
    /// The directory cannot be made.
    #[error("{}: {source}", escaped_path(.directory))]
    Directory {
        /// Its path.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The signatures cannot be parsed.
    #[error(transparent)]
    Signatures(#[from] SignaturesError),
    /// The bundle's parts do not name each other.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Only signers that the manifest names can sign.
    #[error("signer is not declared in manifest.signers: {}", excerpt(.0))]
    UndeclaredSigner(String),
}

/// Makes a bundle without signatures in `directory`, which is created if need be.
///
/// # Errors
///
/// [`PackError`]; before anything is written, except for the errors of writing.
pub fn pack(
    directory: &Path,
    wasm: &[u8],
    manifest: &[u8],
    experimental: Experimental,
) -> Result<(), PackError> {
    let manifest = Manifest::parse(manifest)?;
    manifest.check_schema(experimental)?;
    let expected = Digest::of(wasm);
    if manifest.artifact != expected {
        return Err(PackError::OtherWasm {
            expected,
            actual: manifest.artifact,
        });
    }
    manifest.check_names()?;
    let meta = BundleMeta::for_manifest(&manifest);
    let signatures = Signatures {
        artifact: manifest.artifact.clone(),
        manifest_hash: meta.manifest_hash.clone(),
        signatures: Vec::new(),
    };
    std::fs::create_dir_all(directory).map_err(|source| PackError::Directory {
        directory: directory.to_owned(),
        source,
    })?;
    let write = |name, bytes: &[u8]| write_replacing(&directory.join(name), bytes, FILE_MODE);
    write(WASM, wasm)?;
    write(MANIFEST, &pretty_json(&manifest))?;
    write(SIGNATURES, &pretty_json(&signatures))?;
    write(BUNDLE_META, &pretty_json(&meta))?;
    Ok(())
}

/// Puts `signer`'s signature into the bundle in `directory` and answers how many there are then.
///
/// # Errors
///
/// [`PackError`]; the file is unchanged then.
pub fn sign(
    directory: &Path,
    signer: &str,
    key: &SecretKey,
    experimental: Experimental,
) -> Result<usize, PackError> {
    let path = directory.join(SIGNATURES);
    let manifest = read_bounded(&directory.join(MANIFEST), MAX_JSON_BYTES)?;
    let signatures = read_bounded(&path, MAX_JSON_BYTES)?;
    let manifest = Manifest::parse(&manifest)?;
    let mut signatures = Signatures::parse(&signatures)?;
    manifest.check_schema(experimental)?;
    check_named(&manifest, &signatures)?;
    if !manifest.signers.iter().any(|declared| declared == signer) {
        return Err(PackError::UndeclaredSigner(signer.to_owned()));
    }
    let message = signatures.manifest_hash.as_str().as_bytes();
    SignatureEntry::new(signer, key, message).put_into(&mut signatures.signatures);
    write_replacing(&path, &pretty_json(&signatures), FILE_MODE)?;
    Ok(signatures.signatures.len())
}

#[cfg(test)]
mod tests;
