//! The request, every member within its bounds.

use kit::SkillError;
use kit::members::{self, invalid, missing};
use serde_json::Value;

/// Bytes of `json` at most.
const JSON_BYTES: usize = 8 * 1024 * 1024;

/// What to check, and how.
pub(crate) struct Request {
    pub(crate) json: String,
    pub(crate) schema: Value,
    /// 1 to 1,000.
    pub(crate) max_errors: usize,
    pub(crate) assert_formats: bool,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request`, with the member in its details.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = members::object(request)?;
        let request = Self {
            json: json(members.shift_remove("json"))?,
            schema: match members.shift_remove("schema") {
                Some(schema @ (Value::Object(_) | Value::Bool(_))) => schema,
                Some(_) => {
                    return Err(invalid("schema", "is neither an object nor true nor false"));
                }
                None => return Err(missing("schema")),
            },
            max_errors: match members.shift_remove("max_errors") {
                None => 100,
                Some(most) => most
                    .as_u64()
                    .and_then(|most| usize::try_from(most).ok())
                    .filter(|most| (1..=1_000).contains(most))
                    .ok_or_else(|| invalid("max_errors", "is not an integer from 1 to 1000"))?,
            },
            assert_formats: match members.shift_remove("assert_formats") {
                None => false,
                Some(Value::Bool(assert)) => assert,
                Some(_) => return Err(invalid("assert_formats", "is neither true nor false")),
            },
        };
        match members.keys().next() {
            None => Ok(request),
            Some(name) => Err(invalid(name, "is not a member of the request")),
        }
    }
}

fn json(value: Option<Value>) -> Result<String, SkillError> {
    match value {
        None => Err(missing("json")),
        Some(Value::String(text)) if text.len() > JSON_BYTES => {
            Err(invalid("json", "has more than 8388608 bytes"))
        }
        Some(Value::String(text)) if text.contains('\0') => Err(invalid("json", "holds a NUL")),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(invalid("json", "is not a string")),
    }
}
