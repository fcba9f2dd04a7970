//! The request of a call, and what the host is asked for.

use kit::SkillError;
use kit::host::fetch::{Encodings, HttpRequest, Method, Overflow};
use kit::members::{Members, invalid};

/// Bytes of a URL.
const MAX_URL_BYTES: usize = 8_192;

/// Bytes of a body at most, and without a request.
const MAX_BYTES: u32 = 2_097_152;
const DEFAULT_BYTES: u32 = 131_072;

/// What a host allows at most; its own limit may be less and then holds.
const TIMEOUT_MS: u32 = 120_000;

/// Redirects that are followed.
const MAX_REDIRECTS: u8 = 5;

/// What is liked best, where a server has a choice.
const ACCEPT: &str =
    "text/markdown, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1";

/// Types whose bodies are text.
const TEXT_TYPES: [&str; 13] = [
    "text/*",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-ndjson",
    "application/x-sh",
    "*/*+json",
    "*/*+xml",
    "*/*+yaml",
];

/// What is to be fetched.
#[derive(Debug)]
pub(crate) struct Request {
    /// As it was given.
    pub(crate) url: String,
    max_bytes: u32,
}

impl Request {
    /// Reads a request. Whether the URL is one is for the host to say, which parses it.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let url = members.string("url", 1..=MAX_URL_BYTES)?;
        let max_bytes = members.integer("max_bytes", 1..=MAX_BYTES, DEFAULT_BYTES)?;
        members.finish()?;
        match scheme(&url) {
            None => Err(invalid("url", "is not an absolute URL")),
            Some(scheme) if is_http(scheme) => Ok(Self { url, max_bytes }),
            Some(scheme) => {
                let error = SkillError::new(
                    "unsupported",
                    &format!("URLs of the scheme {scheme} cannot be fetched"),
                );
                Err(error.with_details(serde_json::json!({ "scheme": scheme }).to_string()))
            }
        }
    }

    /// What the host is asked for.
    pub(crate) fn hostcall(&self) -> HttpRequest {
        HttpRequest {
            method: Method::Get,
            url: self.url.clone(),
            headers: vec![("accept".to_owned(), ACCEPT.to_owned())],
            body: None,
            encodings: Encodings::Gzip,
            max_bytes: self.max_bytes,
            overflow: Overflow::Cut,
            timeout_ms: TIMEOUT_MS,
            max_redirects: MAX_REDIRECTS,
            body_types: TEXT_TYPES.map(str::to_owned).to_vec(),
        }
    }
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// What stands before the first colon, if a URL may begin like that.
fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.trim_start_matches(' ').split_once(':')?;
    let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (begins && scheme.bytes().all(goes_on)).then_some(scheme)
}
