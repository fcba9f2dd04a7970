//! What can be wrong with a request or its answer, and the codes for it.

use serde_json::Value;

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// A name that is not served.
    NotServed(String),
    /// The link form has no document to link.
    NoDocument {
        code: &'static str,
        status: u16,
        message: String,
    },
    /// A member is missing or wrong, or the input does not fit.
    Schema(String),
    /// The request or its answer is too long for a line.
    LineTooLong(String),
    /// The component trapped or used up a budget.
    Internal(String),
    /// The line is no JSON object.
    InvalidJson(String),
    /// A capability that was called has no answer. With the code, the number, and the error object.
    Call {
        code: String,
        status: u16,
        message: String,
        details: Value,
    },
}

impl Failure {
    pub(super) fn line_too_long(what: &str, limit: usize) -> Self {
        Self::LineTooLong(format!("{what} is over {limit} bytes"))
    }

    /// The code of the OsEvent dialect.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::NotServed(_) => "NOT_FOUND",
            Self::NoDocument { code, .. } => code,
            Self::Schema(_) => "SCHEMA_VIOLATION",
            Self::LineTooLong(_) => "LINE_TOO_LONG",
            Self::Internal(_) => "INTERNAL_ERROR",
            Self::InvalidJson(_) => "INVALID_JSON",
            Self::Call { code, .. } => code,
        }
    }

    /// The code of the OsMessage dialect.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::NotServed(_) => 404,
            Self::NoDocument { status, .. } | Self::Call { status, .. } => *status,
            Self::Schema(_) => 422,
            Self::LineTooLong(_) => 413,
            Self::Internal(_) => 500,
            Self::InvalidJson(_) => 400,
        }
    }

    /// What programs may want to know besides.
    pub(super) fn details(&self) -> Option<&Value> {
        match self {
            Self::Call { details, .. } => Some(details),
            _ => None,
        }
    }

    /// As long as what it quotes: [`super::answer`] sees to the limit.
    pub(super) fn message(&self) -> String {
        match self {
            Self::NotServed(name) => format!("unsupported syscall: {name}"),
            Self::NoDocument { message, .. } | Self::Call { message, .. } => message.clone(),
            Self::Schema(reason)
            | Self::LineTooLong(reason)
            | Self::Internal(reason)
            | Self::InvalidJson(reason) => reason.clone(),
        }
    }
}
