//! One signature of one signer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrant_base::excerpt;
use serde::{Deserialize, Serialize};

use super::keys::{KeyRing, PublicKey, SecretKey};

/// The only algorithm.
pub(crate) const ALGORITHM: &str = "ed25519";

/// Who signed, how, and the base64 of 64 bytes; members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureEntry {
    /// The name of a key in the ring.
    pub signer: String,
    /// `ed25519`.
    pub algorithm: String,
    /// 88 characters of base64.
    pub signature: String,
}

impl SignatureEntry {
    /// The signature of `signer` over `message`.
    pub(crate) fn new(signer: &str, key: &SecretKey, message: &[u8]) -> Self {
        Self {
            signer: signer.to_owned(),
            algorithm: ALGORITHM.to_owned(),
            signature: key.sign(message),
        }
    }

    /// Puts this entry in place of the one of the same signer; the entries are sorted by signer then.
    pub(crate) fn put_into(self, entries: &mut Vec<Self>) {
        entries.retain(|old| old.signer != self.signer);
        entries.push(self);
        entries.sort_by(|one, other| one.signer.cmp(&other.signer));
    }
}

/// Why a signature does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Not `ed25519`.
    #[error("unsupported signature algorithm: {}", excerpt(.0))]
    Algorithm(String),
    /// The ring has no key of that name.
    #[error("missing public key for signer: {}", excerpt(.0))]
    MissingKey(String),
    /// Not base64 with padding and without white space (RFC 4648 §4).
    #[error("base64 decode failed for the signature of signer: {}", excerpt(.0))]
    Base64(String),
    /// Not 64 bytes.
    #[error("invalid signature bytes of signer: {}", excerpt(.0))]
    Length(String),
    /// Not that key's signature over these bytes.
    #[error("signature verification failed for signer: {}", excerpt(.0))]
    Verification(String),
}

/// Whether `entry` is a signature over `message` by the key that `ring` has under its name; answers the key.
///
/// # Errors
///
/// [`SignatureError`], the checks in the order of its variants.
pub fn verify_entry(
    entry: &SignatureEntry,
    message: &[u8],
    ring: &KeyRing,
) -> Result<PublicKey, SignatureError> {
    if entry.algorithm != ALGORITHM {
        return Err(SignatureError::Algorithm(entry.algorithm.clone()));
    }
    let signer = || entry.signer.clone();
    let key = ring
        .get(&entry.signer)
        .ok_or_else(|| SignatureError::MissingKey(signer()))?;
    let decoded = STANDARD
        .decode(&entry.signature)
        .map_err(|_| SignatureError::Base64(signer()))?;
    let signature: [u8; 64] = decoded
        .try_into()
        .map_err(|_| SignatureError::Length(signer()))?;
    if key.verifies(message, &signature) {
        Ok(*key)
    } else {
        Err(SignatureError::Verification(signer()))
    }
}

#[cfg(test)]
mod tests;
