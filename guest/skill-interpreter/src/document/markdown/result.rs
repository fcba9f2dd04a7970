//! Results that a document shows: which fences are one, and what of them is kept.

use serde_json::Value;

use super::lines::Lines;
use super::outline::{Block, Kind, Outline};
use super::wording::is_result_label;
use crate::assemble::credential::looks_like_credential;
use crate::assemble::secrets::{is_excluded, is_secret_field, looks_secret};
use crate::draft::Example;

/// What stands where a credential stood.
const REDACTED: &str = "***REDACTED***";

/// What announces a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announced {
    /// A line of the fence's section.
    ByLine,
    /// The heading of the fence's section.
    ByHeading,
}

/// Whether the line before the block at a position, blank lines between, announces a result.
pub(crate) fn announced(
    outline: &Outline,
    position: usize,
    lines: &Lines<'_>,
) -> Option<Announced> {
    let block = outline.blocks.get(position)?;
    let before = position
        .checked_sub(1)
        .and_then(|before| outline.blocks.get(before));
    if let Some(Block {
        kind: Kind::Heading(_),
        section,
        ..
    }) = before
    {
        let title = &outline.sections.get(*section)?.title;
        return is_result_label(title).then_some(Announced::ByHeading);
    }
    let is_blank = |line: &&str| {
        line.chars()
            .all(|character| character.is_whitespace() || character == '>')
    };
    let line = (1..block.line)
        .rev()
        .map_while(|number| lines.get(number))
        .find(|line| !is_blank(line))?;
    is_result_label(line).then_some(Announced::ByLine)
}

/// The example of a result; as JSON if it is JSON, without credentials.
pub(crate) fn example(text: &str, line: u32) -> Example {
    let output = kit::members::parse(text.as_bytes())
        .unwrap_or_else(|_| Value::String(text.trim_end().to_owned()));
    Example {
        output: Some(without_credentials(output, "")),
        line: Some(line),
        ..Example::default()
    }
}

/// The example of a use: its input if it is JSON. A command is only pointed at, because it may hold credentials that
/// do not look like any.
pub(crate) fn shown(text: &str, line: u32) -> Example {
    let input = kit::members::parse(text.as_bytes()).ok();
    Example {
        input: input.map(|input| without_credentials(input, "")),
        line: Some(line),
        ..Example::default()
    }
}

/// A value whose strings that are credentials, by their look or by their member's name, are replaced. Its depth is that of
/// JSON documents, which is bounded.
fn without_credentials(value: Value, name: &str) -> Value {
    match value {
        Value::String(_) if is_secret(name) => Value::String(REDACTED.to_owned()),
        Value::String(text) => Value::String(redacted(&text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| without_credentials(item, name))
            .collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = without_credentials(value, &name);
                (name, value)
            })
            .collect(),
        other => other,
    }
}

fn is_secret(name: &str) -> bool {
    is_secret_field(name) || (looks_secret(name) && !is_excluded(name))
}

/// A text whose words that look like credentials are replaced.
fn redacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for piece in text.split_inclusive(|character: char| !is_token(character)) {
        // A point ends a sentence more often than a credential.
        let token = piece.trim_end_matches(|character| !is_token(character) || character == '.');
        let after = piece.get(token.len()..).unwrap_or_default();
        kept.push_str(if looks_like_credential(token) {
            REDACTED
        } else {
            token
        });
        kept.push_str(after);
    }
    kept
}

fn is_token(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_json_or_text() {
        assert_eq!(example("{\"a\": [1]}\n", 7).output, Some(json!({"a": [1]})));
        assert_eq!(
            example("HTTP/1.1 200 OK\n", 7).output,
            Some(json!("HTTP/1.1 200 OK"))
        );
        assert_eq!(
            example("{\"a\": 1, \"a\": 2}", 7).output,
            Some(json!("{\"a\": 1, \"a\": 2}"))
        );
        assert_eq!(example("", 7).line, Some(7));
    }

    #[test]
    fn a_result_keeps_names_of_credentials_and_not_their_values() {
        let text = r#"{"access_token":"abc","n":{"client_secret":["x"],"next_page_token":"p"},"note":"use ghp_0123456789abcdefghij0123456789abcdef."}"#;
        let expected = json!({"access_token": REDACTED, "n": {"client_secret": [REDACTED], "next_page_token": "p"},
            "note": format!("use {REDACTED}.")});
        assert_eq!(example(text, 1).output, Some(expected));
    }
}
