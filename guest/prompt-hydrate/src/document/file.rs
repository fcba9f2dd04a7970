//! The file that a subagent reads.

use super::section::{fenced, section};
use super::template::{failure, fill};
use crate::catalogue::{Catalogue, one_line};
use crate::plan::Plan;
use crate::redact::cut;
use crate::request::Options;
use crate::respond::{Context, Failure};

/// What stands in it unless the user names another.
const DEFAULT: &str = include_str!("templates/context.md");

/// Characters of a workflow's body.
const MAX_BODY_CHARS: usize = 4_000;

/// Bytes of the file.
const BYTES: std::ops::RangeInclusive<usize> = 500..=16 * 1024 * 1024;

/// What the file is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Verbatim.
    pub prompt: &'a str,
    /// The gathered sections.
    pub context: &'a Context,
    /// The active workflows.
    pub catalogue: &'a Catalogue,
    /// The draft.
    pub plan: &'a Plan,
    /// Mode, model, the tool that the items are for.
    pub options: &'a Options,
}

/// All of the file.
///
/// # Errors
/// `template`, also for a template with which the file would be too short; `planner` for a file that would be too long.
pub fn file_text(template: Option<&str>, parts: Parts<'_>) -> Result<String, Failure> {
    let prompt = fenced(parts.prompt, "text", 3);
    let index = section("Workflow Index", &index(parts.catalogue));
    let body = workflow(parts);
    let guardrails = section("Guardrails", &guardrails(parts));
    let draft = section("Draft Plan", &draft(parts.plan));
    let text = fill(template.unwrap_or(DEFAULT), "prompt", |name| {
        Some(match name {
            "prompt" => &prompt,
            "session_context" => &parts.context.session,
            "memory" => &parts.context.memory,
            "codebase" => &parts.context.codebase,
            "workflow_index" => &index,
            "workflow_body" => &body,
            "guardrails" => &guardrails,
            "draft_plan" => &draft,
            "task_tool" => &parts.options.task_tool,
            _ => return None,
        })
    })?;
    if text.len() < *BYTES.start() {
        return Err(failure("the file would be shorter than 500 bytes"));
    }
    if text.len() > *BYTES.end() {
        return Err(Failure::new(
            "planner",
            "the file would be longer than 16 MiB",
        ));
    }
    Ok(text)
}

/// Returns the workflows as a list.
pub(super) fn index(catalogue: &Catalogue) -> String {
    let lines = catalogue.workflows.iter().map(|workflow| {
        let description = one_line(&workflow.description);
        format!(
            "- `{}` ({}): {description}",
            workflow.id,
            one_line(&workflow.quality_gate)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the body of the plan's workflow, in a fence, because the headings of a body would be taken for those of the file.
fn workflow(parts: Parts<'_>) -> String {
    let heading = format!("Workflow: {}", parts.plan.workflow);
    let body = parts.catalogue.get(&parts.plan.workflow);
    let body = body.map_or("", |workflow| workflow.body.trim());
    if body.is_empty() {
        return section(&heading, "");
    }
    section(
        &heading,
        &fenced(&cut(body, MAX_BODY_CHARS, ""), "markdown", 3),
    )
}

/// Returns the plan's guardrails as a list.
fn guardrails(parts: Parts<'_>) -> String {
    let lines = parts.plan.guardrails.iter().map(|name| {
        let definition = parts.catalogue.definition(name).unwrap_or_default();
        format!("- `{name}`: {}", one_line(definition))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the plan and how sure the planner is of it.
pub(super) fn draft(plan: &Plan) -> String {
    let degraded = match plan.degraded.as_slice() {
        [] => "none".to_owned(),
        words => words.join(", "),
    };
    let abstained = if plan.abstained { "yes" } else { "no" };
    let status = format!(
        "planner: {}; confidence: {:.2}; abstained: {abstained}; degraded: {degraded}",
        plan.planner, plan.confidence
    );
    let markdown = plan.markdown();
    format!(
        "{status}\n\n{}",
        fenced(markdown.trim_end_matches('\n'), "markdown", 4)
    )
}
