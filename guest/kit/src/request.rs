//! A component's request: one JSON object, read into a type that names every member it takes.
//!
//! Types derive `serde::Deserialize` with `deny_unknown_fields`, so that a member nobody reads is refused
//! by its name and never ignored.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{SkillError, members};

/// The code of a request that is not what the component takes.
pub const INVALID_REQUEST: &str = "invalid_request";

/// Reads a request.
///
/// # Errors
///
/// `invalid_request` when the bytes are no JSON object, when a member is missing, given twice, unknown or
/// of another type; the message names it.
pub fn parse<T: DeserializeOwned>(request: &[u8]) -> Result<T, SkillError> {
    from_members(members::object(request)?)
}

/// Reads a request from members that were read strictly.
///
/// # Errors
///
/// `invalid_request` when a member is missing, unknown or of another type; the message names it.
pub fn from_members<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T, SkillError> {
    serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
        let path = error.path().to_string();
        let message = match path.as_str() {
            "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        };
        SkillError::new(INVALID_REQUEST, &message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Greeting {
        name: String,
    }

    #[test]
    fn an_object_is_read() {
        let greeting: Greeting = parse(b" {\"name\":\"Ann\"}").unwrap();
        assert_eq!(greeting.name, "Ann");
    }

    #[test]
    fn anything_else_is_refused_with_what_is_wrong() {
        let cases: [(&[u8], &str); 6] = [
            (b"[\"Ann\"]", "not a JSON object"),
            (b"", "not JSON"),
            (b"{\"name\":\"A\",\"name\":\"B\"}", "`name` is given twice"),
            (b"{}", "missing field `name`"),
            (b"{\"name\":\"Ann\",\"root\":\"/\"}", "unknown field `root`"),
            (b"{\"name\":7}", "name: invalid type"),
        ];
        for (request, expected) in cases {
            let error = parse::<Greeting>(request).unwrap_err();
            assert_eq!(error.code(), INVALID_REQUEST);
            assert!(error.message().contains(expected), "{error}");
        }
    }
}
