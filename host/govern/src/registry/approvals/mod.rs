//! Approvals (section 16): what an operator was asked, what was decided, and whether a call may run.
//!
//! `pending` becomes `approved`, `denied`, `expired` or `superseded`; `approved` becomes `revoked`, `expired`, `superseded`
//! or `consumed`; nothing else ever happens, and the database itself refuses it. Whatever is not known to be granted
//! is denied.

mod decide;
mod difference;
mod end;
mod open;
mod other;
mod permit;
mod request;
mod row;
mod script;
mod secret;
mod shown;
mod standing;

pub(crate) use decide::fits_question;
pub use decide::{Answer, Verdict, approve, deny, revoke};
pub use difference::Difference;
pub use end::{end_session, expire};
pub use other::{HumanAction, ask_budget, ask_human, permit_source_host};
pub(crate) use other::{human, use_up};
pub use permit::{Permit, consume, permit};
pub use request::{Requested, request};
pub(crate) use row::by_id;
pub use secret::{SecretWrite, ask_secret_write, secret_writes};
pub(crate) use secret::{supersede_earlier, supersede_this};
pub use shown::{Shown, list, show};

#[cfg(test)]
pub(super) use end::OVER;
pub(crate) use end::{end_all, follow, follow_call};
pub(super) use end::{end_over, forget, supersede, supersede_other, supersede_skill};
pub(super) use open::{grant_by_policy, open_capability};
pub(super) use row::pending_of_skill;
pub(super) use shown::derivation;
pub(super) use standing::{Question, Standing, standing};

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::{Code, Failure};
use crate::manifest::Sends;
use crate::time::{DRIFT, Time};
use hydrant_plan::PolicySource;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// As it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What this text is, if it is one.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// What is asked.
    Kind {
        /// That an operation may be called.
        Capability => "capability",
        /// That skills may be loaded from a host and port.
        SourceHost => "source-host",
        /// More of a budget.
        Budget => "budget",
        /// That a captured secret is kept.
        SecretWrite => "secret-write",
        /// That a person does something.
        HumanAction => "human-action",
    }
}

words! {
    /// Where a request or grant stands.
    Status {
        /// An operator has to decide.
        Pending => "pending",
        /// Granted.
        Approved => "approved",
        /// Refused.
        Denied => "denied",
        /// Nobody decided in time, or the grant's time is over.
        Expired => "expired",
        /// What it was about has changed or gone.
        Superseded => "superseded",
        /// The operator took the grant back.
        Revoked => "revoked",
        /// A `once` grant that was used.
        Consumed => "consumed",
    }
}

words! {
    /// What a grant covers.
    Scope {
        /// One call.
        Once => "once",
        /// The calls of one session.
        Session => "session",
        /// All, until digests or source change.
        UntilChanged => "until-changed",
    }
}

/// What `by` says where policy grants: an operation of Tier 1 that gives no reason for an approval.
pub const POLICY: &str = "policy";

/// What a request is about; it never changes. Holds no value of a secret.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Subject {
    /// `<skill>.<op>` as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The operation's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Where the operation stands in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The skill, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// The source identity: the requested URL without fragment, or the canonical path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// SHA-256 of the document's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_digest: Option<String>,
    /// The digest of what an approval of the operation covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_digest: Option<String>,
    /// The digest of the sandbox policy; of `null` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_digest: Option<String>,
    /// Core capabilities of the stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegates: Vec<String>,
    /// `host:port`
    pub hosts: Vec<String>,
    /// Names.
    pub secrets: Vec<String>,
    /// The scope of a grant that is given without one, where the document says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_scope: Option<Scope>,
    /// 0 where it is not about an operation.
    pub tier: u8,
    /// Why an approval is needed.
    pub reasons: Vec<String>,
    /// What an approver of Tier 3 is warned of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The manifest of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
    /// What each stage would send or run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<Sends>,
    /// The policy of its sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Value>,
    /// Which line of the document each entry of the policy comes from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_sources: Vec<PolicySource>,
    /// What the code imports and calls to open sockets, start processes or load native code. It permits nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The code or script of Tiers 2 and 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// What an agent gave as its reason for asking: untrusted, one line, at most 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Of the other kinds: `dimension` and `amount`, what a secret `replaces`, or the human action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The last request for the same that was granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

/// A request and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Approval {
    /// `ap-` and 32 hex digits.
    pub id: String,
    /// What is asked.
    pub kind: Kind,
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// When it was opened.
    pub requested_at: Time,
    /// Until when it may be decided.
    pub expires_at: Time,
    /// What became of it.
    pub status: Status,
    /// The session it was opened in, or that a `session` grant is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who decided: `policy`, or the operator's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The operator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Time>,
    /// Of a grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Of a grant with `--ttl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Time>,
    /// The operator's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// What the table knows it by.
    #[serde(skip)]
    pub(super) key: String,
    /// Of a grant with `--ttl`: how far the clock was behind the chain's time when it was given.
    #[serde(skip)]
    pub(super) clock_behind: Duration,
}

/// What the time limit of a grant is judged by. The clock says how long it holds; the chain's time, which never goes
/// backward, says whether the clock was set back meanwhile. Then nobody knows how long it has held, and it is over.
#[derive(Debug, Clone, Copy)]
pub(in crate::registry) struct Clock {
    now: Time,
    /// By how much more than [`DRIFT`] the clock is behind the chain's time.
    behind: Duration,
}

impl Clock {
    /// `chain`: the chain's time.
    pub(in crate::registry) fn read(chain: Time) -> Self {
        let now = Time::now();
        Self {
            now,
            behind: chain.since(now).saturating_sub(DRIFT),
        }
    }

    /// For [`LIVE`] and [`end::OVER`]: the time, and how far the clock is behind.
    pub(in crate::registry) fn stored(self) -> [i64; 2] {
        [row::stored(self.now), row::milliseconds(self.behind)]
    }
}

/// Of `approvals a`, with what [`Clock::stored`] answers as `?1` and `?2`: grants that hold.
pub(in crate::registry) const LIVE: &str = "a.status = 'approved'
    AND (a.valid_until IS NULL OR (a.valid_until > ?1 AND a.clock_behind >= ?2))";

impl Approval {
    /// Whether its time is over, although nobody wrote that down yet. `now`: the chain's time.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        match self.status {
            Status::Pending => now >= self.expires_at,
            Status::Approved => self.valid_until.is_some_and(|until| {
                let clock = Clock::read(now);
                clock.now >= until || clock.behind > self.clock_behind
            }),
            _ => false,
        }
    }

    /// What a person calls it.
    pub(super) fn label(&self) -> String {
        self.subject
            .capability
            .clone()
            .unwrap_or_else(|| self.key.clone())
    }

    /// The chain's `subject` of a request that is about no operation.
    pub(super) fn about(&self) -> Option<String> {
        let text: String = self.key.chars().take(300).collect();
        (self.kind != Kind::Capability).then_some(text)
    }
}

/// Any error of the store is `approval-store`.
pub(super) fn guarded<T>(result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|mut failure| {
        if failure.code == Code::StoreUnavailable {
            failure.code = Code::ApprovalStore;
        }
        failure
    })
}
