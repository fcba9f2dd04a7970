//! A whole request of a stage: target, headers, cookies, basic auth, body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;
use zeroize::Zeroizing;

use super::body;
use super::encode::{IN_HEADER, has_control};
use super::target::{self, Target};
use super::text::of_input;
use super::{Fill, Filled};
use crate::failure::{Code, Failure};
use crate::header;
use crate::ports::WireValue;
use hydrant_plan::{HttpStage, Segment, Segments};

/// Headers of a request at most.
const HEADERS: usize = 100;
/// Bytes of all headers of a request at most.
const HEADER_BYTES: usize = 64 << 10;

/// A header as it is sent.
#[derive(Debug, Clone)]
pub struct FilledHeader {
    /// As written.
    pub name: String,
    /// Its bytes.
    pub value: WireValue,
    /// Whether a secret is in it.
    pub secret: bool,
}

/// A request as it is sent first; redirects take from it.
pub struct FilledRequest {
    /// A token.
    pub method: String,
    /// With its query.
    pub url: Url,
    /// Whether a secret is in path or query.
    pub secret_in_url: bool,
    /// In order; neither `Host` nor `Content-Length`.
    pub headers: Vec<FilledHeader>,
    /// None: no body is sent.
    pub body: Option<Zeroizing<Vec<u8>>>,
    /// Whether a secret is in the body.
    pub secret_in_body: bool,
}

/// Fills the request of a stage. `hosts` are those that the grant covers, `host:port`.
///
/// Secrets are asked for as they are met, so `fill.secrets` must know the host already: it is that of
/// `target::origin`, for what a value puts in cannot change it.
///
/// # Errors
///
/// `invalid-input` where a value cannot stand in its place; `host-denied` where the host is none of `hosts`;
/// `header-refused`, `host-variable`, `url-invalid` where the stage is not what the interpreter may answer; `limit` over
/// what a request may hold.
pub fn http_request(
    stage: &HttpStage,
    hosts: &[String],
    fill: Fill<'_>,
) -> Result<FilledRequest, Failure> {
    if !is_token(&stage.method) {
        return Err(Failure::new(Code::UrlInvalid, "the method is no token"));
    }
    let Target { url, secret } = target::target(stage, hosts, fill)?;
    let mut headers = Vec::new();
    for header in &stage.headers {
        check_name(&header.name)?;
        if let Some(filled) = fill.text(&header.value)? {
            headers.push(filled_header(&header.name, &header.value, &filled)?);
        }
    }
    headers.extend(cookies(stage, fill)?);
    headers.extend(basic(stage, fill)?);
    let body = match &stage.body {
        Some(body) => body::body(body, fill)?,
        None => None,
    };
    let speaks_of = |headers: &[FilledHeader], name: &str| {
        headers
            .iter()
            .map(|header| &header.name)
            .chain(&stage.removed_headers)
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    if let Some(content_type) = body.as_ref().and_then(|body| body.content_type.as_deref()) {
        // The boundary is chosen here; a document cannot know it.
        headers.retain(|header| !header.name.eq_ignore_ascii_case("content-type"));
        headers.push(FilledHeader::new("Content-Type", content_type, false));
    }
    // No body, because its inputs are absent.
    if body.is_none() && stage.body.is_some() {
        headers.retain(|header| !header.name.eq_ignore_ascii_case("content-type"));
    }
    if !speaks_of(&headers, "accept") {
        headers.push(FilledHeader::new("Accept", "*/*", false));
    }
    if !speaks_of(&headers, "user-agent") {
        let agent = concat!("hydrant/", env!("CARGO_PKG_VERSION"));
        headers.push(FilledHeader::new("User-Agent", agent, false));
    }
    let bytes: usize = headers
        .iter()
        .map(|header| header.name.len().saturating_add(header.value.0.len()))
        .sum();
    if headers.len() > HEADERS || bytes > HEADER_BYTES {
        return Err(Failure::new(
            Code::Limit,
            "a request has at most 100 headers of 64 KiB together",
        ));
    }
    let (body, secret_in_body) = match body {
        Some(body) => (Some(body.bytes), body.secret),
        None => (None, false),
    };
    Ok(FilledRequest {
        method: stage.method.clone(),
        url,
        secret_in_url: secret,
        headers,
        body,
        secret_in_body,
    })
}

impl FilledHeader {
    fn new(name: &str, value: &str, secret: bool) -> Self {
        Self {
            name: name.to_owned(),
            value: WireValue(value.as_bytes().to_vec()),
            secret,
        }
    }
}

/// Whatever the parts were encoded for, no control character stands in a header.
fn filled_header(
    name: &str,
    segments: &Segments,
    filled: &Filled,
) -> Result<FilledHeader, Failure> {
    if has_control(&filled.text) {
        return Err(unfit(segments, IN_HEADER));
    }
    Ok(FilledHeader::new(name, &filled.text, filled.secret))
}

/// All cookies in one header.
fn cookies(stage: &HttpStage, fill: Fill<'_>) -> Result<Option<FilledHeader>, Failure> {
    let mut text = Zeroizing::new(String::new());
    let mut secret = false;
    for cookie in &stage.cookies {
        let value = match &cookie.value {
            Some(value) => match fill.text(value)? {
                Some(filled) => Some((value, filled)),
                None => continue,
            },
            None => None,
        };
        let Some(name) = fill.text(&cookie.name)? else {
            continue;
        };
        // A caller gives one value, not another cookie.
        for segments in [Some(&cookie.name), cookie.value.as_ref()]
            .into_iter()
            .flatten()
        {
            check_cookie(segments, fill)?;
        }
        if !text.is_empty() {
            text.push_str("; ");
        }
        secret |= name.secret;
        text.push_str(&name.text);
        if let Some((_, value)) = value {
            secret |= value.secret;
            text.push('=');
            text.push_str(&value.text);
        }
    }
    if text.is_empty() {
        return Ok(None);
    }
    if has_control(&text) {
        return Err(Failure::new(
            Code::HeaderRefused,
            "a cookie cannot hold control characters",
        ));
    }
    Ok(Some(FilledHeader::new("Cookie", &text, secret)))
}

fn check_cookie(segments: &Segments, fill: Fill<'_>) -> Result<(), Failure> {
    for segment in &segments.0 {
        if let Segment::Input { .. } = segment {
            let one = Segments(vec![segment.clone()]);
            let text = fill.text(&one)?;
            if text.is_some_and(|filled| filled.text.contains([';', '"', '\\'])) {
                return Err(unfit(&one, "a cookie cannot hold ; \" or \\"));
            }
        }
    }
    Ok(())
}

fn basic(stage: &HttpStage, fill: Fill<'_>) -> Result<Option<FilledHeader>, Failure> {
    let Some(basic) = &stage.basic else {
        return Ok(None);
    };
    let half = |segments| fill.required(segments, "basic auth needs this input");
    let (user, password) = (half(&basic.user)?, half(&basic.password)?);
    if user.text.contains(':') {
        return Err(unfit(&basic.user, "a user name cannot hold a colon"));
    }
    for (segments, filled) in [(&basic.user, &user), (&basic.password, &password)] {
        if has_control(&filled.text) {
            return Err(unfit(segments, "basic auth cannot hold control characters"));
        }
    }
    let halves = Zeroizing::new(format!("{}:{}", *user.text, *password.text));
    let encoded = Zeroizing::new(STANDARD.encode(halves.as_bytes()));
    let value = Zeroizing::new(format!("Basic {}", *encoded));
    Ok(Some(FilledHeader::new("Authorization", &value, true)))
}

/// Whose fault it is: the input's, or else that of a secret or of the document.
fn unfit(segments: &Segments, why: &str) -> Failure {
    match segments.inputs().next() {
        Some(input) => of_input(input, why),
        None => Failure::new(Code::HeaderRefused, why.to_owned()),
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The interpreter refused these already; what it answers is not believed.
fn check_name(name: &str) -> Result<(), Failure> {
    if is_token(name) && !header::is_refused(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(120).filter(|c| !c.is_control()).collect();
    Err(Failure::new(
        Code::HeaderRefused,
        format!("the header {shown} is the host's to set"),
    ))
}
