//! The request of `run`.

use kit::{
    SkillError,
    request::{INVALID_REQUEST, parse},
};
use serde::Deserialize;

/// Levels at most.
const MAX_DEPTH: u8 = 16;

/// What is to be hydrated, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A reference, resolved against `os://`; not empty.
    pub uri: String,
    /// The form of the answer.
    #[serde(default)]
    pub format: Format,
    /// Levels of skills and tools, 1 to 16.
    #[serde(default = "one")]
    pub depth: u8,
    /// SHA-256 digests of what was read.
    #[serde(default)]
    pub checksums: bool,
    /// Read unquoted `: ` in names and descriptions.
    #[serde(default)]
    pub lenient: bool,
    /// Resolve `http://` URIs of this machine.
    #[serde(default)]
    pub allow_http_loopback: bool,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The payload of RFC 0020 §5.2.
    #[default]
    Json,
    /// The document, its lists with the entries in place of the references.
    Link,
    /// As `Link`, but each list is a mapping whose keys are URIs.
    V2,
}

fn one() -> u8 {
    1
}

impl Request {
    /// A request for the payload, with every option at its default.
    #[must_use]
    pub fn new(uri: &str) -> Self {
        Self {
            uri: uri.to_owned(),
            format: Format::Json,
            depth: one(),
            checksums: false,
            lenient: false,
            allow_http_loopback: false,
        }
    }

    /// Reads a request from JSON.
    ///
    /// # Errors
    ///
    /// `invalid_request` when it is no JSON object, has a member that is unknown, missing or of the wrong
    /// type, when `uri` is empty or `depth` out of range.
    pub fn parse(json: &[u8]) -> Result<Self, SkillError> {
        let request: Self = parse(json)?;
        request.check()?;
        Ok(request)
    }

    /// The bounds that the types do not carry.
    pub(crate) fn check(&self) -> Result<(), SkillError> {
        if self.uri.is_empty() {
            return Err(SkillError::new(
                INVALID_REQUEST,
                "uri must be a non-empty string",
            ));
        }
        if !(1..=MAX_DEPTH).contains(&self.depth) {
            return Err(SkillError::new(
                INVALID_REQUEST,
                &format!("depth must be 1 to {MAX_DEPTH}, not {}", self.depth),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_the_defaults_of_the_command_line() {
        let request = Request::parse(br#"{"uri":"os://a.md"}"#).unwrap();
        assert_eq!(request, Request::new("os://a.md"));
        let request = Request::parse(
            br#"{"uri":"a","format":"v2","depth":16,"checksums":true,"lenient":true,"allow_http_loopback":true}"#,
        )
        .unwrap();
        assert_eq!(request.format, Format::V2);
        assert_eq!(request.depth, 16);
        assert!(request.checksums && request.lenient && request.allow_http_loopback);
    }

    #[test]
    fn what_is_not_a_request_is_refused_by_name() {
        let cases = [
            (r#"{}"#, "missing field `uri`"),
            (r#"{"uri":7}"#, "invalid type"),
            (r#"{"uri":""}"#, "uri must be a non-empty string"),
            (r#"{"uri":"a","root":"/"}"#, "unknown field `root`"),
            (r#"{"uri":"a","maxDepth":2}"#, "unknown field `maxDepth`"),
            (r#"{"uri":"a","format":"yaml"}"#, "unknown variant `yaml`"),
            (r#"{"uri":"a","depth":0}"#, "depth must be 1 to 16, not 0"),
            (r#"{"uri":"a","depth":17}"#, "depth must be 1 to 16, not 17"),
            (r#"{"uri":"a","uri":"b"}"#, "`uri` is given twice"),
            (r#"["a"]"#, "not a JSON object"),
        ];
        for (json, expected) in cases {
            let error = Request::parse(json.as_bytes()).unwrap_err();
            assert_eq!(error.code(), "invalid_request");
            assert!(error.message().contains(expected), "{json}: {error}");
        }
    }
}
