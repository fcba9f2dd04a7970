//! What a command would do. Nothing is registered, approved, injected or sent.

use std::collections::BTreeMap;

use hydrant_plan::{Diagnostic, JudgedOperation, Operation, judge, show};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Governor;
use crate::failure::Failure;
use crate::ports::{Component, invalid};
use crate::registry::unmapped;

/// What the interpreter makes of a command.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Mapped {
    mapping_version: String,
    operations: Vec<Operation>,
    diagnostics: Vec<Diagnostic>,
}

impl Governor {
    /// The mapping of one command. An unknown tool is counted.
    ///
    /// # Errors
    ///
    /// The code of the operation for a command that is refused; `interpreter-limit`.
    pub fn map(&self, command: &str) -> Result<Value, Failure> {
        let answer = self.ask(&json!({ "op": "map", "command": command }))?;
        let answer = serde_json::from_value(answer)
            .map_err(|error| invalid(&format!("its answer cannot be read: {error}")))?;
        let (operations, diagnostics) = self.judged(answer);
        let tools: Vec<&str> = operations
            .iter()
            .flat_map(|operation| &operation.reasons)
            .filter_map(|reason| reason.strip_prefix("unknown-tool:"))
            .collect();
        if !tools.is_empty() {
            // The count is for the operator's information: a mapping does not fail for it.
            if let Err(failure) = self
                .state
                .write(|change| unmapped::count(change, tools.iter().copied()))
            {
                tracing::debug!(%failure, "an unknown tool is not counted");
            }
        }
        Ok(show::mapping(&operations, &diagnostics).into())
    }

    /// The operations of a command, judged as those of a skill without a base.
    fn judged(&self, answer: Mapped) -> (Vec<JudgedOperation>, Vec<Diagnostic>) {
        let none = BTreeMap::new();
        let load = judge::Load {
            base_url: None,
            constants: &none,
            files: &none,
            mapping_version: &answer.mapping_version,
            is_command: true,
        };
        let operations = answer.operations.into_iter();
        let judged = operations.map(|operation| judge::judge(operation, load, &self.judge()));
        (judged.collect(), answer.diagnostics)
    }

    /// `hydrant map --list`: the registry of 14.1, and how often each unknown tool was met.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `interpreter-limit`.
    pub fn mapping_table(&self) -> Result<Value, Failure> {
        let mut answer = self.ask(&json!({ "op": "map", "list": true }))?;
        let unmapped = self.state.read(unmapped::list)?;
        if let Value::Object(members) = &mut answer {
            members.remove("ok");
            members.insert("unmapped".to_owned(), json!(unmapped));
        }
        Ok(answer)
    }

    /// Asks the interpreter; its own refusal is the failure.
    fn ask(&self, request: &Value) -> Result<Value, Failure> {
        let answer: Value = self.components.answer(Component::Interpreter, request)?;
        match (
            answer.get("ok").and_then(Value::as_bool),
            answer.get("error"),
        ) {
            (Some(true), _) => Ok(answer),
            (Some(false), Some(error)) => Err(serde_json::from_value(error.clone())
                .unwrap_or_else(|_| invalid("its error has none of the known codes"))),
            _ => Err(invalid("its answer is neither")),
        }
    }
}
