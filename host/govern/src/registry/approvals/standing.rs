//! The decision whether a grant covers a call. It reads only.

use rusqlite::{Connection, params};

use super::table::{select, select_first};
use super::{Approval, Kind, POLICY, Scope, Status};
use crate::failure::Failure;
use crate::registry::{Registered, Surroundings, Who, bindings};
use crate::state::Change;
use crate::time::Time;

/// Whether this may be done, in this session, now.
#[derive(Debug, Clone, Copy)]
pub(in crate::registry) struct Question<'a> {
    pub(in crate::registry) kind: Kind,
    /// The key of the subject: a folded capability id, or `host:port`.
    pub(in crate::registry) key: &'a str,
    pub(in crate::registry) op_digest: &'a str,
    pub(in crate::registry) policy_digest: &'a str,
    pub(in crate::registry) source: &'a str,
    pub(in crate::registry) session: Option<&'a str>,
    /// Whether policy alone grants it.
    pub(in crate::registry) by_policy: bool,
    pub(in crate::registry) now: Time,
}

/// The registry as a session meets it now: what decides about calls of operations.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(in crate::registry) database: &'a Connection,
    session: Option<&'a str>,
    pub(in crate::registry) around: &'a dyn Surroundings,
    pub(in crate::registry) now: Time,
}

/// Where an operation stands.
pub(in crate::registry) struct Stands {
    pub(in crate::registry) standing: Standing,
    /// Why it needs an approval now.
    pub(in crate::registry) reasons: Vec<String>,
    /// Whether policy alone grants it.
    pub(in crate::registry) by_policy: bool,
}

impl<'a> View<'a> {
    /// The registry as a session meets it at this time.
    pub(crate) fn new(
        database: &'a Connection,
        session: Option<&'a str>,
        around: &'a dyn Surroundings,
        now: Time,
    ) -> Self {
        Self {
            database,
            session,
            around,
            now,
        }
    }

    /// The registry as a change finds it.
    pub(in crate::registry) fn of(
        change: &'a Change<'_>,
        who: &'a Who,
        around: &'a dyn Surroundings,
    ) -> Self {
        Self::new(change.database, who.session.as_deref(), around, change.now)
    }

    /// Decides where an operation stands. A binding that cannot be read counts as none, so that its reason stays.
    ///
    /// # Errors
    ///
    /// As [`standing`].
    pub(in crate::registry) fn stands(&self, found: &Registered) -> Result<Stands, Failure> {
        let bound = |name: &str, hosts: &[String]| {
            bindings::is_bound(self.database, &found.skill, name, hosts, self.now).unwrap_or(false)
        };
        let reasons = self.around.reasons(&found.operation, &bound);
        // Policy grants Tier 1 only.
        let by_policy = reasons.is_empty() && found.tier <= 1;
        let question = Question {
            kind: Kind::Capability,
            key: &found.folded,
            op_digest: &found.operation.digest,
            policy_digest: &found.policy_digest,
            source: &found.skill.source,
            session: self.session,
            by_policy,
            now: self.now,
        };
        Ok(Stands {
            standing: standing(self.database, &question)?,
            reasons,
            by_policy,
        })
    }
}

/// Where a subject stands.
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

/// Decides where the subject stands now.
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
        asked.kind,
        asked.op_digest,
        asked.policy_digest,
        asked.source
    ];
    let live = select(
        database,
        &format!("{same} AND status IN ('pending', 'approved') ORDER BY number"),
        values,
    )?;
    let last = select_first(database, &format!("{same} ORDER BY number DESC"), values)?;
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
    match last.status {
        Status::Denied => Standing::Denied(Box::new(last)),
        Status::Revoked => Standing::Revoked(Box::new(last)),
        Status::Expired => Standing::Expired(Box::new(last)),
        Status::Pending | Status::Approved if last.is_over(now) => {
            Standing::Expired(Box::new(last))
        }
        // A grant of policy that policy does not give any more, or one for another session.
        Status::Pending | Status::Approved | Status::Superseded | Status::Consumed => {
            Standing::Open
        }
    }
}

/// Policy grants, unless an operator denied or revoked the very same.
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
    // Policy decides again at every call.
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
