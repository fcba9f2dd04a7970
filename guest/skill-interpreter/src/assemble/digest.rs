//! K-216: the digest of what an operation does.

use std::fmt::Write;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::mapping::registry;
use crate::model::Operation;

/// K-216: what precedes the canonical JSON.
const DOMAIN: &[u8] = b"hydrant.op.v1\n";

/// The digest, with its algorithm (K-07). Names, descriptions, examples, lines, aliases and confidence are not covered.
pub(super) fn of(operation: &Operation) -> Result<String, serde_json::Error> {
    let subject = json!({
        "stages": operation.stages,
        "input-schema": operation.input_schema,
        "secrets": operation.secrets,
        "hosts": operation.hosts,
        "files": operation.files,
        "tier": operation.tier,
        "effects": operation.effects,
        "data-classifications": operation.data_classifications,
        "base-url": operation.load.base_url,
        "constants": operation.load.constants,
        "mapping-version": registry::VERSION,
    });
    let canonical = serde_json_canonicalizer::to_vec(&subject)?;
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN);
    hasher.update(&canonical);
    let mut text = String::from("sha256:");
    for byte in hasher.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
