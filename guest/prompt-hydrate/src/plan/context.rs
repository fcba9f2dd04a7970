//! *Relevant Context*: what was found that the plan's reader should know.

use super::Settings;
use super::text::{MAX_CONTEXT, length, line};
use crate::catalogue::Workflow;
use crate::route::{Question, Route};

/// Lines at most.
pub(super) const MAX_LINES: usize = 8;

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
    if workflow.category == "information" && asks_for_workflows(&question.prompt.main) {
        all.extend(active_ids(question));
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

/// What an abstention says, with the two closest workflows.
fn abstention(route: &Route) -> String {
    let closest: Vec<String> = route
        .alternatives
        .iter()
        .take(2)
        .map(|(workflow, score)| format!("{workflow} ({score:.2})"))
        .collect();
    if closest.is_empty() {
        "No workflow was certain enough".to_owned()
    } else {
        format!(
            "No workflow was certain enough; closest: {}",
            closest.join(", ")
        )
    }
}

fn asks_for_workflows(main: &str) -> bool {
    main.split(|c: char| !c.is_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("workflow") || word.eq_ignore_ascii_case("workflows"))
}

/// The active ids, on as many lines as they need, two at most.
fn active_ids(question: &Question<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = String::new();
    for workflow in &question.catalogue.workflows {
        let more = if open.is_empty() {
            format!("Active workflows: {}", workflow.id)
        } else {
            format!("{open}, {}", workflow.id)
        };
        if length(&more) <= MAX_CONTEXT {
            open = more;
            continue;
        }
        all.push(std::mem::replace(
            &mut open,
            format!("Active workflows: {}", workflow.id),
        ));
    }
    all.push(open);
    all.truncate(2);
    all
}
