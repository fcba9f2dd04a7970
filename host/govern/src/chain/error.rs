//! Why nothing can be written to the chain.

use std::io;

use super::verify::Reason;
use crate::failure::{Code, Failure};
use crate::state::FolderError;

/// All of them are `audit-unavailable` for a caller.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChainError {
    /// Not as the governor left it; nothing is written until the operator has moved it away.
    #[error("record {seq}: {reason}")]
    Damaged { seq: u64, reason: Reason },
    /// The same: the database is not the one that the chain was written with, but an earlier one.
    #[error("the database is an older one, which knows nothing after record {seq}")]
    OlderDatabase { seq: u64 },
    /// The same of what is no record.
    #[error("{0}")]
    Broken(String),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("cannot write {what}: {source}")]
    Write {
        what: &'static str,
        source: io::Error,
    },
    #[error("a record of {0} bytes is too long")]
    TooLong(usize),
    #[error("a record cannot be written as json: {0}")]
    Json(#[from] serde_json::Error),
}

impl ChainError {
    /// Whether it stays until somebody has done something about it.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. } | Self::OlderDatabase { .. } | Self::Broken(_)
        )
    }
}

impl From<ChainError> for Failure {
    fn from(error: ChainError) -> Self {
        let failure = Self::new(Code::AuditUnavailable, format!("chain: {error}"));
        match error {
            ChainError::Damaged { .. } | ChainError::Broken(_) => failure.with_hint(
                "look at it with `hydrant audit verify`, then move the folder `chain` away: a new one is begun then, and \
                 every approval has to be given again",
            ),
            ChainError::OlderDatabase { .. } => failure.with_hint(
                "put the newer `govern.sqlite` back; where it is lost, move the folder `chain` away: a new one is begun \
                 then, and every approval has to be given again",
            ),
            _ => failure,
        }
    }
}
