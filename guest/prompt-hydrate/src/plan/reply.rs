//! A language model's reply as a plan.

use serde::Deserialize;

use super::text::{folded, is_line};
use super::{Failed, Plan, Settings, Todo, build, context, validate};
use crate::route::{Question, Route};
use crate::text::token::is_path;

/// Bytes of a reply.
const MAX_BYTES: usize = 256 * 1024;

/// The members that a reply has, and no others; one that stands twice refuses it too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    intent: String,
    workflow: String,
    guardrails: Vec<String>,
    relevant_context: Vec<String>,
    todos: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    content: String,
    status: String,
    #[serde(rename = "activeForm")]
    active_form: String,
}

/// A language model's reply as a plan; `gathered` is all text it may take paths from beside the prompt.
///
/// Gate, commit, alternatives and degradation are set here and not by the reply.
///
/// # Errors
/// The checks that failed, for the retry.
pub fn accept(
    reply: &str,
    question: &Question<'_>,
    route: &Route,
    settings: &Settings,
    gathered: &str,
) -> Result<Plan, Failed> {
    let reply = read(reply).map_err(|reason| vec![reason])?;
    let Some(workflow) = question.catalogue.get(&reply.workflow) else {
        return Err(vec![format!(
            "workflow {:?} is not active",
            reply.workflow.chars().take(40).collect::<String>()
        )]);
    };
    let mut failed = Failed::new();
    if reply.todos.iter().any(|item| item.status != "pending") {
        failed.push("the status of an item is not \"pending\"".to_owned());
    }
    let context = if reply.relevant_context.is_empty() {
        context::clean(Vec::new())
    } else {
        reply.relevant_context
    };
    failed.extend(unknown_paths(&context, question, gathered));
    // What we would have planned for this workflow.
    let own_route = Route {
        workflow: workflow.id.clone(),
        refusal: route.refusal && workflow.id == route.workflow,
        abstained: false,
        ..route.clone()
    };
    let own = build(question, &own_route, settings)?;
    let mut alternatives = vec![(route.workflow.clone(), route.confidence)];
    alternatives.extend(
        route
            .alternatives
            .iter()
            .filter(|(id, _)| *id != workflow.id && *id != route.workflow)
            .cloned(),
    );
    alternatives.truncate(3);
    let mut plan = Plan {
        intent: reply.intent,
        guardrails: reply
            .guardrails
            .into_iter()
            .filter(|name| name != "none")
            .collect(),
        relevant_context: context,
        todos: reply
            .todos
            .into_iter()
            .map(|item| Todo {
                content: item.content,
                active_form: item.active_form,
            })
            .collect(),
        alternatives,
        planner: "llm",
        ..own.clone()
    };
    plan.commit_required = validate::has_commit(&plan);
    failed.extend(validate::check(&plan, question, &own_route, settings));
    if validate::checkpoints(&plan) < validate::checkpoints(&own) {
        failed.push(format!(
            "fewer than {} CHECKPOINTs",
            validate::checkpoints(&own)
        ));
    }
    if failed.is_empty() {
        Ok(plan)
    } else {
        Err(failed)
    }
}

/// One JSON object, optionally in one fence; nothing around it.
fn read(text: &str) -> Result<Reply, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the reply is over {MAX_BYTES} bytes"));
    }
    let text = text.trim();
    let inside = match text.strip_prefix("```") {
        None => text,
        Some(rest) => rest
            .strip_suffix("```")
            .and_then(|rest| rest.split_once('\n'))
            .filter(|(info, _)| info.trim().chars().all(char::is_alphanumeric))
            .map(|(_, inside)| inside)
            .ok_or("the fence of the reply is not closed")?,
    };
    serde_json::from_str(inside).map_err(|error| {
        // The message names members and positions; what the reply says in between is not repeated.
        format!(
            "the reply is not one JSON object with intent, workflow, guardrails, relevant_context and todos (line {}, column {})",
            error.line(),
            error.column()
        )
    })
}

/// Paths that neither the prompt nor the gathered text holds.
fn unknown_paths(context: &[String], question: &Question<'_>, gathered: &str) -> Vec<String> {
    let prompt = question.prompt;
    let mut known = folded(&prompt.main);
    for text in prompt.pasted.iter().map(|(_, text)| text.as_str()) {
        known.push('\n');
        known.push_str(&folded(text));
    }
    known.push('\n');
    known.push_str(&folded(gathered));
    context
        .iter()
        .filter(|text| is_line(text))
        .flat_map(|text| paths(text))
        .filter(|path| !known.contains(&path.to_lowercase()))
        .map(|path| {
            format!(
                "relevant_context names {:?}, which was not gathered",
                path.chars().take(80).collect::<String>()
            )
        })
        .collect()
}

/// What looks like a path: with a slash, or a name with the ending of a file.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';'
            )
    })
    .map(|word| word.trim_end_matches(['.', ':', '!', '?']))
    .map(|word| word.strip_prefix("./").unwrap_or(word))
    .filter(|word| word.contains('\\') || is_path(word))
}
