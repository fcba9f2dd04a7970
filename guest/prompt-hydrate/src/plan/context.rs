//! *Relevant Context*: what was found that the plan's reader should know.

use super::Settings;
use super::text::{MAX_CONTEXT, length, line};
use crate::catalogue::{Catalogue, Workflow};
use crate::route::{Question, Route};
use crate::text::Prompt;

/// Lines at most.
const MAX_LINES: usize = 8;

/// 1 to 8 lines, the abstention's first.
pub(super) fn lines(
    question: &Question<'_>,
    route: &Route,
    workflow: &Workflow,
    settings: &Settings,
) -> Vec<String> {
    let mut all = Vec::new();
    if route.abstained {
        all.push(abstention(route));
    }
    if let Some((name, true)) = &route.skill {
        all.push(format!("Skill `{name}` is not in the skills list"));
    }
    if workflow.category == "information" && asks_for_workflows(question.prompt) {
        all.extend(active_ids(question.catalogue));
    }
    all.extend(settings.context.iter().cloned());
    clean(all)
}

/// Lines as they may stand there, each once; `(none found)` if there are none.
pub(super) fn clean(lines: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in lines {
        let text = line(&text, MAX_CONTEXT);
        let text = text.strip_prefix("- ").unwrap_or(&text);
        if !text.is_empty() && !all.iter().any(|known| known == text) {
            all.push(text.to_owned());
        }
        if all.len() >= MAX_LINES {
            break;
        }
    }
    if all.is_empty() {
        all.push("(none found)".to_owned());
    }
    all
}

/// Returns what an abstention says, with the two closest workflows.
fn abstention(route: &Route) -> String {
    let closest = route.alternatives.iter().take(2);
    let closest: Vec<String> = closest
        .map(|(workflow, score)| format!("{workflow} ({score:.2})"))
        .collect();
    let said = "No workflow was certain enough";
    if closest.is_empty() {
        said.to_owned()
    } else {
        format!("{said}; closest: {}", closest.join(", "))
    }
}

fn asks_for_workflows(prompt: &Prompt) -> bool {
    let mut tokens = prompt.tokens.iter();
    tokens.any(|token| token.among("workflow workflows"))
}

/// Returns the active ids, on as many lines as they need, two at most.
fn active_ids(catalogue: &Catalogue) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for workflow in &catalogue.workflows {
        match lines.last_mut() {
            Some(open) if length(open) + length(&workflow.id) + 2 <= MAX_CONTEXT => {
                open.push_str(&format!(", {}", workflow.id));
            }
            _ => lines.push(format!("Active workflows: {}", workflow.id)),
        }
    }
    lines.truncate(2);
    lines
}
