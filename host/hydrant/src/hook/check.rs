//! What the host checks of a planner's answer before it writes or prints anything.
//!
//! A planner that is wrong, or was made to be, gets nothing out: its file must hold the prompt, its instruction must name
//! the file, and its plan must have the form that everybody who reads plans relies on.

use serde::Deserialize;
use serde_json::Value;

use super::settings::Mode;

/// Bytes of a file.
const MIN_FILE_BYTES: usize = 500;
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;
/// Characters of an instruction.
const USUAL_INSTRUCTION: usize = 400;
const LONGEST_INSTRUCTION: usize = 500;
const LONGEST_INLINE: usize = 8000;

/// What does not hold.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("its answer fails a check: {0}")]
pub struct Unfit(&'static str);

/// What the instruction was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The temp file.
    pub path: &'a str,
    /// How the plan reaches the agent.
    pub mode: Mode,
    /// Everything it consists of is the default.
    pub all_default: bool,
}

/// The file: 500 bytes to 16 MiB, with the prompt in it letter for letter.
///
/// # Errors
/// [`Unfit`]
pub fn check_file(text: &str, prompt: &str) -> Result<(), Unfit> {
    if !(MIN_FILE_BYTES..=MAX_FILE_BYTES).contains(&text.len()) {
        Err(Unfit("the file is too short or too long"))
    } else if memchr::memmem::find(text.as_bytes(), prompt.as_bytes()).is_none() {
        Err(Unfit("the file does not hold the prompt"))
    } else {
        Ok(())
    }
}

/// The instruction: it names the file, and is short.
///
/// # Errors
/// [`Unfit`]
pub fn check_instruction(text: &str, asked: Asked<'_>) -> Result<(), Unfit> {
    let longest = match (asked.mode, asked.all_default) {
        (Mode::Inline, _) => LONGEST_INLINE,
        (Mode::Subagent, true) => USUAL_INSTRUCTION,
        (Mode::Subagent, false) => LONGEST_INSTRUCTION,
    };
    if !text.contains(asked.path) {
        Err(Unfit("the instruction does not name the file"))
    } else if text.chars().nth(longest).is_some() {
        Err(Unfit("the instruction is too long"))
    } else if text
        .chars()
        .any(|character| character.is_control() && character != '\n')
    {
        Err(Unfit("the instruction holds control characters"))
    } else {
        Ok(())
    }
}

/// A plan as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    schema: String,
    intent: String,
    workflow: String,
    quality_gate: String,
    guardrails: Vec<String>,
    relevant_context: Vec<String>,
    todos: Vec<Todo>,
    commit_required: bool,
    confidence: f64,
    abstained: bool,
    alternatives: Vec<Alternative>,
    skill: Option<String>,
    planner: String,
    degraded: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alternative {
    workflow: String,
    score: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Todo {
    content: String,
    status: String,
    #[serde(rename = "activeForm")]
    active_form: String,
}

const CHECKPOINT: &str = "CHECKPOINT: ";

/// The rules of a plan that can be checked without the catalogue. The planner has checked all of them.
///
/// # Errors
/// [`Unfit`]
pub fn check_plan(plan: &Value) -> Result<(), Unfit> {
    let plan = Plan::deserialize(plan).map_err(|_| Unfit("the plan has another form"))?;
    let holds = |condition: bool, what: &'static str| condition.then_some(()).ok_or(Unfit(what));
    holds(plan.schema == "hydrant.plan/1", "the plan's schema")?;
    holds(is_line(&plan.intent, 120), "the plan's intent")?;
    holds(is_line(&plan.quality_gate, 60), "the plan's gate")?;
    let ids = plan.alternatives.iter().map(|one| &one.workflow);
    let mut ids = ids.chain([&plan.workflow]);
    holds(ids.all(|id| is_id(id)), "a workflow id of the plan")?;
    holds(
        plan.guardrails
            .iter()
            .all(|name| is_guardrail(name) && name != "none"),
        "a guardrail of the plan",
    )?;
    holds(
        (1..=8).contains(&plan.relevant_context.len())
            && plan.relevant_context.iter().all(|line| is_line(line, 160)),
        "the plan's context",
    )?;
    let scores = plan.alternatives.iter().map(|one| one.score);
    holds(
        plan.alternatives.len() <= 3
            && scores
                .chain([plan.confidence])
                .all(|score| (0.0..=1.0).contains(&score)),
        "a score of the plan",
    )?;
    holds(
        !plan.abstained || (plan.workflow == "plan-mode" && plan.confidence < 0.5),
        "the plan's abstention",
    )?;
    holds(
        plan.skill.as_deref().is_none_or(|name| is_line(name, 120)),
        "the plan's skill",
    )?;
    holds(
        matches!(plan.planner.as_str(), "deterministic" | "llm"),
        "who planned",
    )?;
    holds(
        plan.degraded.is_sorted_by(|one, next| one < next)
            && plan.degraded.iter().all(|word| {
                ["catalog", "codebase", "llm", "memory", "session", "time"].contains(&word.as_str())
            }),
        "what the plan goes without",
    )?;
    check_todos(&plan)
}

/// Checks the items, as far as their rules are about form.
fn check_todos(plan: &Plan) -> Result<(), Unfit> {
    let holds = |condition: bool, what: &'static str| condition.then_some(()).ok_or(Unfit(what));
    let todos = &plan.todos;
    holds((1..=12).contains(&todos.len()), "the number of items")?;
    holds(
        todos.iter().all(|todo| {
            is_line(&todo.content, 200)
                && is_line(&todo.active_form, 60)
                && todo.status == "pending"
        }),
        "an item of the plan",
    )?;
    if let [only] = todos.as_slice() {
        let numbered = only.content.starts_with("Step ") && step(&only.content).is_some();
        holds(!numbered, "the number of a lone item")?;
    } else {
        let steps = todos
            .iter()
            .filter(|todo| !todo.content.starts_with(CHECKPOINT));
        let mut expected = 0_u64;
        for todo in steps {
            expected = expected.saturating_add(1);
            holds(
                step(&todo.content) == Some(expected),
                "the numbers of items",
            )?;
        }
    }
    let equal = todos.iter().enumerate().any(|(index, todo)| {
        let earlier = todos.iter().take(index);
        earlier
            .map(|other| text(&other.content))
            .any(|other| other == text(&todo.content))
    });
    holds(!equal, "two equal items")?;
    // A commit comes after a CHECKPOINT, and the plan says that there is one.
    let commit = todos
        .iter()
        .position(|todo| text(&todo.content).starts_with("Commit and push"));
    holds(
        commit.is_some() == plan.commit_required,
        "whether there is a commit",
    )?;
    let checkpoint = todos
        .iter()
        .position(|todo| todo.content.starts_with(CHECKPOINT));
    holds(
        match (checkpoint, commit) {
            (_, None) => true,
            (Some(checkpoint), Some(commit)) => checkpoint < commit,
            (None, Some(_)) => false,
        },
        "a commit without a CHECKPOINT before it",
    )
}

/// The number of `Step N: `.
fn step(content: &str) -> Option<u64> {
    let (number, _) = content.strip_prefix("Step ")?.split_once(": ")?;
    number.parse().ok()
}

/// An item without its number.
fn text(content: &str) -> &str {
    match content
        .strip_prefix("Step ")
        .and_then(|rest| rest.split_once(": "))
    {
        Some((number, text)) if number.parse::<u64>().is_ok() => text,
        _ => content,
    }
}

/// `line`.
fn is_line(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.chars().nth(longest).is_none()
        && !text.chars().any(char::is_control)
        && !text.contains("```")
}

fn is_id(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
}

/// `name`.
fn is_guardrail(text: &str) -> bool {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    !name.is_empty()
        && name
            .chars()
            .all(|one| one.is_ascii_lowercase() || one == '_')
        && parameter.is_none_or(|parameter| {
            !parameter.is_empty()
                && parameter
                    .chars()
                    .all(|one| one.is_ascii_alphanumeric() || "._:-".contains(one))
        })
}

#[cfg(test)]
mod tests;
