//! One exchange for somebody who decides about everything himself: no redirect is followed, no connection is used again,
//! and nothing is added to the request but what HTTP needs.
//!
//! The addresses of the host are checked here, as for every request.

use std::time::{Duration, Instant};

use ureq::Body;
use ureq::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use url::Url;

use super::body::{self, Coding};
use super::exchange::failure;
use super::{Encodings, FetchError, Fetcher, Overflow};
use crate::stop::Stop;
use crate::{Meter, MeterBudgets};
use hydrant_policy::Reach;

/// One request, complete but for `Host` and `Content-Length`.
#[derive(Debug)]
pub struct Single<'a> {
    /// A token.
    pub method: &'a str,
    /// http or https; no user info.
    pub url: &'a Url,
    /// In order.
    pub headers: HeaderMap,
    /// What is sent; none is not the same as an empty one.
    pub body: Option<&'a [u8]>,
    /// Which addresses its host may have.
    pub reach: Reach,
    /// Until the connection stands, TLS included.
    pub connect: Duration,
    /// From the lookup to the last byte.
    pub total: Duration,
    /// Bytes of the response's body after decoding.
    pub response_bytes: u64,
}

/// What came back, of whatever status.
#[derive(Debug)]
pub struct SingleResponse {
    /// The status.
    pub status: u16,
    /// In order; of a body that was decoded, without coding and length.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Decoded.
    pub body: Vec<u8>,
}

/// Reads a header's name and value.
///
/// # Errors
/// [`FetchError::InvalidRequest`] for what HTTP does not allow there.
pub fn header(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), FetchError> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| FetchError::InvalidRequest)?;
    let mut value = HeaderValue::from_bytes(value).map_err(|_| FetchError::InvalidRequest)?;
    // It may hold a secret: nothing that prints a request shows it.
    value.set_sensitive(true);
    Ok((name, value))
}

/// Sends it. The second answer is how many bytes were sent and received, whatever came of it.
pub fn send_single(
    fetcher: &Fetcher,
    single: &Single<'_>,
) -> (Result<SingleResponse, FetchError>, u64) {
    let meter = Meter::new(
        MeterBudgets {
            hostcalls: u64::MAX,
            read_bytes: u64::MAX,
            egress_bytes: u64::MAX,
            wall_clock: single.total,
        },
        Instant::now(),
    );
    let outcome = match answer(fetcher, &meter, single) {
        Ok(response) => Ok(response),
        Err(Stop::Item(error)) => Err(error),
        // Of these budgets there is none but time.
        Err(Stop::Call(_)) => Err(FetchError::Timeout),
    };
    (outcome, meter.used().egress_bytes)
}

fn answer(
    fetcher: &Fetcher,
    meter: &Meter,
    single: &Single<'_>,
) -> Result<SingleResponse, Stop<FetchError>> {
    meter.egress(request_bytes(single))?;
    let response = send(fetcher, single).map_err(|error| failure(&error))?;
    let (parts, body) = response.into_parts();
    let coding = Coding::of(&parts.headers, Encodings::Gzip)?;
    let most = usize::try_from(single.response_bytes).unwrap_or(usize::MAX);
    let (body, _) = body::read(body.into_reader(), coding, most, Overflow::Refuse, meter)?;
    let headers = parts.headers.iter().filter(|(name, _)| {
        coding == Coding::Identity || (*name != CONTENT_ENCODING && *name != CONTENT_LENGTH)
    });
    Ok(SingleResponse {
        status: parts.status.as_u16(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body,
    })
}

fn send(fetcher: &Fetcher, single: &Single<'_>) -> Result<Response<Body>, ureq::Error> {
    let agent = fetcher.agent_for_one(single.reach, single.connect);
    let mut headers = single.headers.clone();
    headers
        .entry(ACCEPT_ENCODING)
        .or_insert(HeaderValue::from_static("gzip"));
    let method = Method::from_bytes(single.method.as_bytes())
        .map_err(|error| ureq::Error::Http(error.into()))?;
    let time = Some(single.total);
    // Of a method that has a body by its nature, an empty one has its length said (RFC 9110, 8.6): without, the client would
    // announce chunks, which not every server takes.
    let expects_body = [Method::POST, Method::PUT, Method::PATCH].contains(&method);
    let Some(body) = single.body.or(expects_body.then_some(&[][..])) else {
        let mut request = Request::builder().method(method).uri(single.url.as_str());
        request
            .headers_mut()
            .into_iter()
            .for_each(|all| all.clone_from(&headers));
        let request = request.body(()).map_err(ureq::Error::Http)?;
        return agent.run(
            agent
                .configure_request(request)
                .timeout_global(time)
                .build(),
        );
    };
    // What has no body by its nature gets one only where the client is told to insist.
    let insisting = match method {
        Method::GET => Some(agent.get(single.url.as_str())),
        Method::HEAD => Some(agent.head(single.url.as_str())),
        Method::DELETE => Some(agent.delete(single.url.as_str())),
        Method::OPTIONS => Some(agent.options(single.url.as_str())),
        _ => None,
    };
    if let Some(mut request) = insisting {
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(time).build();
        return request.force_send_body().send(body);
    }
    let mut request = Request::builder().method(method).uri(single.url.as_str());
    request
        .headers_mut()
        .into_iter()
        .for_each(|all| all.clone_from(&headers));
    let request = request.body(body).map_err(ureq::Error::Http)?;
    agent.run(
        agent
            .configure_request(request)
            .timeout_global(time)
            .build(),
    )
}

/// Method, URL, headers and body, as egress counts them.
fn request_bytes(single: &Single<'_>) -> u64 {
    let headers = single.headers.iter().map(|(name, value)| {
        // A colon, a space and a line end.
        name.as_str()
            .len()
            .saturating_add(value.len())
            .saturating_add(4)
    });
    let rest = [
        single.method.len(),
        single.url.as_str().len(),
        single.body.map_or(0, <[u8]>::len),
    ];
    let bytes = headers.chain(rest).fold(0, usize::saturating_add);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
