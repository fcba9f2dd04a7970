//! Steps of a workflow: their kinds, and those of older files.

use super::workflow::one_line;
use super::{Step, StepKind};

///
pub(super) const MAX_STEPS: usize = 20;

/// `kind` as it stands in files.
pub(super) fn kind(text: &str) -> Option<StepKind> {
    match text {
        "step" => Some(StepKind::Step),
        "checkpoint" => Some(StepKind::Checkpoint),
        "task_open" => Some(StepKind::TaskOpen),
        "task_close" => Some(StepKind::TaskClose),
        "commit" => Some(StepKind::Commit),
        _ => None,
    }
}

/// A step by its name; the labels that a plan puts before items are taken off it. Nothing of an empty name.
pub(super) fn of(name: &str, id: &str, given: Option<StepKind>) -> Option<Step> {
    let kind = given.unwrap_or_else(|| guess(name, id));
    let name = without_label(name);
    (!name.is_empty()).then(|| Step {
        name: name.to_owned(),
        active: None,
        kind,
        when: None,
        workflow: None,
    })
}

/// of a step without `kind`.
fn guess(name: &str, id: &str) -> StepKind {
    let text = format!("{name} {id}")
        .to_lowercase()
        .replace(['-', '_'], " ");
    let is = ["checkpoint", "verify", "quality gate"]
        .iter()
        .any(|mark| text.contains(mark));
    if is {
        StepKind::Checkpoint
    } else if text.starts_with("commit ") {
        // An older file's commit is the plan's commit.
        StepKind::Commit
    } else {
        StepKind::Step
    }
}

/// A name without `CHECKPOINT:` or `Step 3:` before it, which would stand there twice.
pub(crate) fn without_label(name: &str) -> &str {
    let mut rest = name.trim();
    loop {
        let Some((label, after)) = rest.split_once(':') else {
            return rest;
        };
        let label = label.trim().to_ascii_lowercase();
        let number = label.strip_prefix("step ").unwrap_or_default();
        let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if label != "checkpoint" && !numbered {
            return rest;
        }
        rest = after.trim_start();
    }
}

/// headings `### N. Text` below `## Steps`, each with its line in the body, counted from 1.
pub(super) fn of_headings(body: &str) -> Vec<(Step, usize)> {
    let mut inside = false;
    let mut all = Vec::new();
    for (number, line) in (1..).zip(body.lines()) {
        let line = line.trim_end();
        if let Some(heading) = line.strip_prefix("## ") {
            inside = heading.trim().eq_ignore_ascii_case("steps");
        } else if inside && let Some(text) = line.strip_prefix("### ").and_then(numbered) {
            all.extend(of(&one_line(text), "", None).map(|step| (step, number)));
        }
        // One more than allowed is enough to say so.
        if all.len() > MAX_STEPS {
            break;
        }
    }
    all
}

/// The text after `N. `.
fn numbered(heading: &str) -> Option<&str> {
    let (number, text) = heading.trim_start().split_once('.')?;
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.trim())
}
