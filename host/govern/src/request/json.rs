//! JSON bodies: written member by member, so that a secret is never part of a value that stays behind.

use hydrant_canonical::Json;
use serde_json::Value;
use zeroize::Zeroizing;

use super::Fill;
use crate::failure::{Code, Failure};
use hydrant_plan::JsonNode;

/// Writes a node; whether there was anything to write. Members and elements of absent inputs are left out.
pub(super) fn write(
    node: &JsonNode,
    fill: Fill<'_>,
    out: &mut Zeroizing<Vec<u8>>,
    secret: &mut bool,
) -> Result<bool, Failure> {
    match node {
        JsonNode::Value(value) => out.extend_from_slice(value.to_string().as_bytes()),
        // `null` is a value here.
        JsonNode::Input(name) => match fill.inputs.get(name) {
            Some(value) => out.extend_from_slice(value.to_string().as_bytes()),
            None => return Ok(false),
        },
        JsonNode::Text(segments) => {
            let Some(filled) = fill.text(segments)? else {
                return Ok(false);
            };
            *secret |= filled.secret;
            out.push(b'"');
            out.extend_from_slice(filled.text.as_bytes());
            out.push(b'"');
        }
        JsonNode::Object(members) => {
            let members = members
                .iter()
                .map(|member| (Some(member.key.as_str()), &member.value));
            collection(*b"{}", members, fill, out, secret)?;
        }
        JsonNode::Array(items) => {
            collection(
                *b"[]",
                items.iter().map(|item| (None, item)),
                fill,
                out,
                secret,
            )?;
        }
        JsonNode::TextOfFile(name) => {
            let text = utf8(name, fill)?;
            out.extend_from_slice(Value::from(text).to_string().as_bytes());
        }
        JsonNode::JsonOfFile(name) => {
            let value = Json::parse(utf8(name, fill)?.as_bytes()).map_err(|_| {
                Failure::new(Code::InvalidInput, "the file does not hold JSON")
                    .at_path(format!("files.{name}"))
            })?;
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }
    Ok(true)
}

/// Writes the members of an object or the items of an array.
fn collection<'n>(
    [open, close]: [u8; 2],
    nodes: impl Iterator<Item = (Option<&'n str>, &'n JsonNode)>,
    fill: Fill<'_>,
    out: &mut Zeroizing<Vec<u8>>,
    secret: &mut bool,
) -> Result<(), Failure> {
    out.push(open);
    let mut first = true;
    for (key, node) in nodes {
        let start = out.len();
        if !first {
            out.push(b',');
        }
        if let Some(key) = key {
            out.extend_from_slice(Value::from(key).to_string().as_bytes());
            out.push(b':');
        }
        if write(node, fill, out, secret)? {
            first = false;
        } else {
            out.truncate(start);
        }
    }
    out.push(close);
    Ok(())
}

fn utf8<'a>(name: &str, fill: Fill<'a>) -> Result<&'a str, Failure> {
    std::str::from_utf8(fill.files.get(name)?).map_err(|_| {
        Failure::new(Code::InvalidInput, "the file is not text in UTF-8")
            .at_path(format!("files.{name}"))
    })
}
