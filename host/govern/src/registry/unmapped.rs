//! How often each unknown tool was met, with the line of configuration that would lower it.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::store;
use crate::failure::Failure;
use crate::state::Change;

/// Tools that are counted; one more is not.
const TOOLS: i64 = 1024;
/// Characters of a tool's name.
const LONGEST: usize = 120;

/// A tool that nothing maps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmapped {
    /// `argv[0]`
    pub tool: String,
    /// How often it was met.
    pub count: u64,
    /// The line of `[govern]` that would lower it to Tier 2.
    pub hint: String,
}

/// Counts tools that were met. Names over 120 characters and control characters are not counted, nor is a new one beyond
/// 1024. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn count<'a>(
    change: &Change<'_>,
    tools: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    for tool in tools {
        if tool.is_empty() || tool.chars().count() > LONGEST || tool.chars().any(char::is_control) {
            continue;
        }
        change
            .database
            .prepare_cached(
                "INSERT INTO unmapped (tool, met)
                 SELECT ?1, 1 WHERE (SELECT count(*) FROM unmapped) < ?2
                    OR EXISTS (SELECT 1 FROM unmapped WHERE tool = ?1)
                 ON CONFLICT (tool) DO UPDATE SET met = met + 1",
            )
            .and_then(|mut query| query.execute(params![tool, TOOLS]))
            .map_err(store)?;
    }
    Ok(())
}

/// All that were met, most often first. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list(database: &Connection) -> Result<Vec<Unmapped>, Failure> {
    let mut query = database
        .prepare_cached("SELECT tool, met FROM unmapped ORDER BY met DESC, tool")
        .map_err(store)?;
    query
        .query_map([], |row| {
            let tool: String = row.get(0)?;
            let met: i64 = row.get(1)?;
            Ok(Unmapped {
                hint: format!("known_tools = [{tool:?}]"),
                tool,
                count: u64::try_from(met).unwrap_or(0),
            })
        })
        .and_then(Iterator::collect)
        .map_err(store)
}
