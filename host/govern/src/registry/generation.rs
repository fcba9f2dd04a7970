//! The generation, and what changed since an earlier one.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;

use super::store;
use crate::failure::Failure;
use crate::state::Change;

/// Generations of which the history is kept.
const KEPT: i64 = 4096;

/// What `skill list --since` answers; capability ids, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Since {
    /// Of now.
    pub generation: u64,
    /// The history does not reach back that far: `added` is everything there is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// There now, not then.
    pub added: Vec<String>,
    /// There then and now, and not the same.
    pub changed: Vec<String>,
    /// There then, not now.
    pub removed: Vec<String>,
}

/// How a transaction changed a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Added,
    Changed,
    Removed,
}

impl Step {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// One step for each transaction that changed the registry. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn generation(database: &Connection) -> Result<u64, Failure> {
    state(database).map(|(generation, _)| u64::try_from(generation).unwrap_or(0))
}

fn state(database: &Connection) -> Result<(i64, i64), Failure> {
    database
        .prepare_cached("SELECT generation, kept_from FROM registry WHERE one = 1")
        .and_then(|mut query| query.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
        .map_err(store)
}

/// The next generation, which this transaction is.
pub(super) fn advance(change: &Change<'_>) -> Result<u64, Failure> {
    let next = change
        .database
        .query_row(
            "UPDATE registry SET generation = generation + 1, kept_from = max(kept_from, generation + 1 - ?1)
             WHERE one = 1 RETURNING generation",
            [KEPT],
            |row| row.get::<_, i64>(0),
        )
        .map_err(store)?;
    change
        .database
        .execute("DELETE FROM history WHERE generation <= ?1", [next - KEPT])
        .map_err(store)?;
    u64::try_from(next).map_err(store)
}

/// Notes how a capability (folded id, id as written) changed in this generation.
pub(super) fn note(
    change: &Change<'_>,
    generation: u64,
    folded: &str,
    id: &str,
    step: Step,
) -> Result<(), Failure> {
    let generation = i64::try_from(generation).map_err(store)?;
    change
        .database
        .prepare_cached(
            "INSERT OR REPLACE INTO history (generation, capability, id, change) VALUES (?1, ?2, ?3, ?4)",
        )
        .and_then(|mut query| query.execute(params![generation, folded, id, step.as_str()]))
        .map_err(store)?;
    Ok(())
}

/// What changed after generation `since`. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list_since(database: &Connection, since: u64) -> Result<Since, Failure> {
    let (generation, kept_from) = state(database)?;
    let mut answer = Since {
        generation: u64::try_from(generation).map_err(store)?,
        full: false,
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
    };
    let from = i64::try_from(since).unwrap_or(i64::MAX);
    // A generation that was never reached is one of another registry.
    if from < kept_from || from > generation {
        answer.full = true;
        let mut query = database
            .prepare_cached("SELECT id FROM operations ORDER BY capability")
            .map_err(store)?;
        answer.added = query
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(store)?;
        return Ok(answer);
    }
    let mut query = database
        .prepare_cached(
            "SELECT capability, id, change FROM history WHERE generation > ?1 ORDER BY generation",
        )
        .map_err(store)?;
    let steps = query
        .query_map([from], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
            ))
        })
        .map_err(store)?;
    // The first step after it tells whether the capability was there at that generation.
    let mut first: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for step in steps {
        let (capability, id, change) = step.map_err(store)?;
        first
            .entry(capability)
            .or_insert_with(|| (id, change != Step::Added.as_str()));
    }
    // What did not change is not looked at: who asks often asks for what is new.
    let mut there = database
        .prepare_cached("SELECT id FROM operations WHERE capability = ?1")
        .map_err(store)?;
    for (capability, (id, was_there)) in first {
        let now = there.query_row([&capability], |row| row.get(0)).optional();
        match (now.map_err(store)?, was_there) {
            (Some(id), true) => answer.changed.push(id),
            (Some(id), false) => answer.added.push(id),
            (None, true) => answer.removed.push(id),
            (None, false) => {}
        }
    }
    Ok(answer)
}
