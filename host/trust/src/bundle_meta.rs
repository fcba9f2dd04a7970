//! `bundle-meta.json`: what `pack` made.

use hydrant_base::{Digest, JsonError, excerpt, parse_json, pretty_json};
use serde::{Deserialize, Serialize};

use super::Manifest;

const SCHEMA_VERSION: &str = "1.0.0";

/// The two hashes of a bundle, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleMeta {
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// The digest of the manifest in canonical JSON.
    pub manifest_hash: Digest,
    /// `1.0.0`.
    pub schema_version: String,
}

/// Why `bundle-meta.json` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleMetaError {
    /// Not exactly these members.
    #[error("invalid bundle-meta JSON: {0}")]
    Json(#[from] JsonError),
    /// Another version of the format.
    #[error("unsupported bundle-meta schema version: {}", excerpt(.0))]
    SchemaVersion(String),
    /// The same content in another layout.
    #[error("bundle-meta.json is not in its written form")]
    Form,
}

impl BundleMeta {
    /// Reads the file in the one form that `pack` writes.
    ///
    /// # Errors
    ///
    /// [`BundleMetaError`]: other members, another version, or another layout.
    pub fn parse(bytes: &[u8]) -> Result<Self, BundleMetaError> {
        let meta: Self = parse_json(bytes)?;
        if meta.schema_version != SCHEMA_VERSION {
            return Err(BundleMetaError::SchemaVersion(meta.schema_version));
        }
        if pretty_json(&meta) != bytes {
            return Err(BundleMetaError::Form);
        }
        Ok(meta)
    }

    /// What belongs beside `manifest`.
    #[must_use]
    pub fn for_manifest(manifest: &Manifest) -> Self {
        Self {
            artifact: manifest.artifact.clone(),
            manifest_hash: manifest.hash(),
            schema_version: SCHEMA_VERSION.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    #[test]
    fn the_file_has_three_members_in_alphabetical_order_and_no_final_newline() {
        let meta = BundleMeta::for_manifest(&vectors::manifest());
        let written = String::from_utf8(pretty_json(&meta)).unwrap();
        assert_eq!(
            written,
            format!(
                "{{\n  \"artifact\": \"{}\",\n  \"manifest_hash\": \"{}\",\n  \"schema_version\": \"1.0.0\"\n}}",
                vectors::ARTIFACT,
                vectors::MANIFEST_HASH
            )
        );
        assert_eq!(BundleMeta::parse(written.as_bytes()), Ok(meta));
    }

    #[test]
    fn anything_else_is_refused() {
        let good = String::from_utf8(pretty_json(&BundleMeta::for_manifest(&vectors::manifest())));
        let good = good.unwrap();
        for (bad, expected) in [
            (
                good.replacen('{', r#"{"extra":1,"#, 1),
                "invalid bundle-meta JSON: unknown field",
            ),
            (
                good.replace("1.0.0", "1.0.1"),
                "unsupported bundle-meta schema version: 1.0.1",
            ),
            (format!("{good}\n"), "not in its written form"),
            (good.replace("  ", " "), "not in its written form"),
            (String::new(), "invalid bundle-meta JSON: EOF"),
        ] {
            let error = BundleMeta::parse(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error} without {expected}");
        }
    }
}
