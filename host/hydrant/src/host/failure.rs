//! How an execution failed: one type for components and core modules, with the code that receipts carry.

use std::fmt;

use crate::audit::{Code, Outcome};
use crate::capability::Budget;
use crate::engine::{CallError, CoreFailure, EngineError};
use hydrant_base::escaped;

/// An execution that began and has no answer.
#[derive(Debug)]
pub enum Failure {
    /// A component.
    Component(CallError),
    /// A component that was stopped, by a limit or a trap, after it had changed files: those changes stay.
    AfterChanges(CallError),
    /// A core module.
    CoreModule(CoreFailure),
    /// No component of the host world, or one that this machine cannot compile.
    NotLoadable(EngineError),
    /// A component whose manifest names another entrypoint than `run`.
    NoEntrypoint(String),
}

/// The codes that a skill may end with: those of every skill, and those of `content.hydrate` where a document has no other
/// place for them. The list is closed, so that whoever calls a skill can handle every code.
const SKILL_CODES: [&str; 17] = [
    "invalid_request",
    "denied",
    "not_found",
    "wrong_type",
    "malformed",
    "unsupported",
    "too_large",
    "conflict",
    "timeout",
    "network",
    "process_failed",
    "io",
    "internal",
    "budget_exceeded",
    "fetch_failed",
    "parse_error",
    "unsupported_scheme",
];

impl Failure {
    /// Another code than those of the list is reported as `internal`, with what it was in the details.
    pub(super) fn of_component(error: CallError) -> Self {
        match error {
            CallError::Skill { code, message, .. } if !SKILL_CODES.contains(&code.as_str()) => {
                Self::Component(CallError::Skill {
                    details: Some(serde_json::json!({ "code": code }).to_string()),
                    code: "internal".into(),
                    message,
                })
            }
            error => Self::Component(error),
        }
    }

    /// The same failure of a skill whose changes of files met this obstacle, which it was not told.
    pub(super) fn because(self, obstacle: Option<&'static str>) -> Self {
        let (code, message, details) = match (obstacle, self) {
            (
                Some(obstacle),
                Self::Component(CallError::Skill {
                    code,
                    message,
                    details,
                }),
            ) => {
                let details = details.unwrap_or_default();
                let mut members = match hydrant_base::parse_json(details.as_bytes()) {
                    Ok(serde_json::Value::Object(members)) => members,
                    _ => serde_json::Map::new(),
                };
                members.insert("reason".into(), obstacle.into());
                (code, message, serde_json::Value::Object(members))
            }
            (_, failure) => return failure,
        };
        Self::Component(CallError::Skill {
            code,
            message,
            details: Some(details.to_string()),
        })
    }

    /// The same failure of a call that had changed files. A skill that ends with an error of its own knows that, and
    /// says so itself.
    pub(super) fn after_changes(self) -> Self {
        match self {
            Self::Component(error) if !matches!(error, CallError::Skill { .. }) => {
                Self::AfterChanges(error)
            }
            failure => failure,
        }
    }

    /// How receipts and audit lines tell it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Component(CallError::Skill { code, message, .. }) => {
                Outcome::skill_error(code, message)
            }
            // No host paths, which are what core modules ask for, and no output; stderr has both.
            Self::CoreModule(CoreFailure::CapabilityDenied(denied)) => {
                let message = format!("capability denied: {}", denied.kind);
                Outcome::failure(Code::CapabilityDenied, &message)
            }
            Self::CoreModule(CoreFailure::NonzeroReturn { value, .. }) => {
                Outcome::failure(Code::NonzeroReturn, &format!("it returned {value}"))
            }
            failure => Outcome::failure(failure.code(), &failure.to_string()),
        }
    }

    /// The code of this failure in receipts and audit lines.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Component(error) | Self::AfterChanges(error) => code_of(error),
            Self::CoreModule(failure) => failure.code(),
            Self::NotLoadable(EngineError::CompileTimeout) => Code::Timeout,
            Self::NotLoadable(_) | Self::NoEntrypoint(_) => Code::InstantiationFailed,
        }
    }

    /// The error as JSON: what the skill itself said, or the code of the limit or trap and a message.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let mut error = serde_json::Map::new();
        match self {
            Self::Component(CallError::Skill {
                code,
                message,
                details,
            }) => {
                error.insert("code".into(), code.as_str().into());
                error.insert("message".into(), message.as_str().into());
                // The text of one JSON object; anything else is not passed on as if it were one.
                let details = details
                    .as_deref()
                    .and_then(|text| hydrant_base::parse_json(text.as_bytes()).ok());
                if let Some(details @ serde_json::Value::Object(_)) = details {
                    error.insert("details".into(), details);
                }
            }
            failure => {
                error.insert("code".into(), failure.code().as_str().into());
                error.insert("message".into(), failure.to_string().into());
                if let Self::AfterChanges(_) = failure {
                    let details = serde_json::json!({ "files_changed": true });
                    error.insert("details".into(), details);
                }
            }
        }
        error.into()
    }

    /// The bytes that `outputs_hash` is taken over; those of a success are the response itself.
    pub(super) fn output(&self) -> Vec<u8> {
        match self {
            Self::Component(CallError::Skill { .. }) => {
                hydrant_base::canonical_json(&self.to_json())
            }
            Self::CoreModule(CoreFailure::NonzeroReturn { output, .. }) => output.clone(),
            _ => Vec::new(),
        }
    }
}

/// What the commands of provenact print after `command failed: `.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CoreModule(failure) => failure.fmt(f),
            Self::NotLoadable(EngineError::CompileTimeout) => {
                f.write_str("wasm execution failed: deadline exceeded")
            }
            Self::NotLoadable(error) => write!(f, "wasm instantiation failed: {error}"),
            Self::NoEntrypoint(name) => write!(f, "entrypoint not found: {}", escaped(name)),
            Self::Component(CallError::Skill { .. }) => {
                write!(f, "skill failed: skill_error {}", self.to_json())
            }
            Self::Component(error) => write_stopped(f, error),
            Self::AfterChanges(error) => {
                write_stopped(f, error)?;
                f.write_str("; the files that it had changed stay changed")
            }
        }
    }
}

fn write_stopped(f: &mut fmt::Formatter<'_>, error: &CallError) -> fmt::Result {
    match code_of(error) {
        Code::FuelExhausted => f.write_str("wasm execution failed: fuel exhausted"),
        Code::Timeout => f.write_str("wasm execution failed: deadline exceeded"),
        Code::InstantiationFailed => write!(f, "wasm instantiation failed: {error}"),
        _ => write!(f, "wasm execution failed: {error}"),
    }
}

impl std::error::Error for Failure {}

fn code_of(error: &CallError) -> Code {
    match error {
        CallError::Skill { .. } => Code::SkillError,
        CallError::Instantiation(_) | CallError::NoRoom(_) => Code::InstantiationFailed,
        CallError::Trap(_) => Code::Trap,
        CallError::Busy => Code::Timeout,
        CallError::Budget(exceeded) => match exceeded.budget {
            Budget::Fuel => Code::FuelExhausted,
            // There is no code for a call that nobody waits for any more.
            Budget::WallClock | Budget::Cancelled => Code::Timeout,
            Budget::Memory | Budget::Tables => Code::MemoryLimit,
            Budget::ResponseBytes => Code::OutputTooLarge,
            Budget::EgressBytes => Code::EgressLimit,
            Budget::Hostcalls | Budget::ReadBytes | Budget::RequestBytes => Code::HostcallLimit,
        },
    }
}
