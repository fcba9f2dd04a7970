//! Which headers a guest may set.
//!
//! Those of the transport and of identity are the host's: a guest that could set them could smuggle a
//! second request, speak as somebody else, or ask for an encoding that nobody decodes.

use hydrant_plan::header::is_refused;

use super::FetchError;

/// Headers of one request, at most.
const MAX_HEADERS: usize = 100;

/// Bytes of all names and values of one request, at most.
const MAX_BYTES: usize = 64 * 1024;

/// Names that say who asks, or in which form the answer comes.
const FORBIDDEN: [&str; 5] = [
    "accept-encoding",
    "authorization",
    "cookie",
    "referer",
    "user-agent",
];

/// Checks the headers of a request.
///
/// # Errors
/// [`FetchError::InvalidRequest`] for a forbidden name, one that is no lower-case token, a value with a
/// control character or beyond ASCII, and for too many headers or bytes.
pub(super) fn check(headers: &[(String, String)]) -> Result<(), FetchError> {
    let bytes = headers.iter().fold(0_usize, |sum, (name, value)| {
        sum.saturating_add(name.len()).saturating_add(value.len())
    });
    let acceptable = headers.len() <= MAX_HEADERS
        && bytes <= MAX_BYTES
        && headers
            .iter()
            .all(|(name, value)| is_settable(name) && is_value(value));
    acceptable.then_some(()).ok_or(FetchError::InvalidRequest)
}

fn is_settable(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(is_lower_case_token)
        && !FORBIDDEN.contains(&name)
        && !is_refused(name)
}

fn is_lower_case_token(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &str) -> Result<(), FetchError> {
        check(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn headers_of_the_transport_and_of_identity_are_refused() {
        for name in [
            "host",
            "content-length",
            "connection",
            "transfer-encoding",
            "cookie",
            "authorization",
            "proxy-authorization",
            "accept-encoding",
            "user-agent",
            "expect",
            "x-http-method-override",
            "x_http_method_override",
            "x-original-url",
            "x-rewrite-url",
            "Host",
            "ACCEPT",
            "",
            "a b",
            "a:b",
            "a\r\nhost",
        ] {
            assert_eq!(one(name, "x"), Err(FetchError::InvalidRequest), "{name:?}");
        }
    }

    #[test]
    fn a_value_smuggles_no_second_header() {
        for value in ["a\r\nhost: b", "a\nb", "a\rb", "a\0b", "a\u{7f}", "é"] {
            assert_eq!(
                one("accept", value),
                Err(FetchError::InvalidRequest),
                "{value:?}"
            );
        }
        assert_eq!(one("accept", "text/markdown, */*;q=0.1"), Ok(()));
    }

    #[test]
    fn the_number_of_headers_is_bounded() {
        let header = || ("accept".to_owned(), "x".to_owned());
        assert_eq!(check(&vec![header(); 100]), Ok(()));
        assert_eq!(check(&vec![header(); 101]), Err(FetchError::InvalidRequest));
        let long = ("accept".to_owned(), "x".repeat(64 * 1024));
        assert_eq!(check(&[long]), Err(FetchError::InvalidRequest));
    }
}
