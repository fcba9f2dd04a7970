//! A component's request: one JSON object, read into a type that names every member it takes.
//!
//! Types derive `serde::Deserialize` with `deny_unknown_fields`, so that a member nobody reads is refused
//! by its name and never ignored.

use serde::de::DeserializeOwned;

use crate::SkillError;

/// The code of a request that is not what the component takes.
pub const INVALID_REQUEST: &str = "invalid_request";

/// Reads a request.
///
/// # Errors
///
/// `invalid_request` when the bytes are no JSON object, when a member is missing, given twice, unknown or
/// of another type; the message names it.
pub fn parse<T: DeserializeOwned>(request: &[u8]) -> Result<T, SkillError> {
    // serde reads a struct from an array of its members too; a request is an object.
    let begins = request.iter().find(|byte| !byte.is_ascii_whitespace());
    if begins != Some(&b'{') {
        return Err(SkillError::new(
            INVALID_REQUEST,
            "the request is not a JSON object",
        ));
    }
    serde_json::from_slice(request)
        .map_err(|error| SkillError::new(INVALID_REQUEST, &error.to_string()))
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
        let cases: [(&[u8], &str); 5] = [
            (b"[\"Ann\"]", "not a JSON object"),
            (b"", "not a JSON object"),
            (b"{}", "missing field `name`"),
            (b"{\"name\":\"Ann\",\"root\":\"/\"}", "unknown field `root`"),
            (b"{\"name\":7}", "invalid type"),
        ];
        for (request, expected) in cases {
            let error = parse::<Greeting>(request).unwrap_err();
            assert_eq!(error.code(), INVALID_REQUEST);
            assert!(error.message().contains(expected), "{error}");
        }
    }
}
