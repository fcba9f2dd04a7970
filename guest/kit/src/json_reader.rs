//! Reading JSON strictly: no name twice in an object, nesting at most 128.
//!
//! Numbers are kept as they are written only where `serde_json` has its feature `arbitrary_precision`, which `json.validate`
//! alone turns on. It hands a number over as a map whose only member has a private name, and its text as an owned string.
//! Strings of the text are never owned there, which tells an object of that name from a number: what a stranger writes as
//! an object stays one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Objects and arrays within each other.
const MAX_NESTING: usize = 128;

/// The name that stands for a number.
const NUMBER: &str = "$serde_json::private::Number";

/// What several members of one name in one object mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// The text is refused.
    Once,
    /// The last one counts.
    LastCounts,
}

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not JSON.
    Syntax(String),
    /// A member is there twice.
    Twice(String),
    /// Objects and arrays nest too deeply.
    TooDeep,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => f.write_str(error),
            Self::Twice(name) => write!(f, "`{name}` is given twice"),
            Self::TooDeep => write!(f, "nested deeper than {MAX_NESTING}"),
        }
    }
}

/// Reads one JSON value.
///
/// # Errors
/// See [`Refusal`].
pub fn read(text: &[u8], names: Names) -> Result<Value, Refusal> {
    let mut state = State {
        names,
        refusal: None,
        is_number: false,
    };
    let mut json = serde_json::Deserializer::from_slice(text);
    json.disable_recursion_limit();
    let reader = Reader {
        // A number in the innermost container is one level more.
        levels: MAX_NESTING.saturating_add(1),
        state: &mut state,
    };
    let value = reader
        .deserialize(&mut json)
        .and_then(|value| json.end().map(|()| value));
    value.map_err(|error| {
        let refusal = state.refusal;
        refusal.unwrap_or_else(|| Refusal::Syntax(error.to_string()))
    })
}

struct State {
    names: Names,
    refusal: Option<Refusal>,
    /// The string read last was the text of a number.
    is_number: bool,
}

/// Reads one value, with the levels of nesting that are left.
struct Reader<'a> {
    levels: usize,
    state: &'a mut State,
}

impl Reader<'_> {
    /// Reads what is inside, where at least so many levels have to be left.
    fn inner<E: Error>(&mut self, least: usize) -> Result<Reader<'_>, E> {
        if self.levels < least {
            self.state.refusal = Some(Refusal::TooDeep);
            return Err(E::custom("nested too deeply"));
        }
        Ok(Reader {
            levels: self.levels.saturating_sub(1),
            state: self.state,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.state.is_number = true;
        text.parse::<Number>().map(Value::Number).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.inner(2)?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if self.state.names == Names::Once && values.contains_key(&name) {
                self.state.refusal = Some(Refusal::Twice(name));
                return Err(A::Error::custom("a member is given twice"));
            }
            let may_be_number = values.is_empty() && name == NUMBER;
            let levels = if may_be_number { 1 } else { 2 };
            let value = members.next_value_seed(self.inner(levels)?)?;
            if std::mem::take(&mut self.state.is_number) && may_be_number {
                return Ok(value);
            }
            values.insert(name, value);
        }
        // An object without members is as deep as one with some.
        self.inner(2)?;
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_object_counts_for_the_depth_like_an_empty_array() {
        let read_within = |arrays: usize, inner: &str| {
            let text = format!("{}{inner}{}", "[".repeat(arrays), "]".repeat(arrays));
            read(text.as_bytes(), Names::Once)
        };
        for inner in ["{}", "[]"] {
            assert!(read_within(127, inner).is_ok());
            assert_eq!(read_within(128, inner), Err(Refusal::TooDeep));
        }
        assert!(read_within(128, "1").is_ok());
    }
}
