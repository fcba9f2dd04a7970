//! The document itself and nothing else, hop by hop.

use std::path::Path;
use std::time::{Duration, Instant};

use url::Url;

use super::address::{scheme, server, tweet};
use super::{Address, Place};
use crate::config::{Config, pair_of};
use crate::digest;
use crate::failure::{Code, Failure};
use crate::ports::{Wire, WireLimits, WireRequest, WireResponse};
use crate::request::beneath::open_file;
use crate::request::has_credentials;

/// Bytes of a document after decoding.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// From the first request to the last byte.
const TOTAL: Duration = Duration::from_secs(30);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How many redirects are followed at most.
const MAX_REDIRECTS: usize = 5;

/// What a fetch needs.
pub struct Fetch<'a> {
    /// HTTP.
    pub wire: &'a dyn Wire,
    /// Which hosts are denied, private or plain.
    pub config: &'a Config,
    /// Whether skills may be loaded from a `host:port` that `source_hosts` does not name.
    pub permit: &'a dyn Fn(&str) -> Result<(), Failure>,
}

/// A document as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// At most 1 MiB.
    pub bytes: Vec<u8>,
    /// SHA-256 of the bytes.
    pub digest: String,
    /// The media type it was sent with.
    pub content_type: Option<String>,
}

/// Reads the document at an address.
///
/// # Errors
///
/// `host-approval-required`, `fetch-failed`, `private-address`, `host-denied`, `too-large`, `path-not-allowed`,
/// `digest-mismatch`; of a hop, also what [`super::address()`] gives for steps 2, 3, 5 and 7.
pub fn fetch(
    address: &Address,
    expected: Option<&str>,
    fetch: &Fetch<'_>,
) -> Result<Document, Failure> {
    let (bytes, content_type) = match &address.place {
        Place::Url(url) => get(url, address.forced, fetch)?,
        Place::File { root, below } => (read(root, below)?, None),
        Place::Given(_) => return Err(failed("its text was given, and is fetched from nowhere")),
    };
    checked(bytes, content_type, expected)
}

/// A document whose text the caller has. It comes from nowhere, so that nothing of it is relative to an address, and
/// who gives another text loads another document.
///
/// # Errors
///
/// `too-large`, `digest-mismatch`.
pub fn given(text: &str, expected: Option<&str>) -> Result<(Address, Document), Failure> {
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(too_large());
    }
    let document = checked(text.as_bytes().to_vec(), None, expected)?;
    let address = Address {
        place: Place::Given(document.digest.clone()),
        forced: true,
    };
    Ok((address, document))
}

fn checked(
    bytes: Vec<u8>,
    content_type: Option<String>,
    expected: Option<&str>,
) -> Result<Document, Failure> {
    let digest = digest::of_bytes(&bytes);
    if expected.is_some_and(|expected| !digest::is_digest(expected)) {
        return Err(Failure::new(
            Code::InvalidRequest,
            "the expected digest is not sha256: and 64 lower-case hex digits",
        ));
    }
    if let Some(expected) = expected
        && expected != digest
    {
        return Err(Failure::new(
            Code::DigestMismatch,
            format!("the document is {digest}"),
        ));
    }
    Ok(Document {
        bytes,
        digest,
        content_type,
    })
}

fn read(root: &Path, below: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            Code::PathNotAllowed,
            format!("{}: {error}", below.display()),
        )
    };
    let file = open_file(root, below).map_err(failed)?;
    hydrant_base::read_at_most(file, 0, MAX_BYTES)
        .map_err(failed)?
        .ok_or_else(too_large)
}

fn get(url: &Url, forced: bool, fetch: &Fetch<'_>) -> Result<(Vec<u8>, Option<String>), Failure> {
    let started = Instant::now();
    let mut url = url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let pair = pair_of(&url).ok_or_else(|| failed("the address names no host"))?;
        if !fetch.config.is_source(&pair) {
            (fetch.permit)(&pair)?;
        }
        let response = exchange(&url, &pair, TOTAL.saturating_sub(started.elapsed()), fetch)?;
        if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return document(response);
        }
        url = next(&url, &response)?;
        // Each hop through steps 2, 3 and 7, and 5 unless forced.
        hop(&url, forced, fetch.config)?;
    }
    Err(failed(&format!("more than {MAX_REDIRECTS} redirects")))
}

fn exchange(
    url: &Url,
    pair: &str,
    left: Duration,
    fetch: &Fetch<'_>,
) -> Result<WireResponse, Failure> {
    if left.is_zero() {
        return Err(failed("timed out"));
    }
    let request = WireRequest {
        method: "GET".to_owned(),
        url: url.clone(),
        headers: Vec::new(),
        body: None,
    };
    let limits = WireLimits {
        connect: CONNECT.min(left),
        total: left,
        response_bytes: MAX_BYTES,
        private: fetch.config.may_be_private(pair),
    };
    fetch
        .wire
        .exchange(&request, &limits)
        .map_err(|error| match error.failure.code {
            Code::PrivateAddress | Code::HostDenied => error.failure,
            Code::ResponseTooLarge => too_large(),
            _ => failed(&error.failure.message),
        })
}

fn next(url: &Url, response: &WireResponse) -> Result<Url, Failure> {
    let mut locations = response.all("location");
    let (Some(location), None) = (locations.next(), locations.next()) else {
        return Err(failed("a redirect without one target"));
    };
    let location = std::str::from_utf8(location).ok();
    let mut next = location
        .and_then(|location| url.join(location).ok())
        .ok_or_else(|| failed("a redirect to no address"))?;
    next.set_fragment(None);
    Ok(next)
}

fn hop(url: &Url, forced: bool, config: &Config) -> Result<(), Failure> {
    scheme(url)?;
    if url.scheme() == "file" {
        return Err(Failure::new(
            Code::UrlScheme,
            "a redirect to a file is not followed",
        ));
    }
    if has_credentials(url) {
        return Err(Failure::new(
            Code::UrlUserinfo,
            "a redirect to an address with a user name or password is not followed",
        ));
    }
    if !forced {
        tweet(url)?;
    }
    server(url, config)
}

fn document(response: WireResponse) -> Result<(Vec<u8>, Option<String>), Failure> {
    if response.status != 200 {
        return Err(failed(&format!(
            "the server answered with status {}",
            response.status
        )));
    }
    let content_type = response.header("content-type");
    let content_type = content_type.and_then(|value| String::from_utf8(value.to_vec()).ok());
    Ok((response.body, content_type))
}

fn failed(message: &str) -> Failure {
    Failure::new(Code::FetchFailed, message)
}

fn too_large() -> Failure {
    Failure::new(
        Code::TooLarge,
        format!("the document has more than {MAX_BYTES} bytes"),
    )
}
