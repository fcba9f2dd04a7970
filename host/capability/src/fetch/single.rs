//! One exchange for somebody who decides about everything himself: no redirect is followed, no connection is used again,
//! and nothing is added to the request but what HTTP needs.
//!
//! The addresses of the host are checked here, as for every request.

use std::time::{Duration, Instant};

use ureq::http::header::ACCEPT_ENCODING;
use ureq::http::{HeaderMap, HeaderValue, Request};
use url::Url;

use super::send::{self, failure};
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
    let lengths = single.headers.iter();
    let lengths = lengths.map(|(name, value)| (name.as_str().len(), value.len()));
    meter.egress(send::request_bytes(
        single.method,
        single.url,
        lengths,
        single.body,
    ))?;
    let agent = fetcher.agent_for_one(single.reach, single.connect);
    let mut request = Request::builder()
        .method(single.method)
        .uri(single.url.as_str());
    if let Some(headers) = request.headers_mut() {
        headers.clone_from(&single.headers);
        headers
            .entry(ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static("gzip"));
    }
    let response = send::send(&agent, request, single.body, single.total);
    let response = response.map_err(|error| failure(&error))?;
    let most = single.response_bytes;
    let answer = send::read(response, Encodings::Gzip, most, Overflow::Refuse, meter)?;
    Ok(SingleResponse {
        status: answer.status.as_u16(),
        headers: answer
            .headers()
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body: answer.body,
    })
}
