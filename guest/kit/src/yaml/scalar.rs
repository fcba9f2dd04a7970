//! The core schema of YAML 1.2.2 (10.3): what a plain scalar is, and which tags there are.

use granit_parser::{Span, Tag};
use serde_json::Number;

use super::Scalar;

/// What a plain scalar without a tag is.
pub(super) fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        // Most scalars are words.
        _ if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
            Scalar::Text
        }
        _ if is_integer(text) => Scalar::Integer,
        _ if is_float(text) => Scalar::Number,
        _ => Scalar::Text,
    }
}

/// What a scalar with a tag is; none where it does not fit the tag or the tag is not of the core schema.
pub(super) fn tagged(tag: &Tag, content: &str, source: &str, span: Span) -> Option<Scalar> {
    if is_non_specific(source, span) {
        return Some(Scalar::Text);
    }
    match (tag.core_suffix()?, plain(content)) {
        ("str", _) => Some(Scalar::Text),
        ("null", Scalar::Null) => Some(Scalar::Null),
        ("bool", Scalar::Bool(value)) => Some(Scalar::Bool(value)),
        ("int", Scalar::Integer) => Some(Scalar::Integer),
        ("float", Scalar::Integer | Scalar::Number) => Some(Scalar::Number),
        _ => None,
    }
}

/// Whether a collection may carry a tag: `!`, or that of its own kind (`seq` or `map`).
pub(super) fn fits_collection(tag: &Tag, kind: &str, source: &str, span: Span) -> bool {
    is_non_specific(source, span) || tag.core_suffix() == Some(kind)
}

/// `!` alone says that a scalar is text, whatever it looks like. `!<!>` is no tag.
fn is_non_specific(source: &str, span: Span) -> bool {
    span.tag_span().and_then(|tag| tag.slice(source)) == Some("!")
}

/// `[-+]?[0-9]+`, `0o[0-7]+` or `0x[0-9a-fA-F]+`
fn is_integer(text: &str) -> bool {
    let all = |digits: &str, is_digit: fn(&u8) -> bool| {
        !digits.is_empty() && digits.as_bytes().iter().all(is_digit)
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |byte| (b'0'..=b'7').contains(byte));
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return all(hexadecimal, u8::is_ascii_hexdigit);
    }
    all(unsigned(text), u8::is_ascii_digit)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, infinities and not-a-number
fn is_float(text: &str) -> bool {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let number = unsigned(text);
    if matches!(number, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (number, None),
    };
    let digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => {
            digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty())
        }
        None => digits(mantissa) && !mantissa.is_empty(),
    };
    mantissa_fits && exponent.is_none_or(|exponent| digits(exponent) && !exponent.is_empty())
}

fn unsigned(number: &str) -> &str {
    number.strip_prefix(['-', '+']).unwrap_or(number)
}

/// The number that a source text stands for; none for what no number of JSON is: infinities, not-a-number, and integers
/// that neither 64 bits nor a double hold exactly.
pub(super) fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(octal) = text.strip_prefix("0o") {
        return radix(octal, 8);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return radix(hexadecimal, 16);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    // As serde_json reads it: `-0` is a double.
    if text != "-0" {
        let small = text.parse::<u64>().map(Number::from);
        if let Ok(number) = small.or_else(|_| text.parse::<i64>().map(Number::from)) {
            return Some(number);
        }
    }
    let is_numeral = text.bytes().any(|byte| byte.is_ascii_digit());
    let number = text.parse::<f64>().ok().filter(|_| is_numeral)?;
    let digits = |text: &str| text.trim_start_matches(['-', '0']).to_owned();
    let is_exact = !is_integer(text) || digits(&format!("{number:.0}")) == digits(text);
    is_exact.then(|| Number::from_f64(number)).flatten()
}
