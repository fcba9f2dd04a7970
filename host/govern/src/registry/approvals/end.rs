//! Requests and grants that end without a decision about them: their time is over, or their subject has changed or gone.

use rusqlite::{Connection, params};

use super::row::{select, stored, update};
use super::{Approval, Clock, Scope, Status};
use crate::chain::Event;
use crate::failure::Failure;
use crate::registry::{Who, bindings, events, store};
use crate::state::{Change, State};
use crate::time::Time;

/// Requests after which one that nobody decided is forgotten.
const REMEMBERED: i64 = 20_000;

/// Those whose time is over, at the chain's time `?1`; `?2` and `?3` are what [`Clock::stored`] answers.
pub(in crate::registry) const OVER: &str = "(status = 'pending' AND expires_at <= ?1)
    OR (status = 'approved' AND valid_until IS NOT NULL AND (valid_until <= ?2 OR clock_behind < ?3))";

/// Ends one; a grant's bindings end with it. Records the event.
pub(super) fn end(
    change: &mut Change<'_>,
    mut approval: Approval,
    status: Status,
    who: &Who,
) -> Result<Approval, Failure> {
    let from = approval.status;
    approval.status = status;
    if from == Status::Pending {
        approval.decided_at = Some(change.now);
    }
    update(change, &approval, from)?;
    // A consumed one keeps its own for the call it is for.
    if from == Status::Approved && status != Status::Consumed {
        bindings::drop_of_grant(change, &approval.id)?;
    }
    let event = match status {
        Status::Expired => Event::ApprovalExpired,
        Status::Revoked => Event::ApprovalRevoked,
        Status::Denied => Event::ApprovalDenied,
        Status::Consumed => Event::ApprovalConsumed,
        _ => Event::ApprovalSuperseded,
    };
    change.record(events::of_approval(event, who, &approval));
    Ok(approval)
}

/// Writes down that its time is over, if nobody did yet. Records `approval-expired` then.
pub(in crate::registry) fn end_over(
    change: &mut Change<'_>,
    approval: Approval,
    who: &Who,
) -> Result<(), Failure> {
    if matches!(approval.status, Status::Pending | Status::Approved) {
        end(change, approval, Status::Expired, who)?;
    }
    Ok(())
}

/// Ends every request and grant whose time is over and returns them; of kind `secret-write` the staged value has to
/// be erased then. Records `approval-expired` for each. Writes nothing where there is none.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn expire(state: &State) -> Result<Vec<Approval>, Failure> {
    let over = |database: &Connection, now: Time| {
        let [clock, behind] = Clock::read(now).stored();
        let condition = format!("{OVER} ORDER BY number");
        select(database, &condition, params![stored(now), clock, behind])
    };
    let now = state.now();
    super::guarded((|| {
        if state.read(|database| over(database, now))?.is_empty() {
            return Ok(Vec::new());
        }
        state.write(|change| {
            over(change.database, change.now)?
                .into_iter()
                .map(|approval| end(change, approval, Status::Expired, &Who::default()))
                .collect()
        })
    })())
}

/// The session is over; its `session` grants expire, its budget is forgotten. Records `approval-expired` for each
/// grant.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn end_session(state: &State, session: &str, who: &Who) -> Result<(), Failure> {
    super::guarded(state.write(|change| {
        let grants = select(
            change.database,
            "status = 'approved' AND scope = ?1 AND session = ?2 ORDER BY number",
            params![Scope::Session.as_str(), session],
        )?;
        for approval in grants {
            end(change, approval, Status::Expired, who)?;
        }
        for table in ["sessions WHERE id", "extensions WHERE session"] {
            change
                .database
                .execute(&format!("DELETE FROM {table} = ?1"), params![session])
                .map_err(store)?;
        }
        Ok(())
    }))
}

/// Requests and grants of a capability that are about other digests or another source than these, or all of
/// them. Records `approval-superseded` for each.
pub(in crate::registry) fn supersede(
    change: &mut Change<'_>,
    capability: &str,
    keep: Option<(&str, &str, &str)>,
    who: &Who,
) -> Result<(), Failure> {
    let (op_digest, policy_digest, source) = keep.unwrap_or_default();
    let old = select(
        change.database,
        "subject = ?1 AND kind = 'capability' AND status IN ('pending', 'approved')
            AND NOT (op_digest = ?2 AND policy_digest = ?3 AND source = ?4) ORDER BY number",
        params![capability, op_digest, policy_digest, source],
    )?;
    for approval in old {
        end(change, approval, Status::Superseded, who)?;
    }
    Ok(())
}

/// Requests and grants of a skill that is gone; with `keep_grants` the grants stay as they are.
pub(in crate::registry) fn supersede_skill(
    change: &mut Change<'_>,
    skill: &str,
    keep_grants: bool,
    who: &Who,
) -> Result<(), Failure> {
    let old = select(
        change.database,
        "skill = ?1 AND kind = 'capability' AND status IN ('pending', 'approved') ORDER BY number",
        params![skill],
    )?;
    for approval in old {
        if !(keep_grants && approval.status == Status::Approved) {
            end(change, approval, Status::Superseded, who)?;
        }
    }
    Ok(())
}

/// What was asked about a skill that is gone, other than its operations: secrets that it brought, what a person should
/// do for it. Secrets that were granted stay, and so does what an operator can take them back with.
pub(in crate::registry) fn supersede_other(
    change: &mut Change<'_>,
    skill: &str,
    who: &Who,
) -> Result<(), Failure> {
    let open = select(
        change.database,
        "skill = ?1 AND (kind IN ('secret-write', 'human-action') AND status = 'pending'
            OR kind = 'human-action' AND status = 'approved') ORDER BY number",
        params![skill],
    )?;
    for approval in open {
        end(change, approval, Status::Superseded, who)?;
    }
    Ok(())
}

/// Has an approval end as the chain says that it ended, where the database does not know.
pub(crate) fn follow(database: &Connection, event: Event, id: &str) -> rusqlite::Result<()> {
    let (status, before) = match event {
        Event::ApprovalDenied => (Status::Denied, "('pending')"),
        Event::ApprovalExpired => (Status::Expired, "('pending', 'approved')"),
        Event::ApprovalSuperseded => (Status::Superseded, "('pending', 'approved')"),
        Event::ApprovalRevoked => (Status::Revoked, "('approved')"),
        Event::ApprovalConsumed => (Status::Consumed, "('approved')"),
        _ => return Ok(()),
    };
    database.execute(
        &format!("UPDATE approvals SET status = ?2 WHERE id = ?1 AND status IN {before}"),
        params![id, status.as_str()],
    )?;
    Ok(())
}

/// The same of a grant that the chain names in a call: one for a call is used up, and one for a session is this session's.
pub(crate) fn follow_call(
    database: &Connection,
    id: &str,
    session: Option<&str>,
) -> rusqlite::Result<()> {
    database.execute(
        "UPDATE approvals SET status = 'consumed' WHERE id = ?1 AND status = 'approved' AND scope = 'once'",
        [id],
    )?;
    database.execute(
        "UPDATE approvals SET session = ?2
         WHERE id = ?1 AND status = 'approved' AND scope = 'session' AND session IS NULL",
        params![id, session],
    )?;
    Ok(())
}

/// The chain that vouched for them is gone: every request and every grant ends, and policy's count as taken back by an
/// operator, which they may have been.
pub(crate) fn end_all(database: &Connection) -> rusqlite::Result<()> {
    database.execute_batch(
        "DELETE FROM bindings WHERE approval <> '';
         UPDATE approvals SET status = CASE status WHEN 'pending' THEN 'superseded' ELSE 'revoked' END
         WHERE status IN ('pending', 'approved');",
    )
}

/// Drops what nobody decided and is over, but for the newest: whoever changes a document again and again fills no disk. The
/// chain keeps what happened.
pub(in crate::registry) fn forget(change: &Change<'_>) -> Result<(), Failure> {
    change
        .database
        .execute(
            "DELETE FROM approvals WHERE status IN ('superseded', 'expired') AND coalesce(decided_by, ?1) = ?1
                AND number <= (SELECT max(number) FROM approvals) - ?2",
            params![super::POLICY, REMEMBERED],
        )
        .map_err(store)?;
    Ok(())
}
