//! What a load answers (24.1).

use serde::Serialize;

use super::find::Registered;
use super::name::mixes_scripts;
use super::onboarding::OnboardingState;
use crate::failure::Code;
use hydrant_plan::{Diagnostic, Format, Operation, Stage, Status};

/// The result of a load (24.1). It holds no text of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Loaded {
    /// As written.
    pub skill_id: String,
    /// As written.
    pub name: String,
    /// As written.
    pub version: String,
    /// What kind of document.
    pub format: Format,
    /// The source identity.
    pub source_url: String,
    /// SHA-256 of the document's bytes.
    pub skill_digest: String,
    /// A counter: one step for each transaction that changed the registry.
    pub generation: u64,
    /// What differs from the load before, by operation id.
    pub delta: Delta,
    /// In the order of the document.
    pub capabilities: Vec<CapabilityRow>,
    /// Pending requests of this skill.
    pub pending_approvals: u64,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the document has an onboarding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onboarding: Option<OnboardingState>,
    /// Where something is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// What a load changed, by operation id in the order of the document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Delta {
    /// New.
    pub added: Vec<String>,
    /// With another op- or policy-digest.
    pub changed: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
    /// As before.
    pub unchanged: Vec<String>,
}

impl Delta {
    /// Whether no capability came, went or changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// What a call would meet now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityStatus {
    /// An operator has to decide.
    Pending,
    /// A grant is live, of an operator or by policy.
    Approved,
    /// An operator refused or revoked it.
    Denied,
    /// It cannot be called.
    Unusable,
}

/// `maps-to`: one core capability, or one for each stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MapsTo {
    /// Of a plan with one stage.
    One(String),
    /// Of any other.
    Several(Vec<String>),
}

impl MapsTo {
    /// Of this operation.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        let mut all = delegates(operation);
        match (all.pop(), all.is_empty()) {
            (Some(only), true) => Self::One(only),
            (last, _) => {
                all.extend(last);
                Self::Several(all)
            }
        }
    }
}

/// One capability, as a load and `skill list` show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapabilityRow {
    /// `<skill>.<op>`
    pub id: String,
    /// Whether the id has letters of several scripts, so that it may look like another one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mixed_scripts: bool,
    /// Other names of the operation.
    pub aliases: Vec<String>,
    /// Core capabilities.
    pub maps_to: MapsTo,
    /// What a call would meet now. A missing tool does not change it.
    pub status: CapabilityStatus,
    /// Of an unusable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Whether the tools it needs are on this machine.
    pub available: bool,
    /// Those that are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// 1 to 3.
    pub tier: u8,
    /// 0 to 1.
    pub confidence: f64,
    /// What it needs, such as `secret:N`, `host:H:P` or `tool:T`.
    pub requires: Vec<String>,
    /// Whether a call needs an approval.
    pub requires_approval: bool,
    /// The request that is pending, or was decided last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
}

impl CapabilityRow {
    /// Of an operation, with what an operator decided.
    pub(super) fn of(
        found: &Registered,
        status: CapabilityStatus,
        missing: Vec<String>,
        requires_approval: bool,
        approval_id: Option<String>,
    ) -> Self {
        Self {
            id: found.capability.clone(),
            mixed_scripts: mixes_scripts(&found.skill.skill.id)
                || mixes_scripts(&found.operation.id),
            aliases: found.operation.aliases.clone(),
            maps_to: MapsTo::of(&found.operation),
            status,
            code: match &found.operation.status {
                Status::Ok => None,
                Status::Unusable { code, .. } => Some(*code),
            },
            available: missing.is_empty(),
            missing,
            tier: found.tier,
            confidence: found.operation.confidence,
            requires: found.operation.requires.clone(),
            requires_approval,
            approval_id,
        }
    }
}

/// `maps-to` of the stages, in order.
pub(super) fn delegates(operation: &Operation) -> Vec<String> {
    operation
        .stages
        .iter()
        .map(|stage: &Stage| stage.capability().to_owned())
        .collect()
}
