//! Ed25519 keys: public ones in rings, secret ones in files.
//!
//! A key is known by its signer's name alone; trust in a ring comes only from the digest that the caller
//! passes. Secret bytes are wiped when dropped and never shown.

mod ring;
mod secret;

pub use ring::KeyRing;
pub use secret::{SecretKey, refuse_inside, signing_key_path};

use hydrant_base::{FileError, JsonError, escaped_path, excerpt};
use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};

/// Why a key, a ring or a key file is refused.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Unreadable, or too large.
    #[error(transparent)]
    File(#[from] FileError),
    /// Longer than any ring.
    #[error("public-keys.json exceeds maximum size ({bytes} bytes > {maximum} bytes)")]
    RingTooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        maximum: u64,
    },
    /// Not one flat object of strings.
    #[error("invalid keys JSON: {0}")]
    Json(#[from] JsonError),
    /// Not base64.
    #[error("invalid base64 key for signer: {}", excerpt(.0))]
    Base64(String),
    /// Not 32 bytes.
    #[error("invalid key length for signer: {}", excerpt(.0))]
    Length(String),
    /// No point of the curve, not its one encoding, or of small order.
    #[error("invalid key bytes for signer: {}", excerpt(.0))]
    Bytes(String),
    /// The digest that the caller passes is none.
    #[error("invalid --keys-digest format (expected sha256:<64 lowercase hex>): {0}")]
    DigestFormat(String),
    /// Another ring than the caller means.
    #[error("public keys digest mismatch (expected {expected}, got {actual})")]
    DigestMismatch {
        /// What the caller passes.
        expected: hydrant_base::Digest,
        /// What the bytes say.
        actual: hydrant_base::Digest,
    },
    /// Not in the one written form.
    #[error("ring is not written with sorted names, 2 spaces of indent and a final newline")]
    Form,
    /// The ring has fewer signers than are asked for.
    #[error("ring has {actual} signers, at least {minimum} are needed")]
    TooFewSigners {
        /// How many there are.
        actual: usize,
        /// How many there must be.
        minimum: usize,
    },
    /// Not `^[a-z0-9][a-z0-9._-]{0,63}$`.
    #[error("invalid signer name in ring: {}", excerpt(.0))]
    Name(String),
    /// Two names with one key are one signer.
    #[error("signers {one} and {other} share one key")]
    SharedKey {
        /// The first name.
        one: String,
        /// The second name.
        other: String,
    },
    /// Everyone can sign with it.
    #[error("key of signer {0} is publicly known")]
    PubliclyKnown(String),
    /// The file of a secret key is no base64.
    #[error("invalid base64 secret key")]
    SecretBase64,
    /// The file of a secret key has another length.
    #[error("invalid secret key length (expected 32 bytes)")]
    SecretLength,
    /// Others may read or write it, and that cannot be changed.
    #[error("others may use the key {} (mode {mode:04o}): give it the mode 0600", escaped_path(.path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A new key would replace this one.
    #[error("{} is there already", escaped_path(.0))]
    Exists(PathBuf),
    /// A new key cannot be written.
    #[error("{}: {source}", escaped_path(.path))]
    Unwritable {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The signer's name cannot be a file name.
    #[error("invalid manifest signer: {}", excerpt(.0))]
    SignerName(String),
    /// Secret keys lie where a commit could take them.
    #[error("signing key directory {} lies inside the root {}", escaped_path(.directory), escaped_path(.root))]
    InsideRoot {
        /// Where the keys are, symbolic links resolved.
        directory: PathBuf,
        /// The root, symbolic links resolved.
        root: PathBuf,
    },
}

/// A public key that can verify: a point of the curve in its one encoding, not of small order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key of 32 raw bytes; `None` for bytes that verification would not accept either.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(bytes).ok()?;
        let canonical = key.to_edwards().compress().as_bytes() == bytes;
        (canonical && !key.is_weak()).then_some(Self(key))
    }

    /// The 32 raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// As a ring writes it.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.as_bytes())
    }

    /// Whether `signature` is this key's over `message`, strictly.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_base64())
    }
}

#[cfg(test)]
mod tests;
