//! `install`: an archive is fetched, checked, and only then written to the store.
//!
//! Trust knows no policy, so the caller passes its check. Nothing below the home folder is made
//! or changed before every check has passed.

use hydrant_base::{Digest, FileError, read_bounded_as};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::archive::{ArchiveError, Package, PackageFile, read_archive};
use super::file_names::KEYS;
use super::limits::MAX_JSON_BYTES;
use super::source::{InsecureHttp, Source, SourceError};
use super::store::{IndexEntry, Store, StoreError};
use super::{
    Bundle, BundleError, Experimental, Manifest, ManifestError, Signatures, SignaturesError, Wasm,
    WasmForm,
};

/// What `--policy` asks of a skill, capability ceiling and trusted signers: nothing, or why it may not be installed. Its
/// signatures are not verified yet; they will be.
pub type PolicyCheck<'a> =
    dyn Fn(&Manifest, &Signatures, WasmForm) -> Result<(), Box<dyn Error + Send + Sync>> + 'a;

/// Whether an archive without signatures may be installed: `--require-signatures`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureMode {
    /// The default: yes, unless keys are given.
    Optional,
    /// No.
    Required,
}

/// The flags of `install`.
pub struct InstallOptions<'a> {
    /// `--keys`
    pub keys: Option<PathBuf>,
    /// `--keys-digest`
    pub keys_digest: Option<String>,
    /// `--policy`
    pub policy: Option<&'a PolicyCheck<'a>>,
    /// `--require-signatures`
    pub signatures: SignatureMode,
    /// `--allow-insecure-http`
    pub insecure_http: InsecureHttp,
    /// `--allow-experimental`
    pub experimental: Experimental,
}

impl Default for InstallOptions<'_> {
    fn default() -> Self {
        Self {
            keys: None,
            keys_digest: None,
            policy: None,
            signatures: SignatureMode::Optional,
            insecure_http: InsecureHttp::Refused,
            experimental: Experimental::Refused,
        }
    }
}

/// A skill that is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its identity: the digest of the archive.
    pub skill: Digest,
    /// Its directory, absolute; a valid bundle directory if the archive has signatures.
    pub store: PathBuf,
    /// Where it came from, without credentials.
    pub source: String,
}

/// Why a skill is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// One of the two flags without the other.
    #[error("--keys and --keys-digest must be provided together")]
    HalfOfTheKeys,
    /// A policy trusts signers, and only keys tell who signed.
    #[error("--policy requires --keys and --keys-digest")]
    PolicyWithoutKeys,
    /// Signatures are asked for, and nothing that could verify them.
    #[error("--keys and --keys-digest are required when --require-signatures is set")]
    RequiredWithoutKeys,
    /// What comes over the network is installed only if signed.
    #[error("remote artifacts require --keys and --keys-digest")]
    RemoteWithoutKeys,
    /// The archive cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The archive is refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The manifest is refused.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The wasm is another one than the manifest's.
    #[error(
        "manifest.artifact must match bundled skill.wasm digest (expected {expected}, got {actual})"
    )]
    Artifact {
        /// What the manifest says.
        expected: Digest,
        /// What the archive holds.
        actual: Digest,
    },
    /// Signatures are needed, by flag or by source, and there are none.
    #[error("signatures.json is required for this install mode")]
    NoSignatures,
    /// The signatures cannot be read.
    #[error(transparent)]
    Signatures(#[from] SignaturesError),
    /// The check of the caller's policy failed.
    #[error("{0}")]
    Policy(Box<dyn Error + Send + Sync>),
    /// The key file cannot be read.
    #[error(transparent)]
    Keys(#[from] FileError),
    /// The signatures do not fit or do not verify.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The checks passed, and the store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches an archive, checks it, and puts it into the store of `home`.
///
/// # Errors
/// [`InstallError`]; unless it is [`InstallError::Store`], nothing was written.
pub fn install(
    source: &str,
    options: &InstallOptions<'_>,
    home: &Path,
) -> Result<Installed, InstallError> {
    let source = Source::parse(source, options.insecure_http)?;
    let keys = keys(options, &source)?;
    let archive = source.read()?;
    let package = read_archive(&archive)?;
    let manifest = check(&package, options, keys)?;
    let skill = Digest::of(&archive);
    let entry = IndexEntry {
        skill: skill.clone(),
        source: source.recorded().to_owned(),
        store: String::new(),
        installed_at: now(),
        manifest_name: manifest.name,
        manifest_version: manifest.version,
    };
    let store = Store::new(home)?.install(&package, &entry)?;
    Ok(Installed {
        skill,
        store,
        source: source.recorded().to_owned(),
    })
}

/// A key file and the digest it must have.
type Keys<'a> = (&'a Path, &'a str);

/// Which flags need keys, before anything is read.
fn keys<'a>(
    options: &'a InstallOptions<'_>,
    source: &Source,
) -> Result<Option<Keys<'a>>, InstallError> {
    match (&options.keys, &options.keys_digest) {
        (Some(keys), Some(digest)) => Ok(Some((keys, digest))),
        (None, None) if options.policy.is_some() => Err(InstallError::PolicyWithoutKeys),
        (None, None) if options.signatures == SignatureMode::Required => {
            Err(InstallError::RequiredWithoutKeys)
        }
        (None, None) if source.is_remote() => Err(InstallError::RemoteWithoutKeys),
        (None, None) => Ok(None),
        _ => Err(InstallError::HalfOfTheKeys),
    }
}

/// All checks. The first that fails is the one that is reported, so their order is part of the command.
fn check(
    package: &Package,
    options: &InstallOptions<'_>,
    keys: Option<Keys<'_>>,
) -> Result<Manifest, InstallError> {
    let manifest = Manifest::parse(package.manifest())?;
    manifest.check_schema(options.experimental)?;
    manifest.check_names()?;
    let wasm = Wasm::from(package.wasm().to_vec());
    if manifest.artifact != *wasm.digest() {
        return Err(InstallError::Artifact {
            expected: manifest.artifact,
            actual: wasm.digest().clone(),
        });
    }
    let Some(signatures) = package.get(PackageFile::Signatures) else {
        // Keys are there whenever signatures are required, by flag or by source.
        return match keys {
            Some(_) => Err(InstallError::NoSignatures),
            None => Ok(manifest),
        };
    };
    let signatures = Signatures::parse(signatures)?;
    if let Some(policy) = options.policy {
        policy(&manifest, &signatures, wasm.form()).map_err(InstallError::Policy)?;
    }
    let bundle = Bundle::from_parts(wasm, manifest.clone(), signatures, options.experimental)?;
    if let Some((file, digest)) = keys {
        let ring = read_bounded_as(file, MAX_JSON_BYTES, KEYS)?;
        bundle.verify_with(&ring, digest)?;
    }
    Ok(manifest)
}

/// Seconds since 1970; a clock before that counts as its beginning.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map(|age| age.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
