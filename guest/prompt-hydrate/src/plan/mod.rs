//! From a route to a plan.

mod active;
mod context;
mod expand;
mod guardrails;
mod intent;
mod items;
mod never;
mod render;
mod reply;
mod row_texts;
mod slots;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod validate;

pub use reply::accept;
pub(crate) use text::line;

/// Items of any plan, at most.
const MAX_ITEMS: usize = 12;

use self::items::{Item, Maker};
use crate::catalogue::{StepKind, Workflow};
use crate::route::{Question, Route};

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
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
    /// 0 to 1.
    pub confidence: f64,
    /// No workflow was certain enough.
    pub abstained: bool,
    /// At most three others with their totals.
    pub alternatives: Vec<(String, f64)>,
    /// The skill that is delegated to.
    pub skill: Option<String>,
    /// `deterministic` or `llm`.
    pub planner: &'static str,
    /// Sorted, once each.
    pub degraded: Vec<String>,
}

/// One item of `TodoWrite`; its status is always `pending`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// One line of at most 200 characters, with its label.
    pub content: String,
    /// 1 to 3 words.
    pub active_form: String,
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

/// The plan of a route.
///
/// # Errors
/// If the workflow of the route is not active.
pub fn build(question: &Question<'_>, route: &Route, settings: &Settings) -> Result<Plan, Failed> {
    let catalogue = question.catalogue;
    let Some(workflow) = catalogue.get(&route.workflow) else {
        return Err(vec!["the workflow is not active".to_owned()]);
    };
    let tracker = tracker(settings, workflow, route);
    let items = Maker::new(question, route, settings, workflow, &tracker).items();
    let commit_required = items.iter().any(|item| item.kind == StepKind::Commit);
    let mut degraded = settings.degraded.clone();
    if !catalogue.warnings.is_empty() {
        degraded.push("catalog".to_owned());
    }
    degraded.sort();
    degraded.dedup();
    Ok(Plan {
        intent: intent::intent(question, route, workflow),
        workflow: workflow.id.clone(),
        quality_gate: workflow.quality_gate.clone(),
        guardrails: guardrails::selected(catalogue, workflow, route),
        relevant_context: context::lines(question, route, workflow, settings),
        todos: numbered(items),
        commit_required,
        confidence: route.confidence,
        abstained: route.abstained,
        alternatives: route.alternatives.clone(),
        skill: route
            .skill
            .as_ref()
            .map(|(name, _)| line(name, text::MAX_SLOT)),
        planner: "deterministic",
        degraded,
    })
}

/// The tracker of a plan with task items; empty: it has none.
fn tracker(settings: &Settings, workflow: &Workflow, route: &Route) -> String {
    let never = route.refusal || matches!(workflow.id.as_str(), "simple-question" | "direct-skill");
    if never || !workflow.needs_task || settings.tracker.trim() == "none" {
        return String::new();
    }
    let clean: String = settings
        .tracker
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.'))
        .take(40)
        .collect();
    let clean = line(&clean, 40);
    if clean.is_empty() {
        "bd".to_owned()
    } else {
        clean
    }
}

/// Items with their labels and numbers.
fn numbered(items: Vec<Item>) -> Vec<Todo> {
    let alone = items.len() == 1;
    let mut number = 0_usize;
    items
        .into_iter()
        .map(|item| {
            let text = text::capitalised(&item.text);
            let content = if item.kind == StepKind::Checkpoint {
                format!("CHECKPOINT: {text}")
            } else if alone {
                text
            } else {
                number = number.saturating_add(1);
                format!("Step {number}: {text}")
            };
            Todo {
                content,
                active_form: item.active,
            }
        })
        .collect()
}
