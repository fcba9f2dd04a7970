//! The components that the governor asks.

use std::time::Duration;

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Component, Components};
use serde_json::Value;

use super::Ports;
use crate::engine::{Budgets, CallError};
use crate::host::{Failure as RunFailure, HostError, SkillCall};

/// The most memory that a component of the governor gets; a policy can only give it less.
const MEMORY_BYTES: u64 = 64 * 1024 * 1024;
/// The longest that such a component computes; a policy can only give it less.
const WALL_CLOCK: Duration = Duration::from_secs(2);

impl Components for Ports {
    fn ask(&self, component: Component, request: &Value) -> Result<Vec<u8>, Failure> {
        let id = component.skill_id();
        let request = request.to_string();
        let call = SkillCall::new(id, request.as_bytes())
            .within(WALL_CLOCK)
            .limited(|budgets| Budgets {
                memory_bytes: budgets.memory_bytes.min(MEMORY_BYTES),
                ..budgets
            });
        let answer = self.0.answer(call);
        answer
            .map_err(|error| not_run(id, &error))?
            .map_err(|failure| ended(id, &failure))
    }
}

/// Nothing was executed: the component is not what was pinned, or the call could not be recorded.
fn not_run(id: &str, error: &HostError) -> Failure {
    let code = match error {
        HostError::CannotRecord(_) | HostError::Audit(_) => Code::AuditUnavailable,
        _ => Code::StoreUnavailable,
    };
    Failure::new(code, format!("{id}: {error}"))
}

/// What a `skill-error` means.
fn ended(id: &str, failure: &RunFailure) -> Failure {
    match failure {
        RunFailure::Component(CallError::Skill { code, message, .. }) => {
            let code = match code.as_str() {
                "too_large" => Code::TooLarge,
                "invalid_request" => Code::InvalidRequest,
                _ => Code::InvalidPlan,
            };
            Failure::new(code, message.clone())
        }
        RunFailure::Component(CallError::Budget(exceeded)) => {
            Failure::new(Code::InterpreterLimit, exceeded.to_string())
        }
        failure => {
            tracing::warn!(skill = id, %failure, "the component was ended");
            Failure::new(Code::InterpreterLimit, format!("{id} was ended"))
        }
    }
}
