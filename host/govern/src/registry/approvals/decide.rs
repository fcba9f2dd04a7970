//! What an operator decides.

use std::time::Duration;

use rusqlite::params;
use serde_json::Value;

use super::capability::one_line;
use super::lifecycle::transition;
use super::table::by_id;
use super::{Approval, Kind, POLICY, Scope, Status, guarded};
use crate::chain::Event;
use crate::check::TIER_3_WARNING;
use crate::failure::{Code, Failure};
use crate::registry::sql::Queries;
use crate::registry::{Registered, Who, bindings, store};
use crate::request::Schema;
use crate::state::{Change, State};
use crate::time::Time;

/// How an operator decides.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The operator's name, for `by`.
    pub by: String,
    /// None: as the document says, `until-changed` where it does not; Tier 3 needs it said.
    pub scope: Option<Scope>,
    /// Limits any scope.
    pub ttl: Option<Duration>,
    /// One line.
    pub reason: Option<String>,
    /// Of kind `human-action`.
    pub response: Option<Answer>,
}

impl Verdict {
    /// A verdict of this operator, with a reason.
    pub(crate) fn new(by: &str, reason: Option<&str>) -> Self {
        Self {
            by: by.to_owned(),
            reason: reason.map(str::to_owned),
            ..Self::default()
        }
    }
}

/// What a person answers.
#[derive(Clone, PartialEq)]
pub struct Answer {
    /// As it was given: what has to fit the schema. May hold secrets and is not kept.
    pub given: Value,
    /// What is kept and shown: the same with references in place of secrets.
    pub kept: Value,
    /// What is asked now; a request that asked something else came too late.
    pub question: Option<Value>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// Grants a pending request. The registry is read again in the same transaction. Binds the skill's own secrets that
/// the request gives as reasons; of kind `budget`, extends it. Of kind `secret-write` the caller makes the
/// staged value usable then. Records `approval-granted`; of kind `budget` also `budget-extended`; where the request came too
/// late `approval-superseded` or `approval-expired`.
///
/// # Errors
///
/// `approval-stale` where the operation has changed or gone (the request is `superseded` then); `approval-expired`;
/// `invalid-request` where there is no such request or it was decided, or the scope is missing; `invalid-input` with path
/// where the response does not fit; `approval-store`, `audit-unavailable`.
pub fn approve(state: &State, id: &str, verdict: &Verdict, who: &Who) -> Result<Approval, Failure> {
    guarded(state.write(|change| grant(change, id, verdict, who)))?
}

/// Refuses a pending request. Of kind `secret-write` the caller erases the staged value then. Records `approval-denied`.
///
/// # Errors
///
/// `invalid-request`, `approval-expired`, `approval-store`, `audit-unavailable`.
pub fn deny(state: &State, id: &str, verdict: &Verdict, who: &Who) -> Result<Approval, Failure> {
    let (from, to) = (Status::Pending, Status::Denied);
    guarded(state.write(|change| end(change, id, from, to, verdict, who)))?
}

/// Takes a grant back, one of policy too; bindings that came with it go. Records `approval-revoked`.
///
/// # Errors
///
/// `invalid-request` where it is no grant; `approval-store`, `audit-unavailable`.
pub fn revoke(state: &State, id: &str, verdict: &Verdict, who: &Who) -> Result<Approval, Failure> {
    let (from, to) = (Status::Approved, Status::Revoked);
    guarded(state.write(|change| end(change, id, from, to, verdict, who)))?
}

/// What an operator is told; a failure among it is an answer too, and what was written for it stays.
type Decided = Result<Approval, Failure>;

fn end(
    change: &mut Change<'_>,
    id: &str,
    from: Status,
    to: Status,
    verdict: &Verdict,
    who: &Who,
) -> Result<Decided, Failure> {
    Ok(match open_approval(change, id, from, who)? {
        Ok(mut approval) => {
            sign(&mut approval, verdict, change);
            Ok(transition(change, approval, to, who)?)
        }
        Err(failure) => Err(failure),
    })
}

/// Returns the approval that is in this state and whose time is not over.
fn open_approval(
    change: &mut Change<'_>,
    id: &str,
    status: Status,
    who: &Who,
) -> Result<Decided, Failure> {
    let approval = by_id(change.database, id)?;
    if approval.status != status {
        return Ok(Err(decided(&approval)));
    }
    if approval.is_over(change.now) {
        let over = transition(change, approval, Status::Expired, who)?;
        return Ok(Err(Failure::new(
            Code::ApprovalExpired,
            format!("the time of {} is over", over.id),
        )));
    }
    Ok(Ok(approval))
}

fn grant(
    change: &mut Change<'_>,
    id: &str,
    verdict: &Verdict,
    who: &Who,
) -> Result<Decided, Failure> {
    let mut approval = match open_approval(change, id, Status::Pending, who)? {
        Ok(approval) => approval,
        Err(failure) => return Ok(Err(failure)),
    };
    let mut operation = None;
    if approval.kind == Kind::Capability {
        operation = Registered::by_capability(change.database, &approval.key)?
            .filter(|fresh| approval.is_about(fresh));
        if operation.is_none() {
            let stale = transition(change, approval, Status::Superseded, who)?;
            return Ok(Err(Failure::new(
                Code::ApprovalStale,
                format!("{} has changed since the request", stale.label()),
            )
            .with_hint("approvals list shows the request that took its place")));
        }
    }
    if let (Kind::HumanAction, Some(answer)) = (approval.kind, &verdict.response)
        && answer.question != approval.subject.details
    {
        let stale = transition(change, approval, Status::Superseded, who)?;
        return Ok(Err(Failure::new(
            Code::ApprovalStale,
            format!("the document asks something else by now than {}", stale.id),
        )
        .with_hint("`hydrant skill onboard` asks anew")));
    }
    let tier = operation.as_ref().map_or(0, |found| found.tier);
    if let Err(failure) = fits(&approval, verdict, tier) {
        return Ok(Err(failure));
    }
    sign(&mut approval, verdict, change);
    // Without one, the document says it.
    let default = approval.subject.default_scope;
    let scope = verdict.scope.or(default).unwrap_or(Scope::UntilChanged);
    approval.scope = Some(scope);
    if let Some(ttl) = verdict.ttl {
        let clock = Time::now();
        approval.valid_until = Some(clock.after(ttl));
        approval.clock_behind = change.now.since(clock);
    }
    approval.response = verdict.response.as_ref().map(|answer| answer.kept.clone());
    let approval = transition(change, approval, Status::Approved, who)?;
    if let Some(found) = &operation {
        bindings::bind_for_grant(change, &approval, found)?;
    }
    if approval.kind == Kind::Budget {
        extend_budget(change, &approval, who)?;
    }
    Ok(Ok(approval))
}

fn fits(approval: &Approval, verdict: &Verdict, tier: u8) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::new(Code::InvalidRequest, message));
    if verdict.by == POLICY {
        return wrong(format!("{POLICY} is no operator's name"));
    }
    if tier.max(approval.subject.tier) >= 3 && verdict.scope.is_none() {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!("{TIER_3_WARNING}: its approval needs a scope"),
        )
        .with_hint(format!(
            "hydrant approvals approve {} --scope once",
            approval.id
        )));
    }
    let is_kept = matches!(approval.kind, Kind::SecretWrite | Kind::HumanAction);
    if is_kept && matches!(verdict.scope, Some(Scope::Once | Scope::Session)) {
        return wrong(format!(
            "a {} is no call that a scope could be for; `--ttl` limits it",
            approval.kind.as_str()
        ));
    }
    match (&approval.kind, &verdict.response) {
        (Kind::HumanAction, Some(answer)) => fits_question(approval, &answer.given),
        (Kind::HumanAction, None) => {
            Err(
                Failure::new(Code::InvalidRequest, "this request needs a response").with_hint(
                    format!("hydrant approvals approve {} --response JSON", approval.id),
                ),
            )
        }
        (_, Some(_)) => wrong("only a human action takes a response".to_owned()),
        (_, None) => Ok(()),
    }
}

/// Whether an answer is what the request asks for.
///
/// # Errors
///
/// `invalid-input` with path; `schema`, `limit`.
pub(crate) fn fits_question(approval: &Approval, response: &Value) -> Result<(), Failure> {
    let Some(schema) = approval
        .subject
        .details
        .as_ref()
        .and_then(|details| details.get("required-response"))
    else {
        return Ok(());
    };
    // The schema is the document's: what it costs is bounded. What is said of the value does not quote it, as no error holds
    // a secret or long text of a document.
    Schema::compile(schema)?.check(response)
}

/// Writes down who decided, when and why.
fn sign(approval: &mut Approval, verdict: &Verdict, change: &Change<'_>) {
    approval.by = Some(if verdict.by.is_empty() {
        "operator".to_owned()
    } else {
        verdict.by.clone()
    });
    if let Some(reason) = &verdict.reason {
        approval.reason = Some(one_line(reason));
    }
    approval.decided_at = Some(change.now);
}

/// Adds the amount that was asked for. Records `budget-extended`.
fn extend_budget(change: &mut Change<'_>, approval: &Approval, who: &Who) -> Result<(), Failure> {
    let details = approval.subject.details.as_ref();
    let member = |name: &str| details.and_then(|details| details.get(name));
    let text = |name| member(name).and_then(Value::as_str).unwrap_or_default();
    let amount = member("amount")
        .and_then(Value::as_i64)
        .ok_or_else(|| store("a budget request without an amount"))?;
    change.database.run(
        "INSERT INTO extensions (approval, session, dimension, amount) VALUES (?1, ?2, ?3, ?4)",
        params![approval.id, text("session"), text("dimension"), amount],
    )?;
    let mut entry = approval.entry(Event::BudgetExtended, who);
    entry.subject = Some(text("dimension").to_owned());
    change.record(entry);
    Ok(())
}

fn decided(approval: &Approval) -> Failure {
    let code = match approval.status {
        Status::Superseded => Code::ApprovalStale,
        Status::Expired => Code::ApprovalExpired,
        _ => Code::InvalidRequest,
    };
    let message = format!("{} is {}", approval.id, approval.status.as_str());
    let failure = Failure::new(code, message);
    match (&approval.subject.capability, approval.status) {
        (_, Status::Pending | Status::Approved) | (None, _) => failure,
        (Some(capability), _) => failure.with_hint(format!(
            "`hydrant approvals request {capability}` asks anew"
        )),
    }
}
