//! Receipts: a file about one run, for whoever asked for it. Two forms, both of the original: v0 and
//! v1-draft.
//!
//! A receipt carries a hash over its own members and no signature: it shows that nobody changed a byte by accident,
//! not who wrote it. Only [`Execution`] makes one, and [`verify_receipt`](super::verify_receipt) reads one.

mod v0;
mod v1;

use std::str::FromStr;

use hydrant_base::{Digest, JsonError, escaped, pretty_json};
use hydrant_trust::Experimental;

use super::Execution;

pub use v0::{NotSuccessful, ReceiptV0};
pub use v1::{Attestation, ReceiptV1, ResultV1, RuntimeV1};

/// Which form of receipt is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReceiptFormat {
    /// For successful runs only.
    #[default]
    V0,
    /// For failed runs too; experimental.
    V1Draft,
}

/// A name that is no receipt format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unsupported --receipt-format; expected v0 or v1-draft, got {0}")]
pub struct UnknownReceiptFormat(String);

impl FromStr for ReceiptFormat {
    type Err = UnknownReceiptFormat;

    fn from_str(name: &str) -> Result<Self, UnknownReceiptFormat> {
        match name {
            "v0" => Ok(Self::V0),
            "v1-draft" => Ok(Self::V1Draft),
            other => Err(UnknownReceiptFormat(escaped(other))),
        }
    }
}

impl ReceiptFormat {
    /// The draft form needs `--allow-experimental`.
    ///
    /// # Errors
    /// [`ReceiptError::Experimental`].
    pub fn check(self, experimental: Experimental) -> Result<(), ReceiptError> {
        match (self, experimental) {
            (Self::V1Draft, Experimental::Refused) => Err(ReceiptError::Experimental),
            _ => Ok(()),
        }
    }
}

/// Why there is no receipt, or why one is not believed.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The draft form without `--allow-experimental`.
    #[error("receipt format 'v1-draft' requires --allow-experimental")]
    Experimental,
    /// It has neither the shape of v0 nor that of v1-draft.
    #[error("invalid receipt v1 draft JSON: {v1}; invalid execution receipt JSON: {v0}")]
    NoReceipt {
        /// Why it is not v0.
        v0: JsonError,
        /// Why it is not v1-draft.
        v1: JsonError,
    },
    /// It has not the shape of v1-draft.
    #[error("invalid receipt v1 draft JSON: {0}")]
    NotV1(JsonError),
    /// Another `schema_version` than the draft's.
    #[error("unsupported receipt schema version: {}", escaped(.0))]
    SchemaVersion(String),
    /// A member has a value that it may not have.
    #[error("invalid draft field: {0}")]
    Field(&'static str),
    /// `receipt_hash` is not the hash of the other members.
    #[error("digest mismatch: expected {expected}, got {actual}")]
    Hash {
        /// What `receipt_hash` says.
        expected: Digest,
        /// What the other members give.
        actual: Digest,
    },
}

/// A receipt of either form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// The format of successful runs, written by default.
    V0(ReceiptV0),
    /// The draft of version 1, which failed runs have too.
    V1(Box<ReceiptV1>),
}

impl Receipt {
    /// The receipt of this execution, or none: v0 is written for successful runs only.
    #[must_use]
    pub fn of(execution: &Execution, format: ReceiptFormat) -> Option<Self> {
        match format {
            ReceiptFormat::V0 => ReceiptV0::of(execution).ok().map(Self::V0),
            ReceiptFormat::V1Draft => Some(Self::V1(Box::new(ReceiptV1::of(execution)))),
        }
    }

    /// What ran.
    #[must_use]
    pub fn artifact(&self) -> &Digest {
        match self {
            Self::V0(receipt) => &receipt.artifact,
            Self::V1(receipt) => &receipt.artifact,
        }
    }

    /// `receipt_hash`.
    #[must_use]
    pub fn hash(&self) -> &Digest {
        match self {
            Self::V0(receipt) => &receipt.receipt_hash,
            Self::V1(receipt) => &receipt.receipt_hash,
        }
    }

    /// `schema_version`; v0 has none.
    #[must_use]
    pub fn schema_version(&self) -> Option<&str> {
        match self {
            Self::V0(_) => None,
            Self::V1(receipt) => Some(&receipt.schema_version),
        }
    }

    /// The bytes of the file: pretty, no final newline.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::V0(receipt) => pretty_json(receipt),
            Self::V1(receipt) => pretty_json(receipt),
        }
    }

    /// Whether `receipt_hash` is the hash of the other members.
    ///
    /// # Errors
    /// [`ReceiptError::Hash`].
    pub fn verify(&self) -> Result<(), ReceiptError> {
        match self {
            Self::V0(receipt) => receipt.verify(),
            Self::V1(receipt) => receipt.verify(),
        }
    }
}

/// `receipt_hash` must be `actual`.
fn compare(expected: &Digest, actual: Digest) -> Result<(), ReceiptError> {
    if *expected == actual {
        return Ok(());
    }
    Err(ReceiptError::Hash {
        expected: expected.clone(),
        actual,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, worked};
    use super::*;

    #[test]
    fn the_draft_form_needs_the_experimental_flag() {
        let refused = ReceiptFormat::V1Draft
            .check(Experimental::Refused)
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "receipt format 'v1-draft' requires --allow-experimental"
        );
        assert!(ReceiptFormat::V1Draft.check(Experimental::Allowed).is_ok());
        assert!(ReceiptFormat::V0.check(Experimental::Refused).is_ok());
    }

    #[test]
    fn formats_have_two_names() {
        assert_eq!("v0".parse(), Ok(ReceiptFormat::V0));
        assert_eq!("v1-draft".parse(), Ok(ReceiptFormat::V1Draft));
        let error = "v1\n".parse::<ReceiptFormat>().unwrap_err().to_string();
        assert!(
            error.contains("expected v0 or v1-draft, got v1\\u{a}"),
            "{error}"
        );
    }

    #[test]
    fn a_failed_run_has_a_draft_receipt_only() {
        assert!(Receipt::of(&failed(), ReceiptFormat::V0).is_none());
        let draft = Receipt::of(&failed(), ReceiptFormat::V1Draft).unwrap();
        assert!(draft.verify().is_ok());
        assert!(Receipt::of(&worked(), ReceiptFormat::V0).is_some());
    }

    #[test]
    fn every_receipt_verifies_as_it_is_made() {
        for format in [ReceiptFormat::V0, ReceiptFormat::V1Draft] {
            let receipt = Receipt::of(&worked(), format).unwrap();
            assert!(receipt.verify().is_ok(), "{format:?}");
            assert_eq!(receipt.artifact(), &worked().artifact);
        }
    }
}
