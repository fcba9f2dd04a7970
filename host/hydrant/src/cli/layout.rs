//! Responses of skills laid out for people: `run ID` on a terminal, or with `--format text`.
//!
//! What a response holds was written by strangers. Characters that could move the cursor, hide text or change its
//! direction are shown escaped; programs read the JSON, which is never laid out.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Columns by which nested values stand further right.
const STEP: usize = 2;

/// Columns of a table at most; objects with more members are shown one below the other.
const MAX_COLUMNS: usize = 12;

/// Characters that a column of names, and one of a table, is wide at most.
const MAX_NAME: usize = 40;
const MAX_CELL: usize = 120;

/// The members of `response` line by line, its lists of objects as tables, with a final line end.
pub(super) fn laid_out(response: &Value) -> String {
    let mut text = String::new();
    match response {
        Value::Object(members) => write_members(&mut text, members, 0),
        other => write_value(&mut text, other, 0),
    }
    text
}

fn write_members(text: &mut String, members: &Map<String, Value>, column: usize) {
    // Longer names stand out of the column instead of making it as wide as they are.
    let width = members
        .keys()
        .map(|name| visible(name).chars().count())
        .filter(|width| *width <= MAX_NAME)
        .max();
    for (name, value) in members {
        let name = visible(name);
        match on_one_line(value) {
            Some(value) => {
                let width = width.unwrap_or(0);
                let _ = writeln!(text, "{:column$}{name:width$}  {value}", "");
            }
            None => {
                let _ = writeln!(text, "{:column$}{name}", "");
                write_value(text, value, column.saturating_add(STEP));
            }
        }
    }
}

fn write_value(text: &mut String, value: &Value, column: usize) {
    match value {
        Value::Object(members) => write_members(text, members, column),
        Value::Array(items) => match Table::of(items) {
            Some(table) => table.write(text, column),
            None => write_items(text, items, column),
        },
        Value::String(lines) => {
            for line in lines.lines() {
                let line = visible(line);
                let _ = writeln!(text, "{:column$}{line}", "");
            }
        }
        other => {
            let _ = writeln!(text, "{:column$}{other}", "");
        }
    }
}

fn write_items(text: &mut String, items: &[Value], column: usize) {
    for item in items {
        match on_one_line(item) {
            Some(item) => {
                let _ = writeln!(text, "{:column$}{item}", "");
            }
            None => {
                let _ = writeln!(text, "{:column$}-", "");
                write_value(text, item, column.saturating_add(STEP));
            }
        }
    }
}

/// A value that needs no lines of its own.
fn on_one_line(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("-".to_owned()),
        Value::String(text) if text.contains('\n') => None,
        Value::String(text) => Some(visible(text)),
        Value::Array(items) if items.is_empty() => Some("none".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    }
}

/// A list of objects whose members all fit on one line: a row for each, a column for each name.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of(items: &[Value]) -> Option<Self> {
        let mut names: Vec<&String> = Vec::new();
        for item in items {
            for name in item.as_object()?.keys() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.len() > MAX_COLUMNS {
                return None;
            }
        }
        let rows = items
            .iter()
            .map(|item| {
                names
                    .iter()
                    .map(|name| {
                        item.get(name.as_str())
                            .map_or(Some(String::new()), on_one_line)
                    })
                    .collect()
            })
            .collect::<Option<_>>()?;
        let header = names.into_iter().map(|name| visible(name)).collect();
        Some(Self { header, rows })
    }

    fn write(&self, text: &mut String, column: usize) {
        let mut widths: Vec<usize> = vec![0; self.header.len()];
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        for line in lines() {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count().min(MAX_CELL));
            }
        }
        for line in lines() {
            let mut shown = String::new();
            for (width, cell) in widths.iter().zip(line) {
                let _ = write!(shown, "{cell:width$}  ");
            }
            let _ = writeln!(text, "{:column$}{}", "", shown.trim_end());
        }
    }
}

/// `text` with what a terminal would obey instead of showing as `\u{…}`; tabs stay.
pub(super) fn visible(text: &str) -> String {
    escape(text, |shown, character| {
        shown.extend(character.escape_unicode());
    })
}

/// JSON that says the same, with the same characters in JSON's own escapes.
pub(super) fn visible_json(json: &str) -> String {
    escape(json, |shown, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn escape(text: &str, escaped: impl Fn(&mut String, char)) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character != '\t' && (character.is_control() || is_invisible(character)) {
            escaped(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Line separators, directions of writing and other format characters that show nothing of themselves.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_stand_below_each_other() {
        let response = json!({"path": "a.txt", "truncated": false, "title": null, "rejects": []});
        assert_eq!(
            laid_out(&response),
            "path       a.txt\ntruncated  false\ntitle      -\nrejects    none\n"
        );
    }

    #[test]
    fn text_of_several_lines_and_nested_values_stand_further_right() {
        let response = json!({"text": "a\n\tb\n", "hints": {"pages": 2}, "staged": ["x", "y"]});
        assert_eq!(
            laid_out(&response),
            "text\n  a\n  \tb\nhints\n  pages  2\nstaged\n  x\n  y\n"
        );
    }

    #[test]
    fn a_list_of_plain_objects_is_a_table() {
        let response = json!({"entries": [
            {"path": "src", "kind": "dir"},
            {"path": "src/a.rs", "kind": "file", "bytes": 12},
        ]});
        assert_eq!(
            laid_out(&response),
            "entries\n  path      kind  bytes\n  src       dir\n  src/a.rs  file  12\n"
        );
    }

    #[test]
    fn an_object_with_several_lines_is_no_row() {
        let response = json!({"matches": [{"file": "a", "context": "1\n2"}]});
        assert_eq!(
            laid_out(&response),
            "matches\n  -\n    file     a\n    context\n      1\n      2\n"
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_comes_through() {
        let hostile = "\u{1b}[2J\u{9b}31m\u{7}\r\u{202e}x\u{2028}\u{200b}";
        let shown = laid_out(&json!({ (hostile): hostile, "list": [{"cell": hostile}] }));
        assert!(
            shown.chars().all(|c| matches!(c, ' '..='~' | '\n')),
            "{shown:?}"
        );
    }
}
