//! Why a fetch has no response, as the error of the skill.

use serde_json::{Value, json};

use crate::SkillError;
use crate::host::fetch::{FetchError, FetchFailure};
use crate::members::invalid;
use crate::path::denied;

/// Returns the error of a skill for a failure of the host; the member `url` of the request is what was fetched.
#[must_use]
pub fn fetch_error(failure: &FetchFailure) -> SkillError {
    let url = failure.url.as_str();
    let plain = |code, what: &str| SkillError::new(code, &format!("{what}: {url}"));
    let with = |code, what, details: Value| plain(code, what).with_details(details.to_string());
    let network = |what, phase| with("network", what, json!({ "phase": phase }));
    match failure.reason {
        FetchError::Denied => denied("net.http", url),
        FetchError::RedirectDenied => with(
            "denied",
            "a redirect leads where nothing may be fetched",
            json!({ "capability": format!("net.http:{url}"), "redirect_to": url }),
        ),
        FetchError::Redirects => with(
            "too_large",
            "more than 5 redirects, or one that leads nowhere",
            json!({ "reason": "redirects" }),
        ),
        FetchError::InvalidRequest => invalid(
            "url",
            "is not an http or https URL without user name and password",
        ),
        FetchError::UnsupportedEncoding => with(
            "unsupported",
            "the content encoding cannot be read",
            json!({ "reason": "content_encoding" }),
        ),
        FetchError::TooLarge => with(
            "too_large",
            "the compressed body is out of all proportion to its content",
            json!({ "reason": "body" }),
        ),
        FetchError::Timeout => plain("timeout", "not answered in time"),
        FetchError::Dns => network("the name could not be resolved", "dns"),
        FetchError::Connect => network("no connection", "connect"),
        FetchError::Tls => network("the TLS handshake failed", "tls"),
        FetchError::Protocol => network("the answer is no HTTP", "http"),
    }
}
