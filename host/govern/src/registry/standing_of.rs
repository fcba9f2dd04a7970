//! What a call would meet now.

use rusqlite::Connection;

use super::approvals::{Question, Standing, standing};
use super::loaded::{CapabilityRow, CapabilityStatus};
use super::{Registered, Surroundings, bindings};
use crate::failure::Failure;
use crate::time::Time;
use hydrant_plan::Status;

/// Returns why an operation needs an approval now. A binding that cannot be read counts as none, so that the reason stays.
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
    if let Status::Unusable { .. } = found.operation.status {
        return Ok((unusable_row(found, around), Vec::new()));
    }
    let reasons = reasons_of(database, found, around, now)?;
    let asked = Question::of(found, session, &reasons, now);
    let stands = standing(database, &asked)?;
    let row = row_standing(found, around, stands, asked.by_policy);
    Ok((row, reasons))
}

/// The row of an operation that cannot be called.
pub(super) fn unusable_row(found: &Registered, around: &dyn Surroundings) -> CapabilityRow {
    let missing = around.missing(&found.operation);
    CapabilityRow::of(found, CapabilityStatus::Unusable, missing, false, None)
}

/// The row of an operation that stands there.
pub(super) fn row_standing(
    found: &Registered,
    around: &dyn Surroundings,
    stands: Standing,
    by_policy: bool,
) -> CapabilityRow {
    let (status, id) = match stands {
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
    let missing = around.missing(&found.operation);
    CapabilityRow::of(found, status, missing, !by_policy, id)
}
