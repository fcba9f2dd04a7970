//! Y-05: which tags are known, and whether a node fits its tag.

use granit_parser::{Span, Tag};

use super::YamlError;

/// A collection may carry no tag, `!` or the tag of its own kind (`seq` or `map`).
pub(super) fn check_collection(
    tag: Option<&Tag>,
    kind: &str,
    text: &str,
    span: Span,
) -> Result<(), YamlError> {
    match tag {
        None => Ok(()),
        Some(_) if is_non_specific(text, span) => Ok(()),
        Some(tag) if tag.core_suffix() == Some(kind) => Ok(()),
        Some(tag) => Err(misfit(tag)),
    }
}

/// Whether a scalar is null (Y-02), after checking that it fits its tag.
pub(super) fn scalar_is_null(
    tag: Option<&Tag>,
    content: &str,
    plain: bool,
    text: &str,
    span: Span,
) -> Result<bool, YamlError> {
    let Some(tag) = tag else {
        return Ok(plain && is_null(content));
    };
    if is_non_specific(text, span) {
        return Ok(false);
    }
    let fits = match tag.core_suffix() {
        Some("str") => true,
        Some("null") => is_null(content),
        Some("bool") => matches!(
            content,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
        ),
        Some("int") => is_int(content),
        Some("float") => is_float(content),
        _ => false,
    };
    if fits {
        Ok(tag.core_suffix() == Some("null"))
    } else {
        Err(misfit(tag))
    }
}

/// `!` alone says that a scalar is text, whatever it looks like. `!<!>` is no tag.
fn is_non_specific(text: &str, span: Span) -> bool {
    span.tag_span().and_then(|tag| tag.slice(text)) == Some("!")
}

fn misfit(tag: &Tag) -> YamlError {
    YamlError::Tag {
        tag: tag.original(),
    }
}

fn is_null(content: &str) -> bool {
    matches!(content, "" | "~" | "null" | "Null" | "NULL")
}

/// `[-+]?[0-9]+`, `0o[0-7]+` or `0x[0-9a-fA-F]+` (YAML 1.2.2, 10.3.2).
fn is_int(content: &str) -> bool {
    let all = |digits: &str, is_digit: fn(&u8) -> bool| {
        !digits.is_empty() && digits.as_bytes().iter().all(is_digit)
    };
    if let Some(octal) = content.strip_prefix("0o") {
        return all(octal, |byte| (b'0'..=b'7').contains(byte));
    }
    if let Some(hexadecimal) = content.strip_prefix("0x") {
        return all(hexadecimal, u8::is_ascii_hexdigit);
    }
    all(unsigned(content), u8::is_ascii_digit)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, infinities and not-a-number (YAML 1.2.2, 10.3.2).
fn is_float(content: &str) -> bool {
    if matches!(content, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let number = unsigned(content);
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
