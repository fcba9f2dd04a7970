//! Arrays and objects in query, path, header and cookie.

use hydrant_canonical::Json;

use super::encode;
use super::text::{of_input, scalar};
use crate::failure::Failure;
use hydrant_plan::{Encoding, Style};

/// An array or object as one text, without its name.
pub(super) fn joined(
    input: &str,
    value: &Json,
    enc: Encoding,
    style: Style,
) -> Result<String, Failure> {
    let exploded = style == Style::SimpleExplode;
    let between = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        _ => ",",
    };
    let mut pieces = Vec::new();
    match value {
        Json::Array(items) => {
            for item in items {
                pieces.push(scalar(input, item, enc)?);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                let name = scalar(input, &Json::String(name.clone()), enc)?;
                let member = scalar(input, member, enc)?;
                if exploded {
                    pieces.push(format!("{name}={member}"));
                } else {
                    pieces.push(name);
                    pieces.push(member);
                }
            }
        }
        other => pieces.push(scalar(input, other, enc)?),
    }
    Ok(pieces.join(between))
}

/// An array or object as pairs of a query or a form; empty: nothing is sent.
pub(super) fn pairs(
    name: &str,
    input: &str,
    value: &Json,
    enc: Encoding,
    style: Style,
) -> Result<Vec<String>, Failure> {
    match (style, value) {
        (_, Json::Array(items)) if items.is_empty() => Ok(Vec::new()),
        (_, Json::Object(members)) if members.is_empty() => Ok(Vec::new()),
        (Style::FormExplode, Json::Array(items)) => items
            .iter()
            .map(|item| Ok(format!("{name}={}", scalar(input, item, enc)?)))
            .collect(),
        (Style::FormExplode | Style::DeepObject, Json::Object(members)) => members
            .iter()
            .map(|(key, member)| {
                let key = encode::percent(key.as_bytes());
                let member = scalar(input, member, enc)?;
                Ok(match style {
                    Style::DeepObject => format!("{name}[{key}]={member}"),
                    _ => format!("{key}={member}"),
                })
            })
            .collect(),
        (Style::DeepObject, Json::Array(_)) => Err(of_input(input, "an object is wanted there")),
        _ => Ok(vec![format!(
            "{name}={}",
            joined(input, value, enc, style)?
        )]),
    }
}
