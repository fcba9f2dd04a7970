//! What agents ask for and people decide: requests and grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Declaration, Effect, Operation, Request, Roles, Tag};
use crate::govern::failure::Failure;
use crate::govern::governor;
use crate::govern::registry::approvals::Scope;
use crate::serve::service::{Answer, Event, Identity, Problem};

/// Requests and grants, the oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListApprovals {
    /// Only those
    #[schemars(extend("enum" = ["pending", "approved", "denied", "expired", "revoked", "superseded", "consumed"]))]
    status: Option<String>,
}

impl Request for ListApprovals {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "approvals",
        Roles::Deciders,
        Effect::READS,
    )
    .get("/v1/approvals", Tag::Approvals, "approvals");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let listed = who.tenant.governor()?.approvals(self.status.as_deref())?;
        Ok(Answer::json(&listed))
    }
}

/// What it grants, from where (file and line), and what changed since the last grant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowApproval {
    /// `ap-…`
    id: String,
}

impl Request for ShowApproval {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "approval",
        Roles::Deciders,
        Effect::READS,
    )
    .get("/v1/approvals/{id}", Tag::Approvals, "approval");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let shown = who.tenant.governor()?.approval(&self.id)?;
        Ok(Answer::json(&shown))
    }
}

/// An approval after a decision.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Approval(#[schemars(with = "Map<String, Value>")] Value);

impl Approval {
    /// What a decision answers; those who watch the tenant's changes are told.
    fn decided(
        who: &Identity,
        id: String,
        decided: Result<Value, Failure>,
    ) -> Result<Self, Problem> {
        let approval = decided?;
        let status = approval.get("status").and_then(Value::as_str);
        let status = status.unwrap_or_default().to_owned();
        who.tell([Event::ApprovalDecided { id, status }, Event::Chain]);
        Ok(Self(approval))
    }
}

/// Grants a request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approve {
    /// `ap-…`
    id: String,
    #[schemars(extend("enum" = ["once", "session", "until-changed"]))]
    scope: Option<String>,
    /// Such as 8h
    ttl: Option<String>,
    /// For the record
    reason: Option<String>,
    /// The answer to a human action
    response: Option<Value>,
}

impl Request for Approve {
    type Response = Approval;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "approve",
        Roles::Deciders,
        Effect::CHANGES,
    )
    .post("/v1/approvals/{id}/approve", Tag::Approvals, "approve");

    fn perform(self, who: &Identity) -> Result<Approval, Problem> {
        let scope = self.scope.as_deref().map(|text| {
            Scope::parse(text)
                .ok_or_else(|| Problem::invalid("scope: it must be once, session or until-changed"))
        });
        let ttl = self.ttl.as_deref().map(|text| {
            humantime::parse_duration(text)
                .map_err(|error| Problem::invalid(format!("ttl: {error}")))
        });
        let grant = governor::Approve {
            scope: scope.transpose()?,
            ttl: ttl.transpose()?,
            reason: self.reason,
            response: self.response,
        };
        let governor = who.tenant.governor()?;
        let decided = governor.approve(&who.caller()?, &self.id, grant);
        Approval::decided(who, self.id, decided)
    }
}

/// Denies a request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// `ap-…`
    id: String,
    /// For the record
    reason: Option<String>,
}

impl Request for Deny {
    type Response = Approval;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "deny",
        Roles::Deciders,
        Effect::CHANGES,
    )
    .post("/v1/approvals/{id}/deny", Tag::Approvals, "deny");

    fn perform(self, who: &Identity) -> Result<Approval, Problem> {
        let governor = who.tenant.governor()?;
        let decided = governor.deny(&who.caller()?, &self.id, self.reason.as_deref());
        Approval::decided(who, self.id, decided)
    }
}

/// Takes a grant back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    /// `ap-…`
    id: String,
    /// For the record
    reason: Option<String>,
}

impl Request for Revoke {
    type Response = Approval;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "revoke",
        Roles::Deciders,
        Effect::CHANGES,
    )
    .post("/v1/approvals/{id}/revoke", Tag::Approvals, "revoke");

    fn perform(self, who: &Identity) -> Result<Approval, Problem> {
        let governor = who.tenant.governor()?;
        let decided = governor.revoke(&who.caller()?, &self.id, self.reason.as_deref());
        Approval::decided(who, self.id, decided)
    }
}

/// Asks anew for an operation whose grant or request was revoked, denied, or has expired; it grants nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestApproval {
    /// `<skill>.<operation>`
    capability: String,
    /// For who decides
    reason: Option<String>,
}

impl Request for RequestApproval {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("approval-request", Roles::Agents, Effect::CHANGES)
            .capability("ccos.approval.request");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let governor = who.tenant.governor()?;
        let reason = self.reason.as_deref();
        let requested = governor.request_approval(&who.caller()?, &self.capability, reason)?;
        if let Some(id) = requested.get("approval-id").and_then(Value::as_str) {
            let id = id.to_owned();
            who.tell([Event::ApprovalPending { id }, Event::Chain]);
        }
        Ok(Answer::json(&requested))
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new::<RequestApproval>(),
        Operation::new::<ListApprovals>(),
        Operation::new::<ShowApproval>(),
        Operation::new::<Approve>(),
        Operation::new::<Deny>(),
        Operation::new::<Revoke>(),
    ]
}
