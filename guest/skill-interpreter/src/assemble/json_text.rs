//! JSON text with variables: text is JSON if it parses once each variable outside a string is taken as a value.
//!
//! Each variable is written as a mark and its number, which no text of a document holds, and the values that are read are
//! searched for marks.

use std::fmt::Write;

use hydrant_canonical::Json;
use serde_json::Value;

use crate::draft::{JsonDraft, Part, Quoting, Template};

/// Begins the string that stands for a variable of any type.
const VALUE: char = '\u{E000}';
/// Stands around the number of a variable within a string.
const WITHIN: char = '\u{E001}';

/// Reads a template, whose placeholders were scanned for; none if it is no JSON, or nested too deeply.
pub(super) fn parse(template: &Template) -> Option<JsonDraft> {
    let mut text = String::new();
    let (mut is_inside, mut is_escaped) = (false, false);
    for (number, part) in template.parts.iter().enumerate() {
        let Part::Literal(literal) = part else {
            // Writing to a string does not fail.
            let _ = if is_inside {
                write!(text, "{WITHIN}{number}{WITHIN}")
            } else {
                write!(text, "\"{VALUE}{number}\"")
            };
            continue;
        };
        if literal.text.contains([VALUE, WITHIN]) {
            return None;
        }
        for c in literal.text.chars() {
            is_inside ^= c == '"' && !is_escaped;
            is_escaped = c == '\\' && is_inside && !is_escaped;
        }
        text.push_str(&literal.text);
    }
    draft(Json::parse(text.as_bytes()).ok()?, &template.parts)
}

/// Recurses as deep as the value is nested, which [`Json::parse`] bounds.
fn draft(value: Json, parts: &[Part]) -> Option<JsonDraft> {
    Some(match value {
        Json::String(text) => match text.strip_prefix(VALUE) {
            Some(number) => JsonDraft::Any(Template {
                parts: vec![parts.get(number.parse::<usize>().ok()?)?.clone()],
            }),
            None if text.contains(WITHIN) => JsonDraft::Text(with_variables(&text, parts)?),
            None => JsonDraft::Value(Value::String(text)),
        },
        Json::Array(items) => JsonDraft::Array(
            items
                .into_iter()
                .map(|item| draft(item, parts))
                .collect::<Option<_>>()?,
        ),
        Json::Object(members) => JsonDraft::Object(
            members
                .into_iter()
                .map(|(key, value)| {
                    // A name with a variable in it names no property.
                    let is_name = !key.contains([VALUE, WITHIN]);
                    is_name.then_some((key, draft(value, parts)?))
                })
                .collect::<Option<_>>()?,
        ),
        // A number that has no value of its own would be sent as another one: such a text is sent as it stands.
        other => match other.values().as_slice() {
            [value] => JsonDraft::Value(value.clone()),
            _ => return None,
        },
    })
}

fn with_variables(text: &str, parts: &[Part]) -> Option<Template> {
    let mut template = Template::default();
    for (index, piece) in text.split(WITHIN).enumerate() {
        if index % 2 == 0 {
            template.push_literal(piece, Quoting::Bare);
        } else {
            template.push(parts.get(piece.parse::<usize>().ok()?)?.clone());
        }
    }
    Some(template)
}
