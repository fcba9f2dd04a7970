//! `ccos.approval.request`: asks, and never grants.

use rusqlite::params;
use serde::Serialize;

use super::end::end_over;
use super::open::open_asked;
use super::row::stored;
use super::standing::{Question, Standing, standing};
use super::{Approval, Status, guarded};
use crate::failure::Failure;
use crate::registry::standing_of::reasons_of;
use crate::registry::{Surroundings, Who, find_capability, store};
use crate::state::{Change, State};
use crate::time::Time;

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

/// The pending request about this capability, or a new one where the last is denied, expired or revoked, or there is none.
/// After a denied one at most one is opened in each `pending_ttl`; else the denied one is the answer. `reason` is an
/// agent's text. Records `approval-requested` where one is opened, `approval-expired` where it finds one over.
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
    guarded(state.write(|change| asked(change, capability, reason, who, around)))
}

fn asked(
    change: &mut Change<'_>,
    capability: &str,
    reason: Option<&str>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Requested, Failure> {
    let found = find_capability(change.database, capability)?;
    found.usable()?;
    let reasons = reasons_of(change.database, &found, around, change.now)?;
    let question = Question::of(&found, who.session.as_deref(), &reasons, change.now);
    let reopens = match standing(change.database, &question)? {
        Standing::Granted(None) => {
            return Ok(Requested {
                approval_id: None,
                status: Status::Approved,
                expires_at: None,
                reasons,
            });
        }
        Standing::Granted(Some(approval)) => return Ok(told(&approval, approval.valid_until)),
        Standing::Pending(approval) => return Ok(told(&approval, Some(approval.expires_at))),
        Standing::Denied(approval) => {
            if reopened(change, &approval.id, around)? {
                return Ok(told(&approval, None));
            }
            Some(approval.id)
        }
        Standing::Expired(approval) => {
            end_over(change, *approval, who)?;
            None
        }
        Standing::Revoked(_) | Standing::Open => None,
    };
    let opened = open_asked(
        change,
        &found,
        reasons,
        who,
        around,
        reason,
        reopens.as_deref(),
    )?;
    Ok(told(&opened, Some(opened.expires_at)))
}

/// Whether this denied request was followed by another less than `pending_ttl` ago.
fn reopened(change: &Change<'_>, denied: &str, around: &dyn Surroundings) -> Result<bool, Failure> {
    let ttl = u64::try_from(around.pending_ttl().as_millis()).unwrap_or(u64::MAX);
    let since = Time::from_milliseconds(change.now.milliseconds().saturating_sub(ttl));
    change
        .database
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM approvals WHERE reopens = ?1 AND requested_at > ?2)",
            params![denied, stored(since)],
            |row| row.get(0),
        )
        .map_err(store)
}

fn told(approval: &Approval, expires_at: Option<Time>) -> Requested {
    Requested {
        approval_id: Some(approval.id.clone()),
        status: approval.status,
        expires_at,
        reasons: approval.subject.reasons.clone(),
    }
}
