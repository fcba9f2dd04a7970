//! Answers: a response or an error, in the request's dialect (EN-08 to EN-15).

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::RawValue;

use super::envelope::{Dialect, Request};

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// EN-09
    NotServed(String),
    /// EN-10: the link form has no document to link.
    NoDocument {
        code: &'static str,
        status: u16,
        message: String,
    },
    /// EN-11
    Schema(String),
    /// EN-12, EN-13
    LineTooLong(String),
    /// EN-14
    Internal(String),
    /// EN-15
    InvalidJson(String),
}

impl Failure {
    pub(super) fn line_too_long(what: &str, limit: usize) -> Self {
        Self::LineTooLong(format!("{what} is over {limit} bytes"))
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotServed(_) => "NOT_FOUND",
            Self::NoDocument { code, .. } => code,
            Self::Schema(_) => "SCHEMA_VIOLATION",
            Self::LineTooLong(_) => "LINE_TOO_LONG",
            Self::Internal(_) => "INTERNAL_ERROR",
            Self::InvalidJson(_) => "INVALID_JSON",
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::NotServed(_) => 404,
            Self::NoDocument { status, .. } => *status,
            Self::Schema(_) => 422,
            Self::LineTooLong(_) => 413,
            Self::Internal(_) => 500,
            Self::InvalidJson(_) => 400,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::NotServed(name) => format!("unsupported syscall: {name}"),
            Self::NoDocument { message, .. } => message.clone(),
            Self::Schema(reason)
            | Self::LineTooLong(reason)
            | Self::Internal(reason)
            | Self::InvalidJson(reason) => reason.clone(),
        }
    }
}

/// One line to send.
pub(super) struct Answer {
    line: String,
    is_error: bool,
}

impl Answer {
    /// A response; `payload` is JSON text.
    pub(super) fn of(request: &Request, payload: &str) -> Self {
        let Ok(body) = serde_json::from_str::<&RawValue>(payload) else {
            let failure = Failure::Internal("the component answered what is no JSON".into());
            return Self::failed(request.dialect, Some(request), &failure);
        };
        let line = match request.dialect {
            Dialect::Event => event("response", &request.name, &body, Some(request)),
            Dialect::Message => message("reply", &request.name, &body, Some(request)),
        };
        Self {
            line,
            is_error: false,
        }
    }

    /// An error message. Without a request there is no name to answer under.
    pub(super) fn failed(dialect: Dialect, request: Option<&Request>, failure: &Failure) -> Self {
        let name = request.map_or("Validation.Failed", |request| &request.name);
        let line = match dialect {
            Dialect::Event => {
                let body = EventError {
                    message: failure.message(),
                    code: failure.code(),
                };
                event("error", name, &body, request)
            }
            Dialect::Message => {
                let body = MessageError {
                    code: failure.status(),
                    message: failure.message(),
                };
                message("error", name, &body, request)
            }
        };
        Self {
            line,
            is_error: true,
        }
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }
}

#[derive(Serialize)]
struct Event<'a, B> {
    r#type: &'static str,
    name: &'a str,
    payload: &'a B,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Message<'a, B> {
    kind: &'static str,
    r#type: &'a str,
    data: &'a B,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct EventError {
    message: String,
    code: &'static str,
}

#[derive(Serialize)]
struct MessageError {
    code: u16,
    message: String,
}

/// EN-08, in this order.
#[derive(Serialize)]
struct Metadata<'a> {
    id: String,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causation: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    fn answering(request: Option<&'a Request>) -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            id: random_id(),
            timestamp: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            correlation: request.and_then(|request| request.correlation.as_deref()),
            causation: request.and_then(|request| request.id.as_deref()),
        }
    }
}

fn event(
    kind: &'static str,
    name: &str,
    body: &impl Serialize,
    request: Option<&Request>,
) -> String {
    let metadata = Metadata::answering(request);
    to_json(&Event {
        r#type: kind,
        name,
        payload: body,
        metadata,
    })
}

fn message(
    kind: &'static str,
    name: &str,
    body: &impl Serialize,
    request: Option<&Request>,
) -> String {
    let metadata = Metadata::answering(request);
    to_json(&Message {
        kind,
        r#type: name,
        data: body,
        metadata,
    })
}

fn to_json(value: &impl Serialize) -> String {
    // Strings, numbers and JSON text always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

/// EN-08: 8 characters of `A-Za-z0-9_-`, random.
fn random_id() -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        // Ids tell answers apart and guard nothing: the clock will do where the system has no randomness.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        bytes = now
            .as_nanos()
            .to_le_bytes()
            .first_chunk()
            .copied()
            .unwrap_or_default();
    }
    let character = |byte: &u8| {
        ALPHABET
            .get(usize::from(byte & 63))
            .copied()
            .map(char::from)
    };
    bytes.iter().filter_map(character).collect()
}
