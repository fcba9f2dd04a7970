//! Media types: what a response says its body is, and whether the request wants that.
//!
//! A type that is not well formed says nothing, so its body is read like any other; so does a response that
//! gives several types, which may disagree.

use ureq::http::HeaderMap;
use ureq::http::header::CONTENT_TYPE;

use super::FetchError;

/// Patterns of one request, at most.
const MAX_PATTERNS: usize = 32;

/// What the spaces of HTTP are, around a type and its parameters.
const SPACE: [char; 4] = ['\t', '\n', '\r', ' '];

/// Checks the patterns of a request: `type/subtype`, `type/*` or `*/*+suffix`, in lower case.
///
/// # Errors
/// [`FetchError::InvalidRequest`] for any other text, and for too many.
pub(super) fn check(patterns: &[String]) -> Result<(), FetchError> {
    let acceptable =
        patterns.len() <= MAX_PATTERNS && patterns.iter().all(|pattern| is_pattern(pattern));
    acceptable.then_some(()).ok_or(FetchError::InvalidRequest)
}

/// Whether a response with these headers has a body that one of `patterns` wants.
pub(super) fn is_wanted(patterns: &[String], headers: &HeaderMap) -> bool {
    if patterns.is_empty() {
        return true;
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let essence = match (types.next(), types.next()) {
        (Some(value), None) => value.to_str().ok().and_then(essence),
        _ => None,
    };
    essence.is_none_or(|essence| patterns.iter().any(|pattern| matches(pattern, &essence)))
}

/// Type and subtype of a `content-type`, in lower case, without parameters (MIME Sniffing Standard, 4.4).
fn essence(value: &str) -> Option<String> {
    let (kind, rest) = value.trim_matches(SPACE).split_once('/')?;
    let subtype = rest.split(';').next()?.trim_end_matches(SPACE);
    (is_token(kind) && is_token(subtype)).then(|| format!("{kind}/{subtype}").to_ascii_lowercase())
}

fn matches(pattern: &str, essence: &str) -> bool {
    if let Some(suffix) = pattern.strip_prefix("*/*") {
        return essence.ends_with(suffix);
    }
    match pattern.strip_suffix('*') {
        Some(kind) => essence.starts_with(kind),
        None => pattern == essence,
    }
}

fn is_pattern(pattern: &str) -> bool {
    let Some((kind, subtype)) = pattern.split_once('/') else {
        return false;
    };
    let is_name = |text: &str| {
        is_token(text) && !text.contains('*') && !text.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    match (kind, subtype) {
        ("*", subtype) => subtype.strip_prefix("*+").is_some_and(is_name),
        (kind, "*") => is_name(kind),
        (kind, subtype) => is_name(kind) && is_name(subtype),
    }
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ureq::http::HeaderValue;

    fn wanted(patterns: &[&str], types: &[&str]) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|&text| text.to_owned()).collect();
        assert_eq!(check(&patterns), Ok(()));
        let mut headers = HeaderMap::new();
        for value in types {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(CONTENT_TYPE, value);
        }
        is_wanted(&patterns, &headers)
    }

    #[test]
    fn a_pattern_is_a_type_a_kind_or_a_suffix() {
        for (pattern, value, expected) in [
            ("text/*", "text/plain", true),
            ("text/*", " TEXT/Plain ; charset=x", true),
            ("text/*", "text/plain;", true),
            ("text/*", "textual/plain", false),
            ("text/*", "x-text/plain", false),
            ("application/json", "application/json", true),
            ("application/json", "application/json5", false),
            ("application/json", "application/jso", false),
            ("*/*+json", "application/ld+json", true),
            ("*/*+json", "IMAGE/x+JSON;v=1", true),
            ("*/*+json", "application/json", false),
            ("*/*+json", "application/x+json+zip", false),
        ] {
            assert_eq!(wanted(&[pattern], &[value]), expected, "{pattern} {value}");
        }
        assert!(wanted(&["text/*", "application/xml"], &["application/xml"]));
        assert!(wanted(&[], &["image/png"]));
    }

    #[test]
    fn what_is_not_a_type_says_nothing() {
        for value in [
            "",
            "/",
            "image",
            "image/",
            "/png",
            "image/png, text/html",
            "ima ge/png",
            "image /png",
            "image/ png",
            "imagé/png",
            ";image/png",
        ] {
            assert!(wanted(&["text/*"], &[value]), "{value:?}");
        }
        assert!(wanted(&["text/*"], &[]));
        assert!(wanted(&["text/*"], &["image/png", "image/png"]));
    }

    #[test]
    fn patterns_of_other_forms_and_too_many_are_refused() {
        for pattern in [
            "",
            "*",
            "*/*",
            "text",
            "text/",
            "/plain",
            "*/json",
            "*/*+",
            "*/*json",
            "text/p*",
            "te*/plain",
            "Text/*",
            "*/*+JSON",
            "text/a b",
            "text/a/b",
            "text/plain;q=1",
        ] {
            let refused = check(&[pattern.to_owned()]);
            assert_eq!(refused, Err(FetchError::InvalidRequest), "{pattern:?}");
        }
        let pattern = || "text/*".to_owned();
        assert_eq!(check(&vec![pattern(); 32]), Ok(()));
        assert_eq!(check(&vec![pattern(); 33]), Err(FetchError::InvalidRequest));
    }
}
