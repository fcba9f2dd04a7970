//! Headers that no request of a skill may set, because they say who asks, for what, or where a request ends.

/// Headers of the connection, and those that some servers obey instead of method, path or host: under a rule for one
/// method and path they would ask for another one.
const REFUSED: [&str; 22] = [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-host",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-override-url",
    "x-rewrite-url",
];

/// Beginnings of names that are refused likewise.
const REFUSED_BEGINNINGS: [&str; 3] = ["proxy-", "sec-", "x-forwarded-"];

/// Whether a header is the host's to set. Case does not matter, and `_` counts as `-`: a server that gives headers to
/// programs as variables (RFC 3875, section 4.1.18) does not tell them apart.
#[must_use]
pub fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    REFUSED.contains(&name.as_str())
        || REFUSED_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}
