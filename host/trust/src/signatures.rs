//! `signatures.json`: who vouches for a manifest.

use hydrant_base::{Digest, JsonError, canonical_digest, excerpt, parse_json};
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::SignatureEntry;

/// The signatures of a bundle, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signatures {
    /// The digest of `skill.wasm`, equal to the manifest's.
    pub artifact: Digest,
    /// The digest of the manifest in canonical JSON; its 71 characters are what is signed.
    pub manifest_hash: Digest,
    /// At most one of each signer; none after `pack`.
    pub signatures: Vec<SignatureEntry>,
}

/// Why `signatures.json` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignaturesError {
    /// Not the JSON of that file.
    #[error("invalid signatures JSON: {0}")]
    Json(#[from] JsonError),
    /// A signer signs once.
    #[error("duplicate signature entry for signer: {}", excerpt(.0))]
    Duplicate(String),
}

impl Signatures {
    /// Reads the file; algorithms and signatures are looked at when they are verified.
    ///
    /// # Errors
    ///
    /// [`SignaturesError`]: unknown members, or a signer that occurs twice.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignaturesError> {
        let signatures: Self = parse_json(bytes)?;
        let mut seen = BTreeSet::new();
        for entry in &signatures.signatures {
            if !seen.insert(&entry.signer) {
                return Err(SignaturesError::Duplicate(entry.signer.clone()));
            }
        }
        Ok(signatures)
    }

    /// `signatures_hash`.
    #[must_use]
    pub fn hash(&self) -> Digest {
        canonical_digest(self)
    }

    /// The names of all signers in byte order.
    #[must_use]
    pub fn signers(&self) -> Vec<&str> {
        let mut signers: Vec<_> = self
            .signatures
            .iter()
            .map(|entry| entry.signer.as_str())
            .collect();
        signers.sort_unstable();
        signers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::ALGORITHM;
    use crate::vectors;

    #[test]
    fn unknown_and_duplicate_members_are_refused() {
        let good = vectors::signatures_json();
        assert!(Signatures::parse(good.as_bytes()).is_ok());
        for bad in [
            good.replacen('{', r#"{"key_id":"x","#, 1),
            good.replacen(r#"{"signer""#, r#"{"time":1,"signer""#, 1),
            good.replacen(r#""signatures":"#, r#""signatures":[],"signatures":"#, 1),
            good.replacen(r#""manifest_hash""#, r#""manifestHash""#, 1),
            good.replacen("sha256:24", "sha256:2G", 1),
        ] {
            let error = Signatures::parse(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("invalid signatures JSON: "), "{error}");
        }
    }

    #[test]
    fn a_signer_that_occurs_twice_is_refused() {
        let bad = vectors::signatures_json().replace("example.b", "example.a");
        assert_eq!(
            Signatures::parse(bad.as_bytes()).unwrap_err().to_string(),
            "duplicate signature entry for signer: example.a"
        );
    }

    #[test]
    fn an_entry_is_replaced_and_the_rest_is_sorted() {
        let mut signatures = Signatures::parse(vectors::signatures_json().as_bytes()).unwrap();
        let entry = |signer: &str| SignatureEntry {
            signer: signer.to_owned(),
            algorithm: ALGORITHM.to_owned(),
            signature: "new".to_owned(),
        };
        entry("example.b").put_into(&mut signatures.signatures);
        entry("Example").put_into(&mut signatures.signatures);
        assert_eq!(signatures.signers(), ["Example", "example.a", "example.b"]);
        let order: Vec<_> = signatures.signatures.iter().map(|e| &e.signer).collect();
        assert_eq!(order, ["Example", "example.a", "example.b"]);
        assert_eq!(signatures.signatures[2].signature, "new");
    }
}
