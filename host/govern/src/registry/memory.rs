//! `memory:K`, a key-value table for each skill. It holds data only; onboarding uses it.

use rusqlite::{Connection, params};
use serde_json::Value;

use super::name::fold;
use super::sql::{Json, Queries};
use crate::failure::{Code, Failure};
use crate::state::Change;

/// Keys of one skill.
const KEYS: i64 = 256;
/// Bytes of one value, as JSON.
const VALUE: usize = 64 * 1024;

/// Returns a value, if there is one.
///
/// # Errors
///
/// `store-unavailable`.
pub fn get(database: &Connection, skill: &str, name: &str) -> Result<Option<Value>, Failure> {
    let sql = "SELECT value FROM memory WHERE skill = ?1 AND name = ?2";
    let value = database.value(sql, params![fold(skill), name])?;
    Ok(value.map(|Json(value)| value))
}

/// Keeps a value until the skill is unloaded. The caller records `onboarding-step`.
///
/// # Errors
///
/// `limit` over 256 keys of a skill or 64 KiB of a value; `store-unavailable`.
pub fn set(change: &Change<'_>, skill: &str, name: &str, value: &Value) -> Result<(), Failure> {
    let text = fits(value)?;
    let rows = change.database.changed(
        "INSERT INTO memory (skill, name, value)
         SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM memory WHERE skill = ?1) < ?4
            OR EXISTS (SELECT 1 FROM memory WHERE skill = ?1 AND name = ?2)
         ON CONFLICT (skill, name) DO UPDATE SET value = excluded.value",
        params![fold(skill), name, text, KEYS],
    )?;
    if rows == 0 {
        return Err(Failure::new(
            Code::Limit,
            format!("the memory of a skill has at most {KEYS} keys"),
        ));
    }
    Ok(())
}

/// Returns the JSON of a value that can be kept.
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
