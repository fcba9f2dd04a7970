//! `approvals list` and `approvals show`.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::difference::{Difference, between};
use super::row::{by_id, select};
use super::{Approval, Status, guarded};
use crate::failure::Failure;
use crate::time::Time;
use hydrant_plan::PolicySource;

/// An approval as `approvals show` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Shown {
    /// The whole subject and what became of it.
    #[serde(flatten)]
    pub approval: Approval,
    /// `egress api.example.net:443: line 12`.
    pub derivation: Vec<String>,
    /// To the last grant for the same; empty where there was none or nothing differs.
    pub difference: Vec<Difference>,
}

/// All, or those with this status, in the order in which they were opened. One whose time is over is shown `expired`, also
/// where nobody wrote that down yet. Records nothing.
///
/// # Errors
///
/// `approval-store`.
pub fn list(
    database: &Connection,
    status: Option<Status>,
    now: Time,
) -> Result<Vec<Approval>, Failure> {
    let all = guarded(select(database, "1 ORDER BY number", params![]))?;
    Ok(all
        .into_iter()
        .map(|approval| as_of(approval, now))
        .filter(|approval| status.is_none_or(|status| approval.status == status))
        .collect())
}

/// One, with the derivation of its policy and what differs from the last grant. Records nothing.
///
/// # Errors
///
/// `invalid-request` where there is no such; `approval-store`.
pub fn show(database: &Connection, id: &str, now: Time) -> Result<Shown, Failure> {
    guarded((|| {
        let approval = as_of(by_id(database, id)?, now);
        let difference = match &approval.subject.previous {
            Some(previous) => select(database, "id = ?1", params![previous])?
                .first()
                .map(|previous| between(&previous.subject, &approval.subject))
                .transpose()?
                .unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Shown {
            derivation: derivation(&approval.subject.policy_sources),
            difference,
            approval,
        })
    })())
}

/// Returns a line for each entry of the policy that says where it came from.
pub(in crate::registry) fn derivation(sources: &[PolicySource]) -> Vec<String> {
    sources
        .iter()
        .map(|source| match source.line {
            0 => format!("{}: default", source.entry),
            line => format!("{}: line {line}", source.entry),
        })
        .collect()
}

fn as_of(mut approval: Approval, now: Time) -> Approval {
    if approval.is_over(now) {
        approval.status = Status::Expired;
    }
    approval
}
