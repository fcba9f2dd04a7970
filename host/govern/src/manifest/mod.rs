//! The manifest of an operation and what it would send: what an approver reads.
//!
//! Execution never uses them; it works on the stages. Their texts hold the names of secrets, never a value.

mod render;
mod sends;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use hydrant_plan::Policy;

pub use render::{make, words};
pub use sends::{Kind, Part, Row, Sends, of as sends};

/// Whether a grant is live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustTier {
    /// None.
    #[default]
    Pending,
    /// One is.
    Granted,
}

/// What carries an operation out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Implementation {
    /// One stage of a core capability.
    Delegate {
        /// `ccos.network.http-fetch`
        capability: String,
        /// Its parameters for people.
        transform: Map<String, Value>,
    },
    /// Several stages, each a `Delegate` or `Sandbox`.
    Pipeline {
        /// In order.
        stages: Vec<Implementation>,
    },
    /// One stage in the jail.
    #[serde(rename_all = "kebab-case")]
    Sandbox {
        /// `jail:python`, `jail:node`, `jail:go` or `jail:linux`.
        runtime: String,
        /// The argument vector as written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<Vec<String>>,
        /// Of the code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        script_digest: Option<String>,
        /// Arguments of the code.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// What the document gives it to read, which may be code too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
        /// Needed tools, then declared packages.
        packages: Vec<String>,
        /// The container image that the document names; it is recorded and not pulled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declared_runtime: Option<String>,
    },
}

/// What an approver reads of an operation; stored, shown, and part of its approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Manifest {
    /// `<skill>.<op>`
    pub id: String,
    /// The names of skill and operation in capitalised words.
    pub name: String,
    /// The operation's own, or its name in words; with a sandbox stage it says that it requires approval.
    pub description: String,
    /// The skill's.
    pub version: String,
    /// How the operation is carried out: by one core capability, by several, or in a sandbox.
    pub implementation: Implementation,
    /// JSON Schema 2020-12.
    pub input_schema: Value,
    /// JSON Schema 2020-12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Such as `network-egress` or `fs-write`, sorted.
    pub effects: Vec<String>,
    /// Names.
    pub requires_secret: Vec<String>,
    /// `host:port`, sorted.
    pub hosts: Vec<String>,
    /// 1 to 3, as the governor gave it: never below the interpreter's.
    pub tier: u8,
    /// As at the load; whoever shows a manifest sets it to what holds then.
    pub trust_tier: TrustTier,
    /// Whether `reasons` is not empty.
    pub requires_approval: bool,
    /// One sentence, where approval is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_reason: Option<String>,
    /// Why an approval is needed, given the operator's configuration and bindings.
    pub reasons: Vec<String>,
    /// What a call is expected to take; with a sandbox stage, the resources of its policy.
    pub estimated_resources: Map<String, Value>,
    /// With a sandbox stage: the one that is enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<Policy>,
    /// The source identity.
    pub derived_from: String,
    /// SHA-256 of the document's bytes.
    pub skill_digest: String,
    /// The digest of what an approval of the operation covers.
    pub op_digest: String,
    /// Of `null` without a policy.
    pub policy_digest: String,
}
