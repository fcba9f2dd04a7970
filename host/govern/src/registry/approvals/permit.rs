//! Whether a call may run, and whether skills may be loaded from a host.

use rusqlite::{Connection, params};

use super::capability::open_capability;
use super::lifecycle::{Opening, consume_for_call, end_over, open, use_up};
use super::standing::{Question, Standing, Stands, View, standing};
use super::table::{bind_to_session, by_id};
use super::{Approval, Kind, POLICY, Scope, Status, Subject, guarded};
use crate::failure::{Code, Failure};
use crate::registry::sql::Queries;
use crate::registry::{Registered, Surroundings, Who};
use crate::state::{Change, State};
use crate::time::Time;

/// Hosts that may wait for a decision at once: an agent must not bury what an operator looks for.
const MAX_PENDING_HOSTS: u64 = 32;

/// What a call may run under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    /// The grant; none where policy alone grants and no record was made of it.
    pub approval: Option<String>,
    /// Whether policy granted it.
    pub by_policy: bool,
    /// [`consume`] uses the grant up before `capability-call` is written.
    pub once: bool,
}

/// Whether this call may run now. Opens a request unless a grant covers it, one waits, or the last was denied or revoked.
/// Reads only, where the answer needs no new request; then nothing is recorded. Otherwise `approval-requested`, and
/// `approval-expired` for a request or grant whose time is found to be over. `capability-denied` is the caller's.
///
/// # Errors
///
/// `approval-required`, `approval-expired` (both with the id of the pending request), `approval-denied`,
/// `approval-revoked`; `capability-removed` where it went away meanwhile; `approval-store`, `audit-unavailable`.
pub fn permit(
    state: &State,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Permit, Failure> {
    let now = state.now();
    let read = guarded(state.read(|database| {
        if !is_current(database, found)? {
            return Ok(None);
        }
        let view = View::new(database, who.session.as_deref(), around, now);
        Ok(answered(view.stands(found)?.standing, |grant| {
            !is_unbound(grant)
        }))
    }))?;
    match read {
        Some(answer) => answer,
        None => guarded(state.write(|change| decide(change, found, who, around)))?,
    }
}

/// Returns the answer to a call that needs no change, where there is one. `may_use` tells whether a grant can be used as it is.
fn answered(
    standing: Standing,
    may_use: impl FnOnce(&Approval) -> bool,
) -> Option<Result<Permit, Failure>> {
    Some(match standing {
        Standing::Granted(None) => Ok(Permit::new(None)),
        Standing::Granted(Some(approval)) if may_use(&approval) => Ok(Permit::new(Some(&approval))),
        Standing::Pending(approval) => Err(required(&approval)),
        Standing::Denied(approval) => Err(denied(&approval)),
        Standing::Revoked(approval) => Err(revoked(&approval)),
        Standing::Granted(Some(_)) | Standing::Expired(_) | Standing::Open => return None,
    })
}

/// Uses up a `once` grant, committed when this returns; any other is looked at once more. Records nothing:
/// the `capability-call` that follows names the grant.
///
/// # Errors
///
/// `approval-required` where another call used it first, or it was revoked or superseded or its time is over meanwhile;
/// `approval-store`, `audit-unavailable`.
pub fn consume(state: &State, permit: &Permit) -> Result<(), Failure> {
    let Some(id) = &permit.approval else {
        return Ok(());
    };
    let still = |database: &Connection, now: Time| {
        let approval = by_id(database, id)?;
        if approval.status == Status::Approved && !approval.is_over(now) {
            return Ok(approval);
        }
        Err(Failure::new(
            Code::ApprovalRequired,
            format!("the grant of {} has ended meanwhile", approval.label()),
        ))
    };
    if !permit.once {
        let now = state.now();
        return guarded(state.read(|database| still(database, now))).map(drop);
    }
    guarded(state.write(|change| {
        let mut approval = still(change.database, change.now)?;
        consume_for_call(change, &mut approval)
    }))
}

/// Whether the registry still holds these digests from this source.
fn is_current(database: &Connection, found: &Registered) -> Result<bool, Failure> {
    database.is_true(
        "SELECT o.op_digest = ?2 AND o.policy_digest = ?3 AND s.source = ?4
         FROM operations o JOIN skills s ON s.folded = o.skill WHERE o.capability = ?1",
        [
            &found.folded,
            &found.operation.digest,
            &found.policy_digest,
            &found.skill.source,
        ],
    )
}

/// Decides again, and writes what has to be written. The inner result is the answer; what was written stays whichever it is.
fn decide(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Result<Permit, Failure>, Failure> {
    if !is_current(change.database, found)? {
        return Ok(Err(outdated(change, found, who, around)?));
    }
    let Stands {
        standing, reasons, ..
    } = View::of(change, who, around).stands(found)?;
    match standing {
        Standing::Granted(Some(mut approval)) => {
            bind_to_session(change, &mut approval, who.session.as_deref())?;
            Ok(Ok(Permit::new(Some(&approval))))
        }
        Standing::Expired(approval) => {
            end_over(change, *approval, who)?;
            let opened = open_capability(change, found, reasons, who, around)?;
            Ok(Err(expired(&opened)))
        }
        standing => match answered(standing, |_| true) {
            Some(answer) => Ok(answer),
            None => {
                let opened = open_capability(change, found, reasons, who, around)?;
                Ok(Err(required(&opened)))
            }
        },
    }
}

/// Returns the failure of a call whose skill was loaded again between look-up and decision.
fn outdated(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Failure, Failure> {
    let Some(fresh) = Registered::by_capability(change.database, &found.folded)? else {
        return Ok(Failure::new(
            Code::CapabilityRemoved,
            format!("{} is not registered any more", found.capability),
        ));
    };
    let mut failure = Failure::new(
        Code::ApprovalRequired,
        format!("{} has changed meanwhile", found.capability),
    );
    if let Standing::Pending(approval) = View::of(change, who, around).stands(&fresh)?.standing {
        failure = failure.with_approval(approval.id);
    }
    Ok(failure)
}

/// Whether it is a `session` grant that belongs to no session yet.
fn is_unbound(approval: &Approval) -> bool {
    approval.scope == Some(Scope::Session) && approval.session.is_none()
}

impl Permit {
    fn new(approval: Option<&Approval>) -> Self {
        Self {
            approval: approval.map(|approval| approval.id.clone()),
            by_policy: approval.is_none_or(|approval| approval.by.as_deref() == Some(POLICY)),
            once: approval.is_some_and(|approval| approval.scope == Some(Scope::Once)),
        }
    }
}

/// `approval-required`, naming the command that would allow it.
fn required(approval: &Approval) -> Failure {
    Failure::new(
        Code::ApprovalRequired,
        format!("an operator has to approve {}", approval.label()),
    )
    .with_hint(format!("hydrant approvals approve {}", approval.id))
    .with_approval(approval.id.clone())
}

fn expired(opened: &Approval) -> Failure {
    let mut failure = required(opened);
    failure.code = Code::ApprovalExpired;
    failure.message = format!(
        "the approval of {} has expired, and a new request is open",
        opened.label()
    );
    failure
}

fn denied(approval: &Approval) -> Failure {
    Failure::new(
        Code::ApprovalDenied,
        format!("an operator denied {}", approval.label()),
    )
    .with_approval(approval.id.clone())
}

fn revoked(approval: &Approval) -> Failure {
    Failure::new(
        Code::ApprovalRevoked,
        format!("the approval of {} was revoked", approval.label()),
    )
    .with_hint(format!(
        "`hydrant approvals request {}` asks anew",
        approval.label()
    ))
    .with_approval(approval.id.clone())
}

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
        // Before anything is fetched: the database may be an older one, with grants that have ended since.
        return Err(damage);
    }
    let now = state.now();
    let read = guarded(state.read(|database| standing(database, &question(now))))?;
    if let Standing::Granted(Some(approval)) = &read
        && approval.scope == Some(Scope::UntilChanged)
    {
        return Ok(());
    }
    refuse_host(&read)?;
    guarded(state.write(|change| {
        let standing = standing(change.database, &question(change.now))?;
        if let Err(refused) = refuse_host(&standing) {
            return Ok(Err(refused));
        }
        match standing {
            Standing::Granted(Some(mut approval)) if approval.scope == Some(Scope::Once) => {
                approval.session = approval.session.or_else(|| who.session.clone());
                use_up(change, *approval, who)?;
                return Ok(Ok(()));
            }
            Standing::Granted(approval) => {
                if let Some(mut approval) = approval {
                    bind_to_session(change, &mut approval, who.session.as_deref())?;
                }
                return Ok(Ok(()));
            }
            Standing::Expired(approval) => end_over(change, *approval, who)?,
            _ => {}
        }
        let sql = "SELECT count(*) FROM approvals WHERE kind = ?1 AND status = ?2";
        let pending = change.database.value(sql, params![Kind::SourceHost, Status::Pending])?;
        if pending.is_some_and(|pending: u64| pending >= MAX_PENDING_HOSTS) {
            return Ok(Err(Failure::new(
                Code::HostApprovalRequired,
                format!("{host_port} is no source of skills, and {MAX_PENDING_HOSTS} requests for others wait already"),
            )
            .with_hint(NAME_THE_HOST)));
        }
        let opening = Opening {
            kind: Kind::SourceHost,
            key: host_port.to_owned(),
            skill: None,
            subject: Subject {
                hosts: vec![host_port.to_owned()],
                reasons: vec![format!("source-host:{host_port}")],
                ..Subject::default()
            },
            session: who.lasting_session(),
            reopens: None,
            ttl: around.pending_ttl(),
        };
        let opened = open(change, opening, who)?;
        Ok(Err(unknown_host(&opened, "has to approve")))
    }))?
}

const NAME_THE_HOST: &str = "the operator may name it in source_hosts of [govern]";

/// Refuses a host about which a request waits, or was denied or revoked.
fn refuse_host(standing: &Standing) -> Result<(), Failure> {
    match standing {
        Standing::Pending(approval) => Err(unknown_host(approval, "has to approve")),
        Standing::Denied(approval) => Err(unknown_host(approval, "denied")),
        Standing::Revoked(approval) => Err(unknown_host(approval, "revoked")),
        Standing::Granted(_) | Standing::Expired(_) | Standing::Open => Ok(()),
    }
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
        failure.with_hint(NAME_THE_HOST)
    }
}
