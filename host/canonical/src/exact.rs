//! JSON whose numbers stay as they were written.
//!
//! `serde_json` keeps a number in 64 bits. Its features `arbitrary_precision` and `raw_value` would keep the text, but every
//! crate of the build then gets them, and an object whose one member has a magic name is parsed as something else, past
//! every bound. So `serde_json` reads here as ever, with its bounds, and the text of each number is found beside it.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::str;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Numeral),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of the text; no name stands twice.
    Object(Vec<(String, Json)>),
}

/// The text of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numeral(String);

impl Numeral {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number that `serde_json` has for it.
    fn nearest(&self) -> Option<Number> {
        serde_json::from_str(&self.0).ok()
    }
}

impl Json {
    /// Reads JSON, at most 128 levels deep.
    ///
    /// # Errors
    ///
    /// Of a text that is no JSON; an object with two members of one name; a number that no double comes near.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let text = str::from_utf8(bytes).map_err(serde_json::Error::custom)?;
        let mut numbers = text;
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = Reader(&mut numbers).deserialize(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// Whether `serde_json` writes it as it was written.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Number(text) => {
                let nearest = text.nearest();
                nearest.is_some_and(|number| number.to_string() == text.as_str())
            }
            Self::Array(items) => items.iter().all(Self::is_plain),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_plain()),
            _ => true,
        }
    }

    /// A member of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let members = self.as_object()?.iter();
        members
            .into_iter()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The members of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The values that `serde_json` has for it: one, or where a number lies between two of its own, one with the lower and one
    /// with the higher of them. A bound that holds of both holds of what is between.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let mut is_exact = true;
        let nearest = self.value(Side::Nearest, &mut is_exact);
        if is_exact {
            return vec![nearest];
        }
        let other = |side| self.value(side, &mut true);
        vec![other(Side::Below), other(Side::Above)]
    }

    /// The value that `serde_json` has for it.
    #[must_use]
    pub fn nearest(&self) -> Value {
        self.value(Side::Nearest, &mut true)
    }

    fn value(&self, side: Side, is_exact: &mut bool) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(text) => {
                let Some(nearest) = text.nearest() else {
                    return Value::Null;
                };
                let between = nearest
                    .as_f64()
                    .filter(|_| !is_same(text.as_str(), &nearest));
                *is_exact &= between.is_none();
                let beside = between.and_then(|double| match side {
                    Side::Nearest => None,
                    Side::Below => is_below(text.as_str(), double).then(|| double.next_down()),
                    Side::Above => (!is_below(text.as_str(), double)).then(|| double.next_up()),
                });
                Value::Number(beside.and_then(Number::from_f64).unwrap_or(nearest))
            }
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => {
                let items = items.iter().map(|item| item.value(side, is_exact));
                Value::Array(items.collect())
            }
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| (name.clone(), value.value(side, is_exact)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Canonical JSON (RFC 8785), but that numbers are written as they were.
    #[must_use]
    pub fn canonical(&self) -> String {
        fn sorted(value: &Json) -> Json {
            match value {
                Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
                Json::Object(members) => {
                    let mut members: Vec<_> = members
                        .iter()
                        .map(|(name, value)| (name.clone(), sorted(value)))
                        .collect();
                    members.sort_by_cached_key(|(name, _)| name.encode_utf16().collect::<Vec<_>>());
                    Json::Object(members)
                }
                other => other.clone(),
            }
        }
        sorted(self).to_string()
    }
}

/// Without blanks.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let string = |f: &mut fmt::Formatter<'_>, text: &str| write!(f, "{}", Value::from(text));
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text.as_str()),
            Self::String(text) => string(f, text),
            Self::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (index, (name, value)) in members.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    string(f, name)?;
                    f.write_char(':')?;
                    value.fmt(f)?;
                }
                f.write_char('}')
            }
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(Numeral(number.to_string())),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                let members = members.into_iter();
                Self::Object(members.map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

/// Reads a value; before it, the text from which the next number is taken.
struct Reader<'n, 't>(&'n mut &'t str);

impl Reader<'_, '_> {
    /// The number that `serde_json` has just read.
    fn number(self) -> Json {
        let bytes = self.0.as_bytes();
        let mut start = 0;
        while let Some(byte) = bytes.get(start) {
            match byte {
                b'-' | b'0'..=b'9' => break,
                b'"' => start = end_of_string(bytes, start),
                _ => {}
            }
            start += 1;
        }
        let rest = self.0.get(start..).unwrap_or_default();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        let (number, after) = end
            .and_then(|end| rest.split_at_checked(end))
            .unwrap_or((rest, ""));
        *self.0 = after;
        Json::Number(Numeral(number.to_owned()))
    }
}

/// Where the string that begins at `start` has its last quotation mark.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

impl<'de> DeserializeSeed<'de> for Reader<'_, '_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Json, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, '_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Json, E> {
        Ok(self.number())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Json, E> {
        Ok(self.number())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Json, E> {
        Ok(self.number())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Reader(&mut *self.0))? {
            all.push(item);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            all.push((name, members.next_value_seed(Reader(&mut *self.0))?));
        }
        let mut names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => {
                let name = pair.first().copied().unwrap_or_default();
                let message = format!("the key {} stands twice in one object", Value::from(name));
                Err(A::Error::custom(message))
            }
            None => Ok(Json::Object(all)),
        }
    }
}

/// Which double a number is taken for that is none.
#[derive(Clone, Copy)]
enum Side {
    Nearest,
    Below,
    Above,
}

/// Whether a number stands for just what its text says.
fn is_same(text: &str, number: &Number) -> bool {
    match number.as_f64() {
        Some(double) if number.is_f64() => decimal(text) == decimal(&format!("{double:e}")),
        _ => true,
    }
}

/// Whether a number is less than the double that is nearest to it.
fn is_below(text: &str, double: f64) -> bool {
    // No double has more significant digits than 767, and 25 digits more than the text has tell the two apart.
    let text = decimal(text);
    let digits = text.as_ref().map_or(0, |text| text.digits.len());
    let digits = digits.saturating_add(25).min(800);
    let size = match (text, decimal(&format!("{double:.digits$e}"))) {
        (Some(text), Some(double)) => text.size().cmp(&double.size()),
        // An exponent that is out of bounds is that of a number next to zero, which is taken for zero.
        _ => Ordering::Greater,
    };
    size == if double.is_sign_negative() {
        Ordering::Greater
    } else {
        Ordering::Less
    }
}

/// The digits of a number, its sign left out.
#[derive(PartialEq)]
struct Decimal {
    /// Without zeros around them.
    digits: String,
    /// The power of ten of the last one.
    power: i64,
}

impl Decimal {
    /// In the order of numbers: where the first digit stands, then the digits.
    fn size(&self) -> (Option<i64>, &str) {
        let length = i64::try_from(self.digits.len()).ok();
        let first = length.filter(|length| *length > 0);
        (
            first.map(|length| length.saturating_add(self.power)),
            &self.digits,
        )
    }
}

/// Reads the digits of a number; none where its exponent is out of bounds.
fn decimal(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = all.trim_end_matches('0');
    let digits = significant.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some(Decimal { digits, power: 0 });
    }
    let zeros = i64::try_from(all.len().checked_sub(significant.len())?).ok()?;
    let places = i64::try_from(fraction.len()).ok()?;
    let exponent: i64 = exponent.parse().ok()?;
    let power = exponent.checked_sub(places)?.checked_add(zeros)?;
    Some(Decimal { digits, power })
}
