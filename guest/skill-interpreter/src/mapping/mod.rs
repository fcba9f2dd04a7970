//! The op `map`: what one command would do, and the registry of what maps to what.
//!
//! A command is lowered and assembled as an operation of a document is, so the answer says what a skill with this command
//! would do. Nothing is looked up but the table.

mod explanation;
mod params;
pub mod registry;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::assemble;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Declaration, Draft, DraftStage, Identity, Trust};
use crate::failure::{Code, Failure};
use crate::http_command::verb;
use crate::limits;
use crate::model::{Operation, Stage, Status};
use crate::request::MapRequest;
use crate::shell::{self, Constants, Statements};

/// Says what a command would do.
///
/// # Errors
///
/// The code of a refused command.
pub fn answer(request: &MapRequest, diagnostics: &mut Diagnostics) -> Result<Value, Failure> {
    if request.list {
        return Ok(answered(registry::list()));
    }
    if request.command.len() > limits::COMMAND_BYTES {
        return Err(Failure::new(
            Code::TooLarge,
            format!("the command: more than {} bytes", limits::COMMAND_BYTES),
        ));
    }
    let context = Context::of_map(&request.context)?;
    let drafts = lower(&request.command, &context, diagnostics);
    let declaration = Declaration::new(Identity::Nameless);
    let mut operations: Vec<(Draft, Operation)> = drafts
        .into_iter()
        .map(|draft| {
            let operation = assemble::operation(&draft, &declaration, &context, diagnostics);
            (draft, operation)
        })
        .collect();
    match operations.len() {
        0 => Err(Failure::new(Code::EmptyCommand, "the command is empty")),
        1 => match operations.pop() {
            Some((
                _,
                Operation {
                    status: Status::Unusable { error, .. },
                    ..
                },
            )) => Err(error),
            Some((draft, operation)) => {
                let mut result = result(&draft, &operation);
                result.insert("diagnostics".to_owned(), json!(diagnostics.as_slice()));
                Ok(answered(Value::Object(result)))
            }
            None => Err(Failure::new(Code::EmptyCommand, "the command is empty")),
        },
        _ => {
            let results: Vec<Value> = operations
                .iter()
                .map(|(draft, operation)| match &operation.status {
                    Status::Unusable { error, .. } => json!({"error": error}),
                    Status::Ok => Value::Object(result(draft, operation)),
                })
                .collect();
            Ok(answered(json!({
                "operations": results,
                "diagnostics": diagnostics.as_slice(),
            })))
        }
    }
}

fn lower(command: &str, context: &Context, diagnostics: &mut Diagnostics) -> Vec<Draft> {
    if verb::begins(command) {
        return verb::parse(command, 1, context, diagnostics)
            .into_iter()
            .map(|request| request.draft)
            .collect();
    }
    let mut constants = Constants::default();
    shell::lower(
        command,
        1,
        Statements::Fence,
        &mut constants,
        context,
        diagnostics,
    )
}

fn answered(members: Value) -> Value {
    let mut answer = Map::new();
    answer.insert("ok".to_owned(), true.into());
    if let Value::Object(members) = members {
        answer.extend(members);
    }
    answer.into()
}

/// The result of one operation.
fn result(draft: &Draft, operation: &Operation) -> Map<String, Value> {
    let mut result = Map::new();
    let mut put = |name: &str, value: Value| {
        result.insert(name.to_owned(), value);
    };
    match operation.stages.as_slice() {
        [stage] => {
            put("maps-to", stage.capability().into());
            put("params", params::of(stage).into());
        }
        stages => {
            let list: Vec<&str> = stages.iter().map(Stage::capability).collect();
            put("maps-to", list.into());
            let pipeline: Vec<Value> = stages
                .iter()
                .map(|stage| json!({"maps-to": stage.capability(), "params": params::of(stage)}))
                .collect();
            put("pipeline", pipeline.into());
        }
    }
    put("confidence", json!(operation.confidence));
    let known = operation.tier < 3;
    put("known", known.into());
    put("tier", operation.tier.into());
    put("requires-approval", (!operation.reasons.is_empty()).into());
    if !known {
        put("reason", explanation::reason(draft).into());
        if unknown_tool(draft).is_some() {
            put("message", "No mapping found for command".into());
        }
    }
    put("reasons", operation.reasons.clone().into());
    put("requires", operation.requires.clone().into());
    put("effects", operation.effects.clone().into());
    let secrets: Vec<&str> = operation
        .secrets
        .iter()
        .map(|secret| secret.name.as_str())
        .collect();
    put("secrets", secrets.into());
    let request = operation.stages.iter().find_map(|stage| match stage {
        Stage::Http(stage) => Some(stage),
        _ => None,
    });
    if let Some(auth) = request.and_then(|stage| stage.auth.as_ref()) {
        put("auth", json!(auth));
    }
    put("input-schema", operation.input_schema.clone());
    if let Some(input) = request.and_then(|stage| stage.url_input.as_ref()) {
        put("needs", json!([input]));
    }
    if let Some(file) = operation.files.write.first() {
        put("output-file", file.as_str().into());
    }
    if let Some(policy) = &operation.policy {
        put("policy", json!(policy));
    }
    if !operation.notes.is_empty() {
        put("notes", operation.notes.clone().into());
    }
    put("explanation", explanation::of(draft, operation).into());
    put("stages", json!(operation.stages));
    result
}

/// The tool that nobody knows.
fn unknown_tool(draft: &Draft) -> Option<&str> {
    draft.plan.iter().flatten().find_map(|stage| match stage {
        DraftStage::Sandbox(stage) => match &stage.trust {
            Trust::Tool { name } | Trust::Download { name } => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}
