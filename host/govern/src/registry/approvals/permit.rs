//! Whether a call may run.

use rusqlite::{Connection, OptionalExtension, params};

use super::end::end_over;
use super::row::{by_id, update};
use super::standing::{Question, Standing, standing};
use super::{Approval, POLICY, Scope, Status, guarded, open_capability};
use crate::failure::{Code, Failure};
use crate::registry::find::by_capability;
use crate::registry::standing_of::reasons_of;
use crate::registry::{Registered, Surroundings, Who, store};
use crate::state::{Change, State};
use crate::time::Time;

/// A call may run, under this.
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
    let seen = guarded(state.read(|database| look(database, found, who, around, now)))?;
    match seen {
        Some(Standing::Granted(approval)) if !unbound(approval.as_deref()) => {
            Ok(permitted(approval.as_deref()))
        }
        Some(Standing::Pending(approval)) => Err(required(&approval)),
        Some(Standing::Denied(approval)) => Err(denied(&approval)),
        Some(Standing::Revoked(approval)) => Err(revoked(&approval)),
        _ => guarded(state.write(|change| settle(change, found, who, around)))?,
    }
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
        approval.status = Status::Consumed;
        update(change, &approval, Status::Approved)
    }))
}

/// None: the operation is not registered like that any more.
fn look(
    database: &Connection,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
    now: Time,
) -> Result<Option<Standing>, Failure> {
    if !is_current(database, found)? {
        return Ok(None);
    }
    let reasons = reasons_of(database, found, around, now)?;
    let asked = Question::of(found, who.session.as_deref(), &reasons, now);
    standing(database, &asked).map(Some)
}

/// Whether the registry still holds these digests from this source.
pub(super) fn is_current(database: &Connection, found: &Registered) -> Result<bool, Failure> {
    database
        .prepare_cached(
            "SELECT o.op_digest = ?2 AND o.policy_digest = ?3 AND s.source = ?4
             FROM operations o JOIN skills s ON s.folded = o.skill WHERE o.capability = ?1",
        )
        .and_then(|mut query| {
            query
                .query_row(
                    params![
                        found.folded,
                        found.operation.digest,
                        found.policy_digest,
                        found.skill.source
                    ],
                    |row| row.get(0),
                )
                .optional()
        })
        .map_err(store)
        .map(|same| same.unwrap_or(false))
}

/// The same as [`look`], and whatever has to be written for it. The inner result is the answer; what was written stays
/// whichever it is.
fn settle(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Result<Permit, Failure>, Failure> {
    if !is_current(change.database, found)? {
        return Ok(Err(outdated(change, found, who, around)?));
    }
    let reasons = reasons_of(change.database, found, around, change.now)?;
    let asked = Question::of(found, who.session.as_deref(), &reasons, change.now);
    Ok(match standing(change.database, &asked)? {
        Standing::Granted(Some(mut approval)) => {
            if unbound(Some(&approval)) {
                // The first session that uses it is the one it is for.
                approval.session.clone_from(&who.session);
                update(change, &approval, Status::Approved)?;
            }
            Ok(permitted(Some(&approval)))
        }
        Standing::Granted(None) => Ok(permitted(None)),
        Standing::Pending(approval) => Err(required(&approval)),
        Standing::Denied(approval) => Err(denied(&approval)),
        Standing::Revoked(approval) => Err(revoked(&approval)),
        Standing::Expired(approval) => {
            end_over(change, *approval, who)?;
            let opened = open_capability(change, found, reasons, who, around)?;
            Err(expired(&opened))
        }
        Standing::Open => {
            let opened = open_capability(change, found, reasons, who, around)?;
            Err(required(&opened))
        }
    })
}

/// A reload came between look-up and decision.
fn outdated(
    change: &mut Change<'_>,
    found: &Registered,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Failure, Failure> {
    let Some(fresh) = by_capability(change.database, &found.folded)? else {
        return Ok(Failure::new(
            Code::CapabilityRemoved,
            format!("{} is not registered any more", found.capability),
        ));
    };
    let reasons = reasons_of(change.database, &fresh, around, change.now)?;
    let asked = Question::of(&fresh, who.session.as_deref(), &reasons, change.now);
    let mut failure = Failure::new(
        Code::ApprovalRequired,
        format!("{} has changed meanwhile", found.capability),
    );
    if let Standing::Pending(approval) = standing(change.database, &asked)? {
        failure = failure.with_approval(approval.id);
    }
    Ok(failure)
}

/// A `session` grant that is no session's yet.
fn unbound(approval: Option<&Approval>) -> bool {
    approval.is_some_and(|approval| {
        approval.scope == Some(Scope::Session) && approval.session.is_none()
    })
}

fn permitted(approval: Option<&Approval>) -> Permit {
    Permit {
        approval: approval.map(|approval| approval.id.clone()),
        by_policy: approval.is_none_or(|approval| approval.by.as_deref() == Some(POLICY)),
        once: approval.is_some_and(|approval| approval.scope == Some(Scope::Once)),
    }
}

/// `approval-required`, naming the command that would allow it.
pub(super) fn required(approval: &Approval) -> Failure {
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
