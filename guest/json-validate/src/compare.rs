//! Equality by JSON Schema: within an instance (`uniqueItems`), and with a value of a schema (`const`, `enum`).
//!
//! Both are as deep as the instance, which the reader keeps at 128.

use serde_json::Value;

use crate::document::{Document, Kind};
use crate::number::{Decimal, Number};

/// Whether no two items of an array are equal: sorts one canonical text of each.
pub(crate) fn is_unique(document: &Document, array: usize) -> bool {
    let mut texts = Vec::new();
    let mut spans = Vec::new();
    for item in document.items(array) {
        let start = texts.len();
        write_canonical(document, item, &mut texts);
        spans.push(start..texts.len());
    }
    let mut texts: Vec<&[u8]> = spans
        .into_iter()
        .map(|span| texts.get(span).unwrap_or_default())
        .collect();
    texts.sort_unstable();
    texts.array_windows().all(|[a, b]| a != b)
}

/// Appends a text that two values share exactly when they are equal.
fn write_canonical(document: &Document, at: usize, out: &mut Vec<u8>) {
    let Some(entry) = document.entry(at) else {
        return;
    };
    match entry.kind() {
        Kind::Null => out.push(b'n'),
        Kind::True => out.push(b't'),
        Kind::False => out.push(b'f'),
        Kind::Number => write_number(document.source(entry), out),
        Kind::String | Kind::Name => kit::json::write_string(out, &document.string(entry)),
        Kind::Array => {
            out.push(b'[');
            for item in document.items(at) {
                write_canonical(document, item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Kind::Object => {
            let mut names: Vec<usize> = document.names(at).collect();
            names.sort_unstable_by(|a, b| document.name(*a).cmp(&document.name(*b)));
            out.push(b'{');
            for name in names {
                kit::json::write_string(out, &document.name(name));
                out.push(b':');
                write_canonical(document, name.saturating_add(1), out);
                out.push(b',');
            }
            out.push(b'}');
        }
    }
}

fn write_number(text: &str, out: &mut Vec<u8>) {
    let number = Decimal::of(text);
    if number.negative {
        out.push(b'-');
    }
    out.extend_from_slice(number.digits.as_bytes());
    out.push(b'e');
    out.extend_from_slice(number.exponent.to_string().as_bytes());
}

/// Whether a value of the instance equals a value of the schema.
pub(crate) fn equals(document: &Document, at: usize, expected: &Value) -> bool {
    let Some(entry) = document.entry(at) else {
        return false;
    };
    match (entry.kind(), expected) {
        (Kind::Null, Value::Null)
        | (Kind::True, Value::Bool(true))
        | (Kind::False, Value::Bool(false)) => true,
        (Kind::Number, Value::Number(expected)) => Number(document.source(entry)).equals(expected),
        (Kind::String | Kind::Name, Value::String(expected)) => document.string(entry) == *expected,
        (Kind::Array, Value::Array(expected)) => {
            entry.count() == expected.len()
                && document
                    .items(at)
                    .zip(expected)
                    .all(|(item, expected)| equals(document, item, expected))
        }
        (Kind::Object, Value::Object(expected)) => {
            entry.count() == expected.len()
                && expected.iter().all(|(name, expected)| {
                    document
                        .member(at, name)
                        .is_some_and(|value| equals(document, value, expected))
                })
        }
        _ => false,
    }
}
