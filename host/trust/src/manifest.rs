//! `manifest.json`: what a skill is and which capabilities it declares.

use hydrant_base::{Digest, JsonError, canonical_digest, excerpt, parse_json};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ProfileError;
use super::profile;

/// The one schema version besides none.
pub(super) const DRAFT: &str = "1.0.0-draft";

/// One declared capability, such as `fs.read:/os`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// `fs.read`, `fs.write`, `net.http` or `exec.safe` for a component.
    pub kind: String,
    /// What of that kind: a virtual directory, a URL prefix, a program, or `*`.
    pub value: String,
}

/// `kind:value`, not escaped.
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.value)
    }
}

/// The declaration of a skill, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Absent, or `1.0.0-draft`; `null` reads as absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
    /// The skill's id.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The export that is called: `run` for components.
    pub entrypoint: String,
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// The most that the skill may ever be granted.
    pub capabilities: Vec<Capability>,
    /// Who may sign.
    pub signers: Vec<String>,
}

/// Whether draft formats are accepted: `--allow-experimental`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experimental {
    /// The default.
    Refused,
    /// The caller asked for them.
    Allowed,
}

/// Why a manifest is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Not the JSON of a manifest.
    #[error("invalid manifest JSON: {0}")]
    Json(#[from] JsonError),
    /// A draft is accepted on request only.
    #[error("manifest schema_version {DRAFT} requires --allow-experimental")]
    NeedsExperimental,
    /// Neither absent nor the draft's.
    #[error("unsupported manifest schema version: {}", excerpt(.0))]
    SchemaVersion(String),
    /// The value may not stand in another file.
    #[error("invalid manifest {member}: {}", excerpt(.value))]
    Name {
        /// `name`, `version` or `signer`.
        member: &'static str,
        /// What stands there.
        value: String,
    },
}

impl Manifest {
    /// Reads a manifest; the schema version is looked at by [`check_schema`](Self::check_schema).
    ///
    /// # Errors
    ///
    /// [`ManifestError::Json`] names line and column.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        Ok(parse_json(bytes)?)
    }

    /// `manifest_hash`: the digest of the manifest in canonical JSON, which reformatting does not change.
    #[must_use]
    pub fn hash(&self) -> Digest {
        canonical_digest(self)
    }

    /// The schema gate.
    ///
    /// # Errors
    ///
    /// [`ManifestError::NeedsExperimental`] or [`ManifestError::SchemaVersion`].
    pub fn check_schema(&self, experimental: Experimental) -> Result<(), ManifestError> {
        match (self.schema_version.as_deref(), experimental) {
            (None, _) | (Some(DRAFT), Experimental::Allowed) => Ok(()),
            (Some(DRAFT), Experimental::Refused) => Err(ManifestError::NeedsExperimental),
            (Some(other), _) => Err(ManifestError::SchemaVersion(other.to_owned())),
        }
    }

    /// Whether name, version and signers may be put into other files.
    ///
    /// # Errors
    ///
    /// [`ManifestError::Name`] names the member and the value.
    pub fn check_names(&self) -> Result<(), ManifestError> {
        let signers = self.signers.iter().map(|signer| ("signer", signer));
        let named = [("name", &self.name), ("version", &self.version)];
        for (member, value) in named.into_iter().chain(signers) {
            if !is_name(value) {
                return Err(ManifestError::Name {
                    member,
                    value: value.clone(),
                });
            }
        }
        Ok(())
    }

    /// The profile of pinned skills, except for the forms of capability values, which are policy's.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] names the first member that does not fit.
    pub fn check_profile(
        &self,
        ring_names: &[&str],
        min_signers: usize,
    ) -> Result<(), ProfileError> {
        profile::check(self, ring_names, min_signers)
    }
}

/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= 128
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// `^[a-z0-9][a-z0-9._-]*$`, the name of what is pinned.
pub(super) fn is_lower_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests;
