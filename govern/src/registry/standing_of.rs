//! K-367: what a call would meet now.

use rusqlite::Connection;

use super::approvals::{Question, Standing, standing};
use super::loaded::{CapabilityRow, CapabilityStatus};
use super::{Registered, Surroundings, bindings};
use crate::answer::Status;
use crate::failure::Failure;
use crate::time::Time;

/// Section 15, as of now. A binding that cannot be read counts as none, so that the reason stays.
pub(super) fn reasons_of(
    database: &Connection,
    found: &Registered,
    around: &dyn Surroundings,
    now: Time,
) -> Result<Vec<String>, Failure> {
    let bound = |name: &str, hosts: &[String]| {
        bindings::is_bound(database, &found.skill, name, hosts, now).unwrap_or(false)
    };
    Ok(around.reasons(&found.operation, found.tier, &bound))
}

/// The row of an operation in a list, read only.
pub(super) fn row_of(
    database: &Connection,
    found: &Registered,
    session: Option<&str>,
    around: &dyn Surroundings,
    now: Time,
) -> Result<(CapabilityRow, Vec<String>), Failure> {
    let missing = around.missing(&found.operation);
    if let Status::Unusable { .. } = found.operation.status {
        let row = CapabilityRow::of(found, CapabilityStatus::Unusable, missing, false, None);
        return Ok((row, Vec::new()));
    }
    let reasons = reasons_of(database, found, around, now)?;
    let asked = Question::of(found, session, &reasons, now);
    let (status, id) = match standing(database, &asked)? {
        Standing::Granted(approval) => (
            CapabilityStatus::Approved,
            approval.map(|approval| approval.id),
        ),
        Standing::Denied(approval) | Standing::Revoked(approval) => {
            (CapabilityStatus::Denied, Some(approval.id))
        }
        Standing::Pending(approval) => (CapabilityStatus::Pending, Some(approval.id)),
        Standing::Expired(_) | Standing::Open => (CapabilityStatus::Pending, None),
    };
    let required = !asked.by_policy;
    let row = CapabilityRow::of(found, status, missing, required, id);
    Ok((row, reasons))
}
