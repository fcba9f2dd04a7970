//! The envelope of a request, in both dialects: OsEvent (`type`, `name`, `payload`) and OsMessage
//! (`kind`, `type`, `data`), each with `metadata`.

use hydrant_canonical::Json;
use serde_json::{Map, Value};

use super::failure::Failure;
use super::{EVENT_LINE_BYTES, MESSAGE_LINE_BYTES};

/// What is answered to a request without a name, or with one that cannot be repeated.
pub(super) const NAMELESS: &str = "Validation.Failed";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Event,
    Message,
}

impl Dialect {
    pub(super) fn line_bytes(self) -> usize {
        match self {
            Self::Event => EVENT_LINE_BYTES,
            Self::Message => MESSAGE_LINE_BYTES,
        }
    }

    /// The members that hold behaviour, name and input.
    fn members(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Event => ("type", "name", "payload"),
            Self::Message => ("kind", "type", "data"),
        }
    }
}

/// A line, sorted.
pub(super) enum Received {
    /// It is no JSON object.
    NotAnObject(String),
    /// Nothing is answered.
    Notification(Dialect),
    /// A member is missing or wrong; with what could be read of the request.
    Invalid(Request, String),
    /// A command or a query.
    Request(Request),
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) dialect: Dialect,
    /// A syscall name, or [`NAMELESS`] for a request that has none.
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) correlation: Option<String>,
    input: Json,
}

impl Request {
    /// The one member of the input that counts.
    pub(super) fn uri(&self) -> Result<String, Failure> {
        match self.input.get("uri") {
            Some(Json::String(uri)) if !uri.is_empty() => Ok(uri.clone()),
            _ => Err(Failure::Schema("uri must be a non-empty string".into())),
        }
    }

    /// Which capability is called, and with what; `{}` where nothing is said.
    pub(super) fn call(&self) -> Result<(&str, Json), Failure> {
        let capability = match self.input.get("capability") {
            Some(Json::String(capability)) if !capability.is_empty() => capability,
            _ => {
                let reason = "capability must be a non-empty string";
                return Err(Failure::Schema(reason.into()));
            }
        };
        let input = self.input.get("input").cloned();
        Ok((
            capability,
            input.unwrap_or_else(|| Json::Object(Vec::new())),
        ))
    }
}

/// Reads one line. JSON nests at most 128 deep.
pub(super) fn read(line: &[u8]) -> Received {
    let message = match Json::parse(line) {
        Ok(message) => message,
        Err(error) => return Received::NotAnObject(format!("not JSON: {error}")),
    };
    let Value::Object(members) = message.nearest() else {
        return Received::NotAnObject("not a JSON object".into());
    };
    let dialect = if members.contains_key("kind") {
        Dialect::Message
    } else {
        Dialect::Event
    };
    let (behaviour_member, name_member, input_member) = dialect.members();
    let mut request = Request {
        dialect,
        name: NAMELESS.into(),
        id: None,
        correlation: None,
        input: message.get(input_member).cloned().unwrap_or_default(),
    };
    let behaviour = members.get(behaviour_member).and_then(Value::as_str);
    if let Some("event" | "response" | "reply" | "error") = behaviour {
        return Received::Notification(dialect);
    }
    let name = members
        .get(name_member)
        .and_then(Value::as_str)
        .filter(|name| is_syscall_name(name));
    if let Some(name) = name {
        name.clone_into(&mut request.name);
    }
    // Read first, so that an answer can refer to the request, whatever else is wrong with it.
    let metadata = metadata(&members, &mut request);
    let valid = match (behaviour, name) {
        (Some("command" | "query"), Some(_)) => metadata,
        (Some("command" | "query"), None) => Err(format!(
            "{name_member} must be a syscall name such as Content.Hydrate"
        )),
        _ => Err(format!("{behaviour_member} must be command or query")),
    };
    match valid {
        Ok(()) => Received::Request(request),
        Err(reason) => Received::Invalid(request, reason),
    }
}

/// Reads `id` and `correlation`, and checks the rest.
fn metadata(members: &Map<String, Value>, request: &mut Request) -> Result<(), String> {
    let metadata = match members.get("metadata") {
        None => return Ok(()),
        Some(Value::Object(metadata)) => metadata,
        Some(_) => return Err("metadata must be an object".into()),
    };
    match metadata.get("id") {
        None => {}
        Some(Value::String(id)) if !id.is_empty() => request.id = Some(id.clone()),
        Some(_) => return Err("metadata.id must be a non-empty string".into()),
    }
    match metadata.get("timestamp") {
        None => {}
        Some(Value::Number(number)) if number.as_f64().is_some_and(|number| number >= 0.0) => {}
        Some(_) => return Err("metadata.timestamp must be a non-negative number".into()),
    }
    for member in ["correlation", "causation"] {
        match metadata.get(member) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if !text.is_empty() => {
                if member == "correlation" {
                    request.correlation = Some(text.clone());
                }
            }
            Some(_) => {
                return Err(format!(
                    "metadata.{member} must be a non-empty string or null"
                ));
            }
        }
    }
    Ok(())
}

/// `^[A-Z][a-zA-Z0-9]*\.[A-Z][a-zA-Z0-9]*$`, and the older `pwosIngest`.
fn is_syscall_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    name == "pwosIngest"
        || name
            .split_once('.')
            .is_some_and(|(domain, action)| is_part(domain) && is_part(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_pattern() {
        for good in ["Content.Hydrate", "A.B", "Shell.Run2", "pwosIngest"] {
            assert!(is_syscall_name(good), "{good}");
        }
        for bad in [
            "",
            ".",
            "Content",
            "content.Hydrate",
            "Content.hydrate",
            "A.B.C",
            "A.B ",
            "Ä.B",
            "pwosIngest2",
        ] {
            assert!(!is_syscall_name(bad), "{bad}");
        }
    }

    #[test]
    fn the_member_kind_decides_the_dialect() {
        let dialect = |line: &str| match read(line.as_bytes()) {
            Received::Request(request) | Received::Invalid(request, _) => request.dialect,
            Received::Notification(dialect) => dialect,
            Received::NotAnObject(_) => panic!("an object"),
        };
        assert_eq!(
            dialect(r#"{"type":"query","name":"Content.Hydrate"}"#),
            Dialect::Event
        );
        assert_eq!(dialect(r#"{"kind":null}"#), Dialect::Message);
        assert_eq!(dialect(r#"{"kind":"event"}"#), Dialect::Message);
    }
}
