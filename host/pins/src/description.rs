//! What `describe` returns.

use memchr::memmem;
use serde_json::{Deserializer, Map, Value};

use hydrant_base::{JsonError, parse_json};

/// Bytes of a description.
const MAX_BYTES: usize = 65_536;
/// Characters of `description`.
const MAX_CHARACTERS: usize = 1024;
/// In this order.
const MEMBERS: [&str; 4] = ["name", "description", "input_schema", "output_schema"];
/// The one dialect of the schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum DescriptionFault {
    /// Longer than a description may be.
    #[error("exceeds maximum size ({0} bytes > {MAX_BYTES} bytes)")]
    TooLarge(usize),
    /// Not one JSON object.
    #[error("invalid JSON: {0}")]
    Json(#[from] JsonError),
    /// White space between tokens.
    #[error("is not compact: white space outside of strings at byte {0}")]
    NotCompact(usize),
    /// Another member, or another order.
    #[error("has the members {0}, not name, description, input_schema, output_schema")]
    Members(String),
    /// Not the skill that is pinned.
    #[error("name is {actual:?}, not the id {expected:?}")]
    Name {
        /// The id of the entry.
        expected: String,
        /// What the component calls itself.
        actual: String,
    },
    /// Empty, too long, or more than a line.
    #[error("description is not one line of 1 to {MAX_CHARACTERS} characters")]
    Text,
    /// A schema that does not say what it must.
    #[error("{member}: {rule}")]
    Schema {
        /// `input_schema` or `output_schema`.
        member: &'static str,
        /// What it does not keep to.
        rule: String,
    },
}

/// Checks the text that the component of skill `id` returned.
///
/// # Errors
/// The first rule that it breaks.
pub(super) fn check(text: &str, id: &str) -> Result<(), DescriptionFault> {
    if text.len() > MAX_BYTES {
        return Err(DescriptionFault::TooLarge(text.len()));
    }
    let members: Map<String, Value> = parse_json(text.as_bytes())?;
    if let Some(at) = white_space(text) {
        return Err(DescriptionFault::NotCompact(at));
    }
    if !members.keys().eq(MEMBERS) {
        let names: Vec<_> = members.keys().take(8).map(String::as_str).collect();
        return Err(DescriptionFault::Members(names.join(", ")));
    }
    let member = |name: &str| members.get(name).unwrap_or(&Value::Null);
    if member("name").as_str() != Some(id) {
        return Err(DescriptionFault::Name {
            expected: id.to_owned(),
            actual: member("name").as_str().unwrap_or_default().to_owned(),
        });
    }
    let line = member("description").as_str().unwrap_or_default();
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if line.is_empty() || line.chars().count() > MAX_CHARACTERS || line.contains(breaks) {
        return Err(DescriptionFault::Text);
    }
    check_input(schema(member("input_schema"), "input_schema")?)?;
    schema(member("output_schema"), "output_schema")?;
    Ok(())
}

/// Bytes of a text that is looked at in a component: enough for one that is too large to be read to its end.
const MAX_SEEN: usize = 4 * MAX_BYTES;

/// What is wrong with the description of skill `id` as it stands in its component, and at which byte; nothing where the
/// component puts it together only when it is asked. Several texts may look like it; one that is right is enough.
pub(super) fn fault_within(component: &[u8], id: &str) -> Option<(usize, DescriptionFault)> {
    let mut first = None;
    let mut rest = 0;
    for name in memmem::find_iter(component, br#""name""#) {
        let before = component
            .get(rest..name)
            .unwrap_or_default()
            .trim_ascii_end();
        if before.last() != Some(&b'{') {
            continue;
        }
        let start = (rest + before.len()).saturating_sub(1);
        let seen = component.get(start..).unwrap_or_default();
        let seen = seen.get(..MAX_SEEN).unwrap_or(seen);
        let mut values = Deserializer::from_slice(seen).into_iter::<Map<String, Value>>();
        let Some(Ok(members)) = values.next() else {
            continue;
        };
        let end = values.byte_offset();
        let is_it = ["input_schema", "output_schema"]
            .iter()
            .all(|schema| members.contains_key(*schema));
        if !is_it || members.get("name").is_none_or(|name| name != id) {
            continue;
        }
        rest = start.saturating_add(end);
        let text = seen.get(..end).and_then(|text| str::from_utf8(text).ok());
        match check(text?, id) {
            Ok(()) => return None,
            Err(fault) => first = first.or(Some((start, fault))),
        }
    }
    first
}

/// A schema of either side: an object, of the one dialect.
fn schema<'a>(
    value: &'a Value,
    member: &'static str,
) -> Result<&'a Map<String, Value>, DescriptionFault> {
    let fault = |rule: &str| DescriptionFault::Schema {
        member,
        rule: rule.to_owned(),
    };
    let schema = value.as_object().ok_or_else(|| fault("is not an object"))?;
    match schema.get("$schema") {
        None => Ok(schema),
        Some(dialect) if dialect == DIALECT => Ok(schema),
        Some(_) => Err(fault("$schema is not JSON Schema 2020-12")),
    }
}

/// The schema of requests: closed, and with a range for every number, so that a caller can know what is refused.
fn check_input(schema: &Map<String, Value>) -> Result<(), DescriptionFault> {
    let fault = |rule: String| DescriptionFault::Schema {
        member: "input_schema",
        rule,
    };
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err(fault("type is not object".to_owned()));
    }
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(fault("additionalProperties is not false".to_owned()));
    }
    let empty = Map::new();
    let properties = match schema.get("properties") {
        None => &empty,
        Some(properties) => properties
            .as_object()
            .ok_or_else(|| fault("properties is not an object".to_owned()))?,
    };
    for (name, property) in properties {
        let is_integer = property.get("type").is_some_and(|kind| kind == "integer");
        for bound in ["minimum", "maximum"] {
            if is_integer && property.get(bound).and_then(Value::as_i64).is_none() {
                return Err(fault(format!("the integer {name:?} has no {bound}")));
            }
        }
    }
    Ok(())
}

/// Where white space stands between tokens of a text that is JSON.
fn white_space(text: &str) -> Option<usize> {
    let (mut inside, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b' ' | b'\t' | b'\n' | b'\r' if !inside => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
