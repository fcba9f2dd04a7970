//! Signers with fixed keys, rings and signatures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::canonical::pretty_line;

/// A name and its key.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) name: String,
    key: SigningKey,
}

impl Signer {
    /// The key is the digest of `phrase`.
    pub(crate) fn new(name: &str, phrase: &str) -> Self {
        let seed: [u8; 32] = Sha256::digest(phrase).into();
        Self {
            name: name.to_owned(),
            key: SigningKey::from_bytes(&seed),
        }
    }

    pub(crate) fn from_seed(name: &str, seed: [u8; 32]) -> Self {
        Self {
            name: name.to_owned(),
            key: SigningKey::from_bytes(&seed),
        }
    }

    pub(crate) fn public(&self) -> String {
        STANDARD.encode(self.key.verifying_key().as_bytes())
    }

    /// What stands in a key file.
    pub(crate) fn secret(&self) -> String {
        STANDARD.encode(self.key.to_bytes())
    }

    pub(crate) fn sign(&self, message: impl AsRef<[u8]>) -> String {
        STANDARD.encode(self.key.sign(message.as_ref()).to_bytes())
    }

    /// One element of `signatures`, or of the lock signature.
    pub(crate) fn entry(&self, message: impl AsRef<[u8]>) -> Value {
        serde_json::json!({
            "signer": self.name, "algorithm": "ed25519", "signature": self.sign(message),
        })
    }
}

/// Section 1.1: worthless as trust.
pub(crate) fn example_a() -> Signer {
    Signer::new("example.a", "hydrant example key A")
}

pub(crate) fn example_b() -> Signer {
    Signer::new("example.b", "hydrant example key B")
}

/// The two signers of the roots that tests make.
pub(crate) fn build() -> Signer {
    Signer::new("team.build", "test key of team.build")
}

pub(crate) fn release() -> Signer {
    Signer::new("team.release", "test key of team.release")
}

pub(crate) fn team() -> Vec<Signer> {
    vec![build(), release()]
}

/// A stranger to every ring.
pub(crate) fn stranger() -> Signer {
    Signer::new("stranger", "test key of a stranger")
}

/// Names sorted, two spaces, final line feed.
pub(crate) fn ring(signers: &[Signer]) -> Vec<u8> {
    let mut signers: Vec<&Signer> = signers.iter().collect();
    signers.sort_by_key(|signer| signer.name.clone());
    let entries = signers
        .into_iter()
        .map(|signer| (signer.name.clone(), Value::from(signer.public())));
    pretty_line(&Value::Object(entries.collect::<Map<_, _>>()))
}

pub(crate) fn lock_message(lock: &[u8]) -> String {
    format!("hydrant-lock-v1\n{}", crate::canonical::digest(lock))
}

pub(crate) fn lock_signature(lock: &[u8], signers: &[Signer]) -> Vec<u8> {
    let message = lock_message(lock);
    let mut signers: Vec<&Signer> = signers.iter().collect();
    signers.sort_by_key(|signer| signer.name.clone());
    let entries = signers.into_iter().map(|signer| signer.entry(&message));
    pretty_line(&Value::Array(entries.collect()))
}
