//! The v0 receipt: what ran, on what, with what result, using which kinds of capability, when.
//! There is none for a failed run.

use serde::{Deserialize, Serialize};

use hydrant_base::{Digest, JsonError, canonical_digest, parse_json};

use super::super::Execution;
use super::{ReceiptError, compare};

/// A receipt of a successful run. Members in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptV0 {
    /// `sha256` of `skill.wasm`.
    pub artifact: Digest,
    /// `sha256` of the request.
    pub inputs_hash: Digest,
    /// `sha256` of the response.
    pub outputs_hash: Digest,
    /// Kinds of capability that were used, sorted and unique.
    pub caps_used: Vec<String>,
    /// Unix seconds at the end of the run, by the local clock.
    pub timestamp: u64,
    /// `sha256` of the canonical JSON (RFC 8785) of all other members.
    pub receipt_hash: Digest,
}

/// Only a successful run has a v0 receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a failed run has no v0 receipt")]
pub struct NotSuccessful;

/// What `receipt_hash` is the hash of.
#[derive(Serialize)]
struct Preimage<'a> {
    artifact: &'a Digest,
    caps_used: &'a [String],
    inputs_hash: &'a Digest,
    outputs_hash: &'a Digest,
    timestamp: u64,
}

impl ReceiptV0 {
    /// The receipt of a successful execution.
    ///
    /// # Errors
    /// [`NotSuccessful`].
    pub fn of(execution: &Execution) -> Result<Self, NotSuccessful> {
        if !execution.outcome.is_success() {
            return Err(NotSuccessful);
        }
        let mut receipt = Self {
            artifact: execution.artifact.clone(),
            inputs_hash: execution.inputs_hash.clone(),
            outputs_hash: execution.outputs_hash.clone(),
            caps_used: execution.caps_used.iter().cloned().collect(),
            timestamp: execution.finished_at.unix_seconds(),
            receipt_hash: Digest::zero(),
        };
        receipt.receipt_hash = receipt.computed_hash();
        Ok(receipt)
    }

    /// Reads a receipt file: its shape and the form of its digests, not its hash.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        parse_json(bytes)
    }

    /// Whether `receipt_hash` is the hash of the other members.
    ///
    /// # Errors
    /// [`ReceiptError::Hash`].
    pub fn verify(&self) -> Result<(), ReceiptError> {
        compare(&self.receipt_hash, self.computed_hash())
    }

    fn computed_hash(&self) -> Digest {
        canonical_digest(&Preimage {
            artifact: &self.artifact,
            caps_used: &self.caps_used,
            inputs_hash: &self.inputs_hash,
            outputs_hash: &self.outputs_hash,
            timestamp: self.timestamp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{failed, worked};
    use super::super::{Receipt, ReceiptFormat};
    use super::*;

    /// The receipt of the worked example as a file.
    const FILE: &str = r#"{
  "artifact": "sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29",
  "inputs_hash": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
  "outputs_hash": "sha256:2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df",
  "caps_used": [
    "fs.read"
  ],
  "timestamp": 1767225600,
  "receipt_hash": "sha256:1a7a277e16ba8d2acf9678a44f352ab6ea0396e7742346e1624127ef75423832"
}"#;

    #[test]
    fn the_worked_receipt_of_section_1_1() {
        let receipt = Receipt::of(&worked(), ReceiptFormat::V0).unwrap();
        assert_eq!(String::from_utf8(receipt.to_bytes()).unwrap(), FILE);
        assert_eq!(
            ReceiptV0::parse(FILE.as_bytes()).map(Receipt::V0).unwrap(),
            receipt
        );
    }

    #[test]
    fn an_execution_without_capabilities_writes_an_empty_array() {
        let mut execution = worked();
        execution.caps_used.clear();
        let bytes = Receipt::of(&execution, ReceiptFormat::V0)
            .unwrap()
            .to_bytes();
        assert!(
            String::from_utf8(bytes)
                .unwrap()
                .contains("\n  \"caps_used\": [],\n")
        );
    }

    #[test]
    fn kinds_are_sorted_and_unique() {
        let mut execution = worked();
        let used = ["net.http", "exec.unjailed", "fs.read", "fs.read"];
        execution.caps_used = used.map(str::to_owned).into();
        let receipt = ReceiptV0::of(&execution).unwrap();
        assert_eq!(receipt.caps_used, ["exec.unjailed", "fs.read", "net.http"]);
    }

    #[test]
    fn a_failed_run_has_no_receipt() {
        assert_eq!(ReceiptV0::of(&failed()), Err(NotSuccessful));
    }

    #[test]
    fn every_member_is_under_the_hash() {
        let good = ReceiptV0::of(&worked()).unwrap();
        let changes: [fn(&mut ReceiptV0); 5] = [
            |receipt| receipt.artifact = Digest::of(b"x"),
            |receipt| receipt.inputs_hash = Digest::of(b"x"),
            |receipt| receipt.outputs_hash = Digest::of(b"x"),
            |receipt| receipt.caps_used.push("exec".into()),
            |receipt| receipt.timestamp += 1,
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut changed = good.clone();
            change(&mut changed);
            let error = changed.verify().unwrap_err().to_string();
            assert!(
                error.starts_with("digest mismatch: expected sha256:"),
                "{at}: {error}"
            );
        }
    }

    #[test]
    fn a_timestamp_beyond_what_a_double_holds_is_hashed_exactly() {
        let mut receipt = ReceiptV0::of(&worked()).unwrap();
        receipt.timestamp = (1 << 53) + 1;
        let odd = receipt.computed_hash();
        receipt.timestamp -= 1;
        assert_ne!(odd, receipt.computed_hash());
    }
}
