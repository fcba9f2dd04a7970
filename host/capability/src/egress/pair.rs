//! A host and a port that a policy names, and how a request has to write them.
//!
//! A pair has one spelling: lower case, A-labels, a port in plain digits. A request is compared with it as text, so
//! that no two parsers can disagree about what a request means:
//!
//! | pair | a request may write | and not |
//! |---|---|---|
//! | `api.example.net:443` | `API.example.NET:443` | `api.example.net.:443`, `x@api.example.net:443` |
//! | `127.0.0.1:8080` | `127.0.0.1:8080` | `2130706433:8080`, `0177.0.0.1:8080`, `[::ffff:127.0.0.1]:8080`, `localhost:8080` |
//! | `[::1]:80` | `[::1]:80` | `[0:0:0:0:0:0:0:1]:80` |

use std::fmt;

use url::Host;

use hydrant_policy::Reach;

/// Bytes of a host name, and of one of its labels (RFC 1035).
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Why a text names no host and port.
pub(super) type Fault = &'static str;

/// Whether plain http may be spoken with a pair: its host is in `plain_http_hosts`, or the pair in
/// `allow_private`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// No: neither a plain request nor a tunnel to port 80.
    Refused,
    /// Yes.
    Allowed,
}

/// A host and a port that a jail may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    authority: Authority,
    reach: Reach,
    plain_http: PlainHttp,
}

/// A text is no pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a host and a port: {reason}")]
pub struct PairError {
    text: String,
    reason: Fault,
}

/// A host and a port, in the spelling of the module's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    host: String,
    port: u16,
}

impl Pair {
    /// Reads `host:port`. A literal address or `localhost` names what may then be reached by it, public or not; every other
    /// name leads to public addresses only.
    ///
    /// # Errors
    /// [`PairError`] for a host that is none, is no name after IDNA, or is an address in an unusual form; and for a
    /// port that is missing, 0 or has leading zeros.
    pub fn parse(text: &str, plain_http: PlainHttp) -> Result<Pair, PairError> {
        let fault = |reason| PairError {
            text: text.to_owned(),
            reason,
        };
        let (host, port) = split(text).map_err(fault)?;
        let port = port
            .ok_or("it needs a port")
            .and_then(port_of)
            .map_err(fault)?;
        let (host, reach) = canonical(host).map_err(fault)?;
        let authority = Authority { host, port };
        Ok(Pair {
            authority,
            reach,
            plain_http,
        })
    }

    /// The same, and whatever its name leads to may be reached, public or not (`allow_private` of the configuration).
    #[must_use]
    pub fn reaching_any(self) -> Pair {
        Pair {
            reach: Reach::Any,
            ..self
        }
    }

    /// The host, as it is looked up: a name, or an address, an IPv6 one in brackets.
    pub(super) fn host(&self) -> &str {
        &self.authority.host
    }

    pub(super) fn port(&self) -> u16 {
        self.authority.port
    }

    pub(super) fn reach(&self) -> Reach {
        self.reach
    }

    pub(super) fn plain_http(&self) -> PlainHttp {
        self.plain_http
    }

    /// Whether a request that names `authority` means this pair.
    pub(super) fn is(&self, authority: &Authority) -> bool {
        self.authority == *authority
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.authority.fmt(formatter)
    }
}

impl Authority {
    /// Reads what a request names. It may be no host at all: what counts is whether a pair is spelled like it.
    ///
    /// # Errors
    /// The fault: a missing port without a default, user information, escapes, or what no host can hold.
    pub(super) fn parse(text: &str, default_port: Option<u16>) -> Result<Authority, Fault> {
        if text.contains('@') {
            return Err("it must not hold user information");
        }
        let (host, port) = split(text)?;
        let port = match port {
            Some(port) => port_of(port)?,
            None => default_port.ok_or("it needs a port")?,
        };
        let host = host.to_ascii_lowercase();
        let is_host = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            Some(address) => address
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')),
            None => host.bytes().all(is_of_a_name),
        };
        if host.is_empty() || host.len() > MAX_NAME || !is_host {
            return Err("its host is no host name and no address");
        }
        Ok(Authority { host, port })
    }

    /// As the header `Host` names it on a connection of plain http (RFC 9110, 7.2).
    pub(super) fn host_header(&self) -> String {
        if self.port == 80 {
            self.host.clone()
        } else {
            self.to_string()
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

/// The host, with its brackets, and the port.
fn split(text: &str) -> Result<(&str, Option<&str>), Fault> {
    if !text.starts_with('[') {
        return Ok(match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        });
    }
    let after = text.find(']').and_then(|at| at.checked_add(1));
    let (host, rest) = after
        .and_then(|after| text.split_at_checked(after))
        .ok_or("its address has no closing bracket")?;
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err("something follows its address that is no port"),
    }
}

fn port_of(text: &str) -> Result<u16, Fault> {
    // No sign, no blank, no leading zero: other parsers differ there.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain
        .then(|| text.parse().ok())
        .flatten()
        .ok_or("its port is no number from 1 to 65535 in plain digits")
}

/// The one spelling of a host, and which addresses it may lead to.
fn canonical(text: &str) -> Result<(String, Reach), Fault> {
    const NO_HOST: Fault = "its host is no host name and no address";
    if text.contains('%') {
        // The parser would decode it.
        return Err(NO_HOST);
    }
    match Host::parse(text).map_err(|_| NO_HOST)? {
        Host::Ipv4(address) if address.to_string() != text => {
            Err("its address is not written as four decimal numbers")
        }
        Host::Ipv4(address) => Ok((address.to_string(), Reach::Named)),
        Host::Ipv6(address) => Ok((format!("[{address}]"), Reach::Named)),
        Host::Domain(name) if name == "localhost" => Ok((name, Reach::Named)),
        Host::Domain(name) => {
            let is_label = |label: &str| (1..=MAX_LABEL).contains(&label.len());
            let is_name = name.len() <= MAX_NAME
                && name.split('.').all(is_label)
                && name.bytes().all(is_of_a_name);
            is_name.then_some((name, Reach::Public)).ok_or(NO_HOST)
        }
    }
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
