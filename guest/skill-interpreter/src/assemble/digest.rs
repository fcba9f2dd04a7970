//! K-216: the digest of what an operation does.

use std::collections::BTreeMap;

use hydrant_canonical::Integers;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::mapping::registry;
use crate::model::{Files, Operation, OperationSecret, Stage};

/// K-216: what precedes the canonical JSON.
const DOMAIN: &[u8] = b"hydrant.op.v1\n";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Subject<'a> {
    stages: &'a [Stage],
    input_schema: &'a Value,
    secrets: &'a [OperationSecret],
    hosts: &'a [String],
    files: &'a Files,
    tier: u8,
    effects: &'a [String],
    data_classifications: &'a [String],
    base_url: &'a Option<String>,
    constants: &'a BTreeMap<String, String>,
    mapping_version: &'a str,
}

/// The digest, with its algorithm (K-07). Names, descriptions, examples, lines, aliases and confidence are not covered.
pub(super) fn of(operation: &Operation) -> Result<String, serde_json::Error> {
    let subject = Subject {
        stages: &operation.stages,
        input_schema: &operation.input_schema,
        secrets: &operation.secrets,
        hosts: &operation.hosts,
        files: &operation.files,
        tier: operation.tier,
        effects: &operation.effects,
        data_classifications: &operation.data_classifications,
        base_url: &operation.load.base_url,
        constants: &operation.load.constants,
        mapping_version: registry::VERSION,
    };
    // Whole numbers are sent as they are written, so two that differ must not have one digest: RFC 8785 has none beyond 2^53.
    let canonical = hydrant_canonical::to_vec(&subject, Integers::Exact)?;
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN);
    hasher.update(&canonical);
    let mut text = String::from("sha256:");
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
    for byte in hasher.finalize() {
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    Ok(text)
}
