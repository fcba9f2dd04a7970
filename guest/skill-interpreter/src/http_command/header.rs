//! Headers as options give them.

use crate::draft::{HeaderDraft, HeaderValue, Template};
use crate::failure::{Code, Failure};

/// What `Name:` with nothing after it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    /// curl takes a default away.
    Removes,
    /// wget sends it empty.
    IsEmpty,
}

/// `Name: value`.
///
/// # Errors
///
/// `header-refused` for what has no name, or a name that is no token or not literal.
pub(super) fn parse(text: &Template, bare: Bare) -> Result<HeaderDraft, Failure> {
    let (name, value) = text.split_once(':').ok_or_else(no_name)?;
    let name = name.as_literal().ok_or_else(no_name)?;
    let value = value.trim(is_blank);
    new(
        name,
        match bare {
            _ if !value.is_empty() => HeaderValue::Set(value),
            Bare::Removes => HeaderValue::Removed,
            Bare::IsEmpty => HeaderValue::Empty,
        },
    )
}

/// What curl understands: besides `Name: value` and `Name:` also `Name;`, which sends it empty.
///
/// # Errors
///
/// As [`parse`].
pub(super) fn parse_of_curl(text: &Template) -> Result<HeaderDraft, Failure> {
    if text.contains(':') {
        return parse(text, Bare::Removes);
    }
    let text = text.as_literal().ok_or_else(no_name)?;
    let name = text
        .trim_end_matches(is_blank)
        .strip_suffix(';')
        .ok_or_else(no_name)?;
    new(name.to_owned(), HeaderValue::Empty)
}

/// A header whose name is a token.
///
/// # Errors
///
/// `header-refused`.
pub(super) fn new(name: String, value: HeaderValue) -> Result<HeaderDraft, Failure> {
    if !is_token(&name) {
        return Err(no_name());
    }
    Ok(HeaderDraft { name, value })
}

/// A header with a name that is known to be one.
pub(super) fn set(name: &str, value: Template) -> HeaderDraft {
    HeaderDraft {
        name: name.to_owned(),
        value: HeaderValue::Set(value),
    }
}

/// The header that `-A` and `-e` set: nothing is sent for an empty value where `empty` says so.
pub(super) fn set_or(name: &str, value: Template, empty: HeaderValue) -> HeaderDraft {
    HeaderDraft {
        name: name.to_owned(),
        value: if value.is_empty() {
            empty
        } else {
            HeaderValue::Set(value)
        },
    }
}

/// A method of an option: a token. `CONNECT`, `TRACE` and `TRACK` are refused as in the Fetch standard: the first is no
/// request for a resource, the others send credentials back.
pub(super) fn method(value: &Template) -> Result<String, &'static str> {
    let method = value
        .as_literal()
        .filter(|method| is_token(method))
        .ok_or("names no method: that is a token")?
        .to_ascii_uppercase();
    if matches!(method.as_str(), "CONNECT" | "TRACE" | "TRACK") {
        return Err("names a method that is never mapped");
    }
    Ok(method)
}

/// Whether one of the headers has this name.
pub(super) fn has(headers: &[HeaderDraft], name: &str) -> bool {
    headers
        .iter()
        .any(|header| header.name.eq_ignore_ascii_case(name))
}

/// RFC 9110, `token`.
#[must_use]
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Blanks around a header's value.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn no_name() -> Failure {
    Failure::new(
        Code::HeaderRefused,
        "a header needs a name that is a token, and a colon after it",
    )
}
