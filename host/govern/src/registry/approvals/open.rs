//! Opening requests.

use std::time::Duration;

use serde_json::json;

use super::row::{insert, last_granted, update};
use super::script::script_of;
use super::{Approval, Kind, POLICY, Scope, Status, Subject};
use crate::chain::Event;
use crate::check::TIER_3_WARNING;
use crate::failure::{Code, Failure};
use crate::manifest;
use crate::onboarding::Onboarding;
use crate::registry::{Registered, Surroundings, Who, events};
use crate::state::Change;

/// Characters of an agent's reason that are kept.
const ASKED: usize = 500;

/// What is opened.
pub(super) struct Opening<'a> {
    pub(super) kind: Kind,
    /// What the table knows the subject by.
    pub(super) key: String,
    /// The folded skill.
    pub(super) skill: Option<&'a str>,
    pub(super) subject: Subject,
    pub(super) session: Option<&'a str>,
    pub(super) reopens: Option<&'a str>,
    pub(super) ttl: Duration,
}

/// Opens a request; the chain gets nothing yet.
fn make(change: &Change<'_>, opening: Opening<'_>) -> Result<Approval, Failure> {
    let mut subject = opening.subject;
    subject.previous = last_granted(change.database, opening.kind, &opening.key)?;
    let approval = Approval {
        id: new_id()?,
        kind: opening.kind,
        subject,
        requested_at: change.now,
        expires_at: change.now.after(opening.ttl),
        status: Status::Pending,
        session: opening.session.map(str::to_owned),
        by: None,
        reason: None,
        decided_at: None,
        scope: None,
        valid_until: None,
        response: None,
        key: opening.key,
        clock_behind: Duration::ZERO,
    };
    insert(change, &approval, opening.skill, opening.reopens)?;
    Ok(approval)
}

/// Opens a request and records `approval-requested`.
pub(super) fn open(
    change: &mut Change<'_>,
    opening: Opening<'_>,
    who: &Who,
) -> Result<Approval, Failure> {
    let approval = make(change, opening)?;
    change.record(events::of_approval(
        Event::ApprovalRequested,
        who,
        &approval,
    ));
    Ok(approval)
}

/// One request about one operation, with all its reasons. Records `approval-requested`.
pub(in crate::registry) fn open_capability(
    change: &mut Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    open_asked(change, found, reasons, who, around, None, None)
}

/// The same with what an agent says, and after which denied request it says so.
pub(super) fn open_asked(
    change: &mut Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
    who: &Who,
    around: &dyn Surroundings,
    asked: Option<&str>,
    reopens: Option<&str>,
) -> Result<Approval, Failure> {
    let mut subject = about(change, found, reasons)?;
    subject.asked = asked.map(one_line);
    let opening = Opening {
        kind: Kind::Capability,
        key: found.folded.clone(),
        skill: Some(&found.skill.folded),
        subject,
        session: who.lasting_session(),
        reopens,
        ttl: around.pending_ttl(),
    };
    open(change, opening, who)
}

/// A grant that policy gives. Records `approval-granted`.
pub(in crate::registry) fn grant_by_policy(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let subject = about(change, found, Vec::new())?;
    let mut approval = make(
        change,
        Opening {
            kind: Kind::Capability,
            key: found.folded.clone(),
            skill: Some(&found.skill.folded),
            subject,
            session: None,
            reopens: None,
            ttl: around.pending_ttl(),
        },
    )?;
    approval.status = Status::Approved;
    approval.by = Some(POLICY.to_owned());
    approval.decided_at = Some(change.now);
    approval.scope = Some(Scope::UntilChanged);
    update(change, &approval, Status::Pending)?;
    change.record(events::of_approval(Event::ApprovalGranted, who, &approval));
    Ok(approval)
}

fn about(
    change: &Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
) -> Result<Subject, Failure> {
    let operation = &found.operation;
    let value = |error| Failure::new(Code::StoreUnavailable, format!("approval: {error}"));
    let manifest = found
        .manifest
        .as_ref()
        .map(|manifest| {
            if manifest.requires_approval != reasons.is_empty() && manifest.reasons == reasons {
                // As at the load.
                return serde_json::to_value(manifest);
            }
            let mut manifest = manifest.clone();
            manifest.requires_approval = !reasons.is_empty();
            manifest.reasons.clone_from(&reasons);
            serde_json::to_value(manifest)
        })
        .transpose()
        .map_err(value)?;
    Ok(Subject {
        capability: Some(found.capability.clone()),
        operation: Some(operation.id.clone()),
        line: Some(operation.line),
        skill_id: Some(found.skill.skill.id.clone()),
        source: Some(found.skill.source.clone()),
        skill_digest: Some(found.skill.digest.clone()),
        op_digest: Some(operation.digest.clone()),
        policy_digest: Some(found.policy_digest.clone()),
        delegates: found.delegates(),
        hosts: operation.hosts.clone(),
        secrets: operation
            .secrets
            .iter()
            .map(|secret| secret.name.clone())
            .collect(),
        default_scope: default_scope(found),
        tier: found.tier,
        reasons,
        warning: (found.tier >= 3).then(|| TIER_3_WARNING.to_owned()),
        manifest,
        sends: manifest::sends(operation),
        policy: operation
            .policy
            .as_ref()
            .map(|policy| serde_json::to_value(policy).map_err(value))
            .transpose()?,
        policy_sources: operation.policy_sources.clone(),
        notes: notes(found),
        script: script_of(change.database, found)?,
        asked: None,
        details: None,
        previous: None,
    })
}

/// What else an approver may want to know: what the interpreter noticed, and what the skill's onboarding gives it.
fn notes(found: &Registered) -> Vec<String> {
    let mut notes = found.operation.notes.clone();
    let skill = &found.skill.skill;
    let onboarding = skill.onboarding.as_ref();
    // One that cannot be read never runs.
    let onboarding = onboarding.and_then(|data| Onboarding::read(data, skill.format).ok());
    for step in onboarding.iter().flat_map(|onboarding| &onboarding.steps) {
        if step.calls(&found.operation) {
            let given = match &step.params {
                Some(params) => params.to_string(),
                None => "what the caller gives".to_owned(),
            };
            let step = json!(step.id);
            notes.push(format!(
                "step {step} of the onboarding calls it with {given}"
            ));
        }
    }
    notes
}

/// Untrusted text as one line that no terminal acts on.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(ASKED)
        .collect()
}

/// `ap-` and 32 hex digits, random.
fn new_id() -> Result<String, Failure> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Code::ApprovalStore, format!("no random bytes: {error}")))?;
    Ok(format!("ap-{}", crate::digest::hex(&bytes)))
}

/// Returns the scope that the document's `approval.mode` asks for.
fn default_scope(found: &Registered) -> Option<Scope> {
    let approval = found.skill.skill.approval.as_ref()?;
    match approval.get("mode")?.as_str()? {
        "Once" => Some(Scope::UntilChanged),
        "PerSession" => Some(Scope::Session),
        "PerCall" => Some(Scope::Once),
        _ => None,
    }
}
