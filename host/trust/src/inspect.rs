//! What `inspect` prints: the claims of a bundle, not one of them verified.

use hydrant_base::{escaped, parse_json, read_bounded_as};
use std::path::Path;

use serde_json::Value;

use super::file_names::{BUNDLE_META, MANIFEST, SIGNATURES};
use super::limits::MAX_JSON_BYTES;
use super::{BundleError, Experimental, Manifest, Signatures};

/// The lines that describe the bundle in `directory`; every value is escaped. `skill.wasm` is not read.
///
/// # Errors
///
/// [`BundleError`]: a file is missing or cannot be parsed, or the schema gate refuses it.
pub fn inspect(directory: &Path, experimental: Experimental) -> Result<Vec<String>, BundleError> {
    let read = |name| read_bounded_as(&directory.join(name), MAX_JSON_BYTES, name);
    let manifest = read(MANIFEST)?;
    let signatures = read(SIGNATURES)?;
    let manifest = Manifest::parse(&manifest).map_err(BundleError::Manifest)?;
    let signatures = Signatures::parse(&signatures)?;
    manifest
        .check_schema(experimental)
        .map_err(BundleError::Schema)?;
    let meta = match read(BUNDLE_META) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error.into()),
    };

    let mut lines = Lines(Vec::new());
    lines.member("name", &manifest.name);
    lines.member("version", &manifest.version);
    lines.member("entrypoint", &manifest.entrypoint);
    lines.member("manifest_artifact", manifest.artifact.as_str());
    lines.member("signatures_artifact", signatures.artifact.as_str());
    lines.member(
        "signatures_manifest_hash",
        signatures.manifest_hash.as_str(),
    );
    lines.member("bundle_meta_present", &meta.is_some().to_string());
    if let Some(meta) = meta {
        // Shown, not judged: what is not there is empty.
        let meta: Value = parse_json(&meta).unwrap_or_default();
        for name in ["schema_version", "artifact", "manifest_hash"] {
            let value = meta.get(name).and_then(Value::as_str).unwrap_or_default();
            lines.member(&format!("bundle_meta_{name}"), value);
        }
    }
    let capabilities = manifest.capabilities.iter().map(ToString::to_string);
    lines.list("capabilities", "capability", capabilities.collect());
    lines.list("signers", "signer", manifest.signers);
    let signers = signatures.signers().into_iter().map(str::to_owned);
    lines.list("signature_count", "signature_signer", signers.collect());
    Ok(lines.0)
}

struct Lines(Vec<String>);

impl Lines {
    fn member(&mut self, name: &str, value: &str) {
        self.0.push(format!("{name}={}", escaped(value)));
    }

    fn list(&mut self, count: &str, item: &str, mut values: Vec<String>) {
        values.sort_unstable();
        self.member(count, &values.len().to_string());
        for (index, value) in values.iter().enumerate() {
            self.member(&format!("{item}[{index}]"), value);
        }
    }
}

#[cfg(test)]
mod tests;
