//! Workflows of the catalogue as prompts: a workflow for what the user wants, written out with its guardrails and a plan.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

use super::results;
use crate::serve::operations::{Call, Workflow, WorkflowList};
use crate::serve::service::{Answer, Problem};

/// The one argument.
const TASK: &str = "task";

/// All prompts, sorted by name.
pub(super) fn listed(answer: &Answer) -> Result<Vec<Prompt>, ErrorData> {
    let answered: WorkflowList = serde_json::from_slice(&answer.body)
        .map_err(|error| results::of_request(&Problem::internal(&error)))?;
    let prompts = answered.workflows.into_iter().map(|workflow| {
        let task = PromptArgument::new(TASK)
            .with_description("What is to be done, as the user says it")
            .with_required(true);
        let mut prompt = Prompt::new(workflow.id, Some(workflow.description), Some(vec![task]));
        prompt.title = Some(workflow.title);
        prompt
    });
    let mut prompts: Vec<Prompt> = prompts.collect();
    prompts.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(prompts)
}

/// The text that a prompt stands for.
///
/// # Errors
///
/// Its argument is missing or is no text.
pub(super) fn asking(request: &GetPromptRequestParams) -> Result<Call, ErrorData> {
    let arguments = request.arguments.as_ref();
    let task = arguments.and_then(|arguments| arguments.get(TASK));
    let Some(task) = task.and_then(Value::as_str) else {
        let problem = Problem::invalid(format!("the prompt needs the argument {TASK:?}"));
        return Err(results::of_request(&problem));
    };
    Ok(Call::new(Workflow {
        id: request.name.clone(),
        task: task.to_owned(),
    }))
}

pub(super) fn got(answer: &Answer) -> GetPromptResult {
    let text = String::from_utf8_lossy(&answer.body);
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
}
