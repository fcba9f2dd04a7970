//! JSON bodies: written member by member, so that a secret is never part of a value that stays behind.

use hydrant_canonical::Json;
use serde_json::Value;
use zeroize::Zeroizing;

use super::Fill;
use super::encode;
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
            out.push(b'{');
            let mut first = true;
            for member in members {
                let start = out.len();
                if !first {
                    out.push(b',');
                }
                out.push(b'"');
                out.extend_from_slice(encode::json_string(&member.key).as_bytes());
                out.extend_from_slice(b"\":");
                if write(&member.value, fill, out, secret)? {
                    first = false;
                } else {
                    out.truncate(start);
                }
            }
            out.push(b'}');
        }
        JsonNode::Array(items) => {
            out.push(b'[');
            let mut first = true;
            for item in items {
                let start = out.len();
                if !first {
                    out.push(b',');
                }
                if write(item, fill, out, secret)? {
                    first = false;
                } else {
                    out.truncate(start);
                }
            }
            out.push(b']');
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

fn utf8<'a>(name: &str, fill: Fill<'a>) -> Result<&'a str, Failure> {
    std::str::from_utf8(&fill.files.get(name)?.bytes).map_err(|_| {
        Failure::new(Code::InvalidInput, "the file is not text in UTF-8")
            .at_path(format!("files.{name}"))
    })
}
