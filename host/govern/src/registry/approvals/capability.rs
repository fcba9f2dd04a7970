//! Requests about operations: their subject, which an approver reads, and who opens them.

use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::json;

use super::lifecycle::{Opening, end_over, open, transition};
use super::standing::{Standing, Stands, View};
use super::{Approval, Kind, POLICY, Scope, Status, Subject, guarded};
use crate::check::TIER_3_WARNING;
use crate::failure::{Code, Failure};
use crate::manifest;
use crate::onboarding::Onboarding;
use crate::registry::sql::Queries;
use crate::registry::{Registered, Surroundings, Who, code_file, find_capability, store};
use crate::state::{Change, State};
use crate::time::Time;
use hydrant_plan::{Program, Stage};

/// Characters of a reason that are kept.
const REASON: usize = 500;

/// The answer to `ccos.approval.request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Requested {
    /// None where policy grants without a record.
    pub approval_id: Option<String>,
    /// As it stands now.
    pub status: Status,
    /// Until when it may be decided, or used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Why an approval is needed.
    pub reasons: Vec<String>,
}

impl Requested {
    fn new(approval: &Approval, expires_at: Option<Time>) -> Self {
        Self {
            approval_id: Some(approval.id.clone()),
            status: approval.status,
            expires_at,
            reasons: approval.subject.reasons.clone(),
        }
    }
}

/// `ccos.approval.request`: returns the pending request about this capability, or a new one where the last is denied, expired
/// or revoked, or there is none. It never grants. After a denied one at most one is opened in each `pending_ttl`; else the
/// denied one is the answer. `reason` is an agent's text. Records `approval-requested` where one is opened,
/// `approval-expired` where one is found over.
///
/// # Errors
///
/// As [`find_capability`]; the operation's own code where it is unusable; `approval-store`, `audit-unavailable`.
pub fn request(
    state: &State,
    capability: &str,
    reason: Option<&str>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Requested, Failure> {
    guarded(state.write(|change| {
        let found = find_capability(change.database, capability)?;
        found.usable()?;
        let Stands {
            standing, reasons, ..
        } = View::of(change, who, around).stands(&found)?;
        let mut reopens = None;
        match standing {
            Standing::Granted(None) => {
                return Ok(Requested {
                    approval_id: None,
                    status: Status::Approved,
                    expires_at: None,
                    reasons,
                });
            }
            Standing::Granted(Some(approval)) => {
                return Ok(Requested::new(&approval, approval.valid_until));
            }
            Standing::Pending(approval) => {
                return Ok(Requested::new(&approval, Some(approval.expires_at)));
            }
            Standing::Denied(approval) => {
                if was_reopened(change, &approval.id, around)? {
                    return Ok(Requested::new(&approval, None));
                }
                reopens = Some(approval.id);
            }
            Standing::Expired(approval) => end_over(change, *approval, who)?,
            Standing::Revoked(_) | Standing::Open => {}
        }
        let mut opening = opening(change, &found, reasons, who, around)?;
        opening.subject.asked = reason.map(one_line);
        opening.reopens = reopens.as_deref();
        let opened = open(change, opening, who)?;
        Ok(Requested::new(&opened, Some(opened.expires_at)))
    }))
}

/// Whether this denied request was followed by another less than `pending_ttl` ago.
fn was_reopened(
    change: &Change<'_>,
    denied: &str,
    around: &dyn Surroundings,
) -> Result<bool, Failure> {
    let ttl = u64::try_from(around.pending_ttl().as_millis()).unwrap_or(u64::MAX);
    let since = Time::from_milliseconds(change.now.milliseconds().saturating_sub(ttl));
    change.database.is_true(
        "SELECT EXISTS (SELECT 1 FROM approvals WHERE reopens = ?1 AND requested_at > ?2)",
        params![denied, since],
    )
}

/// Opens one request about one operation, with all its reasons. Records `approval-requested`.
pub(in crate::registry) fn open_capability(
    change: &mut Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let opening = opening(change, found, reasons, who, around)?;
    open(change, opening, who)
}

/// Writes the grant that policy gives. Records `approval-granted`.
pub(in crate::registry) fn grant_by_policy(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let opening = Opening {
        session: None,
        ..opening(change, found, Vec::new(), who, around)?
    };
    let approval = Approval {
        by: Some(POLICY.to_owned()),
        scope: Some(Scope::UntilChanged),
        ..opening.insert(change)?
    };
    transition(change, approval, Status::Approved, who)
}

fn opening<'a>(
    change: &Change<'_>,
    found: &'a Registered,
    reasons: Vec<String>,
    who: &'a Who,
    around: &dyn Surroundings,
) -> Result<Opening<'a>, Failure> {
    Ok(Opening {
        kind: Kind::Capability,
        key: found.folded.clone(),
        skill: Some(&found.skill.folded),
        subject: subject(change, found, reasons)?,
        session: who.lasting_session(),
        reopens: None,
        ttl: around.pending_ttl(),
    })
}

fn subject(
    change: &Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
) -> Result<Subject, Failure> {
    let operation = &found.operation;
    let manifest = found.manifest.clone().map(|mut manifest| {
        manifest.requires_approval = !reasons.is_empty();
        manifest.reasons.clone_from(&reasons);
        serde_json::to_value(manifest)
    });
    let policy = operation.policy.as_ref().map(serde_json::to_value);
    let secrets = operation.secrets.iter();
    Ok(Subject {
        capability: Some(found.capability.clone()),
        operation: Some(operation.id.clone()),
        line: Some(operation.line),
        delegates: found.delegates(),
        hosts: operation.hosts.clone(),
        secrets: secrets.map(|secret| secret.name.clone()).collect(),
        op_digest: Some(operation.digest.clone()),
        policy_digest: Some(found.policy_digest.clone()),
        default_scope: default_scope(found),
        tier: found.tier,
        reasons,
        warning: (found.tier >= 3).then(|| TIER_3_WARNING.to_owned()),
        manifest: manifest.transpose().map_err(store)?,
        sends: manifest::sends(operation),
        policy: policy.transpose().map_err(store)?,
        policy_sources: operation.policy_sources.clone(),
        notes: notes(found),
        script: script(change.database, found)?,
        ..Subject::of_skill(&found.skill)
    })
}

/// Returns what else an approver may want to know: what the interpreter noticed, and what the skill's onboarding gives the
/// operation.
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

/// Returns the code of the sandbox stages, one after another; none where there is only an argument vector.
fn script(database: &Connection, found: &Registered) -> Result<Option<String>, Failure> {
    let mut texts = Vec::new();
    for stage in &found.operation.stages {
        let Stage::Sandbox(stage) = stage else {
            continue;
        };
        match &stage.program {
            Program::Code(text) | Program::Script(text) => texts.push(text.clone()),
            Program::File {
                digest: Some(digest),
                ..
            } => match code_file(database, digest) {
                Ok(bytes) => texts.push(String::from_utf8_lossy(&bytes).into_owned()),
                Err(failure) if failure.code == Code::ScriptMissing => {}
                Err(failure) => return Err(failure),
            },
            Program::File { digest: None, .. } | Program::Argv(_) | Program::Module(_) => {}
        }
    }
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Returns untrusted text as one line that no terminal acts on.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(REASON)
        .collect()
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
