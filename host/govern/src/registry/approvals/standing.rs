//! Where a subject stands: the whole decision whether a grant covers a call, without changing anything.

use rusqlite::{Connection, params};

use super::row::select;
use super::{Approval, Kind, POLICY, Scope, Status};
use crate::failure::Failure;
use crate::registry::Registered;
use crate::time::Time;

/// Who asks about what.
#[derive(Debug, Clone, Copy)]
pub(in crate::registry) struct Question<'a> {
    pub(in crate::registry) kind: Kind,
    /// Folded capability id, `host:port`, …
    pub(in crate::registry) key: &'a str,
    pub(in crate::registry) op_digest: &'a str,
    pub(in crate::registry) policy_digest: &'a str,
    pub(in crate::registry) source: &'a str,
    pub(in crate::registry) session: Option<&'a str>,
    /// Whether policy alone grants it.
    pub(in crate::registry) by_policy: bool,
    pub(in crate::registry) now: Time,
}

impl<'a> Question<'a> {
    /// About a registered operation.
    pub(in crate::registry) fn of(
        found: &'a Registered,
        session: Option<&'a str>,
        reasons: &[String],
        now: Time,
    ) -> Self {
        Self {
            kind: Kind::Capability,
            key: &found.folded,
            op_digest: &found.operation.digest,
            policy_digest: &found.policy_digest,
            source: &found.skill.source,
            session,
            // Policy grants Tier 1 only.
            by_policy: reasons.is_empty() && found.tier <= 1,
            now,
        }
    }
}

/// Where it stands.
#[derive(Debug, Clone)]
pub(in crate::registry) enum Standing {
    /// A live grant for the same operation, digests and source covers the call. `Approval` is none where policy grants without
    /// a record.
    Granted(Option<Box<Approval>>),
    /// A request waits.
    Pending(Box<Approval>),
    /// The last request was refused.
    Denied(Box<Approval>),
    /// The last grant was taken back.
    Revoked(Box<Approval>),
    /// Nobody decided in time, or the last grant's time is over.
    Expired(Box<Approval>),
    /// Never asked, or what was granted does not cover this: asking is what is left.
    Open,
}

/// Where the subject stands now.
///
/// # Errors
///
/// `store-unavailable`: the database failed, or holds a state that is not known.
pub(in crate::registry) fn standing(
    database: &Connection,
    asked: &Question<'_>,
) -> Result<Standing, Failure> {
    let same =
        "subject = ?1 AND kind = ?2 AND op_digest = ?3 AND policy_digest = ?4 AND source = ?5";
    let values = params![
        asked.key,
        asked.kind.as_str(),
        asked.op_digest,
        asked.policy_digest,
        asked.source
    ];
    let live = select(
        database,
        &format!("{same} AND status IN ('pending', 'approved') ORDER BY number"),
        values,
    )?;
    let last = select(
        database,
        &format!("{same} ORDER BY number DESC LIMIT 1"),
        values,
    )?
    .pop();
    if asked.by_policy {
        return Ok(by_policy(live, last, asked));
    }
    let mut pending = None;
    let mut granted: Option<Approval> = None;
    for approval in live {
        if approval.is_over(asked.now) {
            continue;
        }
        match approval.status {
            Status::Pending => pending = Some(approval),
            // A grant that is used up by a call is taken last.
            Status::Approved
                if covers(&approval, asked)
                    && granted
                        .as_ref()
                        .is_none_or(|other| other.scope == Some(Scope::Once)) =>
            {
                granted = Some(approval);
            }
            _ => {}
        }
    }
    if let Some(approval) = granted {
        return Ok(Standing::Granted(Some(Box::new(approval))));
    }
    if let Some(approval) = pending {
        return Ok(Standing::Pending(Box::new(approval)));
    }
    Ok(last.map_or(Standing::Open, |last| decided(last, asked.now)))
}

fn decided(last: Approval, now: Time) -> Standing {
    let over = last.is_over(now);
    let by_policy = last.by.as_deref() == Some(POLICY);
    match last.status {
        Status::Denied => Standing::Denied(Box::new(last)),
        Status::Revoked => Standing::Revoked(Box::new(last)),
        Status::Expired => Standing::Expired(Box::new(last)),
        Status::Pending | Status::Approved if over => Standing::Expired(Box::new(last)),
        // Policy grants no longer, or the grant is another session's.
        Status::Approved if by_policy => Standing::Open,
        Status::Pending | Status::Approved | Status::Superseded | Status::Consumed => {
            Standing::Open
        }
    }
}

/// Policy grants, unless an operator said no to the very same.
fn by_policy(live: Vec<Approval>, last: Option<Approval>, asked: &Question<'_>) -> Standing {
    if let Some(last) = last {
        match last.status {
            Status::Denied => return Standing::Denied(Box::new(last)),
            Status::Revoked => return Standing::Revoked(Box::new(last)),
            _ => {}
        }
    }
    let record = live.into_iter().find(|approval| {
        approval.status == Status::Approved
            && approval.scope == Some(Scope::UntilChanged)
            && !approval.is_over(asked.now)
    });
    Standing::Granted(record.map(Box::new))
}

/// Whether an operator's live grant covers the call.
fn covers(approval: &Approval, asked: &Question<'_>) -> bool {
    // What policy granted is policy's to say at every call.
    if approval.by.as_deref() == Some(POLICY) {
        return false;
    }
    match approval.scope {
        Some(Scope::Once | Scope::UntilChanged) => true,
        Some(Scope::Session) => match (&approval.session, asked.session) {
            (Some(granted), Some(calling)) => granted == calling,
            (None, Some(_)) => true,
            (_, None) => false,
        },
        None => false,
    }
}
