//! How often each unknown tool was seen, with the line of configuration that would lower its tier.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::sql::Queries;
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
    /// How often it was seen.
    pub count: u64,
    /// The line of `[govern]` that would lower it to Tier 2.
    pub hint: String,
}

/// Counts tools. A name over 120 characters or with control characters is not counted, nor is a new one beyond 1024.
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
        change.database.run(
            "INSERT INTO unmapped (tool, met)
             SELECT ?1, 1 WHERE (SELECT count(*) FROM unmapped) < ?2
                OR EXISTS (SELECT 1 FROM unmapped WHERE tool = ?1)
             ON CONFLICT (tool) DO UPDATE SET met = met + 1",
            params![tool, TOOLS],
        )?;
    }
    Ok(())
}

/// Returns all tools that were counted, the most frequent first.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list(database: &Connection) -> Result<Vec<Unmapped>, Failure> {
    let sql = "SELECT tool, max(met, 0) FROM unmapped ORDER BY met DESC, tool";
    database.all(sql, [], |row| {
        let tool: String = row.get(0)?;
        Ok(Unmapped {
            hint: format!("known_tools = [{tool:?}]"),
            tool,
            count: row.get(1)?,
        })
    })
}
