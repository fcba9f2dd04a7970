//! The data of one execution. Both receipt forms, the audit line and the library's result are made from it.

use std::collections::BTreeSet;

use hydrant_base::{Digest, Timestamp};

use super::Outcome;

/// Which kind of guest ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuntimeProfile {
    /// A component of the host world.
    ComponentV0,
    /// A core module with the 14 imports of the original.
    ProvenactCoreV0,
}

impl RuntimeProfile {
    /// As receipts and audit lines write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ComponentV0 => "component-v0",
            Self::ProvenactCoreV0 => "provenact-core-v0",
        }
    }
}

/// What happened in one execution. Sets, because receipts and audit lines want them sorted and unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// `sha256` of `skill.wasm`.
    pub artifact: Digest,
    /// `sha256` of the canonical JSON (RFC 8785) of the manifest.
    pub manifest_hash: Digest,
    /// The hash of the policy document; with a tenant or run layer, the hash over those of all layers.
    pub policy_hash: Digest,
    /// The hash over artifact, manifest and signatures.
    pub bundle_hash: Digest,
    /// `sha256` of the request bytes.
    pub inputs_hash: Digest,
    /// `sha256` of the response bytes. For a failure: of the output or the error that the skill ended with, or of nothing.
    pub outputs_hash: Digest,
    /// `kind:value` of every capability of the manifest.
    pub caps_requested: BTreeSet<String>,
    /// `kind:value` of every capability that was granted.
    pub caps_granted: BTreeSet<String>,
    /// Kinds whose check passed at least once; `exec.unjailed` for a child without a jail.
    pub caps_used: BTreeSet<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Which kind of guest ran.
    pub profile: RuntimeProfile,
    /// When verification began.
    pub started_at: Timestamp,
    /// When the guest had ended.
    pub finished_at: Timestamp,
    /// Names in the bundle's `signatures.json`.
    pub signer_ids: BTreeSet<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_their_names() {
        assert_eq!(RuntimeProfile::ComponentV0.as_str(), "component-v0");
        assert_eq!(
            RuntimeProfile::ProvenactCoreV0.as_str(),
            "provenact-core-v0"
        );
    }
}
