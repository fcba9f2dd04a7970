//! The op `map`: what one command would do, and the registry of what maps to what.
//!
//! A command is lowered and assembled as an operation of a document is, so the answer says what a skill with this command
//! would do. The host judges it and says it to people.

pub mod registry;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::assemble;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Declaration, Draft, Identity};
use crate::failure::{Code, Failure};
use crate::http_command::verb;
use crate::limits;
use crate::model::{Operation, Status};
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
    let operations: Vec<Operation> = drafts
        .iter()
        .map(|draft| assemble::operation(draft, &declaration, &context, diagnostics).operation)
        .collect();
    if let [
        Operation {
            status: Status::Unusable { error, .. },
            ..
        },
    ] = operations.as_slice()
    {
        return Err(error.clone());
    }
    if operations.is_empty() {
        return Err(Failure::new(Code::EmptyCommand, "the command is empty"));
    }
    Ok(answered(json!({
        "mapping-version": registry::VERSION,
        "operations": operations,
        "diagnostics": diagnostics.as_slice(),
    })))
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
        Statements::Text,
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
