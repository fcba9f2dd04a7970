//! The values a PDF is made of (ISO 32000-2, 7.3).

use std::collections::BTreeMap;
use std::ops::Range;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Name(Box<[u8]>),
    String(Box<[u8]>),
    Array(Vec<Object>),
    Dict(Dict),
    /// The number of an indirect object; generations are not told apart.
    Reference(u32),
    Stream(Stream),
}

/// A stream: what is said of it, and where its bytes stand in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    pub(super) dict: Dict,
    pub(super) bytes: Range<usize>,
}

/// A dictionary; of a key that stands twice the last value counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dict(BTreeMap<Box<[u8]>, Object>);

impl Dict {
    pub(super) fn insert(&mut self, key: Box<[u8]>, value: Object) {
        self.0.insert(key, value);
    }

    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        self.0.get(key.as_bytes())
    }

    pub(super) fn get_bytes(&self, key: &[u8]) -> Option<&Object> {
        self.0.get(key)
    }

    /// Whether a key is a name.
    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.get(key).and_then(Object::name) == Some(name.as_bytes())
    }
}

impl Object {
    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn string(&self) -> Option<&[u8]> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            Self::Real(real) => whole(*real),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            // Beyond 53 bits nothing is a coordinate.
            Self::Integer(integer) => i32::try_from(*integer).ok().map(f64::from),
            Self::Real(real) => Some(*real),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Object]> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The dictionary, of a stream too.
    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            Self::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    pub(super) fn stream(&self) -> Option<&Stream> {
        match self {
            Self::Stream(stream) => Some(stream),
            _ => None,
        }
    }
}

/// A real number without its fraction.
#[allow(clippy::as_conversions, reason = "checked to be within i32")]
pub(super) fn whole(real: f64) -> Option<i64> {
    (real.abs() < 2_147_483_648.0).then_some(real as i64)
}
