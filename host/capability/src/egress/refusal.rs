//! Why the proxy does not serve a request: the status, the line that says so, and what of it is for the record.
//!
//! A denial says what was asked, why it is refused and what would allow it. What it repeats of a request is a host and
//! a port of harmless characters, or escaped.

use super::BudgetExceeded;
use super::pair::Fault;
use crate::fetch::FetchError;

/// Why a request is not served. All but the last two are denials (event `egress-denied`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("egress denied: the request cannot be served: {0}")]
    Unreadable(Fault),
    #[error("egress to {0} denied: no pair of the policy names it; what it needs is egress:{0}")]
    NotNamed(String),
    #[error("plain http to {0} denied: use https, or name its host in plain_http_hosts")]
    PlainHttp(String),
    #[error(
        "egress to {0} denied: an address of it is not public; only a pair that names the address itself reaches it"
    )]
    Address(String),
    #[error("egress to {0} denied: {1}")]
    Hello(String, String),
    #[error("{0}")]
    Budget(#[from] BudgetExceeded),
    #[error("no connection to {0}: {1}")]
    NoConnection(String, FetchError),
}

impl Refusal {
    /// Status and reason of the answer.
    pub(super) fn status(&self) -> &'static str {
        match self {
            Refusal::NoConnection(_, FetchError::Timeout) => "504 Gateway Timeout",
            Refusal::NoConnection(..) => "502 Bad Gateway",
            _ => "403 Forbidden",
        }
    }

    /// Who was asked for, and whether that is for the record.
    pub(super) fn denied(&self) -> Option<Option<&str>> {
        match self {
            Refusal::Unreadable(_) => Some(None),
            Refusal::NotNamed(asked)
            | Refusal::PlainHttp(asked)
            | Refusal::Address(asked)
            | Refusal::Hello(asked, _) => Some(Some(asked)),
            Refusal::Budget(_) | Refusal::NoConnection(..) => None,
        }
    }
}
