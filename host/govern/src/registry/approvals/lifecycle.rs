//! The states of an approval, and every transition between them.
//!
//! | from | to | made by | chain |
//! |---|---|---|---|
//! | | pending | [`open`]: what finds no decision (a load, a call, an agent's request, a budget, a human action, a captured secret) | `approval-requested` |
//! | pending | approved | an operator ([`super::approve`]), or policy at a load ([`grant_by_policy`](super::grant_by_policy)) | `approval-granted` |
//! | pending | denied | an operator ([`super::deny`]) | `approval-denied` |
//! | pending, approved | expired | whoever finds its time over ([`expire`], [`end_over`]), or the end of its session ([`end_session`]) | `approval-expired` |
//! | pending, approved | superseded | what changes or removes its subject (`supersede_…`), an operator's decision that comes too late | `approval-superseded` |
//! | approved | revoked | an operator ([`super::revoke`]) | `approval-revoked` |
//! | approved | consumed | the call that a `once` grant is for ([`super::consume`]); what needs no call ([`use_up`]) | the `capability-call` that names it; `approval-consumed` |
//!
//! Nothing else ever happens: [`Status::may_become`] says it, and a trigger of the database refuses it as well. A state that is
//! not known denies. Recovery ([`follow`], [`follow_call`], [`end_all`]) makes the same transitions again from the chain.

use std::time::Duration;

use rusqlite::{Connection, params};

use super::table::{by_id, last_granted, select};
use super::{Approval, Clock, Kind, POLICY, Scope, Status, Subject, guarded};
use crate::chain::{Entry, Event};
use crate::failure::{Code, Failure};
use crate::registry::sql::Queries;
use crate::registry::{Registered, SkillHead, Who, bindings, store};
use crate::state::{Change, State};
use crate::time::Time;

/// Requests after which one that nobody decided is forgotten.
const REMEMBERED: i64 = 20_000;

/// The states that are not the last.
const OPEN: [Status; 2] = [Status::Pending, Status::Approved];

impl Status {
    /// Whether an approval in this state may come to the state `next`.
    const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(
                next,
                Self::Approved | Self::Denied | Self::Expired | Self::Superseded
            ),
            Self::Approved => matches!(
                next,
                Self::Revoked | Self::Expired | Self::Superseded | Self::Consumed
            ),
            Self::Denied | Self::Expired | Self::Superseded | Self::Revoked | Self::Consumed => {
                false
            }
        }
    }

    /// Returns what the chain records when an approval comes to this state.
    const fn event(self) -> Event {
        match self {
            Self::Pending => Event::ApprovalRequested,
            Self::Approved => Event::ApprovalGranted,
            Self::Denied => Event::ApprovalDenied,
            Self::Expired => Event::ApprovalExpired,
            Self::Superseded => Event::ApprovalSuperseded,
            Self::Revoked => Event::ApprovalRevoked,
            Self::Consumed => Event::ApprovalConsumed,
        }
    }
}

/// A request to open.
pub(super) struct Opening<'a> {
    pub(super) kind: Kind,
    /// The key of the subject in the table.
    pub(super) key: String,
    /// The folded skill.
    pub(super) skill: Option<&'a str>,
    pub(super) subject: Subject,
    pub(super) session: Option<&'a str>,
    /// The denied request after which an agent asks again.
    pub(super) reopens: Option<&'a str>,
    pub(super) ttl: Duration,
}

impl Opening<'_> {
    /// Writes the request as pending and records nothing.
    pub(super) fn insert(mut self, change: &Change<'_>) -> Result<Approval, Failure> {
        self.subject.previous = last_granted(change.database, self.kind, &self.key)?;
        let approval = Approval {
            id: new_id()?,
            kind: self.kind,
            subject: self.subject,
            requested_at: change.now,
            expires_at: change.now.after(self.ttl),
            status: Status::Pending,
            session: self.session.map(str::to_owned),
            by: None,
            reason: None,
            decided_at: None,
            scope: None,
            valid_until: None,
            response: None,
            key: self.key,
            clock_behind: Duration::ZERO,
        };
        approval.insert(change, self.skill, self.reopens)?;
        Ok(approval)
    }
}

/// Opens a request. Records `approval-requested`.
pub(super) fn open(
    change: &mut Change<'_>,
    opening: Opening<'_>,
    who: &Who,
) -> Result<Approval, Failure> {
    let approval = opening.insert(change)?;
    change.record(approval.entry(Event::ApprovalRequested, who));
    Ok(approval)
}

/// `ap-` and 32 hex digits, random.
fn new_id() -> Result<String, Failure> {
    hydrant_base::random_hex::<16>()
        .map(|random| format!("ap-{random}"))
        .map_err(|error| Failure::new(Code::ApprovalStore, format!("no random bytes: {error}")))
}

impl Approval {
    /// Returns a chain entry about this approval.
    pub(super) fn entry(&self, event: Event, who: &Who) -> Entry {
        let subject = &self.subject;
        Entry {
            capability: subject.capability.clone(),
            operation: subject.operation.clone(),
            derived_from: subject.source.clone(),
            line: subject.line,
            skill_digest: subject.skill_digest.clone(),
            op_digest: subject.op_digest.clone(),
            policy_digest: subject.policy_digest.clone(),
            delegated_to: subject.delegates.clone(),
            approval: Some(self.id.clone()),
            subject: (self.kind != Kind::Capability).then(|| self.key.chars().take(300).collect()),
            ..who.entry(event)
        }
    }

    /// Writes the transition to `status`, with the bindings that end with a grant. Records nothing.
    fn become_unrecorded(&mut self, change: &Change<'_>, status: Status) -> Result<(), Failure> {
        let from = self.status;
        if !from.may_become(status) {
            let (from, status) = (from.as_str(), status.as_str());
            return Err(store(format!("{} is {from}, not {status}", self.id)));
        }
        self.status = status;
        if from == Status::Pending {
            self.decided_at = Some(change.now);
        }
        self.update(change, from)?;
        // A consumed grant keeps its bindings for the call it is for.
        if from == Status::Approved && status != Status::Consumed {
            bindings::unbind_grant(change, &self.id)?;
        }
        Ok(())
    }
}

/// Brings an approval to another state, with what else was set in it. Records the event of that state.
pub(super) fn transition(
    change: &mut Change<'_>,
    mut approval: Approval,
    status: Status,
    who: &Who,
) -> Result<Approval, Failure> {
    approval.become_unrecorded(change, status)?;
    change.record(approval.entry(status.event(), who));
    Ok(approval)
}

/// Uses up a `once` grant for a call. Records nothing: the `capability-call` that follows names the grant.
pub(super) fn consume_for_call(
    change: &Change<'_>,
    approval: &mut Approval,
) -> Result<(), Failure> {
    approval.become_unrecorded(change, Status::Consumed)
}

/// Uses up a grant that is about no call. Records `approval-consumed`.
pub(crate) fn use_up(
    change: &mut Change<'_>,
    approval: Approval,
    who: &Who,
) -> Result<(), Failure> {
    transition(change, approval, Status::Consumed, who).map(drop)
}

/// Ends a request or grant whose time is over, if nobody did yet. Records `approval-expired` then.
pub(in crate::registry) fn end_over(
    change: &mut Change<'_>,
    approval: Approval,
    who: &Who,
) -> Result<(), Failure> {
    if OPEN.contains(&approval.status) {
        transition(change, approval, Status::Expired, who)?;
    }
    Ok(())
}

/// The condition for requests and grants whose time is over, at the chain's time `?1`; `?2` and `?3` are what
/// [`Clock::stored`] returns.
pub(in crate::registry) const OVER: &str = "(status = 'pending' AND expires_at <= ?1)
    OR (status = 'approved' AND valid_until IS NOT NULL AND (valid_until <= ?2 OR clock_behind < ?3))";

/// Ends every request and grant whose time is over, and returns them. Records `approval-expired` for each; writes nothing where there is none.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn expire(state: &State) -> Result<Vec<Approval>, Failure> {
    let over = |database: &Connection, now: Time| {
        let (clock, behind) = Clock::read(now).stored();
        let condition = format!("{OVER} ORDER BY number");
        select(database, &condition, params![now, clock, behind])
    };
    let now = state.now();
    guarded((|| {
        if state.read(|database| over(database, now))?.is_empty() {
            return Ok(Vec::new());
        }
        state.write(|change| {
            over(change.database, change.now)?
                .into_iter()
                .map(|approval| transition(change, approval, Status::Expired, &Who::default()))
                .collect()
        })
    })())
}

/// Ends a session: its `session` grants expire and its budget is forgotten. Records `approval-expired` for each grant.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn end_session(state: &State, session: &str, who: &Who) -> Result<(), Failure> {
    guarded(state.write(|change| {
        let grants = select(
            change.database,
            "status = 'approved' AND scope = ?1 AND session = ?2 ORDER BY number",
            params![Scope::Session, session],
        )?;
        end_each(change, grants, Status::Expired, who)?;
        let database = change.database;
        database.run("DELETE FROM sessions WHERE id = ?1", [session])?;
        database.run("DELETE FROM extensions WHERE session = ?1", [session])
    }))
}

fn end_each(
    change: &mut Change<'_>,
    approvals: Vec<Approval>,
    status: Status,
    who: &Who,
) -> Result<(), Failure> {
    for approval in approvals {
        transition(change, approval, status, who)?;
    }
    Ok(())
}

/// Supersedes the requests and grants about operations of a loaded skill that are about other digests or another source, or
/// about an operation that is gone or unusable; also grants that an unload kept. Records `approval-superseded` for each.
pub(in crate::registry) fn supersede_changed(
    change: &mut Change<'_>,
    head: &SkillHead,
    operations: &[Registered],
    who: &Who,
) -> Result<(), Failure> {
    let mut old = select(
        change.database,
        "skill = ?1 AND kind = 'capability' AND status IN ('pending', 'approved') ORDER BY number",
        [&head.folded],
    )?;
    old.retain(|approval| {
        !operations.iter().any(|found| {
            found.folded == approval.key && found.usable().is_ok() && approval.is_about(found)
        })
    });
    end_each(change, old, Status::Superseded, who)
}

/// Supersedes what was asked about a skill that is gone: requests and grants about its operations (with `keep_grants` the
/// grants stay), then requests about its secrets, and what a person should do for it. Granted secrets stay, with what an
/// operator can take them back with. Records `approval-superseded` for each.
pub(in crate::registry) fn supersede_skill(
    change: &mut Change<'_>,
    skill: &str,
    keep_grants: bool,
    who: &Who,
) -> Result<(), Failure> {
    let operations = select(
        change.database,
        "skill = ?1 AND kind = 'capability' AND (status = 'pending' OR status = 'approved' AND NOT ?2) ORDER BY number",
        params![skill, keep_grants],
    )?;
    end_each(change, operations, Status::Superseded, who)?;
    let other = select(
        change.database,
        "skill = ?1 AND (kind IN ('secret-write', 'human-action') AND status = 'pending'
            OR kind = 'human-action' AND status = 'approved') ORDER BY number",
        [skill],
    )?;
    end_each(change, other, Status::Superseded, who)
}

/// Supersedes pending requests to keep earlier values of the same secret, once the value of `newest` is kept. Records
/// `approval-superseded` for each.
///
/// # Errors
///
/// `store-unavailable`.
pub(crate) fn supersede_earlier(
    change: &mut Change<'_>,
    newest: &str,
    who: &Who,
) -> Result<(), Failure> {
    let earlier = select(
        change.database,
        "kind = 'secret-write' AND status = 'pending'
            AND subject = (SELECT subject FROM approvals WHERE id = ?1)
            AND number < (SELECT number FROM approvals WHERE id = ?1) ORDER BY number",
        [newest],
    )?;
    end_each(change, earlier, Status::Superseded, who)
}

/// Supersedes a request to keep a secret whose value could not be kept, if it is pending still. Records
/// `approval-superseded`.
///
/// # Errors
///
/// `store-unavailable`.
pub(crate) fn supersede_this(
    change: &mut Change<'_>,
    asked: &Approval,
    who: &Who,
) -> Result<(), Failure> {
    let asked = by_id(change.database, &asked.id)?;
    if asked.status == Status::Pending {
        transition(change, asked, Status::Superseded, who)?;
    }
    Ok(())
}

/// Recovery: makes the transition that the chain recorded, where the database has not.
pub(crate) fn follow(database: &Connection, event: Event, id: &str) -> rusqlite::Result<()> {
    const ENDS: [Status; 5] = [
        Status::Denied,
        Status::Expired,
        Status::Superseded,
        Status::Revoked,
        Status::Consumed,
    ];
    let Some(end) = ENDS.into_iter().find(|status| status.event() == event) else {
        return Ok(());
    };
    for from in OPEN.into_iter().filter(|from| from.may_become(end)) {
        database.execute(
            "UPDATE approvals SET status = ?3 WHERE id = ?1 AND status = ?2",
            params![id, from, end],
        )?;
    }
    Ok(())
}

/// Recovery: uses up the `once` grant that a call of the chain names, and gives a `session` grant to the call's session.
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

/// Recovery: ends every request and grant, because the chain that vouched for them is gone. A grant of policy counts as
/// revoked by an operator, which it may have been.
pub(crate) fn end_all(database: &Connection) -> rusqlite::Result<()> {
    database.execute_batch(
        "DELETE FROM bindings WHERE approval <> '';
         UPDATE approvals SET status = CASE status WHEN 'pending' THEN 'superseded' ELSE 'revoked' END
         WHERE status IN ('pending', 'approved');",
    )
}

/// Deletes what ended without a decision, but for the newest, so that a document that changes again and again does not fill
/// the disk. The chain keeps what happened.
pub(in crate::registry) fn forget(change: &Change<'_>) -> Result<(), Failure> {
    change.database.run(
        "DELETE FROM approvals WHERE status IN ('superseded', 'expired') AND coalesce(decided_by, ?1) = ?1
            AND number <= (SELECT max(number) FROM approvals) - ?2",
        params![POLICY, REMEMBERED],
    )
}
