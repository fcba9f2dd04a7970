//! `memory:K`, a key-value table for each skill. Data only; onboarding uses it.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::name::fold;
use super::store;
use crate::failure::{Code, Failure};
use crate::state::Change;

/// Keys of one skill.
const KEYS: i64 = 256;
/// Bytes of one value, as JSON.
const VALUE: usize = 64 * 1024;

/// A value, if there is one. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn get(database: &Connection, skill: &str, name: &str) -> Result<Option<Value>, Failure> {
    database
        .prepare_cached("SELECT value FROM memory WHERE skill = ?1 AND name = ?2")
        .and_then(|mut query| {
            query
                .query_row(params![fold(skill), name], |row| row.get::<_, String>(0))
                .optional()
        })
        .map_err(store)?
        .map(|text| serde_json::from_str(&text).map_err(store))
        .transpose()
}

/// Keeps a value, until the skill is unloaded. Records nothing: `onboarding-step` is the caller's.
///
/// # Errors
///
/// `limit` over 256 keys of a skill or 64 KiB of a value; `store-unavailable`.
pub fn set(change: &Change<'_>, skill: &str, name: &str, value: &Value) -> Result<(), Failure> {
    let text = fits(value)?;
    let rows = change
        .database
        .execute(
            "INSERT INTO memory (skill, name, value)
             SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM memory WHERE skill = ?1) < ?4
                OR EXISTS (SELECT 1 FROM memory WHERE skill = ?1 AND name = ?2)
             ON CONFLICT (skill, name) DO UPDATE SET value = excluded.value",
            params![fold(skill), name, text, KEYS],
        )
        .map_err(store)?;
    if rows == 0 {
        return Err(Failure::new(
            Code::Limit,
            format!("the memory of a skill has at most {KEYS} keys"),
        ));
    }
    Ok(())
}

/// Whether a value can be kept; its JSON.
///
/// # Errors
///
/// `limit` over 64 KiB.
pub(crate) fn fits(value: &Value) -> Result<String, Failure> {
    let text = value.to_string();
    if text.len() > VALUE {
        return Err(Failure::new(
            Code::Limit,
            format!("a value of memory has at most {VALUE} bytes"),
        ));
    }
    Ok(text)
}
