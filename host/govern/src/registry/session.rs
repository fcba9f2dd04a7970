//! What outlives a process of a session: its budget, and what operators added to it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::store;
use crate::failure::Failure;
use crate::state::Change;
use crate::time::Time;

/// Sessions whose budget is kept; the one that was used longest ago makes room.
const SESSIONS: i64 = 10_000;

/// Sessions with a budget of their own in a day, where callers make names as they like.
const NEW_A_DAY: i64 = 256;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Whether a session has a budget of its own: it has one already, or not too many were used within a day. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn has_place(database: &Connection, session: &str, now: Time) -> Result<bool, Failure> {
    let since = now.milliseconds().saturating_sub(DAY_MS);
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    database
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
                 OR (SELECT COUNT(*) FROM sessions WHERE used_at >= ?2) < ?3",
        )
        .and_then(|mut query| query.query_row(params![session, since, NEW_A_DAY], |row| row.get(0)))
        .map_err(store)
}

/// The budget of a session, as it was kept. Records nothing.
///
/// # Errors
///
/// `store-unavailable`, also where it is not what it should be.
pub fn budget<T: DeserializeOwned>(
    database: &Connection,
    session: &str,
) -> Result<Option<T>, Failure> {
    database
        .prepare_cached("SELECT budget FROM sessions WHERE id = ?1")
        .and_then(|mut query| {
            query
                .query_row([session], |row| row.get::<_, String>(0))
                .optional()
        })
        .map_err(store)?
        .map(|text| serde_json::from_str(&text).map_err(store))
        .transpose()
}

/// Keeps the budget of a session. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn keep_budget(
    change: &Change<'_>,
    session: &str,
    budget: &impl Serialize,
) -> Result<(), Failure> {
    let text = serde_json::to_string(budget).map_err(store)?;
    let now = i64::try_from(change.now.milliseconds()).unwrap_or(i64::MAX);
    change
        .database
        .prepare_cached("INSERT OR REPLACE INTO sessions (id, used_at, budget) VALUES (?1, ?2, ?3)")
        .and_then(|mut query| query.execute(params![session, now, text]))
        .map_err(store)?;
    change
        .database
        .prepare_cached(
            "DELETE FROM sessions WHERE rowid IN
                (SELECT rowid FROM sessions ORDER BY used_at DESC, rowid DESC LIMIT -1 OFFSET ?1)",
        )
        .and_then(|mut query| query.execute([SESSIONS]))
        .map_err(store)?;
    Ok(())
}

/// What grants of kind `budget` added to a session, by dimension. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn extensions(database: &Connection, session: &str) -> Result<BTreeMap<String, u64>, Failure> {
    let mut query = database
        .prepare_cached(
            "SELECT e.dimension, e.amount FROM extensions e JOIN approvals a ON a.id = e.approval
             WHERE e.session = ?1 AND a.status = 'approved'",
        )
        .map_err(store)?;
    let rows = query
        .query_map([session], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .map_err(store)?;
    let mut sums = BTreeMap::new();
    for row in rows {
        let (dimension, amount) = row.map_err(store)?;
        let sum: &mut u64 = sums.entry(dimension).or_default();
        *sum = sum.saturating_add(u64::try_from(amount).unwrap_or(0));
    }
    Ok(sums)
}
