//! Plans, and the workflows that they are made of.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::skills::may_use;
use super::{Declaration, Effect, Operation, Request, Roles, Tag};
use crate::hook::{
    self, Material, PlanError, PlanRequest, Planner, PlannerError, Surroundings, Templates,
};
use crate::serve::service::{Answer, Identity, Problem};

/// The skill behind a plan.
const PLANNER: &str = "prompt.hydrate";
/// Bytes of a prompt.
const MAX_PROMPT: usize = 256 * 1024;
/// The time of one question to the planner.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(10);
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PlanFormat {
    /// For programs.
    #[default]
    Json,
    /// For people and agents.
    Markdown,
}

/// Plans what to do about a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plan {
    /// what the user typed
    prompt: String,
    /// take this workflow, whatever the prompt says
    #[serde(default)]
    workflow: Option<String>,
    /// what was said before, the oldest first
    #[serde(default)]
    turns: Vec<Turn>,
    #[serde(default)]
    format: PlanFormat,
}

// Its name and its members say all that a model needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Turn {
    role: Speaker,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    User,
    Assistant,
}

impl Request for Plan {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        also_answers: &["text/markdown"],
        may_be_unknown: true,
        // For a model text is better, and programs say what they want.
        tool_defaults: &[("format", "markdown")],
        ..Declaration::new("plan", Roles::Agents, Effect::READS)
            .post("/v1/plan", Tag::Skills, "plan")
            .tool(
                "plan",
                "Plan",
                "Plan what to do about a prompt: the workflow that fits, its steps, skills \
                and checks",
            )
    };

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        may_use(who, PLANNER)?;
        if self.prompt.len() > MAX_PROMPT {
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
            prompt: self.prompt,
            working_tree: who.tenant.workspace(),
            transcript: None,
            turns: self.turns.iter().map(|turn| json!(turn)).collect(),
            workflow: self.workflow,
            without_context: false,
        };
        let (planned, _) = hook::plan(surroundings, request);
        let planned = planned.map_err(problem)?;
        Ok(match self.format {
            PlanFormat::Json => Answer::json(&planned.plan),
            PlanFormat::Markdown => Answer::text(MARKDOWN, planned.markdown),
        })
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

/// The workflows that a plan may follow.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workflows {}

/// The workflows of the catalogue.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Workflows")]
pub struct WorkflowList {
    /// In the catalogue's order.
    pub workflows: Vec<ListedWorkflow>,
}

/// A workflow of the catalogue.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedWorkflow {
    /// Its name for programs.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// What must hold at its end.
    pub quality_gate: String,
    /// What it is for.
    pub description: String,
}

impl Request for Workflows {
    type Response = WorkflowList;

    const DECLARATION: &'static Declaration = &Declaration {
        may_be_unknown: true,
        ..Declaration::new("workflows", Roles::Agents, Effect::READS).get(
            "/v1/workflows",
            Tag::Skills,
            "workflows",
        )
    };

    fn perform(self, who: &Identity) -> Result<WorkflowList, Problem> {
        // The planner alone reads a catalogue; its index has one line for each. It writes no shorter file.
        let template = format!("{{{{prompt}}}}\n\n{{{{workflow_index}}}}\n{:512}", "");
        let answer = ask(who, None, "What is there?".to_owned(), template)?;
        let text = answer.file_text.unwrap_or_default();
        Ok(WorkflowList {
            workflows: text.lines().filter_map(indexed).collect(),
        })
    }
}

/// Parses a line of the index: ``- `<id>` (<gate>): <description>``.
fn indexed(line: &str) -> Option<ListedWorkflow> {
    let (id, rest) = line.strip_prefix("- `")?.split_once("` (")?;
    let (gate, description) = rest.split_once("): ")?;
    Some(ListedWorkflow {
        id: id.to_owned(),
        title: title(id),
        quality_gate: gate.to_owned(),
        description: description.to_owned(),
    })
}

/// Returns an id as people write it.
fn title(id: &str) -> String {
    let mut title = id.replace('-', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

/// Writes a workflow out for a task, for an agent to follow: a prompt of the Model Context Protocol.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Its id
    pub id: String,
    /// What the user wants
    pub task: String,
}

impl Request for Workflow {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("workflow", Roles::Agents, Effect::READS);

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        if self.task.trim().is_empty() {
            return Err(Problem::invalid("task: it is empty"));
        }
        let id = Some(self.id.clone());
        let answer = ask(who, id, self.task, WRITTEN_OUT.to_owned())?;
        let planned = answer.plan.as_ref().and_then(|plan| plan.get("workflow"));
        // A workflow that is not there is a warning to the planner, which then takes another one.
        if planned.and_then(Value::as_str) != Some(self.id.as_str()) {
            return Err(Problem::not_found("workflow"));
        }
        let text = answer.file_text.unwrap_or_default();
        Ok(Answer::text(MARKDOWN, text))
    }
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
    may_use(who, PLANNER)?;
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
        .hook(&material, settings, "plan.md", QUESTION_TIMEOUT)
        .map_err(|error| problem(error.into()))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new::<Plan>(),
        Operation::new::<Workflows>(),
        Operation::new::<Workflow>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_index_is_a_workflow() {
        let line = "- `tdd-cycle` (Tests green): Write the test first (always): then the code";
        let workflow = indexed(line).unwrap();
        assert_eq!(workflow.id, "tdd-cycle");
        assert_eq!(workflow.title, "Tdd cycle");
        assert_eq!(workflow.quality_gate, "Tests green");
        let description = "Write the test first (always): then the code";
        assert_eq!(workflow.description, description);
        for other in ["", "## Workflow Index", "(none)", "- text", "```text"] {
            assert!(indexed(other).is_none(), "{other}");
        }
    }
}
