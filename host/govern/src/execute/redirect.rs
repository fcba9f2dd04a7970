//! One hop of a redirect, under the rules of the first request.

use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use url::Url;
use zeroize::Zeroizing;

use crate::config::{Config, pair_of};
use crate::failure::{Code, Failure};
use crate::ports::WireResponse;
use crate::request::{FilledHeader, FilledRequest, has_credentials};

/// What a response says of where to go on.
pub(super) enum Hop {
    /// Nothing: it is the answer.
    None,
    /// There.
    To(Url),
    /// Not there. The target is `host:port`, or what can be said of it.
    Refused { target: String, why: &'static str },
}

/// Whether the response is a redirect, and a permitted one.
pub(super) fn hop(from: &Url, response: &WireResponse, hosts: &[String], config: &Config) -> Hop {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return Hop::None;
    }
    let Some(location) = response.header("location") else {
        return Hop::None;
    };
    let refused = |target: &str, why| Hop::Refused {
        target: target.to_owned(),
        why,
    };
    let Some(mut to) = std::str::from_utf8(location)
        .ok()
        .and_then(|location| from.join(location).ok())
    else {
        return refused("(not an address)", "the target is not an address");
    };
    to.set_fragment(None);
    let Some(pair) = pair_of(&to).filter(|_| matches!(to.scheme(), "http" | "https")) else {
        return refused("(no host)", "the target is neither http nor https");
    };
    if has_credentials(&to) {
        return refused(&pair, "the target holds a user name or a password");
    }
    if from.scheme() == "https" && to.scheme() == "http" {
        return refused(&pair, "from https to http");
    }
    if !hosts.contains(&pair) {
        return refused(
            &pair,
            "the target is not in the HTTP allowlist of this operation",
        );
    }
    if config.is_denied(&pair) {
        return refused(&pair, "the target is in deny_hosts");
    }
    if to.scheme() == "http" && !config.may_be_plain(&pair) {
        return refused(&pair, "the target is plain http");
    }
    Hop::To(to)
}

/// The request of the next hop.
///
/// # Errors
///
/// `redirect-denied` where a secret cannot be dropped.
pub(super) fn next(
    request: FilledRequest,
    to: Url,
    status: u16,
    secrets: &[SecretString],
) -> Result<FilledRequest, Failure> {
    let elsewhere = request.url.origin() != to.origin();
    let mut next = FilledRequest { url: to, ..request };
    let becomes_get = match status {
        303 => next.method != "HEAD",
        301 | 302 => next.method == "POST",
        _ => false,
    };
    if becomes_get {
        "GET".clone_into(&mut next.method);
        next.body = None;
        next.secret_in_body = false;
        next.headers.retain(|header| {
            let name = header.name.to_ascii_lowercase();
            !matches!(
                name.as_str(),
                "content-type" | "content-encoding" | "content-language" | "content-location"
            )
        });
    }
    if !elsewhere {
        return Ok(next);
    }
    if next.secret_in_body && next.body.is_some() {
        return Err(Failure::new(
            Code::RedirectDenied,
            "the body holds a secret and would go to another host",
        ));
    }
    next.headers.retain(|header| !is_credential(header));
    drop_echoed(&mut next.url, secrets)?;
    next.secret_in_url = false;
    Ok(next)
}

fn is_credential(header: &FilledHeader) -> bool {
    header.secret
        || header.name.eq_ignore_ascii_case("authorization")
        || header.name.eq_ignore_ascii_case("cookie")
}

/// A host that sends its visitor elsewhere may put what it was given into the address.
fn drop_echoed(url: &mut Url, secrets: &[SecretString]) -> Result<(), Failure> {
    let holds = |text: &str| {
        secrets
            .iter()
            .map(ExposeSecret::expose_secret)
            .any(|secret| !secret.is_empty() && text.contains(secret))
    };
    let kept: Vec<String> = url
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .filter(|pair| !holds(pair) && !holds(&decoded(pair)))
        .map(str::to_owned)
        .collect();
    if url.query().is_some() {
        let query = kept.join("&");
        url.set_query((!query.is_empty()).then_some(query.as_str()));
    }
    if holds(url.path()) || holds(&decoded(url.path())) || holds(url.host_str().unwrap_or_default())
    {
        return Err(Failure::new(
            Code::RedirectDenied,
            "the address of the target holds a secret",
        ));
    }
    Ok(())
}

/// `%XX` and `+` undone; what is not UTF-8 then is replaced.
fn decoded(text: &str) -> Zeroizing<String> {
    let blanks = Zeroizing::new(text.replace('+', " "));
    let decoded = percent_decode_str(&blanks).decode_utf8_lossy();
    Zeroizing::new(decoded.into_owned())
}
