//! `fetch`: HTTP requests to the URLs that the policy names.
//!
//! A request passes three gates, again on every redirect: its text, the policy's rules, and the
//! addresses of its host. Nothing of the environment takes part: no proxy, no cookies, no
//! credentials. What a body means is the guest's business.

mod body;
mod client;
mod connect;
mod credential;
mod exchange;
mod headers;
mod media;
mod once;
mod resolve;
mod send;
mod single;
mod target;
pub(crate) mod tcp;
#[cfg(test)]
mod tests;

use std::time::Duration;

use url::Url;

use self::exchange::exchange;
use super::stop::settle;
use super::{BudgetExceeded, Call, parallel, turn};

pub use self::client::{Fetcher, FetcherError};
pub use self::credential::{Credential, UnusableKey};
pub(super) use self::once::get_once;
#[cfg(test)]
pub(super) use self::resolve::Lookup;
pub use self::send::header_map;
pub use self::single::{Single, SingleResponse, send_single};
pub(super) use self::target::is_plain;

pub use super::Overflow;
pub use hydrant_policy::Method;

/// Bytes of one response body, at most; a larger `max_bytes` counts as this.
pub const MAX_BODY_BYTES: u32 = 8 * 1024 * 1024;

/// Bytes of a URL, at most.
const MAX_URL_BYTES: usize = 8192;

/// Time of one request, at most.
const MAX_TIMEOUT_MS: u32 = 120_000;

/// Redirects of one request, at most.
const MAX_REDIRECTS: u8 = 5;

/// What a hydration says it likes to read.
const RESOURCE_ACCEPT: &str = "text/markdown, text/plain;q=0.9, */*;q=0.1";

/// The time for one resource of a hydration.
const RESOURCE_TIMEOUT_MS: u32 = 10_000;

/// Why there is no response. Closed: no other reason exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The policy, the manifest or the address check forbids the URL.
    #[error("denied")]
    Denied,
    /// A redirect led to a URL or an address that is forbidden; nothing was sent there.
    #[error("redirect denied")]
    RedirectDenied,
    /// More redirects than asked for, or one without a usable `location`.
    #[error("too many redirects")]
    Redirects,
    /// Not an http or https URL, or one with a user name, or a header that may not be set.
    #[error("not a valid request")]
    InvalidRequest,
    /// A content encoding that was not asked for.
    #[error("unsupported content encoding")]
    UnsupportedEncoding,
    /// The body is longer than `max_bytes`, under [`Overflow::Refuse`].
    #[error("too large")]
    TooLarge,
    /// The time was up.
    #[error("timed out")]
    Timeout,
    /// The name could not be resolved.
    #[error("the name could not be resolved")]
    Dns,
    /// No connection.
    #[error("no connection")]
    Connect,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed")]
    Tls,
    /// The answer is no HTTP, or the connection ended before it was complete.
    #[error("the answer is no HTTP, or ended before it was complete")]
    Protocol,
}

/// The content encodings that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encodings {
    /// `accept-encoding: identity`.
    Identity,
    /// `accept-encoding: gzip`; an answer in gzip is decoded.
    Gzip,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// Absolute, http or https, at most 8,192 bytes. A fragment is not sent.
    pub url: String,
    /// Lower-case names and values; not those of the transport.
    pub headers: Vec<(String, String)>,
    /// The body to send.
    pub body: Option<Vec<u8>>,
    /// What is asked for.
    pub encodings: Encodings,
    /// Bytes of the body after decoding, at most [`MAX_BODY_BYTES`]; a larger value counts as that.
    pub max_bytes: u32,
    /// What happens to a longer body.
    pub overflow: Overflow,
    /// From the start of the first request to the last byte, redirects included; 1 to 120,000 ms.
    pub timeout_ms: u32,
    /// Redirects that are followed, 0 to 5.
    pub max_redirects: u8,
    /// Media types of a body that is wanted, in lower case: `type/subtype`, `type/*` or `*/*+suffix`; at most
    /// 32. A body of another well-formed type is not read. Without any, every body is wanted.
    pub body_types: Vec<String>,
}

/// The final answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The URL that answered.
    pub url: String,
    /// Lower-case names; values that are not UTF-8 are left out.
    pub headers: Vec<(String, String)>,
    /// The body, decoded.
    pub body: Vec<u8>,
    /// The body has at least one byte more.
    pub truncated: bool,
    /// The body was left where it is, because its type is none of [`HttpRequest::body_types`].
    pub unread: bool,
}

/// Why there is no response, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct FetchFailure {
    /// What went wrong.
    pub reason: FetchError,
    /// The URL of the hop that failed, serialised, without its fragment: the request's, or the target of a
    /// redirect. What is no URL stands here as it was given.
    pub url: String,
}

/// Sends requests; each answer stands alone, in the order asked. Any final status is a response.
///
/// # Errors
/// [`BudgetExceeded`] ends the call: hostcalls (one for each item), egress, bytes read, or the deadline.
pub fn send(
    call: &Call,
    requests: Vec<HttpRequest>,
) -> Result<Vec<Result<HttpResponse, FetchFailure>>, BudgetExceeded> {
    call.meter
        .hostcalls(u64::try_from(requests.len()).unwrap_or(u64::MAX))?;
    call.journal.not_repeatable();
    turn::aside(|| {
        parallel::map(requests, parallel::AT_ONCE, Duration::ZERO, |request| {
            settle(exchange(call, &request))
        })
    })
}

/// Fetches a resource of a hydration: `GET`, within fixed limits of time and size. Any final status is a response.
///
/// # Errors
/// As [`send`], without hostcalls: the hostcall that needs the resource has been counted.
pub(super) fn resource(
    call: &Call,
    url: &Url,
    max_bytes: u32,
    overflow: Overflow,
) -> Result<Result<HttpResponse, FetchError>, BudgetExceeded> {
    let request = HttpRequest {
        method: Method::Get,
        url: url.as_str().to_owned(),
        headers: vec![("accept".to_owned(), RESOURCE_ACCEPT.to_owned())],
        body: None,
        encodings: Encodings::Identity,
        max_bytes,
        overflow,
        timeout_ms: RESOURCE_TIMEOUT_MS,
        max_redirects: MAX_REDIRECTS,
        body_types: Vec::new(),
    };
    let outcome = turn::aside(|| settle(exchange(call, &request)))?;
    Ok(outcome.map_err(|failure| failure.reason))
}
