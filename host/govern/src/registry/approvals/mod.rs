//! Approvals: what an operator was asked, what was decided, and whether a call may run.
//!
//! | file | subject |
//! |---|---|
//! | `lifecycle` | the states, and every transition between them |
//! | `table` | rows |
//! | `standing` | whether a grant covers a call |
//! | `permit` | whether a call may run, or a skill be loaded from a host |
//! | `capability`, `ask` | the requests that are opened: about operations, and about anything else |
//! | `decide` | what an operator decides |
//! | `list` | `approvals list` and `approvals show` |

mod ask;
mod capability;
mod decide;
mod lifecycle;
mod list;
mod permit;
mod standing;
mod table;

pub(crate) use ask::human;
pub use ask::{SecretWrite, ask_budget, ask_human, ask_secret_write, secret_writes};
pub use capability::{Requested, request};
pub(super) use capability::{grant_by_policy, open_capability};
pub(crate) use decide::fits_question;
pub use decide::{Answer, Verdict, approve, deny, revoke};
#[cfg(test)]
pub(super) use lifecycle::OVER;
pub(crate) use lifecycle::{
    end_all, follow, follow_call, supersede_earlier, supersede_this, use_up,
};
pub(super) use lifecycle::{end_over, forget, supersede_changed, supersede_skill};
pub use lifecycle::{end_session, expire};
pub(super) use list::derivation;
pub use list::{ApprovalDetails, Difference, list, show};
pub use permit::{Permit, consume, permit, permit_source_host};
pub(crate) use standing::View;
pub(super) use standing::{Standing, Stands};
pub(crate) use table::by_id;
pub(super) use table::pending_of_skill;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Registered;
use super::sql::words;
use crate::failure::{Code, Failure};
use crate::manifest::Sends;
use crate::time::{DRIFT, Time};
use hydrant_plan::PolicySource;

words! {
    /// What is asked.
    pub Kind {
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
    pub Status {
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
    pub Scope {
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

/// The clock that the time limit of a grant is judged by. The system clock says how long a grant holds; the chain's time, which
/// never goes backward, says whether the clock was set back meanwhile. Then nobody knows how long the grant has held, and it
/// is over.
#[derive(Debug, Clone, Copy)]
pub(in crate::registry) struct Clock {
    now: Time,
    /// By how much more than [`DRIFT`] the clock is behind the chain's time.
    behind: Duration,
}

impl Clock {
    /// Reads the clock, at this chain time.
    pub(in crate::registry) fn read(chain: Time) -> Self {
        let now = Time::now();
        Self {
            now,
            behind: chain.since(now).saturating_sub(DRIFT),
        }
    }

    /// Returns what [`LIVE`] and [`lifecycle::OVER`] compare with: the time, and how far the clock is behind.
    pub(in crate::registry) fn stored(self) -> (Time, i64) {
        (self.now, table::milliseconds(self.behind))
    }
}

/// The condition for grants that hold, of `approvals a`; `?1` and `?2` are what [`Clock::stored`] returns.
pub(in crate::registry) const LIVE: &str = "a.status = 'approved'
    AND (a.valid_until IS NULL OR (a.valid_until > ?1 AND a.clock_behind >= ?2))";

impl Approval {
    /// Whether its time is over at this chain time, although nobody wrote that down yet.
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

    /// Whether it is about an operation as it is registered: digests and source are the same.
    pub(in crate::registry) fn is_about(&self, found: &Registered) -> bool {
        let subject = &self.subject;
        subject.op_digest.as_ref() == Some(&found.operation.digest)
            && subject.policy_digest.as_ref() == Some(&found.policy_digest)
            && subject.source.as_ref() == Some(&found.skill.source)
    }

    /// Returns what a person calls its subject.
    fn label(&self) -> &str {
        self.subject.capability.as_deref().unwrap_or(&self.key)
    }
}

/// Makes any error of the store `approval-store`.
fn guarded<T>(result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|mut failure| {
        if failure.code == Code::StoreUnavailable {
            failure.code = Code::ApprovalStore;
        }
        failure
    })
}
