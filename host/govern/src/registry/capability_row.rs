//! One capability as lists show it, and where a call of it would stand.

use serde::Serialize;
use serde_json::{Value, json};

use super::approvals::{Standing, View};
use super::name::mixes_scripts;
use super::{Registered, Surroundings};
use crate::failure::{Code, Failure};
use hydrant_plan::Status;

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
    /// The core capability of a plan with one stage, or a list of those of its stages.
    pub maps_to: Value,
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
    /// Returns the row of an operation, and why it needs an approval now.
    pub(super) fn read(view: View<'_>, found: &Registered) -> Result<(Self, Vec<String>), Failure> {
        if found.usable().is_err() {
            return Ok((Self::new(found, view.around, None, true), Vec::new()));
        }
        let stands = view.stands(found)?;
        let row = Self::new(found, view.around, Some(stands.standing), stands.by_policy);
        Ok((row, stands.reasons))
    }

    /// Makes the row of an operation that stands there; none: it is unusable.
    pub(super) fn new(
        found: &Registered,
        around: &dyn Surroundings,
        stands: Option<Standing>,
        by_policy: bool,
    ) -> Self {
        let (status, approval) = match stands {
            None => (CapabilityStatus::Unusable, None),
            Some(Standing::Granted(approval)) => (CapabilityStatus::Approved, approval),
            Some(Standing::Denied(approval) | Standing::Revoked(approval)) => {
                (CapabilityStatus::Denied, Some(approval))
            }
            Some(Standing::Pending(approval)) => (CapabilityStatus::Pending, Some(approval)),
            Some(Standing::Expired(_) | Standing::Open) => (CapabilityStatus::Pending, None),
        };
        let missing = around.missing(&found.operation);
        Self {
            id: found.capability.clone(),
            mixed_scripts: mixes_scripts(&found.skill.skill.id)
                || mixes_scripts(&found.operation.id),
            aliases: found.operation.aliases.clone(),
            maps_to: match found.delegates().as_slice() {
                [only] => json!(only),
                all => json!(all),
            },
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
            requires_approval: !by_policy,
            approval_id: approval.map(|approval| approval.id),
        }
    }
}
