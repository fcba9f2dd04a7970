//! Hosts as an operator writes them and as they are compared.

use std::fmt;

use hydrant_base::address::host_and_port;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use url::Host;

/// What an operator wrote is not a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not {1}")]
pub struct NotAHost(String, &'static str);

/// `host:port` or `[v6]:port`, both exact.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct HostPort(HostPattern);

impl HostPort {
    /// From `host:port` or `[v6]:port`.
    ///
    /// # Errors
    ///
    /// Anything else, a pattern too.
    pub fn parse(text: &str) -> Result<Self, NotAHost> {
        let pattern = HostPattern::parse(text).ok();
        let pair = pattern.filter(|pattern| pattern.port.is_some());
        pair.map(Self)
            .ok_or_else(|| NotAHost(text.to_owned(), "host:port"))
    }

    /// Whether it is this pair.
    #[must_use]
    pub fn is(&self, pair: &str) -> bool {
        self.0.matches(pair)
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for HostPort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// An entry of a list of hosts.
///
/// | entry | matches |
/// |---|---|
/// | `a.example.org` | that host with any port |
/// | `a.example.org:8443` | that host with that port |
/// | `*.example.org` | each host below it with any port, not `example.org` itself |
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(
    with = "String",
    description = "`host` with any port, `host:port`, or `*.host` for each host below it."
)]
pub struct HostPattern {
    host: String,
    port: Option<u16>,
    below: bool,
}

impl HostPattern {
    /// From an entry.
    ///
    /// # Errors
    ///
    /// What is none of the three.
    pub fn parse(text: &str) -> Result<Self, NotAHost> {
        let error = || NotAHost(text.to_owned(), "host, host:port or *.host");
        let text_trimmed = text.trim();
        if let Some(rest) = text_trimmed.strip_prefix("*.") {
            let host = canonical(rest).ok_or_else(error)?;
            // No address has anything below it.
            if !matches!(Host::parse(&host), Ok(Host::Domain(_))) {
                return Err(error());
            }
            return Ok(Self {
                host,
                port: None,
                below: true,
            });
        }
        let (host, port) = split(text_trimmed).ok_or_else(error)?;
        Ok(Self {
            host: canonical(host).ok_or_else(error)?,
            port,
            below: false,
        })
    }

    /// Whether it matches everything that the other one matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        if self.below {
            let below = other.host.strip_suffix(self.host.as_str());
            return below.is_some_and(|rest| match rest.strip_suffix('.') {
                Some(rest) => !rest.is_empty(),
                None => rest.is_empty() && other.below,
            });
        }
        let port = self.port.is_none() || self.port == other.port;
        !other.below && port && self.host == other.host
    }

    /// Whether it covers this pair.
    #[must_use]
    pub fn matches(&self, pair: &str) -> bool {
        host_and_port(pair).is_some_and(|(host, port)| {
            self.covers(&Self {
                host: host.to_owned(),
                port: Some(port),
                below: false,
            })
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.below {
            f.write_str("*.")?;
        }
        f.write_str(&self.host)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn undotted(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// Splits off the port. A bare IPv6 address is none: it has to stand in brackets.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let port_at = match text.rfind(']') {
        Some(bracket) => bracket.checked_add(1)?,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = (text.get(..port_at)?, text.get(port_at..)?);
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((host, None)),
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => match port.parse() {
            Ok(0) | Err(_) => None,
            Ok(port) => Some((host, Some(port))),
        },
        _ => None,
    }
}

/// As a URL writes it: IDNA, lower-case, addresses in their one form.
fn canonical(host: &str) -> Option<String> {
    if host.is_empty() || host.contains(['*', '/', '@', '\\', '?', '#', ' ']) {
        return None;
    }
    let host = Host::parse(host).ok()?.to_string();
    let host = undotted(&host).to_owned();
    (!host.is_empty()).then_some(host)
}
