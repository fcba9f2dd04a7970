//! `approvals list` and `approvals show`, and what differs between two requests, field by field.

use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;

use super::table::{by_id, select, select_first};
use super::{Approval, Status, Subject, guarded};
use crate::failure::Failure;
use crate::registry::store;
use crate::time::Time;
use hydrant_plan::PolicySource;

/// An approval as `approvals show` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ApprovalDetails {
    /// The whole subject and what became of it.
    #[serde(flatten)]
    pub approval: Approval,
    /// `egress api.example.net:443: line 12`.
    pub derivation: Vec<String>,
    /// To the last grant for the same; empty where there was none or nothing differs.
    pub difference: Vec<Difference>,
}

/// Returns all approvals, or those with this status, in the order in which they were opened. One whose time is over is
/// `expired`, also where nobody wrote that down yet.
///
/// # Errors
///
/// `approval-store`.
pub fn list(
    database: &Connection,
    status: Option<Status>,
    now: Time,
) -> Result<Vec<Approval>, Failure> {
    let all = guarded(select(database, "1 ORDER BY number", []))?;
    Ok(all
        .into_iter()
        .map(|approval| as_of(approval, now))
        .filter(|approval| status.is_none_or(|status| approval.status == status))
        .collect())
}

/// Returns one approval, with the derivation of its policy and what differs from the last grant.
///
/// # Errors
///
/// `invalid-request` where there is no such; `approval-store`.
pub fn show(database: &Connection, id: &str, now: Time) -> Result<ApprovalDetails, Failure> {
    guarded((|| {
        let approval = as_of(by_id(database, id)?, now);
        let previous = match &approval.subject.previous {
            Some(id) => select_first(database, "id = ?1", [id])?,
            None => None,
        };
        let difference = match previous {
            Some(previous) => between(&previous.subject, &approval.subject)?,
            None => Vec::new(),
        };
        Ok(ApprovalDetails {
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

/// Fields that differ between any two requests and tell nothing, or that follow from others.
const LEFT_OUT: [&str; 4] = ["previous", "asked", "line", "sends"];
/// The depth below which a part is compared as a whole.
const DEEPEST: usize = 32;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Dotted: `manifest.implementation.transform.url`.
    pub path: String,
    /// What was granted last; absent: it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What is asked now; absent: it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Returns what differs between two subjects. Lists are compared as a whole.
fn between(before: &Subject, after: &Subject) -> Result<Vec<Difference>, Failure> {
    let mut old = serde_json::to_value(before).map_err(store)?;
    let mut new = serde_json::to_value(after).map_err(store)?;
    for subject in [&mut old, &mut new] {
        if let Some(fields) = subject.as_object_mut() {
            for name in LEFT_OUT {
                fields.remove(name);
            }
        }
    }
    let mut found = Vec::new();
    compare(String::new(), Some(old), Some(new), 0, &mut found);
    Ok(found)
}

fn compare(
    path: String,
    before: Option<Value>,
    after: Option<Value>,
    depth: usize,
    found: &mut Vec<Difference>,
) {
    match (before, after) {
        (Some(Value::Object(mut before)), Some(Value::Object(after))) if depth < DEEPEST => {
            let below = |name: &str| {
                if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                }
            };
            for (name, value) in after {
                let old = before.remove(&name);
                compare(below(&name), old, Some(value), depth + 1, found);
            }
            for (name, value) in before {
                compare(below(&name), Some(value), None, depth + 1, found);
            }
        }
        (before, after) => {
            if before != after {
                found.push(Difference {
                    path,
                    before,
                    after,
                });
            }
        }
    }
}
