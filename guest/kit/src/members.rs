//! The members of a request, taken one by one within their bounds.
//!
//! The request is read strictly: one JSON object, no name twice in any object, nesting at most 128.
//! Each member is taken by name with its type and bounds; what is left at the end is unknown and refused.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::SkillError;
use crate::json_reader::{self, Names, Refusal};
use crate::request::INVALID_REQUEST;

/// What was not taken yet of a request.
#[derive(Debug)]
pub struct Members(Map<String, Value>);

impl Members {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request` when it is not one JSON object, names a member twice or is nested too deeply.
    pub fn parse(request: &[u8]) -> Result<Self, SkillError> {
        object(request).map(Self)
    }

    /// A required string of so many bytes, without NUL.
    ///
    /// # Errors
    /// `invalid_request`, with the member in its details.
    pub fn string(
        &mut self,
        name: &str,
        bytes: RangeInclusive<usize>,
    ) -> Result<String, SkillError> {
        self.optional_string(name, bytes)?
            .ok_or_else(|| missing(name))
    }

    /// A string of so many bytes, without NUL, that may be missing.
    ///
    /// # Errors
    /// As [`Self::string`].
    pub fn optional_string(
        &mut self,
        name: &str,
        bytes: RangeInclusive<usize>,
    ) -> Result<Option<String>, SkillError> {
        self.0
            .shift_remove(name)
            .map(|value| string(name, value, &bytes))
            .transpose()
    }

    /// A list of so many strings of so many bytes each, without NUL, that may be missing.
    ///
    /// # Errors
    /// As [`Self::string`].
    pub fn strings(
        &mut self,
        name: &str,
        count: RangeInclusive<usize>,
        bytes: RangeInclusive<usize>,
    ) -> Result<Option<Vec<String>>, SkillError> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(None);
        };
        let Value::Array(values) = value else {
            return Err(invalid(name, "is not a list of strings"));
        };
        if !count.contains(&values.len()) {
            let (least, most) = (count.start(), count.end());
            return Err(invalid(
                name,
                &format!("has {} items, not {least} to {most}", values.len()),
            ));
        }
        values
            .into_iter()
            .map(|value| string(name, value, &bytes))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// An integer within bounds, or its default.
    ///
    /// # Errors
    /// As [`Self::string`].
    pub fn integer(
        &mut self,
        name: &str,
        range: RangeInclusive<u32>,
        default: u32,
    ) -> Result<u32, SkillError> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(default);
        };
        value
            .as_u64()
            .and_then(|value| u32::try_from(value).ok())
            .filter(|value| range.contains(value))
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                invalid(name, &format!("is not an integer from {least} to {most}"))
            })
    }

    /// True or false, or its default.
    ///
    /// # Errors
    /// As [`Self::string`].
    pub fn flag(&mut self, name: &str, default: bool) -> Result<bool, SkillError> {
        match self.0.shift_remove(name) {
            None => Ok(default),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(invalid(name, "is neither true nor false")),
        }
    }

    /// A value of any type that may be missing.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    /// Whether a member is there and was not taken yet.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Refuses what is left.
    ///
    /// # Errors
    /// `invalid_request` that names the first unknown member.
    pub fn finish(self) -> Result<(), SkillError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(invalid(name, "is not a member of the request")),
        }
    }
}

/// `invalid_request` because of a member, which the message and the details name.
#[must_use]
pub fn invalid(member: &str, what: &str) -> SkillError {
    SkillError::new(INVALID_REQUEST, &format!("`{member}` {what}"))
        .with_details(serde_json::json!({ "member": member }).to_string())
}

/// `invalid_request` because of a required member that is not there.
#[must_use]
pub fn missing(member: &str) -> SkillError {
    invalid(member, "is missing")
}

fn string(name: &str, value: Value, bytes: &RangeInclusive<usize>) -> Result<String, SkillError> {
    let Value::String(text) = value else {
        return Err(invalid(name, "is not a string"));
    };
    if text.contains('\0') {
        return Err(invalid(name, "holds a NUL"));
    }
    if !bytes.contains(&text.len()) {
        let (least, most) = (bytes.start(), bytes.end());
        return Err(invalid(
            name,
            &format!("has {} bytes, not {least} to {most}", text.len()),
        ));
    }
    Ok(text)
}

/// Reads the members of one JSON object strictly.
///
/// # Errors
/// As [`parse`], and when the value is no object.
pub fn object(request: &[u8]) -> Result<Map<String, Value>, SkillError> {
    match parse(request)? {
        Value::Object(members) => Ok(members),
        _ => Err(SkillError::new(
            INVALID_REQUEST,
            "the request is not a JSON object",
        )),
    }
}

/// Reads one JSON value strictly: no name twice in an object, nesting at most 128.
///
/// # Errors
/// `invalid_request`; the details name a member that occurs twice.
pub fn parse(bytes: &[u8]) -> Result<Value, SkillError> {
    json_reader::read(bytes, Names::Once).map_err(|refusal| match refusal {
        Refusal::Twice(name) => invalid(&name, "is given twice"),
        refusal => SkillError::new(
            INVALID_REQUEST,
            &format!("the request is not JSON: {refusal}"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(error: &SkillError) -> Option<String> {
        let details: Value = serde_json::from_str(error.details()?).ok()?;
        Some(details["member"].as_str()?.to_owned())
    }

    #[test]
    fn a_request_is_one_json_object_read_strictly() {
        for (request, named) in [
            ("", None),
            ("[]", None),
            ("{} {}", None),
            ("\u{feff}{}", None),
            ("{\"a\":1,\"a\":2}", Some("a")),
            ("{\"x\":{\"b\":1,\"b\":2}}", Some("b")),
            ("{\"a\":1e999}", None),
        ] {
            let error = Members::parse(request.as_bytes()).unwrap_err();
            assert_eq!(error.code(), INVALID_REQUEST, "{request}");
            assert_eq!(member(&error).as_deref(), named, "{request}");
        }
        assert!(Members::parse(b"{\"a\":\"\xff\"}").is_err());
        assert!(Members::parse(b" {\"a\":1} \n").is_ok());
    }

    #[test]
    fn nesting_is_at_most_128() {
        let nested = |levels: usize| {
            let text = format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
            parse(text.as_bytes())
        };
        assert!(nested(127).is_ok());
        assert!(nested(128).is_err());
        assert!(nested(1_000_000).is_err());
    }

    #[test]
    fn members_are_taken_within_their_bounds() {
        let read = |text: &str| Members::parse(text.as_bytes()).unwrap();
        assert_eq!(read("{}").integer("n", 1..=5, 3).unwrap(), 3);
        assert_eq!(read("{\"n\":5}").integer("n", 1..=5, 3).unwrap(), 5);
        for value in [
            "0",
            "6",
            "1.0",
            "1e0",
            "-1",
            "null",
            "\"1\"",
            "18446744073709551616",
        ] {
            let error = read(&format!("{{\"n\":{value}}}")).integer("n", 1..=5, 3);
            assert_eq!(member(&error.unwrap_err()).as_deref(), Some("n"), "{value}");
        }
        for value in ["null", "\"\"", "\"1234\"", "\"a\\u0000\"", "[]"] {
            let error = read(&format!("{{\"s\":{value}}}")).string("s", 1..=3);
            assert_eq!(member(&error.unwrap_err()).as_deref(), Some("s"), "{value}");
        }
        assert!(read("{}").string("s", 1..=3).is_err());
        assert_eq!(read("{}").optional_string("s", 1..=3).unwrap(), None);
        assert!(read("{\"f\":0}").flag("f", true).is_err());
        assert!(read("{}").flag("f", true).unwrap());
        let list = "{\"l\":[\"a\",\"b\"]}";
        assert_eq!(
            read(list).strings("l", 1..=2, 0..=9).unwrap(),
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(read(list).strings("l", 3..=4, 0..=9).is_err());
        assert!(read("{\"l\":[1]}").strings("l", 1..=2, 0..=9).is_err());
    }

    #[test]
    fn what_is_left_is_unknown() {
        let error = Members::parse(b"{\"z\":1}").unwrap().finish().unwrap_err();
        assert_eq!(member(&error).as_deref(), Some("z"));
    }
}
