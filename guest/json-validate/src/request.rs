//! The request (TS-02).

use kit::SkillError;
use kit::members::{Members, invalid, missing};
use serde_json::Value;

/// Bytes of `json` at most.
const JSON_BYTES: usize = 8 * 1024 * 1024;

/// A request within its bounds.
pub(crate) struct Request {
    pub(crate) json: String,
    pub(crate) schema: Value,
    pub(crate) max_errors: usize,
    pub(crate) assert_formats: bool,
}

impl Request {
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let json = members.string("json", 0..=JSON_BYTES)?;
        let schema = members.value("schema").ok_or_else(|| missing("schema"))?;
        if !schema.is_object() && !schema.is_boolean() {
            return Err(invalid("schema", "is neither an object nor true nor false"));
        }
        let max_errors = members.integer("max_errors", 1..=1000, 100)?;
        let assert_formats = members.flag("assert_formats", false)?;
        members.finish()?;
        Ok(Self {
            json,
            schema,
            max_errors: usize::try_from(max_errors).unwrap_or(1000),
            assert_formats,
        })
    }
}
