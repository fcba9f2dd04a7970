//! Plans, and the workflows that they are made of.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hook::{
    self, Material, PlanError, PlanRequest, Planner, PlannerError, Surroundings, Templates,
};
use crate::serve::service::{Answer, Identity, PlanFormat, PlanOptions, Problem, Turn};

/// The skill behind a plan.
const PLANNER: &str = "prompt.hydrate";
/// Bytes of a prompt.
const MAX_PROMPT: usize = 256 * 1024;

pub(super) fn plan(who: &Identity, options: PlanOptions) -> Result<Answer, Problem> {
    check(who)?;
    if options.prompt.len() > MAX_PROMPT {
        return Err(Problem::invalid(format!(
            "prompt: it has more than {MAX_PROMPT} bytes"
        )));
    }
    let host = who.tenant.planner();
    let surroundings = Surroundings {
        settings: who.tenant.hydrate_settings().clone(),
        warnings: Vec::new(),
        host: Box::new(move || host),
        net: Box::new(|| Err("tenants' plans ask no server".to_owned())),
        notes: None,
        started: Instant::now(),
    };
    let request = PlanRequest {
        prompt: options.prompt,
        working_tree: who.tenant.workspace(),
        transcript: None,
        turns: options.turns.iter().map(said).collect(),
        workflow: options.workflow,
        without_context: false,
    };
    let (planned, _) = hook::plan(surroundings, request);
    let planned = planned.map_err(problem)?;
    Ok(match options.format {
        PlanFormat::Json => Answer::json(&planned.plan),
        PlanFormat::Markdown => Answer::text("text/markdown; charset=utf-8", planned.markdown),
    })
}

fn check(who: &Identity) -> Result<(), Problem> {
    if who.tenant.may_use(PLANNER) {
        Ok(())
    } else {
        Err(Problem::not_found("skill"))
    }
}

fn problem(error: PlanError) -> Problem {
    match error {
        PlanError::Planner(PlannerError::Refused { code, detail }) => {
            Problem::new(422, &code, "the planner refuses this", detail)
        }
        PlanError::Planner(PlannerError::TooSlow) => Problem::new(
            422,
            "timeout",
            "the planner had no time",
            "the plan took longer than a plan may",
        ),
        error => Problem::internal(&error),
    }
}

fn said(turn: &Turn) -> Value {
    json!({ "role": turn.role, "text": turn.text })
}

/// The workflows of the catalogue: those that the planner chooses from.
pub(super) fn workflows(who: &Identity) -> Result<Answer, Problem> {
    // The planner alone reads a catalogue; its index has one line for each. It writes no shorter file.
    let template = format!("{{{{prompt}}}}\n\n{{{{workflow_index}}}}\n{:512}", "");
    let answer = ask(who, None, "What is there?".to_owned(), template)?;
    let text = answer.file_text.unwrap_or_default();
    let workflows: Vec<Value> = text.lines().filter_map(indexed).collect();
    Ok(Answer::json(&json!({ "workflows": workflows })))
}

/// A line of the index: ``- `<id>` (<gate>): <description>``.
fn indexed(line: &str) -> Option<Value> {
    let (id, rest) = line.strip_prefix("- `")?.split_once("` (")?;
    let (gate, description) = rest.split_once("): ")?;
    Some(json!({ "id": id, "title": title(id), "quality_gate": gate, "description": description }))
}

/// An id as people write it.
fn title(id: &str) -> String {
    let mut title = id.replace('-', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

/// One of them written out for a task, for an agent to follow.
pub(super) fn workflow(who: &Identity, id: String, task: String) -> Result<Answer, Problem> {
    if task.trim().is_empty() {
        return Err(Problem::invalid("task: it is empty"));
    }
    let answer = ask(who, Some(id.clone()), task, WRITTEN_OUT.to_owned())?;
    let planned = answer.plan.as_ref().and_then(|plan| plan.get("workflow"));
    // A workflow that is not there is a warning to the planner, which then takes another one.
    if planned.and_then(Value::as_str) != Some(id.as_str()) {
        return Err(Problem::not_found("workflow"));
    }
    let text = answer.file_text.unwrap_or_default();
    Ok(Answer::text("text/markdown; charset=utf-8", text))
}

/// What an agent is given of a workflow.
const WRITTEN_OUT: &str = "\
Do the task below, by the workflow that follows it. The workflow says how the work goes, the guardrails what holds all
along, and the plan which steps the workflow has for this task. Take the plan as your list of things to do: go through it
step by step, and do not pass a CHECKPOINT before what it asks for is there to be seen. Where a step does not fit what
you find, say so, leave it out, and go on with the next. Where the task says something else than the workflow, the task
counts.

The task:

{{prompt}}

{{workflow_body}}

{{guardrails}}

{{draft_plan}}
";

/// Has the planner fill a template about a prompt, without looking at any code.
fn ask(
    who: &Identity,
    workflow: Option<String>,
    prompt: String,
    template: String,
) -> Result<hook::Answer, Problem> {
    check(who)?;
    if prompt.len() > MAX_PROMPT {
        return Err(Problem::invalid(format!(
            "the text has more than {MAX_PROMPT} bytes"
        )));
    }
    let host = who
        .tenant
        .planner()
        .map_err(|error| Problem::internal(&error))?;
    let settings = who.tenant.hydrate_settings();
    let mut material = Material {
        prompt,
        workflow,
        templates: Templates {
            context: Some(template),
            instruction: None,
        },
        ..Material::default()
    };
    let mut warnings = Vec::new();
    let mounts = hook::mounts(settings, None, &mut material, &mut warnings);
    let planner = Planner::new(host).seeing(mounts);
    // Compiling for the first time is nobody's share.
    planner.load().map_err(|error| problem(error.into()))?;
    planner
        .hook(&material, settings, "plan.md", ASKED)
        .map_err(|error| problem(error.into()))
}

/// The time of one question to the planner.
const ASKED: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_54_a_line_of_the_index_is_a_workflow() {
        let line = "- `tdd-cycle` (Tests green): Write the test first (always): then the code";
        let workflow = indexed(line).unwrap();
        assert_eq!(workflow["id"], "tdd-cycle");
        assert_eq!(workflow["title"], "Tdd cycle");
        assert_eq!(workflow["quality_gate"], "Tests green");
        let description = "Write the test first (always): then the code";
        assert_eq!(workflow["description"], description);
        for other in ["", "## Workflow Index", "(none)", "- text", "```text"] {
            assert!(indexed(other).is_none(), "{other}");
        }
    }
}
