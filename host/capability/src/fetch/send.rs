//! Sending one request and reading its answer: the one place that uses the client.
//!
//! The caller has checked the URL; the resolver of the agent checks the addresses. Whether a redirect is followed, and which
//! answer counts, is the caller's business as well.

use std::time::Duration;

use ureq::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use ureq::http::request::Builder;
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use ureq::{Agent, AsSendBody, Body};
use url::Url;

use super::body::{self, Coding};
use super::connect::Obstacle;
use super::{Encodings, FetchError, Overflow};
use crate::Meter;
use crate::stop::Stop;

/// Sends a request, within `total` from the lookup to the last byte of its answer.
///
/// # Errors
/// What the client fails with; [`failure`] says what that means.
pub(super) fn send(
    agent: &Agent,
    request: Builder,
    body: Option<&[u8]>,
    total: Duration,
) -> Result<Response<Body>, ureq::Error> {
    // Of a method that has a body by its nature, an empty one has its length said (RFC 9110, 8.6): without, the client would
    // announce chunks, which not every server takes.
    let has_body_by_nature = request
        .method_ref()
        .is_some_and(|method| [Method::POST, Method::PUT, Method::PATCH].contains(method));
    match body.or(has_body_by_nature.then_some(&[][..])) {
        Some(body) => run(agent, request.body(body), total),
        None => run(agent, request.body(()), total),
    }
}

fn run(
    agent: &Agent,
    request: http::Result<Request<impl AsSendBody>>,
    total: Duration,
) -> Result<Response<Body>, ureq::Error> {
    if total.is_zero() {
        return Err(Obstacle::Slow.into());
    }
    let request = agent.configure_request(request.map_err(ureq::Error::Http)?);
    agent.run(request.timeout_global(Some(total)).build())
}

/// Bytes of method, URL, headers and body of a request, as egress counts them; of each header the lengths of its name and
/// value are given.
pub(super) fn request_bytes(
    method: &str,
    url: &Url,
    headers: impl Iterator<Item = (usize, usize)>,
    body: Option<&[u8]>,
) -> u64 {
    // A colon, a space and a line end.
    let headers = headers.map(|(name, value)| name.saturating_add(value).saturating_add(4));
    let rest = [
        method.len(),
        url.as_str().len(),
        body.map_or(0, <[u8]>::len),
    ];
    let bytes = headers.chain(rest).fold(0, usize::saturating_add);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// An answer whose body was read.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    coding: Coding,
    /// Decoded.
    pub(super) body: Vec<u8>,
    /// The body has at least one byte more.
    pub(super) truncated: bool,
}

impl Answer {
    /// Returns the headers, in order; of a body that was decoded without coding and length, which are no longer true.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.headers.iter().filter(|(name, _)| {
            self.coding == Coding::Identity
                || (*name != CONTENT_ENCODING && *name != CONTENT_LENGTH)
        })
    }
}

/// Reads the body of an answer, at most `max_bytes` after decoding.
///
/// # Errors
/// [`FetchError::UnsupportedEncoding`], and what [`body::read`] fails with.
pub(super) fn read(
    response: Response<Body>,
    encodings: Encodings,
    max_bytes: u64,
    overflow: Overflow,
    meter: &Meter,
) -> Result<Answer, Stop<FetchError>> {
    let (parts, body) = response.into_parts();
    let coding = Coding::of(&parts.headers, encodings)?;
    let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let (body, truncated) = body::read(body.into_reader(), coding, max_bytes, overflow, meter)?;
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        coding,
        body,
        truncated,
    })
}

/// Reads the names and values of headers, in order.
///
/// # Errors
/// [`FetchError::InvalidRequest`] for what HTTP does not allow there.
pub fn header_map<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<HeaderMap, FetchError> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value);
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(FetchError::InvalidRequest);
        };
        // It may hold a secret: nothing that prints a request shows it.
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Whether the connection was closed before any byte of an answer, as one is that has idled too long.
pub(super) fn is_unanswered(error: &ureq::Error) -> bool {
    obstacle(error) == Some(Obstacle::Unanswered)
}

fn obstacle(error: &ureq::Error) -> Option<Obstacle> {
    match error {
        ureq::Error::Other(cause) => cause.downcast_ref::<Obstacle>().copied(),
        _ => None,
    }
}

/// What a failure of the client means.
pub(super) fn failure(error: &ureq::Error) -> FetchError {
    tracing::debug!(%error, "fetch failed");
    match obstacle(error) {
        Some(Obstacle::AddressRefused) => return FetchError::Denied,
        Some(Obstacle::Slow) => return FetchError::Timeout,
        Some(Obstacle::Connect) => return FetchError::Connect,
        Some(Obstacle::Tls) => return FetchError::Tls,
        Some(Obstacle::Unanswered) | None => {}
    }
    match error {
        ureq::Error::Timeout(_) => FetchError::Timeout,
        ureq::Error::HostNotFound => FetchError::Dns,
        ureq::Error::ConnectionFailed => FetchError::Connect,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::TlsRequired => FetchError::Tls,
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::InvalidRequest,
        // A connection that ends or breaks in the middle is no HTTP either.
        _ => FetchError::Protocol,
    }
}
