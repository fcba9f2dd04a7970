//! One request from its first hop to its last byte: check, send, follow, read.
//!
//! Every hop is checked like a first request before anything is sent there; https never
//! becomes http. One clock runs for all hops and the body, and is cut to what the call has left.

use std::time::{Duration, Instant};

use ureq::Body;
use ureq::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, LOCATION};
use ureq::http::response::Parts;
use ureq::http::{HeaderMap, Request, Response, StatusCode};
use url::Url;

use super::body::{self, Coding};
use super::connect::Obstacle;
use super::{
    Encodings, FetchError, FetchFailure, HttpRequest, HttpResponse, MAX_BODY_BYTES, MAX_REDIRECTS,
    MAX_TIMEOUT_MS, Method, headers, media, target,
};
use crate::Call;
use crate::stop::Stop;
use hydrant_policy::Reach;

/// Sends `request`, follows its redirects and reads the final body.
///
/// # Errors
/// See [`FetchError`], with the URL of the hop; and the budgets of egress, bytes read and time.
pub(super) fn exchange(
    call: &Call,
    request: &HttpRequest,
) -> Result<HttpResponse, Stop<FetchFailure>> {
    let url = target::first(&request.url).map_err(|reason| failed(reason, &request.url))?;
    check(request).map_err(|reason| failed(reason, url.as_str()))?;
    let asked = u64::from(request.timeout_ms.clamp(1, MAX_TIMEOUT_MS));
    let time = Duration::from_millis(asked.min(call.limits.http_ms)).min(call.meter.remaining()?);
    let mut exchange = Exchange {
        call,
        request,
        deadline: Deadline {
            started: Instant::now(),
            time,
        },
        method: request.method,
        body: request.body.as_deref(),
        url,
        hops: 0,
    };
    let outcome = exchange.run();
    outcome.map_err(|stop| match stop {
        Stop::Item(reason) => {
            if reason == FetchError::Timeout {
                // Where the call's own time was up, that is what ends it.
                if let Err(exceeded) = call.meter.remaining() {
                    return Stop::Call(exceeded);
                }
            }
            failed(reason, exchange.url.as_str())
        }
        Stop::Call(exceeded) => Stop::Call(exceeded),
    })
}

fn failed(reason: FetchError, url: &str) -> Stop<FetchFailure> {
    let url = url.to_owned();
    Stop::Item(FetchFailure { reason, url })
}

/// What is wrong with a request before any policy is asked.
fn check(request: &HttpRequest) -> Result<(), FetchError> {
    headers::check(&request.headers)?;
    media::check(&request.body_types)?;
    let may_have_body = !matches!(request.method, Method::Get | Method::Head);
    if request.body.is_some() && !may_have_body {
        // RFC 9110, 9.3.1: such a body means nothing, but servers disagree where the next request begins.
        return Err(FetchError::InvalidRequest);
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Deadline {
    started: Instant,
    time: Duration,
}

impl Deadline {
    fn left(self) -> Result<Duration, FetchError> {
        self.time
            .checked_sub(self.started.elapsed())
            .filter(|left| !left.is_zero())
            .ok_or(FetchError::Timeout)
    }
}

/// A request on its way; method, body and URL are those of the current hop.
struct Exchange<'call> {
    call: &'call Call,
    request: &'call HttpRequest,
    deadline: Deadline,
    method: Method,
    body: Option<&'call [u8]>,
    url: Url,
    hops: u8,
}

impl Exchange<'_> {
    fn run(&mut self) -> Result<HttpResponse, Stop<FetchError>> {
        loop {
            let reach = self.check()?;
            let response = self.send(reach)?;
            if !is_redirect(response.status()) {
                return self.answer(response);
            }
            if self.hops >= self.request.max_redirects.min(MAX_REDIRECTS) {
                return Err(FetchError::Redirects.into());
            }
            self.hops = self.hops.saturating_add(1);
            self.follow(&response)?;
        }
    }

    /// Asks the policy about this hop, before any name is resolved.
    fn check(&self) -> Result<Reach, FetchError> {
        let reach = self.call.grant.fetch(self.method, &self.url);
        let reach = reach.map_err(|denial| {
            self.call.journal.denied(&denial);
            self.denied()
        })?;
        self.call.journal.used("net.http");
        Ok(reach)
    }

    /// What a refusal is called on this hop.
    fn denied(&self) -> FetchError {
        if self.hops == 0 {
            FetchError::Denied
        } else {
            FetchError::RedirectDenied
        }
    }

    fn send(&self, reach: Reach) -> Result<Response<Body>, Stop<FetchError>> {
        self.call.meter.egress(self.request_bytes())?;
        let outcome = match self.send_once(reach) {
            // A connection that was closed before any answer byte may have idled too long. Only
            // what changes nothing is sent again, once.
            Err(error) if is_unanswered(&error) && is_safe(self.method) => {
                self.call.meter.egress(self.request_bytes())?;
                self.send_once(reach)
            }
            outcome => outcome,
        };
        outcome.map_err(|error| match failure(&error) {
            // The name leads to an address that nobody allowed.
            FetchError::Denied => {
                let capability = format!("net.http:{}", self.url);
                self.call.journal.denied_capability(capability);
                self.denied().into()
            }
            error => error.into(),
        })
    }

    fn send_once(&self, reach: Reach) -> Result<Response<Body>, ureq::Error> {
        let agent = self.call.fetcher.agent(reach);
        let left = match self.deadline.left() {
            Ok(left) => left,
            Err(_) => return Err(Obstacle::Slow.into()),
        };
        let mut builder = Request::builder()
            .method(method_name(self.method))
            .uri(self.url.as_str())
            .header(ACCEPT_ENCODING, coding_name(self.request.encodings));
        for (name, value) in &self.request.headers {
            builder = builder.header(name, value);
        }
        // After all checks of what the guest asks for, and never to another server.
        let credential = self.call.credential.as_ref();
        if let Some((name, value)) = credential.and_then(|one| one.header_for(&self.url)) {
            builder = builder.header(name, value);
        }
        // Only what has a body by its nature gets one unasked, an empty one.
        match (self.method, self.body) {
            (Method::Get | Method::Head, _) | (Method::Delete, None) => {
                let request = builder.body(()).map_err(ureq::Error::Http)?;
                let request = agent.configure_request(request);
                agent.run(request.timeout_global(Some(left)).build())
            }
            (Method::Delete, Some(body)) => {
                let mut request = agent.delete(self.url.as_str());
                for (name, value) in builder.headers_ref().into_iter().flatten() {
                    request = request.header(name, value);
                }
                let request = request.config().timeout_global(Some(left)).build();
                request.force_send_body().send(body)
            }
            (Method::Post | Method::Put | Method::Patch, body) => {
                let request = builder
                    .body(body.unwrap_or_default())
                    .map_err(ureq::Error::Http)?;
                let request = agent.configure_request(request);
                agent.run(request.timeout_global(Some(left)).build())
            }
        }
    }

    /// Bytes of method, URL, headers and body, as egress counts them.
    fn request_bytes(&self) -> u64 {
        let headers = self.request.headers.iter().map(|(name, value)| {
            // A colon, a space and a line end.
            name.len().saturating_add(value.len()).saturating_add(4)
        });
        let bytes = headers.fold(
            method_name(self.method)
                .len()
                .saturating_add(self.url.as_str().len())
                .saturating_add(self.body.map_or(0, <[u8]>::len)),
            usize::saturating_add,
        );
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Turns to where `response` leads.
    fn follow(&mut self, response: &Response<Body>) -> Result<(), FetchError> {
        let mut locations = response.headers().get_all(LOCATION).iter();
        let location = match (locations.next(), locations.next()) {
            // Servers write UTF-8 as it is; joining percent-encodes it.
            (Some(location), None) => {
                str::from_utf8(location.as_bytes()).map_err(|_| FetchError::Redirects)?
            }
            // None, or several that might disagree.
            _ => return Err(FetchError::Redirects),
        };
        let next = target::next(&self.url, location)?;
        let allowed = target::check(&self.url, &next);
        // Before the question what to send there: a refusal is about the target.
        self.url = next;
        allowed?;
        let becomes_get = match response.status() {
            StatusCode::SEE_OTHER => self.method != Method::Head,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::Post,
            _ => false,
        };
        if becomes_get {
            self.method = Method::Get;
            self.body = None;
        }
        Ok(())
    }

    /// Reads the body of the final response, if it is wanted.
    fn answer(&self, response: Response<Body>) -> Result<HttpResponse, Stop<FetchError>> {
        let (parts, body) = response.into_parts();
        let has_body = parts
            .headers
            .get(CONTENT_LENGTH)
            .is_none_or(|length| length != "0")
            && self.method != Method::Head
            && !matches!(
                parts.status,
                StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
            );
        if has_body && !media::is_wanted(&self.request.body_types, &parts.headers) {
            // Dropped with its connection, which cannot be used again before its end was read.
            return Ok(HttpResponse {
                unread: true,
                ..self.response(&parts, Coding::Identity, Vec::new())
            });
        }
        let coding = Coding::of(&parts.headers, self.request.encodings)?;
        let most =
            u64::from(self.request.max_bytes.min(MAX_BODY_BYTES)).min(self.call.limits.http_bytes);
        let (body, truncated) = body::read(
            body.into_reader(),
            coding,
            usize::try_from(most).unwrap_or(usize::MAX),
            self.request.overflow,
            &self.call.meter,
        )?;
        Ok(HttpResponse {
            truncated,
            ..self.response(&parts, coding, body)
        })
    }

    fn response(&self, parts: &Parts, coding: Coding, body: Vec<u8>) -> HttpResponse {
        let mut headers = shown(&parts.headers, coding);
        let mut body = body;
        if let Some(credential) = &self.call.credential {
            body = credential.taken_out_of(body);
            for (_, value) in &mut headers {
                *value = credential.taken_out_of_text(std::mem::take(value));
            }
        }
        HttpResponse {
            status: parts.status.as_u16(),
            url: self.url.as_str().to_owned(),
            headers,
            body,
            truncated: false,
            unread: false,
        }
    }
}

/// The headers a guest sees. Of a body that was decoded, coding and length are no longer true.
fn shown(headers: &HeaderMap, coding: Coding) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| {
            coding == Coding::Identity || (*name != CONTENT_ENCODING && *name != CONTENT_LENGTH)
        })
        .filter_map(|(name, value)| {
            let value = std::str::from_utf8(value.as_bytes()).ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        })
        .collect()
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn is_safe(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head)
}

pub(super) fn is_unanswered(error: &ureq::Error) -> bool {
    obstacle(error) == Some(Obstacle::Unanswered)
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

fn coding_name(encodings: Encodings) -> &'static str {
    match encodings {
        Encodings::Identity => "identity",
        Encodings::Gzip => "gzip",
    }
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
