//! Why an operation has no answer: one type for every front end, in the form of RFC 9457.
//!
//! What a problem says goes to the tenant. It names nothing of the machine and nothing of another tenant: where the layer
//! below says more, such as a path, that goes to the log.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::capability::Budget;
use crate::engine::{CallError, EngineError, NoRoom};
use crate::govern::failure::{Code, Failure as Governed};
use crate::host::{Failure, HostError};

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Stable: `snake_case` of skills, `kebab-case` of governed execution and of the service itself.
    pub code: String,
    /// What it is called where each name is kept (metrics, spans), if its code is a skill's to choose.
    pub counted_as: Option<&'static str>,
    /// The HTTP status that fits.
    pub status: u16,
    /// What kind of problem it is, the same for each of its code.
    pub title: &'static str,
    /// This one, in a sentence.
    pub detail: String,
    /// When it is worth to try again.
    pub retry_after: Option<Duration>,
    /// What else a program may want to know.
    pub members: Box<Map<String, Value>>,
    /// What the governor said itself, for front ends of this machine's own user and his jails. No tenant is told of it.
    pub governed: Option<Box<Governed>>,
}

impl Problem {
    /// A problem without further members.
    #[must_use]
    pub fn new(status: u16, code: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            counted_as: None,
            status,
            title,
            detail: detail.into(),
            retry_after: None,
            members: Box::default(),
            governed: None,
        }
    }

    /// The request is not what the operation takes.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(400, "invalid-request", "the request is not valid", detail)
    }

    /// There is no such thing, or it is not the tenant's: both are the same answer.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(
            404,
            &format!("unknown-{what}"),
            "there is no such thing",
            format!("there is no such {what}"),
        )
    }

    /// No token, or none that is known.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(
            401,
            "unauthenticated",
            "a bearer token is needed",
            "the request has no bearer token that is known here",
        )
    }

    /// A token whose role may not.
    #[must_use]
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(403, "operator-only", "the token may not do this", detail)
    }

    /// The tenant's own limit.
    #[must_use]
    pub fn too_many(detail: &str, after: Duration) -> Self {
        Self {
            retry_after: Some(after),
            ..Self::new(429, "limit", "too many calls", detail)
        }
    }

    /// The limit of the server.
    #[must_use]
    pub fn overloaded(after: Duration) -> Self {
        Self {
            retry_after: Some(after),
            ..Self::new(
                503,
                "overloaded",
                "the service is busy",
                "the service has too many calls to do",
            )
        }
    }

    /// What the machine has too little of is its operator's business.
    fn without_room(no_room: NoRoom) -> Self {
        tracing::warn!(%no_room, "a call had no room");
        Self::overloaded(Duration::from_secs(1))
    }

    /// The service begins, or ends.
    #[must_use]
    pub fn not_ready() -> Self {
        Self {
            retry_after: Some(Duration::from_secs(1)),
            ..Self::new(
                503,
                "not-ready",
                "the service is not ready",
                "the service compiles what it serves, or ends",
            )
        }
    }

    /// Whoever asked went away, or said so.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(
            499,
            "cancelled",
            "the call was cancelled",
            "the call was cancelled before it had an answer",
        )
    }

    /// Something that is nobody's business outside; `why` goes to the log.
    #[must_use]
    pub fn internal(why: &dyn std::fmt::Display) -> Self {
        tracing::error!(%why, "a call failed inside");
        Self::new(
            500,
            "internal",
            "the service failed",
            "the service could not do this; its log says why",
        )
    }

    /// The problem as JSON (RFC 9457, section 3).
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut all = Map::new();
        let uri = format!("urn:hydrant:problem:{}", self.code);
        all.insert("type".into(), uri.into());
        all.insert("title".into(), self.title.into());
        all.insert("status".into(), self.status.into());
        all.insert("detail".into(), self.detail.as_str().into());
        all.insert("code".into(), self.code.as_str().into());
        if let Some(after) = self.retry_after {
            all.insert("retry_after".into(), seconds(after).into());
        }
        for (name, value) in self.members.as_ref() {
            all.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(all)
    }

    /// Writes to the log what the governor says of the machine, which nobody else is told.
    pub(super) fn log(&self) {
        let governed = self.governed.as_deref();
        if let Some(failure) = governed.filter(|failure| is_of_the_machine(failure.code)) {
            tracing::error!(%failure, "the state of a tenant cannot be used");
        }
    }

    /// The error object of commands and syscalls, `code` and `message` first: what the governor said, as it said it.
    #[must_use]
    pub fn error_object(&self) -> Value {
        if let Some(governed) = &self.governed {
            return json!(governed);
        }
        let mut all = Map::new();
        all.insert("code".into(), self.code.as_str().into());
        all.insert("message".into(), self.detail.as_str().into());
        if let Some(after) = self.retry_after {
            all.insert("retry_after".into(), seconds(after).into());
        }
        for (name, value) in self.members.as_ref() {
            all.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(all)
    }

    /// What metrics and spans call it: one of few names, whatever skills say.
    #[must_use]
    pub fn outcome(&self) -> &str {
        self.counted_as.unwrap_or(&self.code)
    }

    /// With a further member.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }
}

/// Whole seconds, at least one: `Retry-After` knows no parts.
#[must_use]
pub fn seconds(after: Duration) -> u64 {
    after
        .as_millis()
        .div_ceil(1000)
        .max(1)
        .try_into()
        .unwrap_or(u64::MAX)
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Problem {}

/// A skill that ran and failed.
impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Component(error) | Failure::AfterChanges(error) if is_cancelled(&error) => {
                Self::cancelled()
            }
            Failure::Component(CallError::Busy) => Self::overloaded(Duration::from_secs(1)),
            Failure::Component(CallError::NoRoom(no_room))
            | Failure::NotLoadable(EngineError::NoRoom(no_room)) => Self::without_room(no_room),
            Failure::NotLoadable(error) => Self::internal(&error),
            failure => {
                let error = failure.to_json();
                let text = |member: &str| {
                    let text = error.get(member).and_then(Value::as_str);
                    text.unwrap_or_default().to_owned()
                };
                let details = error.get("details").cloned();
                let own = matches!(&failure, Failure::Component(CallError::Skill { .. }));
                let problem = Self {
                    counted_as: own.then_some("skill-failed"),
                    ..Self::new(422, &text("code"), "the skill failed", text("message"))
                };
                match details {
                    Some(details) => problem.with("details", details),
                    None => problem,
                }
            }
        }
    }
}

fn is_cancelled(error: &CallError) -> bool {
    matches!(error, CallError::Budget(exceeded) if exceeded.budget == Budget::Cancelled)
}

/// A call that was not executed, or has no answer.
impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Call(error) => Failure::Component(error).into(),
            HostError::Engine(EngineError::NoRoom(no_room)) => Self::without_room(no_room),
            HostError::Pin(error) if error.class().is_none() => Self::not_found("skill"),
            HostError::Pin(error) => {
                tracing::error!(%error, "a pinned skill is refused");
                Self::new(
                    500,
                    "pin-failed",
                    "the skill is not what was pinned",
                    "the skill is not what was pinned, or what was pinned is not trusted",
                )
            }
            HostError::Untrusted(_) => Self::new(
                403,
                "untrusted-signer",
                "the policy trusts no signer of the skill",
                "none of the signers that the policy trusts signed the skill",
            ),
            HostError::CapabilityDenied(capability) => Self::new(
                403,
                "capability-denied",
                "the policy denies a capability",
                format!("capability denied: {}", capability.kind),
            ),
            HostError::CannotRecord(_) | HostError::Audit(_) => {
                tracing::error!(%error, "a call cannot be recorded");
                Self::new(
                    500,
                    "audit-unavailable",
                    "the call cannot be recorded",
                    "the call cannot be recorded, so it is not answered",
                )
            }
            error => Self::internal(&error),
        }
    }
}

/// A governed call that was refused or failed.
impl From<Governed> for Problem {
    fn from(failure: Governed) -> Self {
        let governed = Some(Box::new(failure.clone()));
        let code = failure.code;
        if code == Code::UnknownApproval {
            // The same for one that is another tenant's.
            return Self {
                governed,
                ..Self::not_found("approval")
            };
        }
        let mut members = match json!(failure) {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        for told in ["code", "message"] {
            members.remove(told);
        }
        let detail = if is_of_the_machine(code) {
            members.clear();
            "the state cannot be used; the log of the service says why".to_owned()
        } else {
            failure.message
        };
        let status = status(code);
        let title = match status {
            403 => "governance denies this",
            404 => "there is no such thing",
            424 => "what the operation relies on failed",
            422 => "the request or the document is refused",
            _ => "the service failed",
        };
        Self {
            members: Box::new(members),
            governed,
            ..Self::new(status, code.as_str(), title, detail)
        }
    }
}

/// What says more about the machine than a tenant may know.
fn is_of_the_machine(code: Code) -> bool {
    matches!(
        code,
        Code::StoreUnavailable
            | Code::AuditUnavailable
            | Code::ApprovalStore
            | Code::SecretStorePermissions
            | Code::InvalidPlan
    )
}

/// Returns the status of a code; for what is neither the caller's fault nor the service's: 424.
fn status(code: Code) -> u16 {
    match code.number() {
        500 if !is_of_the_machine(code) => 424,
        number => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Taker, Wall};

    #[test]
    fn what_tells_of_the_machine_is_not_told() {
        let failure =
            Governed::new(Code::StoreUnavailable, "/home/x/state: no such file").at_path("/home/x");
        let problem = Problem::from(failure);
        assert_eq!(problem.status, 500);
        assert!(!problem.to_json().to_string().contains("/home"));
        let failure = Governed::new(Code::ApprovalRequired, "needs approval").with_approval("ap-1");
        let shown = Problem::from(failure).to_json();
        assert_eq!(shown["status"], 403);
        assert_eq!(shown["approval-id"], "ap-1");
        assert_eq!(shown["code"], "approval-required");
    }

    #[test]
    fn a_call_without_room_is_told_to_come_again_and_not_what_the_machine_has() {
        let no_room = NoRoom {
            taker: Taker::Call,
            wall: Wall::AddressSpace,
            asked: 4_294_967_296,
            left: 4096,
            limit: 8_589_934_592,
        };
        for problem in [
            Problem::from(Failure::Component(CallError::NoRoom(no_room))),
            Problem::from(Failure::NotLoadable(EngineError::NoRoom(no_room))),
            Problem::from(HostError::Engine(EngineError::NoRoom(no_room))),
        ] {
            assert_eq!((problem.status, problem.code.as_str()), (503, "overloaded"));
            assert!(problem.retry_after.is_some());
            assert!(!problem.to_json().to_string().contains("4096"));
        }
    }

    #[test]
    fn whatever_a_skill_calls_its_failure_it_is_counted_under_one_name() {
        let failure = Failure::Component(CallError::Skill {
            code: "not_found".into(),
            message: "no".into(),
            details: None,
        });
        let problem = Problem::from(failure);
        assert_eq!(
            (problem.code.as_str(), problem.outcome()),
            ("not_found", "skill-failed")
        );
        assert_eq!(Problem::invalid("no").outcome(), "invalid-request");
    }

    #[test]
    fn members_never_replace_those_of_the_problem() {
        let problem = Problem::invalid("no").with("status", json!(200));
        assert_eq!(problem.to_json()["status"], 400);
        assert_eq!(seconds(Duration::from_millis(1)), 1);
        assert_eq!(seconds(Duration::from_millis(1001)), 2);
    }
}
