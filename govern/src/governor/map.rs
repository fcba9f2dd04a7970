//! What a command would do (section 14). K-242: nothing is registered, approved, injected or sent.

use serde_json::{Value, json};

use super::Governor;
use crate::failure::Failure;
use crate::ports::mismatch;
use crate::registry::unmapped;

impl Governor {
    /// The mapping of one command (14.2). K-24: an unknown tool is counted.
    ///
    /// # Errors
    ///
    /// The code of the operation for a command that is refused (K-240); `interpreter-limit`.
    pub fn map(&self, command: &str) -> Result<Value, Failure> {
        let request = json!({
            "op": "map",
            "command": command,
            "context": { "known-tools": self.config.known_tools },
        });
        let mut answer = self.ask(&request)?;
        let tools = unknown_tools(&answer);
        if !tools.is_empty() {
            let tools = tools.iter().map(String::as_str);
            // The count is for the operator's information: a mapping does not fail for it.
            if let Err(failure) = self.state.write(|change| unmapped::count(change, tools)) {
                tracing::debug!(%failure, "an unknown tool is not counted");
            }
        }
        if let Value::Object(members) = &mut answer {
            members.remove("ok");
        }
        Ok(answer)
    }

    /// `hydrant map --list` (K-24): the registry of 14.1, and how often each unknown tool was met.
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
        let answer: Value = self.interpreter.answer(request)?;
        match (
            answer.get("ok").and_then(Value::as_bool),
            answer.get("error"),
        ) {
            (Some(true), _) => Ok(answer),
            (Some(false), Some(error)) => Err(serde_json::from_value(error.clone())
                .unwrap_or_else(|_| mismatch("its error is none of section 27"))),
            _ => Err(mismatch("its answer is neither")),
        }
    }
}

/// `argv[0]` of what maps to nothing known: the `unknown-tool:` reasons and requirements of Tier 3.
fn unknown_tools(answer: &Value) -> Vec<String> {
    let one = std::slice::from_ref(answer);
    let operations = answer
        .get("operations")
        .and_then(Value::as_array)
        .map_or(one, Vec::as_slice);
    operations
        .iter()
        .filter(|operation| operation.get("known") == Some(&Value::Bool(false)))
        .filter_map(|operation| operation.get("requires")?.as_array())
        .flatten()
        .filter_map(|entry| entry.as_str()?.strip_prefix("tool:").map(str::to_owned))
        .collect()
}
