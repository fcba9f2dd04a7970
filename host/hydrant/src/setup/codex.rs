//! The MCP server in the configuration of Codex, which is TOML: a table of its own at the end of the file.

use std::ops::Range;

use serde_json::Value;
use toml::Table;

use super::json::newline;
use super::server::{NAME, Server};
use super::{Edit, EditError};
use hydrant_base::escaped;

/// The table of all servers.
const SERVERS: &str = "mcp_servers";
/// How our table begins.
const HEADER: &str = "[mcp_servers.hydrant]";

/// The text with the server.
pub(super) fn with_server(text: &str, server: &Server) -> Result<Edit, EditError> {
    with_entry(text, &server.entry(), server)
}

/// The text of `copy` with the server as `text` has it.
pub(super) fn with_entry_of(copy: &str, text: &str, server: &Server) -> Option<String> {
    let entry = entry_of(&parse(text).ok()?)?;
    with_entry(copy, &entry, server).ok()?.text()
}

fn with_entry(text: &str, entry: &Value, server: &Server) -> Result<Edit, EditError> {
    let block = block(entry, newline(text));
    let Some(there) = entry_of(&parse(text)?) else {
        let end = newline(text);
        let line_end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            end
        };
        let space = if text.trim().is_empty() { "" } else { end };
        let changed = format!("{text}{line_end}{space}{block}");
        return checked(text, changed, Some(entry)).map(Edit::Text);
    };
    if there == *entry {
        return Ok(Edit::Nothing);
    }
    let changed = changed(text, Some(entry), |range| {
        let mut changed = text.to_owned();
        changed.replace_range(range, &block);
        changed
    })?;
    Ok(if server.wrote(&there) {
        Edit::Text(changed)
    } else {
        Edit::Replacing(changed)
    })
}

/// The text without the server; none if it is not there, or not as setup wrote it.
pub(super) fn without_server(text: &str, server: &Server) -> Result<Option<String>, EditError> {
    if !entry_of(&parse(text)?).is_some_and(|there| server.wrote(&there)) {
        return Ok(None);
    }
    let without = |range: Range<usize>| {
        let before = text.get(..range.start).unwrap_or_default();
        // The empty line that was put before it.
        let kept = ["\r\n", "\n"].iter().find_map(|end| {
            let line = before.strip_suffix(end)?;
            line.ends_with('\n').then_some(line)
        });
        let after = text.get(range.end..).unwrap_or_default();
        format!("{}{after}", kept.unwrap_or(before))
    };
    changed(text, None, without).map(Some)
}

/// The first of the changes of a block of ours that changes nothing else.
fn changed(
    text: &str,
    entry: Option<&Value>,
    change: impl Fn(Range<usize>) -> String,
) -> Result<String, EditError> {
    blocks(text)
        .into_iter()
        .find_map(|range| checked(text, change(range), entry).ok())
        .ok_or(EditError::InPlace)
}

/// The changed text, whose servers have this entry and which says nothing else anew.
fn checked(text: &str, changed: String, entry: Option<&Value>) -> Result<String, EditError> {
    let (before, after) = (
        parse(text)?,
        parse(&changed).map_err(|_| EditError::InPlace)?,
    );
    if entry_of(&after).as_ref() == entry && without_entry(before) == without_entry(after) {
        Ok(changed)
    } else {
        Err(EditError::InPlace)
    }
}

fn parse(text: &str) -> Result<Table, EditError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        EditError::Syntax {
            format: "TOML",
            reason: escaped(error.message()),
            line: before.matches('\n').count().saturating_add(1),
            column: line.chars().count().saturating_add(1),
        }
    })
}

fn entry_of(table: &Table) -> Option<Value> {
    serde_json::to_value(table.get(SERVERS)?.get(NAME)?).ok()
}

fn without_entry(mut table: Table) -> Table {
    if let Some(servers) = table.get_mut(SERVERS).and_then(toml::Value::as_table_mut) {
        servers.remove(NAME);
        if servers.is_empty() {
            table.remove(SERVERS);
        }
    }
    table
}

/// The lines of an entry. A string of JSON is one of TOML, too.
fn block(entry: &Value, newline: &str) -> String {
    let member = |name: &str| {
        let value = entry.get(name).map(ToString::to_string);
        format!("{name} = {}{newline}", value.unwrap_or_default())
    };
    format!("{HEADER}{newline}{}{}", member("command"), member("args"))
}

/// Where the lines stand that may be an entry of ours: from its header to the last line before the next one that is
/// neither empty nor a comment.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_inside) = (0_usize, false);
    for line in text.split_inclusive('\n') {
        let end = at.saturating_add(line.len());
        let content = line.trim();
        if content == HEADER {
            blocks.push(at..end);
            is_inside = true;
        } else if content.starts_with('[') {
            is_inside = false;
        } else if is_inside
            && !content.is_empty()
            && !content.starts_with('#')
            && let Some(block) = blocks.last_mut()
        {
            block.end = end;
        }
        at = end;
    }
    blocks
}
