//! `manifest.json`: what a skill is and which capabilities it declares (TB-30 to TB-35).

use serde::{Deserialize, Serialize};

use super::Digest;

/// One declared capability, such as `fs.read:/os`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// `fs.read`, `fs.write`, `net.http` or `exec.safe` for a component.
    pub kind: String,
    /// What of that kind: a virtual directory, a URL prefix, a program, or `*`.
    pub value: String,
}

/// The declaration of a skill, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The skill's id.
    pub name: String,
    /// Its SemVer version.
    pub version: String,
    /// The export that is called, `run`.
    pub entrypoint: String,
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// The most that the skill may ever be granted.
    pub capabilities: Vec<Capability>,
    /// Who signs.
    pub signers: Vec<String>,
}

/// A manifest that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("invalid manifest JSON: {0}")]
pub struct ManifestError(#[from] serde_json::Error);

impl Manifest {
    /// Reads a manifest; unknown and duplicate members are refused (TB-30).
    ///
    /// # Errors
    ///
    /// [`ManifestError`] names line and column.
    pub fn parse(json: &str) -> Result<Self, ManifestError> {
        Ok(serde_json::from_str(json)?)
    }

    /// `manifest_hash`: the digest of the manifest in canonical JSON (TB-33), which reformatting does not change.
    #[must_use]
    pub fn hash(&self) -> Digest {
        // A struct of strings always serialises; an empty preimage would match no pin.
        Digest::of(&serde_json_canonicalizer::to_vec(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"{
      "name": "example.null", "version": "0.1.0", "entrypoint": "run",
      "artifact": "sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29",
      "capabilities": [{"kind": "fs.read", "value": "/workspace"}],
      "signers": ["example.a", "example.b"]
    }"#;

    #[test]
    fn tb_33_the_hash_is_the_worked_value_however_the_file_is_laid_out() {
        let expected = "sha256:714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467";
        assert_eq!(Manifest::parse(EXAMPLE).unwrap().hash().as_str(), expected);
        let compact = EXAMPLE.replace(['\n', ' '], "");
        assert_eq!(Manifest::parse(&compact).unwrap().hash().as_str(), expected);
    }

    #[test]
    fn tb_30_unknown_and_duplicate_members_are_refused() {
        let unknown = EXAMPLE.replacen('{', r#"{"extra": 1,"#, 1);
        let duplicate = EXAMPLE.replacen('{', r#"{"name": "other","#, 1);
        for bad in [unknown, duplicate] {
            let error = Manifest::parse(&bad).unwrap_err().to_string();
            assert!(error.starts_with("invalid manifest JSON"), "{error}");
        }
    }
}
