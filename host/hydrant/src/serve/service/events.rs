//! What changed, for whoever watches: the live view of the console, clients that subscribe.
//!
//! An event names what changed and no more: who wants to see it asks for it, with the rights that he has.

use serde::Serialize;

/// A change in a tenant's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Somebody has to decide.
    ApprovalPending {
        /// `ap-…`
        id: String,
    },
    /// Somebody decided.
    ApprovalDecided {
        /// `ap-…`
        id: String,
        /// What it is now.
        status: String,
    },
    /// A skill was loaded or removed.
    Capabilities {
        /// Its id.
        skill: String,
    },
    /// A run was recorded.
    Receipt {
        /// `rcpt_…`
        id: String,
    },
    /// The chain has further records.
    Chain,
}

impl Event {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ApprovalPending { .. } => "approval-pending",
            Self::ApprovalDecided { .. } => "approval-decided",
            Self::Capabilities { .. } => "capabilities",
            Self::Receipt { .. } => "receipt",
            Self::Chain => "chain",
        }
    }
}
