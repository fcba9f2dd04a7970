//! The registry's generation, and what changed since an earlier one.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::Registered;
use super::sql::{Queries, words};
use crate::failure::Failure;
use crate::state::Change;

/// Generations of which the history is kept.
const KEPT: u64 = 4096;

/// The answer of `skill list --since`: capability ids, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Since {
    /// The generation now.
    pub generation: u64,
    /// Whether the history does not reach back that far; then `added` is everything there is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// There now, not then.
    pub added: Vec<String>,
    /// There then and now, and not the same.
    pub changed: Vec<String>,
    /// There then, not now.
    pub removed: Vec<String>,
}

words! {
    /// How a transaction changed a capability.
    pub(super) Step {
        /// It is new.
        Added => "added",
        /// It differs.
        Changed => "changed",
        /// It is gone.
        Removed => "removed",
    }
}

/// Returns the generation: each transaction that changes the registry adds one.
///
/// # Errors
///
/// `store-unavailable`.
pub fn generation(database: &Connection) -> Result<u64, Failure> {
    bounds(database).map(|(generation, _)| generation)
}

/// Returns the generation, and the one after which the history is whole.
fn bounds(database: &Connection) -> Result<(u64, i64), Failure> {
    let sql = "SELECT generation, kept_from FROM registry WHERE one = 1";
    let found = database.first(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.ok_or_else(|| super::store("no generation"))
}

/// Begins the next generation, which is this transaction's.
pub(super) fn advance(change: &Change<'_>) -> Result<u64, Failure> {
    let next = change.database.value(
        "UPDATE registry SET generation = generation + 1, kept_from = max(kept_from, generation + 1 - ?1)
         WHERE one = 1 RETURNING generation",
        [KEPT],
    )?;
    let next: u64 = next.ok_or_else(|| super::store("no generation"))?;
    change.database.run(
        "DELETE FROM history WHERE generation <= ?1",
        [next.saturating_sub(KEPT)],
    )?;
    Ok(next)
}

/// Notes how a capability changed in this generation.
pub(super) fn note(
    change: &Change<'_>,
    generation: u64,
    found: &Registered,
    step: Step,
) -> Result<(), Failure> {
    change.database.run(
        "INSERT OR REPLACE INTO history (generation, capability, id, change) VALUES (?1, ?2, ?3, ?4)",
        params![generation, found.folded, found.capability, step],
    )
}

/// Returns what changed after generation `since`.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list_since(database: &Connection, since: u64) -> Result<Since, Failure> {
    let (generation, kept_from) = bounds(database)?;
    let mut answer = Since {
        generation,
        full: false,
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
    };
    let from = i64::try_from(since).unwrap_or(i64::MAX);
    // A generation that was never reached is one of another registry.
    if from < kept_from || since > generation {
        answer.full = true;
        answer.added =
            database.all("SELECT id FROM operations ORDER BY capability", [], |row| {
                row.get(0)
            })?;
        return Ok(answer);
    }
    let steps = database.all(
        "SELECT capability, id, change FROM history WHERE generation > ?1 ORDER BY generation",
        [from],
        |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Step>(2)?)),
    )?;
    // The first step after it tells whether the capability was there at that generation.
    let mut first: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for (capability, id, step) in steps {
        first.entry(capability).or_insert((id, step != Step::Added));
    }
    // Unchanged capabilities are not read: a caller that asks often asks for little.
    for (capability, (id, was_there)) in first {
        let sql = "SELECT id FROM operations WHERE capability = ?1";
        match (database.value(sql, [&capability])?, was_there) {
            (Some(id), true) => answer.changed.push(id),
            (Some(id), false) => answer.added.push(id),
            (None, true) => answer.removed.push(id),
            (None, false) => {}
        }
    }
    Ok(answer)
}
