//! Approvals that are about no operation: hosts of sources, budgets, human actions.

use std::time::Duration;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::end::{end, end_over};
use super::open::{Opening, open};
use super::row::{select, update};
use super::standing::{Question, Standing, standing};
use super::{Approval, Kind, Scope, Status, Subject, guarded};
use crate::failure::{Code, Failure};
use crate::registry::find::still_registered;
use crate::registry::{SkillHead, Surroundings, Who};
use crate::state::{Change, State};
use crate::time::Time;

/// Whether skills may be loaded from this `host:port`, which no entry of `source_hosts` names. Opens a request unless one
/// waits or the last was denied or revoked, and uses up a `once` grant. Records `approval-requested`, `approval-expired`,
/// where that happens.
///
/// # Errors
///
/// `host-approval-required` with the id of the request that is pending, or was denied or revoked; `approval-store`,
/// `audit-unavailable`.
pub fn permit_source_host(
    state: &State,
    host_port: &str,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<(), Failure> {
    let question = |now: Time| Question {
        kind: Kind::SourceHost,
        key: host_port,
        op_digest: "",
        policy_digest: "",
        source: "",
        session: who.session.as_deref(),
        by_policy: false,
        now,
    };
    if let Some(damage) = state.damage() {
        // Before anything is fetched: what the database says of grants may be an older one's.
        return Err(damage);
    }
    let now = state.now();
    let seen = guarded(state.read(|database| standing(database, &question(now))))?;
    match seen {
        Standing::Granted(Some(approval)) if approval.scope == Some(Scope::UntilChanged) => Ok(()),
        Standing::Pending(approval) => Err(unknown_host(&approval, "has to approve")),
        Standing::Denied(approval) => Err(unknown_host(&approval, "denied")),
        Standing::Revoked(approval) => Err(unknown_host(&approval, "revoked")),
        _ => guarded(state.write(|change| {
            let asked = question(change.now);
            match standing(change.database, &asked)? {
                Standing::Granted(None) => return Ok(Ok(())),
                Standing::Granted(Some(mut approval)) => {
                    if approval.session.is_none() {
                        approval.session.clone_from(&who.session);
                    }
                    if approval.scope == Some(Scope::Once) {
                        use_up(change, *approval, who)?;
                    } else {
                        update(change, &approval, Status::Approved)?;
                    }
                    return Ok(Ok(()));
                }
                Standing::Pending(approval) => {
                    return Ok(Err(unknown_host(&approval, "has to approve")));
                }
                Standing::Denied(approval) => return Ok(Err(unknown_host(&approval, "denied"))),
                Standing::Revoked(approval) => return Ok(Err(unknown_host(&approval, "revoked"))),
                Standing::Expired(approval) => end_over(change, *approval, who)?,
                Standing::Open => {}
            }
            let pending = select(
                change.database,
                "kind = 'source-host' AND status = 'pending' ORDER BY number LIMIT ?1",
                params![MAX_PENDING_HOSTS],
            )?;
            if pending.len() >= MAX_PENDING_HOSTS {
                return Ok(Err(too_many_hosts(host_port)));
            }
            let subject = Subject {
                hosts: vec![host_port.to_owned()],
                reasons: vec![format!("source-host:{host_port}")],
                ..Subject::default()
            };
            let opened = open(
                change,
                Opening {
                    kind: Kind::SourceHost,
                    key: host_port.to_owned(),
                    skill: None,
                    subject,
                    session: who.lasting_session(),
                    reopens: None,
                    ttl: around.pending_ttl(),
                },
                who,
            )?;
            Ok(Err(unknown_host(&opened, "has to approve")))
        }))?,
    }
}

/// An agent must not bury what an operator looks for.
const MAX_PENDING_HOSTS: usize = 32;

fn too_many_hosts(host_port: &str) -> Failure {
    Failure::new(
        Code::HostApprovalRequired,
        format!("{host_port} is no source of skills, and {MAX_PENDING_HOSTS} requests for others wait already"),
    )
    .with_hint("the operator may name it in source_hosts of [govern]")
}

fn unknown_host(approval: &Approval, what: &str) -> Failure {
    let failure = Failure::new(
        Code::HostApprovalRequired,
        format!("an operator {what} {} as a source of skills", approval.key),
    )
    .with_approval(approval.id.clone());
    if approval.status == Status::Pending {
        failure.with_hint(format!("hydrant approvals approve {}", approval.id))
    } else {
        failure.with_hint("the operator may name it in source_hosts of [govern]")
    }
}

/// Opens one where none is pending and none was denied; answers the one that counts.
fn ask(
    change: &mut Change<'_>,
    kind: Kind,
    key: String,
    skill: Option<&str>,
    subject: Subject,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let last = select(
        change.database,
        "subject = ?1 AND kind = ?2 ORDER BY number DESC LIMIT 1",
        params![key, kind.as_str()],
    )?
    .pop();
    match last {
        Some(last) if last.is_over(change.now) => end_over(change, last, who)?,
        Some(last) if matches!(last.status, Status::Pending | Status::Denied) => return Ok(last),
        _ => {}
    }
    let opening = Opening {
        kind,
        key,
        skill,
        subject,
        session: who.session.as_deref(),
        reopens: None,
        ttl: around.pending_ttl(),
    };
    open(change, opening, who)
}

/// For the budget policy `approval-required`: asks for `amount` more of a dimension for one session. A grant is counted by
/// [`crate::registry::session::extensions`]. Records `approval-requested` where one is opened.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn ask_budget(
    state: &State,
    session: &str,
    dimension: &str,
    amount: u64,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let amount = i64::try_from(amount).unwrap_or(i64::MAX);
    guarded(state.write(|change| {
        let subject = Subject {
            reasons: vec![format!("budget:{dimension}")],
            details: Some(json!({"session": session, "dimension": dimension, "amount": amount})),
            ..Subject::default()
        };
        let key = format!("{session} {dimension}");
        ask(change, Kind::Budget, key, None, subject, who, around)
    }))
}

/// What a person has to do.
#[derive(Debug, Clone)]
pub struct HumanAction<'a> {
    /// The step's id.
    pub step: &'a str,
    /// `title`, `instructions`, `action-type`, `required-response` (JSON Schema), as data.
    pub action: Value,
}

/// Opens the request of a human action, or answers the one there is, if that is about the same question. After a denial it
/// is asked again once the time of the denied request is over. Records `approval-requested`.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn ask_human(
    state: &State,
    skill: &SkillHead,
    action: &HumanAction<'_>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    guarded(state.write(|change| {
        still_registered(change.database, skill)?;
        let subject = Subject {
            skill_id: Some(skill.skill.id.clone()),
            source: Some(skill.source.clone()),
            skill_digest: Some(skill.digest.clone()),
            reasons: vec![format!("human-action:{}", action.step)],
            details: Some(action.action.clone()),
            ..Subject::default()
        };
        let key = human_key(skill, action.step);
        let last = human(change.database, skill, action.step)?;
        let is_open = |asked: &Approval| match asked.status {
            Status::Pending | Status::Approved => !asked.is_over(change.now),
            Status::Denied => change.now < asked.expires_at,
            _ => false,
        };
        match last {
            Some(last) if last.subject.details == subject.details && is_open(&last) => {
                return Ok(last);
            }
            Some(last) if last.is_over(change.now) => end_over(change, last, who)?,
            Some(last) if matches!(last.status, Status::Pending | Status::Approved) => {
                end(change, last, Status::Superseded, who)?;
            }
            _ => {}
        }
        let opening = Opening {
            kind: Kind::HumanAction,
            key,
            skill: Some(&skill.folded),
            subject,
            session: who.lasting_session(),
            reopens: None,
            ttl: around.pending_ttl().min(HUMAN_TTL),
        };
        open(change, opening, who)
    }))
}

/// How long a human action waits for its answer at most.
const HUMAN_TTL: Duration = Duration::from_hours(24);

fn human_key(skill: &SkillHead, step: &str) -> String {
    format!("{} {step}", skill.folded)
}

/// The last request about a step. Records nothing.
pub(crate) fn human(
    database: &Connection,
    skill: &SkillHead,
    step: &str,
) -> Result<Option<Approval>, Failure> {
    select(
        database,
        "subject = ?1 AND kind = 'human-action' AND source = ?2 ORDER BY number DESC LIMIT 1",
        params![human_key(skill, step), skill.source],
    )
    .map(|mut found| found.pop())
}

/// A grant was used that is about no call: no `capability-call` names it. Records `approval-consumed`.
pub(crate) fn use_up(
    change: &mut Change<'_>,
    approval: Approval,
    who: &Who,
) -> Result<(), Failure> {
    end(change, approval, Status::Consumed, who).map(drop)
}
