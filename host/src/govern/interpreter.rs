//! The component `skill.interpret` (K-01 to K-03).

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::Interpreter;
use serde_json::Value;

use super::Ports;
use crate::engine::CallError;
use crate::host::{Failure as RunFailure, HostError};

impl Interpreter for Ports {
    fn ask(&self, request: &Value) -> Result<Vec<u8>, Failure> {
        let answer = self.0.interpret(request.to_string().as_bytes());
        answer.map_err(not_run)?.map_err(|failure| ended(&failure))
    }
}

/// Nothing was executed: the component is not what was pinned, or the call could not be recorded.
fn not_run(error: HostError) -> Failure {
    let code = match &error {
        HostError::CannotRecord(_) | HostError::Audit(_) => Code::AuditUnavailable,
        _ => Code::StoreUnavailable,
    };
    Failure::new(code, format!("skill.interpret: {error}"))
}

/// K-03, and section 2.1: what a `skill-error` means.
fn ended(failure: &RunFailure) -> Failure {
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
            tracing::warn!(%failure, "the interpreter was ended");
            Failure::new(Code::InterpreterLimit, "the interpreter was ended")
        }
    }
}
