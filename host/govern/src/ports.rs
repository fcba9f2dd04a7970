//! What the governor needs of a host.
//!
//! The governor decides everything; a port does one thing and decides nothing but what its documentation says.

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Code, Failure};

/// A component that the governor asks. It has no capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// `skill.interpret`: what a document or a command would do.
    Interpreter,
    /// `data.filter`: runs jq programs and text tools.
    Filter,
}

impl Component {
    /// The id of its skill.
    #[must_use]
    pub fn skill_id(self) -> &'static str {
        match self {
            Self::Interpreter => "skill.interpret",
            Self::Filter => "data.filter",
        }
    }
}

/// The pinned components.
pub trait Components: Send + Sync {
    /// The bytes of a component's answer to one request.
    ///
    /// # Errors
    ///
    /// `interpreter-limit` where it ran out of memory, fuel or time; `too-large` and `invalid-request` where it says so
    /// itself; `store-unavailable` where it cannot be run at all.
    fn ask(&self, component: Component, request: &Value) -> Result<Vec<u8>, Failure>;
}

impl dyn Components + '_ {
    /// Its answer, read.
    ///
    /// # Errors
    ///
    /// As [`Components::ask`]; `invalid-plan` for an answer that is no `T`.
    pub(crate) fn answer<T: DeserializeOwned>(
        &self,
        component: Component,
        request: &Value,
    ) -> Result<T, Failure> {
        serde_json::from_slice(&self.ask(component, request)?).map_err(|error| {
            let id = component.skill_id();
            Failure::new(
                Code::InvalidPlan,
                format!("{id}: its answer cannot be read: {error}"),
            )
        })
    }
}

/// The interpreter answered something that it cannot have found.
pub(crate) fn invalid(what: &str) -> Failure {
    Failure::new(Code::InvalidPlan, format!("the interpreter: {what}"))
}

/// One HTTP request, as it is sent.
#[derive(Debug, Clone)]
pub struct WireRequest {
    /// A token.
    pub method: String,
    /// Absolute, `http` or `https`, without user info and fragment; its path and query go out as they are.
    pub url: url::Url,
    /// In order, names as they are sent. Neither `Host` nor `Content-Length`.
    pub headers: Vec<(String, WireValue)>,
    /// None: no body is sent.
    pub body: Option<Vec<u8>>,
}

/// The bytes of a header; `Debug` does not show them, for they may be a secret.
#[derive(Clone, PartialEq, Eq, zeroize::ZeroizeOnDrop)]
pub struct WireValue(pub Vec<u8>);

impl std::fmt::Debug for WireValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***REDACTED***")
    }
}

/// How far one exchange may go.
#[derive(Debug, Clone, Copy)]
pub struct WireLimits {
    /// Until the connection stands.
    pub connect: Duration,
    /// The whole exchange.
    pub total: Duration,
    /// The response's body after decoding, in bytes.
    pub response_bytes: u64,
    /// Whether addresses that are not public may be contacted: the pair is in `allow_private`.
    pub private: bool,
}

/// What came back; redirects are not followed.
#[derive(Debug, Clone)]
pub struct WireResponse {
    /// 100 to 999.
    pub status: u16,
    /// At most 100, at most 64 KiB.
    pub headers: Vec<(String, Vec<u8>)>,
    /// After decoding.
    pub body: Vec<u8>,
    /// Bytes sent and received, for the budget.
    pub network_bytes: u64,
}

impl WireResponse {
    /// The values of the headers of this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.headers
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// The value of the first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&[u8]> {
        self.all(name).next()
    }
}

/// HTTP: one exchange, no redirect, no cookie jar, no proxy of the environment, certificates verified.
///
/// Every address that the name resolves to is checked, and the connection goes to one that was.
pub trait Wire: Send + Sync {
    /// Sends one request.
    ///
    /// # Errors
    ///
    /// With the bytes that went over the network all the same: `private-address`, `dns`, `connect`, `tls`, `timeout`,
    /// `response-too-large`, `fetch-failed`; `host-denied`, before anything is sent, where the host has rules of its own.
    fn exchange(
        &self,
        request: &WireRequest,
        limits: &WireLimits,
    ) -> Result<WireResponse, WireFailure>;
}

/// Why there is no response.
#[derive(Debug, Clone)]
pub struct WireFailure {
    /// What and why.
    pub failure: Failure,
    /// Bytes sent and received, for the budget.
    pub network_bytes: u64,
}

/// What egress proxies say of a connection that they refused or carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressRefusal {
    /// `host:port` as it was asked for, at most 300 characters.
    pub target: String,
    /// Why.
    pub code: Code,
}

/// What an egress proxy did.
#[derive(Debug, Clone, Default)]
pub struct EgressReport {
    /// Bytes carried, both ways.
    pub bytes: u64,
    /// Whether the limit was hit; the connections were closed then.
    pub exhausted: bool,
    /// What was refused, at most the first 64.
    pub refusals: Vec<EgressRefusal>,
}

/// The egress proxy: one for each run of a jail.
pub trait Egress: Send + Sync {
    /// Starts a proxy that lets through exactly these pairs (`host:port`, lower-case), up to this many bytes both ways;
    /// calls `run` with the path of its Unix socket, to be mounted at `/run/egress.sock`, and ends it when that returns.
    ///
    /// Addresses that are not public are contacted for the pairs of `private` only.
    ///
    /// # Errors
    ///
    /// `jail-unavailable` where it cannot be started, `host-denied` where the host has rules of its own that refuse a pair;
    /// `run` was not called then.
    fn during(
        &self,
        pairs: &[String],
        private: &[String],
        byte_limit: u64,
        run: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure>;
}
