//! `pins/skills.lock.json.sig`: who signed the lock.
//!
//! The file has one form. All of its signatures must verify, not only enough of them: one that does not verify is a mistake or an
//! attack, and must not go unnoticed beside good ones.

use hydrant_base::{Digest, JsonError, escaped, parse_json, pretty_json};
use std::collections::BTreeSet;

use crate::keys::{KeyRing, SecretKey};
use crate::signature::{self, ALGORITHM, SignatureEntry, SignatureError};

/// Keeps a lock signature from being a bundle signature and the reverse.
const DOMAIN: &str = "hydrant-lock-v1\n";

/// The signatures of a lock, sorted by signer, one of each.
#[derive(Debug, Clone, Default)]
pub struct LockSignatures {
    entries: Vec<SignatureEntry>,
}

/// A lock that is not signed as it must be.
#[derive(Debug, thiserror::Error)]
pub enum LockSignatureError {
    /// Not the JSON of a signature file.
    #[error("invalid lock signature JSON: {0}")]
    Json(#[from] JsonError),
    /// Not the one form of such a file.
    #[error(
        "the lock signature file is not laid out as hydrant writes it: 2 spaces, members in order, one final LF (TL-10)"
    )]
    Form,
    /// Sorted by signer, one of each.
    #[error("the lock signature of {} is out of order or occurs twice (TL-10)", escaped(.0))]
    Order(String),
    /// There is one algorithm.
    #[error("unsupported lock signature algorithm: {} (TL-10)", escaped(.0))]
    Algorithm(String),
    /// An entry that the ring does not confirm.
    #[error("lock signature of {}: {source}", escaped(signer))]
    Signature {
        /// Whose it claims to be.
        signer: String,
        /// Why it does not count.
        source: SignatureError,
    },
    /// Too few have signed.
    #[error("the lock is signed by {actual} distinct keys, {minimum} are needed")]
    TooFew {
        /// Distinct keys with a valid signature.
        actual: usize,
        /// MIN_SIGNERS.
        minimum: usize,
    },
}

impl LockSignatures {
    /// Reads a signature file; its form is checked, its signatures are not.
    ///
    /// # Errors
    /// [`LockSignatureError`] unless the bytes are exactly what [`to_bytes`](Self::to_bytes) would write.
    pub fn parse(bytes: &[u8]) -> Result<Self, LockSignatureError> {
        let entries: Vec<SignatureEntry> = parse_json(bytes)?;
        for (one, next) in entries.iter().zip(entries.iter().skip(1)) {
            if one.signer >= next.signer {
                return Err(LockSignatureError::Order(next.signer.clone()));
            }
        }
        if let Some(other) = entries.iter().find(|entry| entry.algorithm != ALGORITHM) {
            return Err(LockSignatureError::Algorithm(other.algorithm.clone()));
        }
        let signatures = Self { entries };
        if signatures.to_bytes() == bytes {
            Ok(signatures)
        } else {
            Err(LockSignatureError::Form)
        }
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = pretty_json(&self.entries);
        bytes.push(b'\n');
        bytes
    }

    /// Sorted by signer.
    #[must_use]
    pub fn entries(&self) -> &[SignatureEntry] {
        &self.entries
    }

    /// The 87 bytes that are signed for a lock file with this digest.
    #[must_use]
    pub fn message(lock: &Digest) -> Vec<u8> {
        format!("{DOMAIN}{lock}").into_bytes()
    }

    /// Every entry verifies, and at least `min_signers` distinct keys signed.
    ///
    /// # Errors
    /// The first entry that does not verify, or how many keys there are.
    pub fn verify(
        &self,
        lock: &Digest,
        ring: &KeyRing,
        min_signers: usize,
    ) -> Result<(), LockSignatureError> {
        let message = Self::message(lock);
        let mut keys = BTreeSet::new();
        for entry in &self.entries {
            let key = signature::verify_entry(entry, &message, ring).map_err(|source| {
                let signer = entry.signer.clone();
                LockSignatureError::Signature { signer, source }
            })?;
            keys.insert(key);
        }
        if keys.len() < min_signers {
            return Err(LockSignatureError::TooFew {
                actual: keys.len(),
                minimum: min_signers,
            });
        }
        Ok(())
    }

    /// Adds or replaces the signature of `signer`.
    pub fn sign(&mut self, signer: &str, key: &SecretKey, lock: &Digest) {
        SignatureEntry::new(signer, key, &Self::message(lock)).put_into(&mut self.entries);
    }

    /// Keeps only the entries that verify over a lock with this digest.
    pub fn retain_valid(&mut self, lock: &Digest, ring: &KeyRing) {
        let message = Self::message(lock);
        self.entries
            .retain(|entry| signature::verify_entry(entry, &message, ring).is_ok());
    }
}

#[cfg(test)]
mod tests;
