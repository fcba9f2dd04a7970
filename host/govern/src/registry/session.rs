//! The budget of a session that outlives its process, and what operators added to it.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sql::{Json, Queries};
use crate::failure::Failure;
use crate::state::Change;
use crate::time::Time;

/// Sessions whose budget is kept; a new one takes the place of the one that was used longest ago.
const SESSIONS: i64 = 10_000;

/// New sessions with a budget of their own in a day, where callers choose names as they like.
const NEW_A_DAY: i64 = 256;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Whether a session has a budget of its own: it has one already, or not too many were used within a day.
///
/// # Errors
///
/// `store-unavailable`.
pub fn has_place(database: &Connection, session: &str, now: Time) -> Result<bool, Failure> {
    let since = Time::from_milliseconds(now.milliseconds().saturating_sub(DAY_MS));
    database.is_true(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
             OR (SELECT COUNT(*) FROM sessions WHERE used_at >= ?2) < ?3",
        params![session, since, NEW_A_DAY],
    )
}

/// Returns the budget of a session, if one is kept.
///
/// # Errors
///
/// `store-unavailable`, also where it cannot be read as one.
pub fn budget<T: DeserializeOwned>(
    database: &Connection,
    session: &str,
) -> Result<Option<T>, Failure> {
    let budget = database.value("SELECT budget FROM sessions WHERE id = ?1", [session])?;
    Ok(budget.map(|Json(budget)| budget))
}

/// Keeps the budget of a session.
///
/// # Errors
///
/// `store-unavailable`.
pub fn keep_budget(
    change: &Change<'_>,
    session: &str,
    budget: &impl Serialize,
) -> Result<(), Failure> {
    change.database.run(
        "INSERT OR REPLACE INTO sessions (id, used_at, budget) VALUES (?1, ?2, ?3)",
        params![session, change.now, Json(budget)],
    )?;
    change.database.run(
        "DELETE FROM sessions WHERE rowid IN
            (SELECT rowid FROM sessions ORDER BY used_at DESC, rowid DESC LIMIT -1 OFFSET ?1)",
        [SESSIONS],
    )
}

/// Returns what grants of kind `budget` added to a session, by dimension.
///
/// # Errors
///
/// `store-unavailable`.
pub fn extensions(database: &Connection, session: &str) -> Result<BTreeMap<String, u64>, Failure> {
    let rows = database.all(
        "SELECT e.dimension, max(e.amount, 0) FROM extensions e JOIN approvals a ON a.id = e.approval
         WHERE e.session = ?1 AND a.status = 'approved'",
        [session],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut sums = BTreeMap::new();
    for (dimension, amount) in rows {
        let sum: &mut u64 = sums.entry(dimension).or_default();
        *sum = sum.saturating_add(amount);
    }
    Ok(sums)
}
