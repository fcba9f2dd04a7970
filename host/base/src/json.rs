//! Reading JSON strictly and writing it for people.
//!
//! A derived `Deserialize` notices a member that it knows and that occurs twice, but not a key that a map or
//! a free value holds twice; two readers of one signed file could then see two different things. So the
//! text is walked once, lexically, before it is parsed: duplicate names and nesting are refused there, and
//! everything else is serde_json's.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::escape::excerpt;

/// Objects and arrays within each other.
const MAX_NESTING: usize = 128;

/// Why some bytes are not the JSON that was expected. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not UTF-8.
    #[error("not UTF-8 at line {line} column {column}")]
    NotUtf8 {
        /// Where.
        line: usize,
        /// Where.
        column: usize,
    },
    /// U+FEFF before the value.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// An object names a member twice.
    #[error("duplicate member `{name}` at line {line} column {column}")]
    Duplicate {
        /// The name, escaped and cut.
        name: String,
        /// Where it occurs again.
        line: usize,
        /// Where it occurs again.
        column: usize,
    },
    /// More than 128 objects and arrays within each other.
    #[error("nested deeper than {MAX_NESTING} at line {line} column {column}")]
    Nesting {
        /// Where the 129th begins.
        line: usize,
        /// Where the 129th begins.
        column: usize,
    },
    /// Not JSON, or not of the shape that is asked for.
    #[error("{message} at line {line} column {column}")]
    Invalid {
        /// What is wrong, escaped and cut.
        message: String,
        /// Where.
        line: usize,
        /// Where.
        column: usize,
    },
}

/// Reads one JSON value of a known shape from `bytes`. The caller bounds their number.
///
/// # Errors
///
/// [`JsonError`] says what is wrong and where, with at most 200 characters of the input.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (line, column) = position(bytes, error.valid_up_to());
        JsonError::NotUtf8 { line, column }
    })?;
    if text.starts_with('\u{feff}') {
        return Err(JsonError::ByteOrderMark);
    }
    check_names_and_nesting(bytes)?;
    // serde_json stops one level before the bound here does; how deep it is was checked above.
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let parsed = T::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    parsed.map_err(|error| invalid(&error, error.line(), error.column()))
}

/// `value` with 2 spaces of indent, `[]` for an empty array and no final newline.
#[must_use]
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Fails only for maps whose keys are no strings, which no type of this crate has.
    serde_json::to_vec_pretty(value).unwrap_or_default()
}

/// Refuses duplicate names and deep nesting; what is no JSON passes unless a string is broken, and the
/// parser refuses it. Answers the deepest nesting.
fn check_names_and_nesting(bytes: &[u8]) -> Result<usize, JsonError> {
    // The names of each open object; `None` for an open array.
    let mut open: Vec<Option<BTreeSet<String>>> = Vec::new();
    let mut deepest = 0;
    let mut name_is_next = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let mut next = at.saturating_add(1);
        match byte {
            b'"' => {
                next = end_of_string(bytes, at);
                if name_is_next {
                    let name = bytes.get(at..next).unwrap_or_default();
                    take_name(bytes, at, name, open.last_mut())?;
                }
                name_is_next = false;
            }
            b'{' | b'[' => {
                let object = *byte == b'{';
                open.push(object.then(BTreeSet::new));
                name_is_next = object;
                deepest = deepest.max(open.len());
                if open.len() > MAX_NESTING {
                    let (line, column) = position(bytes, at);
                    return Err(JsonError::Nesting { line, column });
                }
            }
            b'}' | b']' => {
                open.pop();
                name_is_next = false;
            }
            b',' => name_is_next = matches!(open.last(), Some(Some(_))),
            _ => {}
        }
        at = next;
    }
    Ok(deepest)
}

/// Notes the name that the string literal `literal` at `at` spells; escapes are undone, so that `"\u0061"`
/// and `"a"` are one name.
fn take_name(
    bytes: &[u8],
    at: usize,
    literal: &[u8],
    names: Option<&mut Option<BTreeSet<String>>>,
) -> Result<(), JsonError> {
    let name: String = serde_json::from_slice(literal).map_err(|error| {
        let (line, column) = position(bytes, at);
        invalid(&error, line, column)
    })?;
    let Some(Some(names)) = names else {
        return Ok(());
    };
    if names.contains(&name) {
        let (line, column) = position(bytes, at);
        let name = excerpt(&name);
        return Err(JsonError::Duplicate { name, line, column });
    }
    names.insert(name);
    Ok(())
}

/// The position after the string literal that begins at `start`, or the end of the input.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start.saturating_add(1);
    while let Some(byte) = bytes.get(at) {
        at = at.saturating_add(1);
        match byte {
            b'"' => return at,
            b'\\' => at = at.saturating_add(1),
            _ => {}
        }
    }
    bytes.len()
}

fn invalid(error: &serde_json::Error, line: usize, column: usize) -> JsonError {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    JsonError::Invalid {
        message: excerpt(message.get(..end).unwrap_or_default()),
        line,
        column,
    }
}

fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or_default();
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n');
    (lines.saturating_add(1), column.count().saturating_add(1))
}

#[cfg(test)]
mod tests;
