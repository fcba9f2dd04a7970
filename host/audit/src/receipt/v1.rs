//! The v1-draft receipt: v0 and what the run was allowed to do, under which policy, by which
//! runtime, and how it ended. Experimental, as in the original.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use hydrant_base::{Digest, canonical_digest, parse_json};

use super::super::{Execution, Status};
use super::{ReceiptError, compare};

/// A receipt in the draft of version 1. Members in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the members are those of the file, by name")]
pub struct ReceiptV1 {
    pub schema_version: String,
    pub artifact: Digest,
    pub manifest_hash: Digest,
    pub policy_hash: Digest,
    pub bundle_hash: Digest,
    pub inputs_hash: Digest,
    pub outputs_hash: Digest,
    pub runtime_version_digest: Digest,
    pub result_digest: Digest,
    pub caps_requested: Vec<String>,
    pub caps_granted: Vec<String>,
    pub caps_used: Vec<String>,
    pub result: ResultV1,
    pub runtime: RuntimeV1,
    pub started_at: u64,
    pub finished_at: u64,
    pub timestamp_strategy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestations: Option<Vec<Attestation>>,
    pub receipt_hash: Digest,
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultV1 {
    /// `success` or `failure`.
    pub status: String,
    /// One of the codes of this program here; a foreign receipt may have others.
    pub code: String,
    /// For a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What ran the skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeV1 {
    /// `hydrant`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Which kind of guest ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// What somebody else says about the run. hydrant writes none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// Which kind of statement.
    #[serde(rename = "type")]
    pub kind: String,
    /// The statement.
    pub value: String,
}

/// The one schema version.
const SCHEMA_VERSION: &str = "1.0.0-draft";
/// The one way in which times are told: by a clock that nobody vouches for.
const TIMESTAMP_STRATEGY: &str = "local_untrusted_unix_seconds";

/// What `receipt_hash` is the hash of. Absent attestations are `null` here and left out of the file: that is
/// what the original hashes, and it rejects a hash without the null.
#[derive(Serialize)]
struct Preimage<'a> {
    schema_version: &'a str,
    artifact: &'a Digest,
    manifest_hash: &'a Digest,
    policy_hash: &'a Digest,
    bundle_hash: &'a Digest,
    inputs_hash: &'a Digest,
    outputs_hash: &'a Digest,
    runtime_version_digest: &'a Digest,
    result_digest: &'a Digest,
    caps_requested: &'a [String],
    caps_granted: &'a [String],
    caps_used: &'a [String],
    result: &'a ResultV1,
    runtime: &'a RuntimeV1,
    started_at: u64,
    finished_at: u64,
    timestamp_strategy: &'a str,
    attestations: Option<&'a [Attestation]>,
}

/// What `result_digest` is the hash of. The message is for people and not part of it.
#[derive(Serialize)]
struct ResultPreimage<'a> {
    caps_used: &'a [String],
    code: &'a str,
    outputs_hash: &'a Digest,
    status: &'a str,
}

impl ReceiptV1 {
    /// The receipt of an execution, successful or not.
    #[must_use]
    pub fn of(execution: &Execution) -> Self {
        Self::by(execution, env!("CARGO_PKG_VERSION"))
    }

    /// The receipt that this version of hydrant writes.
    fn by(execution: &Execution, version: &str) -> Self {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect();
        let outcome = &execution.outcome;
        let started_at = execution.started_at.unix_seconds();
        let mut receipt = Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            artifact: execution.artifact.clone(),
            manifest_hash: execution.manifest_hash.clone(),
            policy_hash: execution.policy_hash.clone(),
            bundle_hash: execution.bundle_hash.clone(),
            inputs_hash: execution.inputs_hash.clone(),
            outputs_hash: execution.outputs_hash.clone(),
            runtime_version_digest: Digest::zero(),
            result_digest: Digest::zero(),
            caps_requested: list(&execution.caps_requested),
            caps_granted: list(&execution.caps_granted),
            caps_used: list(&execution.caps_used),
            result: ResultV1 {
                status: outcome.code().status().as_str().to_owned(),
                code: outcome.code().as_str().to_owned(),
                message: outcome.message().map(str::to_owned),
            },
            runtime: RuntimeV1 {
                name: "hydrant".to_owned(),
                version: version.to_owned(),
                profile: Some(execution.profile.as_str().to_owned()),
            },
            started_at,
            // A clock that was set back meanwhile must not make a receipt that nobody accepts.
            finished_at: execution.finished_at.unix_seconds().max(started_at),
            timestamp_strategy: TIMESTAMP_STRATEGY.to_owned(),
            attestations: None,
            receipt_hash: Digest::zero(),
        };
        receipt.runtime_version_digest = canonical_digest(&receipt.runtime);
        receipt.result_digest = receipt.computed_result_digest();
        receipt.receipt_hash = receipt.computed_hash();
        receipt
    }

    /// Reads a receipt file: its shape, the form of its digests and the values its members may have, not its
    /// hash.
    ///
    /// # Errors
    /// [`ReceiptError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let receipt: Self = parse_json(bytes).map_err(ReceiptError::NotV1)?;
        receipt.check_fields()?;
        Ok(receipt)
    }

    /// Whether `receipt_hash` is the hash of the other members.
    ///
    /// # Errors
    /// [`ReceiptError::Hash`].
    pub fn verify(&self) -> Result<(), ReceiptError> {
        compare(&self.receipt_hash, self.computed_hash())
    }

    /// Refuses members whose type is right and whose value cannot be meant: empty texts, an end before the beginning, …
    fn check_fields(&self) -> Result<(), ReceiptError> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(ReceiptError::SchemaVersion(self.schema_version.clone()));
        }
        let mut capabilities = self
            .caps_requested
            .iter()
            .chain(&self.caps_granted)
            .chain(&self.caps_used);
        let known_status = [Status::Success, Status::Failure]
            .iter()
            .any(|status| status.as_str() == self.result.status);
        let empty_attestation = self
            .attestations
            .iter()
            .flatten()
            .any(|one| one.kind.is_empty() || one.value.is_empty());
        for (wrong, field) in [
            (
                capabilities.any(String::is_empty),
                "receipt capability fields must not contain empty items",
            ),
            (
                !known_status,
                "receipt.result.status must be success or failure",
            ),
            (
                self.result.code.is_empty(),
                "receipt.result.code must be non-empty",
            ),
            (
                self.runtime.name.is_empty() || self.runtime.version.is_empty(),
                "receipt.runtime.name/version must be non-empty",
            ),
            (
                self.finished_at < self.started_at,
                "receipt.finished_at must be >= receipt.started_at",
            ),
            (
                self.timestamp_strategy != TIMESTAMP_STRATEGY,
                "receipt.timestamp_strategy must be local_untrusted_unix_seconds",
            ),
            (
                empty_attestation,
                "receipt.attestations items must have non-empty type/value",
            ),
        ] {
            if wrong {
                return Err(ReceiptError::Field(field));
            }
        }
        Ok(())
    }

    fn computed_result_digest(&self) -> Digest {
        canonical_digest(&ResultPreimage {
            caps_used: &self.caps_used,
            code: &self.result.code,
            outputs_hash: &self.outputs_hash,
            status: &self.result.status,
        })
    }

    fn computed_hash(&self) -> Digest {
        canonical_digest(&Preimage {
            schema_version: &self.schema_version,
            artifact: &self.artifact,
            manifest_hash: &self.manifest_hash,
            policy_hash: &self.policy_hash,
            bundle_hash: &self.bundle_hash,
            inputs_hash: &self.inputs_hash,
            outputs_hash: &self.outputs_hash,
            runtime_version_digest: &self.runtime_version_digest,
            result_digest: &self.result_digest,
            caps_requested: &self.caps_requested,
            caps_granted: &self.caps_granted,
            caps_used: &self.caps_used,
            result: &self.result,
            runtime: &self.runtime,
            started_at: self.started_at,
            finished_at: self.finished_at,
            timestamp_strategy: &self.timestamp_strategy,
            attestations: self.attestations.as_deref(),
        })
    }
}

#[cfg(test)]
mod tests;
