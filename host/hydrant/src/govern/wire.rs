//! HTTP for the governor.

use std::path::Path;

use hydrant_govern::config::pair_of;
use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Wire, WireFailure, WireLimits, WireRequest, WireResponse};

use super::Ports;
use crate::capability::fetch::{FetchError, Single, header_map, send_single};
use crate::capability::{Cancellation, turn};
use crate::policy::{Denial, Reach};

impl Wire for Ports {
    fn exchange(
        &self,
        request: &WireRequest,
        limits: &WireLimits,
    ) -> Result<WireResponse, WireFailure> {
        let failed = |error, network_bytes| WireFailure {
            failure: failure(error, request, limits),
            network_bytes,
        };
        if let Some(layers) = self.0.governed_layers() {
            layers
                .allow_request(&request.method, &request.url)
                .map_err(|denial| WireFailure {
                    failure: denied(&pair_of(&request.url).unwrap_or_default(), &denial),
                    network_bytes: 0,
                })?;
        }
        let headers = request.headers.iter();
        let headers = header_map(headers.map(|(name, value)| (name.as_str(), &*value.0)));
        let headers = headers.map_err(|error| failed(error, 0))?;
        let single = Single {
            method: &request.method,
            url: &request.url,
            headers,
            body: request.body.as_deref(),
            reach: if limits.private {
                Reach::Any
            } else {
                Reach::Public
            },
            connect: limits.connect,
            total: limits.total,
            response_bytes: limits.response_bytes,
        };
        let (outcome, network_bytes) = turn::aside(|| send_single(self.0.fetcher(), &single));
        if outcome.is_err() && Cancellation::current().is_cancelled() {
            return Err(WireFailure {
                failure: Failure::cancelled(),
                network_bytes,
            });
        }
        let response = outcome.map_err(|error| failed(error, network_bytes))?;
        Ok(WireResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
            network_bytes,
        })
    }
}

/// Names the host and the rule, and no path: neither that of the request, nor where the policy lies.
pub(super) fn denied(pair: &str, denial: &Denial) -> Failure {
    let rule = denial.decided_by();
    let named = Path::new(&rule.source).file_name();
    let mut policy = named.map_or_else(|| rule.source.clone(), |name| name.display().to_string());
    if let Some(line) = rule.line {
        policy = format!("{policy}:{line}");
    }
    Failure::new(
        Code::HostDenied,
        format!("{pair} is denied by {policy} ({})", rule.reason),
    )
}

/// Names the host and nothing else of the request.
fn failure(error: FetchError, request: &WireRequest, limits: &WireLimits) -> Failure {
    let code = match error {
        FetchError::Denied => Code::PrivateAddress,
        FetchError::Dns => Code::Dns,
        FetchError::Connect => Code::Connect,
        FetchError::Tls => Code::Tls,
        FetchError::Timeout => Code::Timeout,
        FetchError::TooLarge => Code::ResponseTooLarge,
        FetchError::RedirectDenied
        | FetchError::Redirects
        | FetchError::InvalidRequest
        | FetchError::UnsupportedEncoding
        | FetchError::Protocol => Code::FetchFailed,
    };
    let host = request.url.host_str().unwrap_or_default();
    let port = request.url.port_or_known_default().unwrap_or_default();
    let message = match error {
        FetchError::Denied => format!("{host}:{port} leads to an address that is not public"),
        FetchError::TooLarge => format!(
            "{host}:{port}: the response has more than {} bytes",
            limits.response_bytes
        ),
        error => format!("{host}:{port}: {error}"),
    };
    Failure::new(code, message)
}
