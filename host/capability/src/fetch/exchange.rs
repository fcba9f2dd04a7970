//! One request from its first hop to its last byte: check, send, follow, read.
//!
//! Every hop is checked like a first request before anything is sent there; https never
//! becomes http. One clock runs for all hops and the body, and is cut to what the call has left.

use std::time::{Duration, Instant};

use ureq::Body;
use ureq::http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, LOCATION};
use ureq::http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use url::Url;

use super::send::{self, failure, is_unanswered};
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
    /// Nothing where the time is up.
    fn left(self) -> Duration {
        self.time.saturating_sub(self.started.elapsed())
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
        let left = self.deadline.left();
        let mut builder = Request::builder()
            .method(self.method.as_str())
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
        send::send(self.call.fetcher.agent(reach), builder, self.body, left)
    }

    fn request_bytes(&self) -> u64 {
        let headers = self.request.headers.iter();
        let lengths = headers.map(|(name, value)| (name.len(), value.len()));
        send::request_bytes(self.method.as_str(), &self.url, lengths, self.body)
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
        let (status, headers) = (response.status(), response.headers());
        let has_body = headers
            .get(CONTENT_LENGTH)
            .is_none_or(|length| length != "0")
            && self.method != Method::Head
            && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if has_body && !media::is_wanted(&self.request.body_types, headers) {
            // Dropped with its connection, which cannot be used again before its end was read.
            return Ok(HttpResponse {
                unread: true,
                ..self.response(status, headers.iter(), Vec::new())
            });
        }
        let most =
            u64::from(self.request.max_bytes.min(MAX_BODY_BYTES)).min(self.call.limits.http_bytes);
        let (encodings, overflow) = (self.request.encodings, self.request.overflow);
        let mut answer = send::read(response, encodings, most, overflow, &self.call.meter)?;
        let body = std::mem::take(&mut answer.body);
        Ok(HttpResponse {
            truncated: answer.truncated,
            ..self.response(answer.status, answer.headers(), body)
        })
    }

    fn response<'a>(
        &self,
        status: StatusCode,
        headers: impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)>,
        mut body: Vec<u8>,
    ) -> HttpResponse {
        // What is no UTF-8 a guest does not see.
        let headers = headers.filter_map(|(name, value)| {
            let value = std::str::from_utf8(value.as_bytes()).ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        });
        let mut headers: Vec<_> = headers.collect();
        if let Some(credential) = &self.call.credential {
            body = credential.taken_out_of(body);
            for (_, value) in &mut headers {
                *value = credential.taken_out_of_text(std::mem::take(value));
            }
        }
        HttpResponse {
            status: status.as_u16(),
            url: self.url.as_str().to_owned(),
            headers,
            body,
            truncated: false,
            unread: false,
        }
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn is_safe(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head)
}

fn coding_name(encodings: Encodings) -> &'static str {
    match encodings {
        Encodings::Identity => "identity",
        Encodings::Gzip => "gzip",
    }
}
