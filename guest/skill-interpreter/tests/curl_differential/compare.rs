//! Whether two requests are one: method, path, decoded query, body, and the headers that options name.

use std::collections::BTreeMap;

use super::recorder::Received;

/// A request as the interpreter would have it sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// `host:port`
    pub(crate) authority: String,
    /// Percent-encoded.
    pub(crate) path: String,
    /// Percent-encoded, without `?`; none if there is none.
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// Headers that must not be sent, whatever their default.
    pub(crate) removed: Vec<String>,
    pub(crate) body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Bytes(Vec<u8>),
    Parts(Vec<Part>),
    /// The host writes JSON of its own spelling.
    Json(serde_json::Value),
    /// The host encodes the pairs, which curl sends as they are.
    Form(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) content: Vec<u8>,
}

/// What differs, in words; empty if nothing does.
pub(crate) fn differences(ours: &Request, real: &Received) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, ours: String, real: String| {
        if ours != real {
            found.push(format!("{what}: mapped {ours:?}, curl sent {real:?}"));
        }
    };
    check("method", ours.method.clone(), real.method.clone());
    let (path, query) = match real.target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (real.target.as_str(), None),
    };
    check("path", canonical(&ours.path), canonical(path));
    check(
        "query",
        format!("{:?}", pairs(ours.query.as_deref().unwrap_or_default())),
        format!("{:?}", pairs(query.unwrap_or_default())),
    );
    let host = real
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.to_ascii_lowercase());
    check("host", ours.authority.clone(), host.unwrap_or_default());
    let real_headers = beyond_defaults(ours, real);
    check(
        "headers",
        format!("{:?}", sorted(&ours.headers)),
        format!("{:?}", sorted(&real_headers)),
    );
    match &ours.body {
        Body::Bytes(bytes) => check("body", shown(bytes), shown(&real.body)),
        Body::Json(json) => check(
            "JSON",
            json.to_string(),
            serde_json::from_slice(&real.body).map_or_else(
                |error| error.to_string(),
                |json: serde_json::Value| json.to_string(),
            ),
        ),
        Body::Form(text) => check(
            "form",
            format!("{:?}", pairs(text)),
            format!("{:?}", pairs(&shown(&real.body))),
        ),
        Body::Parts(parts) => check(
            "parts",
            format!("{parts:?}"),
            format!("{:?}", parts_of(real)),
        ),
    }
    found
}

/// What curl, or wget, sends besides its own defaults.
fn beyond_defaults(ours: &Request, real: &Received) -> Vec<(String, String)> {
    let has = |wanted: &str| {
        ours.headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let removed = |wanted: &str| {
        ours.removed
            .iter()
            .any(|name| name.eq_ignore_ascii_case(wanted))
    };
    let is_default = |name: &str, value: &str| match name.to_ascii_lowercase().as_str() {
        // Of the connection, not of the request; the last three are of `--http2` without TLS.
        "host" | "content-length" | "connection" | "upgrade" | "http2-settings" | "expect" => true,
        // What wget asks for by default.
        "accept-encoding" => value == "identity" && !has("accept-encoding"),
        "accept" => value == "*/*" && !has("accept") && !removed("accept"),
        "user-agent" => {
            ["curl/", "Wget/"]
                .iter()
                .any(|begin| value.starts_with(begin))
                && !has("user-agent")
                && !removed("user-agent")
        }
        "content-type" => matches!(ours.body, Body::Parts(_)) && value.contains("boundary="),
        _ => false,
    };
    real.headers
        .iter()
        .filter(|(name, value)| !is_default(name, value))
        .cloned()
        .collect()
}

/// Names in lower case; the value of a cookie without the blanks between its pairs; of an `Accept-Encoding` only that it
/// is there, since each curl lists what it was built with.
fn sorted(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            let value = match name.as_str() {
                "cookie" => value
                    .split(';')
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join(";"),
                "accept-encoding" if value.contains("gzip") => "gzip and others".to_owned(),
                _ => value.clone(),
            };
            (name, value)
        })
        .collect();
    list.sort();
    list
}

/// A path in which only what has to be is percent-encoded.
fn canonical(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut text = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = path
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match (bytes[at], hex) {
            (b'%', Some(byte)) if unreserved(byte) => text.push(char::from(byte)),
            (b'%', Some(byte)) => text.push_str(&format!("%{byte:02X}")),
            (byte, _) if byte.is_ascii_graphic() && !b"\"<>`{}|^".contains(&byte) => {
                text.push(char::from(byte));
                at += 1;
                continue;
            }
            (byte, _) => {
                text.push_str(&format!("%{byte:02X}"));
                at += 1;
                continue;
            }
        }
        at += 3;
    }
    text
}

/// The decoded pairs of a query, in order; a name without `=` has no value.
fn pairs(query: &str) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) => (decoded(name), Some(decoded(value))),
            None => (decoded(pair), None),
        })
        .collect()
}

fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = text
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    out
}

fn parts_of(real: &Received) -> Vec<Part> {
    let boundary = real
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .and_then(|(_, value)| value.strip_prefix("multipart/form-data; boundary="))
        .unwrap_or("?");
    let mut body = b"\r\n".to_vec();
    body.extend(&real.body);
    let mark = format!("\r\n--{boundary}").into_bytes();
    let mut parts = Vec::new();
    let mut starts: Vec<usize> = body
        .windows(mark.len())
        .enumerate()
        .filter(|(_, window)| *window == mark)
        .map(|(at, _)| at)
        .collect();
    let end = starts.pop().unwrap_or(0);
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(end);
        let part = &body[start + mark.len() + 2..end];
        let head_end = part
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap();
        let head = String::from_utf8_lossy(&part[..head_end]).into_owned();
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for line in head.split("\r\n") {
            let (name, value) = line.split_once(':').unwrap();
            fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let disposition = fields.remove("content-disposition").unwrap_or_default();
        let parameter = |name: &str| {
            let (_, rest) = disposition.split_once(&format!("; {name}=\""))?;
            let (value, _) = rest.split_once('"')?;
            Some(value.replace("%22", "\""))
        };
        parts.push(Part {
            name: parameter("name").unwrap_or_default(),
            filename: parameter("filename"),
            content_type: fields.remove("content-type"),
            content: part[head_end + 4..].to_vec(),
        });
    }
    parts
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
