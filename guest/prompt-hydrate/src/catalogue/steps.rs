//! Steps of a workflow: their names and kinds, and those of older files.

use super::workflow::{MAX_STEPS, one_line};
use super::{Step, StepKind};

/// Returns a step by its name; the labels that a plan puts before items are taken off it. Nothing of an empty name.
pub(super) fn from_name(name: &str, id: &str, given: Option<StepKind>) -> Option<Step> {
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

/// Returns the kind of a step that says none.
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

/// Returns the steps of headings `### N. Text` below `## Steps`.
pub(super) fn from_headings(body: &str) -> Vec<Step> {
    let mut inside = false;
    let mut all = Vec::new();
    for line in body.lines() {
        let line = line.trim_end();
        if let Some(heading) = line.strip_prefix("## ") {
            inside = heading.trim().eq_ignore_ascii_case("steps");
        } else if inside && let Some(text) = line.strip_prefix("### ").and_then(numbered) {
            all.extend(from_name(&one_line(text), "", None));
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
