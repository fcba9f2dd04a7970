//! The head of a request to the proxy: `CONNECT host:port`, or an absolute `http://` URL (RFC 9112, 3.2).
//!
//! A strict reader: lines end in CRLF, names are tokens, a length is stated once, and everything else is refused, so
//! that no server can see another request in the same bytes. A plain request is written anew: its `Host` is that of
//! the URL, which selected the pair, and the connection ends with it, so that no second request can follow.

use super::pair::{Authority, Fault};

/// What ends a head.
pub(super) const END: &[u8] = b"\r\n\r\n";

/// Headers that concern one connection only, besides those that `Connection` names and `Proxy-…`; and those that are
/// written anew.
const DROPPED: [&[u8]; 8] = [
    b"connection",
    b"content-length",
    b"host",
    b"http2-settings",
    b"keep-alive",
    b"te",
    b"trailer",
    b"upgrade",
];

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A tunnel.
    Tunnel(Authority),
    /// One request of plain http.
    Plain(Plain),
}

/// A request of plain http, as the server gets it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    /// Who is asked.
    pub(super) authority: Authority,
    /// The head, with the empty line at its end.
    pub(super) head: Vec<u8>,
    /// Bytes of the body, which follows.
    pub(super) body: u64,
}

impl Plain {
    /// Bytes of the body that are still to come, where `rest` came with the head.
    ///
    /// # Errors
    /// More came than the request has.
    pub(super) fn left_after(&self, rest: &[u8]) -> Result<u64, Fault> {
        let came = u64::try_from(rest.len()).unwrap_or(u64::MAX);
        self.body
            .checked_sub(came)
            .ok_or("something follows it on the same connection")
    }
}

impl Request {
    /// Who is asked.
    pub(super) fn authority(&self) -> &Authority {
        match self {
            Request::Tunnel(authority) => authority,
            Request::Plain(plain) => &plain.authority,
        }
    }

    /// Reads a head, with the empty line at its end.
    ///
    /// # Errors
    /// The fault continues a sentence about the request.
    pub(super) fn parse(head: &[u8]) -> Result<Request, Fault> {
        let mut lines = lines(head)?.into_iter();
        let line = RequestLine::parse(lines.next().unwrap_or_default())?;
        let headers = lines.map(Header::parse).collect::<Result<Vec<_>, _>>()?;
        let body = body_length(&headers)?;
        if line.method == b"CONNECT" {
            if body.is_some() {
                return Err("a tunnel has no body");
            }
            return Ok(Request::Tunnel(Authority::parse(line.target, None)?));
        }
        let (authority, path) = absolute(line.target)?;
        let head = rewritten(&line, &authority, path, &headers, body);
        Ok(Request::Plain(Plain {
            authority,
            head,
            body: body.unwrap_or(0),
        }))
    }
}

/// The lines of a head. A line end that only some readers see is refused, and so is every control character.
fn lines(head: &[u8]) -> Result<Vec<&[u8]>, Fault> {
    let text = head.strip_suffix(END).ok_or("its head has no end")?;
    let mut lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        if at < last {
            *line = line
                .strip_suffix(b"\r")
                .ok_or("a line does not end in CRLF")?;
        }
        if line
            .iter()
            .any(|byte| byte.is_ascii_control() && *byte != b'\t')
        {
            return Err("its head holds a control character");
        }
    }
    Ok(lines)
}

struct RequestLine<'head> {
    method: &'head [u8],
    target: &'head str,
    version: &'head [u8],
}

impl<'head> RequestLine<'head> {
    fn parse(line: &'head [u8]) -> Result<Self, Fault> {
        let mut parts = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("its first line is not a method, a target and a version");
        };
        if !is_token(method) {
            return Err("its method is no token");
        }
        if !matches!(version, b"HTTP/1.0" | b"HTTP/1.1") {
            return Err("its version is neither HTTP/1.0 nor HTTP/1.1");
        }
        let target = std::str::from_utf8(target)
            .ok()
            .filter(|target| target.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or("its target holds other characters than a URL may")?;
        Ok(RequestLine {
            method,
            target,
            version,
        })
    }
}

struct Header<'head> {
    name: Vec<u8>,
    value: &'head [u8],
}

impl<'head> Header<'head> {
    /// A folded line begins with a blank and has no name, so it is refused here.
    fn parse(line: &'head [u8]) -> Result<Self, Fault> {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = colon
            .and_then(|colon| line.split_at_checked(colon))
            .filter(|(name, _)| is_token(name))
            .ok_or("a header has no name that is a token")?;
        Ok(Header {
            name: name.to_ascii_lowercase(),
            value: value.get(1..).unwrap_or_default().trim_ascii(),
        })
    }
}

/// The announced length of the body; none if there is no body.
fn body_length(headers: &[Header<'_>]) -> Result<Option<u64>, Fault> {
    if headers
        .iter()
        .any(|header| header.name == b"transfer-encoding")
    {
        return Err("its body has a transfer encoding; only one with a content-length passes");
    }
    let mut lengths = headers
        .iter()
        .filter(|header| header.name == b"content-length");
    let (first, second) = (lengths.next(), lengths.next());
    match (first, second) {
        (None, _) => Ok(None),
        (Some(header), None) => std::str::from_utf8(header.value)
            .ok()
            .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|value| value.parse().ok())
            .map(Some)
            .ok_or("its content-length is no number"),
        (Some(_), Some(_)) => Err("it has more than one content-length"),
    }
}

/// Whom an absolute URL of plain http names, and what it asks for there.
fn absolute(target: &str) -> Result<(Authority, String), Fault> {
    const SCHEME: &str = "http://";
    let rest = target
        .split_at_checked(SCHEME.len())
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
        .map(|(_, rest)| rest)
        .ok_or("it is neither CONNECT nor an absolute http:// URL")?;
    if rest.contains(['#', '\\']) {
        return Err("its URL holds `#` or `\\`");
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((
        Authority::parse(authority, Some(80))?,
        format!("{slash}{path}"),
    ))
}

/// The head for the server.
fn rewritten(
    line: &RequestLine<'_>,
    authority: &Authority,
    path: String,
    headers: &[Header<'_>],
    body: Option<u64>,
) -> Vec<u8> {
    let of_this_connection: Vec<Vec<u8>> = headers
        .iter()
        .filter(|header| header.name == b"connection")
        .flat_map(|header| header.value.split(|byte| *byte == b','))
        .map(|name| name.trim_ascii().to_ascii_lowercase())
        .collect();
    let kept = headers.iter().filter(|header| {
        !DROPPED.contains(&header.name.as_slice())
            && !header.name.starts_with(b"proxy-")
            && !of_this_connection.contains(&header.name)
    });
    let host = authority.host_header();
    let mut head = [line.method, b" ", path.as_bytes(), b" ", line.version].concat();
    let mut add = |name: &[u8], value: &[u8]| {
        head.extend_from_slice(&[b"\r\n", name, b": ", value].concat());
    };
    add(b"host", host.as_bytes());
    for header in kept {
        add(&header.name, header.value);
    }
    if let Some(body) = body {
        add(b"content-length", body.to_string().as_bytes());
    }
    add(b"connection", b"close");
    head.extend_from_slice(END);
    head
}

/// RFC 9110, 5.6.2
fn is_token(text: &[u8]) -> bool {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_of_token)
}
