//! A ring: signer names and their public keys.

use hydrant_base::{Digest, InvalidDigest, parse_json, pretty_json};
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{KeyError, PublicKey};
use crate::limits::MAX_JSON_BYTES;
use crate::manifest::is_lower_name;

/// Keys whose secret halves everyone knows: that of the bytes 0 to 31, the five of RFC 8032
/// section 7.1, and the two published example keys.
const PUBLICLY_KNOWN: [&str; 8] = [
    "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
    "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
    "/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=",
    "J4EX/BRMcjQPZ9DyMW6Dhs7/vyskKMnFH+98WX8dQm4=",
    "7Bcrk61eVjv0kyxw4SRQNMNUZ+8u/U1k6/gZaDRn4r8=",
    "ikGUnmwWk4dKGDdhofcz0sZ+h7zkiSUZ8knyAUpSC1c=",
    "faMDdjeCjCpUXU7ti+Apqzme7qC+ogPUlhJ4jG37M/8=",
];

/// The longest name of a signer in a pins ring, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A public-keys file, every entry of which is a usable key.
#[derive(Debug, Clone)]
pub struct KeyRing {
    digest: Digest,
    keys: BTreeMap<String, PublicKey>,
    bytes: Vec<u8>,
}

impl KeyRing {
    /// Reads a ring of the digest that the caller trusts. The digest is compared first: what another
    /// ring holds does not matter.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: `expected_digest` is no digest or another one, or the ring cannot be parsed.
    pub fn open(bytes: &[u8], expected_digest: &str) -> Result<Self, KeyError> {
        Self::check_digest(bytes, expected_digest)?;
        Self::parse(bytes)
    }

    /// Checks the digest of a ring alone, for callers that report the two steps apart.
    ///
    /// # Errors
    ///
    /// [`KeyError::DigestFormat`] or [`KeyError::DigestMismatch`].
    pub fn check_digest(bytes: &[u8], expected_digest: &str) -> Result<(), KeyError> {
        let expected: Digest = expected_digest
            .parse()
            .map_err(|error: InvalidDigest| KeyError::DigestFormat(error.0))?;
        let actual = Digest::of(bytes);
        if actual == expected {
            Ok(())
        } else {
            Err(KeyError::DigestMismatch { expected, actual })
        }
    }

    /// Reads a ring without trusting it.
    ///
    /// # Errors
    ///
    /// [`KeyError`] names the first entry, by name, that is no key.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        if !u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_JSON_BYTES) {
            return Err(KeyError::RingTooLarge {
                bytes: bytes.len(),
                maximum: MAX_JSON_BYTES,
            });
        }
        let entries: BTreeMap<String, String> = parse_json(bytes)?;
        let mut keys = BTreeMap::new();
        for (name, text) in entries {
            let decoded = STANDARD
                .decode(&text)
                .map_err(|_| KeyError::Base64(name.clone()))?;
            let raw: [u8; 32] = decoded
                .try_into()
                .map_err(|_| KeyError::Length(name.clone()))?;
            let key = PublicKey::from_bytes(&raw).ok_or_else(|| KeyError::Bytes(name.clone()))?;
            keys.insert(name, key);
        }
        Ok(Self {
            digest: Digest::of(bytes),
            keys,
            bytes: bytes.to_vec(),
        })
    }

    /// `keys_digest`: the digest of the file's bytes, white space included.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The key of a signer.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PublicKey> {
        self.keys.get(name)
    }

    /// All signers in byte order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// The file as it was read.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether this may be the ring of a root.
    ///
    /// # Errors
    ///
    /// [`KeyError`] names the rule and the signer.
    pub fn check_pins_form(&self, min_signers: usize) -> Result<(), KeyError> {
        let mut owners: BTreeMap<&PublicKey, &String> = BTreeMap::new();
        for (name, key) in &self.keys {
            if !is_lower_name(name) || name.len() > MAX_NAME_BYTES {
                return Err(KeyError::Name(name.clone()));
            }
            if PUBLICLY_KNOWN.contains(&key.to_base64().as_str()) {
                return Err(KeyError::PubliclyKnown(name.clone()));
            }
            if let Some(one) = owners.insert(key, name) {
                return Err(KeyError::SharedKey {
                    one: one.clone(),
                    other: name.clone(),
                });
            }
        }
        if self.keys.len() < min_signers {
            return Err(KeyError::TooFewSigners {
                actual: self.keys.len(),
                minimum: min_signers,
            });
        }
        if self.bytes == self.written() {
            Ok(())
        } else {
            Err(KeyError::Form)
        }
    }

    /// The one form of a ring of a root.
    fn written(&self) -> Vec<u8> {
        let entries: BTreeMap<&String, String> = self
            .keys
            .iter()
            .map(|(name, key)| (name, key.to_base64()))
            .collect();
        let mut bytes = pretty_json(&entries);
        bytes.push(b'\n');
        bytes
    }
}
