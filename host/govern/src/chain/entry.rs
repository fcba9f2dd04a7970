//! What a part of the governor wants written; the chain adds `v`, `seq`, `ts`, `prev`, `hash` and `sig`.

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::failure::Code;

/// What a record of the chain says happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Event {
    SkillLoaded,
    SkillReloaded,
    SkillUnloaded,
    SkillRejected,
    CapabilityRegistered,
    CapabilityUpdated,
    CapabilityRemoved,
    ApprovalRequested,
    ApprovalGranted,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalRevoked,
    ApprovalSuperseded,
    ApprovalConsumed,
    CapabilityCall,
    CapabilityExecuted,
    CapabilityDenied,
    SecretInjected,
    SecretEcho,
    SecretCaptured,
    BudgetWarning,
    BudgetExhausted,
    BudgetExtended,
    RedirectDenied,
    EgressDenied,
    JailStarted,
    JailFinished,
    ChainRecovered,
    OnboardingStep,
}

impl Event {
    /// Whether it says that the database was changed: it stands for nothing if that change was not committed.
    #[must_use]
    pub const fn changes_state(self) -> bool {
        matches!(
            self,
            Self::SkillLoaded
                | Self::SkillReloaded
                | Self::SkillUnloaded
                | Self::CapabilityRegistered
                | Self::CapabilityUpdated
                | Self::CapabilityRemoved
                | Self::ApprovalRequested
                | Self::ApprovalGranted
                | Self::ApprovalDenied
                | Self::ApprovalExpired
                | Self::ApprovalRevoked
                | Self::ApprovalSuperseded
                | Self::ApprovalConsumed
                | Self::BudgetExtended
        )
    }

    /// Whether it says that a request or a grant has ended: that holds even if the change was not committed.
    #[must_use]
    pub const fn ends_approval(self) -> bool {
        matches!(
            self,
            Self::ApprovalDenied
                | Self::ApprovalExpired
                | Self::ApprovalRevoked
                | Self::ApprovalSuperseded
                | Self::ApprovalConsumed
        )
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Done.
    #[default]
    Ok,
    /// Refused by governance.
    Denied,
    /// It failed.
    Error,
}

/// What was used. In the order of the names, as records have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Used {
    /// Milliseconds of processor time.
    pub cpu_ms: u64,
    /// Bytes sent and received.
    pub network_bytes: u64,
    /// Bytes written to disk.
    pub storage_bytes: u64,
    /// Milliseconds.
    pub wall_clock_ms: u64,
}

/// What is to be written. Holds no secret, header value, body or document text.
///
/// All members stand in every record; absent ones are `null`.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// `s-…`
    pub session: Option<String>,
    /// `r-…`
    pub run: Option<String>,
    /// Who caused it; none: the host itself.
    pub client: Option<Client>,
    /// `moltbook.search`; for `skill-…` events the skill id.
    pub capability: Option<String>,
    /// The operation's id within its skill.
    pub operation: Option<String>,
    /// The source identity.
    pub derived_from: Option<String>,
    /// Where the operation stands in the document.
    pub line: Option<u32>,
    /// SHA-256 of the document's bytes.
    pub skill_digest: Option<String>,
    /// The digest of what an approval of the operation covers.
    pub op_digest: Option<String>,
    /// The digest of the sandbox policy; of `null` without one.
    pub policy_digest: Option<String>,
    /// Core capabilities of the stages, in order.
    pub delegated_to: Vec<String>,
    /// `ap-…`
    pub approval: Option<String>,
    /// Of `capability-executed`: `seq` of its `capability-call`.
    pub call_seq: Option<u64>,
    /// What goes into `inputs-digest`: canonical JSON or bytes; only its keyed digest is written.
    pub inputs: Option<Vec<u8>>,
    /// The same for `outputs-digest`.
    pub outputs: Option<Vec<u8>>,
    /// What it took.
    pub resources_consumed: Option<Used>,
    /// How it ended.
    pub outcome: Outcome,
    /// Of `denied` and `error`.
    pub code: Option<Code>,
    /// Name and host of `secret-injected`, target of `redirect-denied`, dimension of `budget-…`: at most 300
    /// characters, never a value.
    pub subject: Option<String>,
}

impl Entry {
    /// An entry with nothing but its event.
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self {
            event,
            session: None,
            run: None,
            client: None,
            capability: None,
            operation: None,
            derived_from: None,
            line: None,
            skill_digest: None,
            op_digest: None,
            policy_digest: None,
            delegated_to: Vec::new(),
            approval: None,
            call_seq: None,
            inputs: None,
            outputs: None,
            resources_consumed: None,
            outcome: Outcome::Ok,
            code: None,
            subject: None,
        }
    }
}
