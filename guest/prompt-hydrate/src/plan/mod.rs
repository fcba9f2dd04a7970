//! From a route to a plan.

mod active;
mod context;
mod expand;
mod guardrails;
mod intent;
mod items;
mod markdown;
mod reply;
mod slots;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use serde::{Serialize, Serializer};

pub use reply::accept;
pub(crate) use text::line;

use crate::catalogue::StepKind;
use crate::route::{Question, Route};

/// Items of any plan, at most.
const MAX_ITEMS: usize = 12;

/// A plan, and how it stands in a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// `hydrant.plan/1`.
    pub schema: &'static str,
    /// One line of at most 120 characters.
    pub intent: String,
    /// Id of an active workflow.
    pub workflow: String,
    /// The workflow's.
    pub quality_gate: String,
    /// Registered names; none stands as `none` in the Markdown.
    pub guardrails: Vec<String>,
    /// 1 to 8 lines of at most 160 characters.
    pub relevant_context: Vec<String>,
    /// 1 to 12.
    pub todos: Vec<Todo>,
    /// Whether one of them is a commit.
    pub commit_required: bool,
    /// 0 to 1, with two decimals.
    pub confidence: f64,
    /// No workflow was certain enough.
    pub abstained: bool,
    /// At most three others with their totals.
    #[serde(serialize_with = "objects")]
    pub alternatives: Vec<(String, f64)>,
    /// The skill that is delegated to.
    pub skill: Option<String>,
    /// `deterministic` or `llm`.
    pub planner: &'static str,
    /// Sorted, once each.
    pub degraded: Vec<String>,
}

/// One item of `TodoWrite`, with exactly its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Todo {
    /// One line of at most 200 characters, with its label.
    pub content: String,
    /// Always `pending`.
    pub status: &'static str,
    /// 1 to 3 words.
    #[serde(rename = "activeForm")]
    pub active_form: String,
    /// What the item is for.
    #[serde(skip)]
    pub kind: StepKind,
}

/// What a plan takes beside the route.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `bd` by default; `none` leaves the task steps out.
    pub tracker: String,
    /// 1 to 12.
    pub max_todos: usize,
    /// What `codebase` found.
    pub test_command: Option<String>,
    /// Lines for *Relevant Context*, redacted and clean, best first: codebase, memory, session.
    pub context: Vec<String>,
    /// What the host went on without.
    pub degraded: Vec<String>,
}

/// Why something is not a plan: the checks that failed, each one line.
pub type Failed = Vec<String>;

/// Returns the plan of a route.
///
/// # Errors
/// If the workflow of the route is not active.
pub fn build(question: &Question<'_>, route: &Route, settings: &Settings) -> Result<Plan, Failed> {
    let catalogue = question.catalogue;
    let Some(workflow) = catalogue.get(&route.workflow) else {
        return Err(vec![format!("workflow {:?} is not active", route.workflow)]);
    };
    let todos = items::todos(question, route, settings, workflow);
    let mut degraded = settings.degraded.clone();
    if !catalogue.warnings.is_empty() {
        degraded.push("catalog".to_owned());
    }
    degraded.sort();
    degraded.dedup();
    let skill = route.skill.as_ref();
    Ok(Plan {
        schema: "hydrant.plan/1",
        intent: intent::intent(question, route, workflow),
        workflow: workflow.id.clone(),
        quality_gate: workflow.quality_gate.clone(),
        guardrails: guardrails::selected(workflow, route),
        relevant_context: context::lines(question, route, workflow, settings),
        commit_required: todos.iter().any(|todo| todo.kind == StepKind::Commit),
        todos,
        confidence: route.confidence,
        abstained: route.abstained,
        alternatives: route.alternatives.clone(),
        skill: skill.map(|(name, _)| line(name, text::MAX_SLOT)),
        planner: "deterministic",
        degraded,
    })
}

/// Writes workflows and their totals as objects.
fn objects<S: Serializer>(all: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Alternative<'a> {
        workflow: &'a str,
        score: f64,
    }
    serializer.collect_seq(all.iter().map(|(workflow, score)| Alternative {
        workflow,
        score: *score,
    }))
}
