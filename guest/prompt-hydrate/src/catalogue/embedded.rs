//! The default catalogue: the files of `examples/catalog/`, compiled in.

use super::File;

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../../examples/catalog/", $path)))),*]
    };
}

/// Paths and texts, packs included; a test compares the list with the directory.
static FILES: &[(&str, &str)] = files! {
    "WORKFLOWS.md"
    "guardrails.md"
    "skills.md"
    "examples/batch-processing.txt"
    "examples/debugging.txt"
    "examples/decompose.txt"
    "examples/direct-skill.txt"
    "examples/feature-dev.txt"
    "examples/interactive-followup.txt"
    "examples/minor-edit.txt"
    "examples/plan-mode.txt"
    "examples/qa-demo.txt"
    "examples/simple-question.txt"
    "examples/spec-review.txt"
    "examples/tdd-cycle.txt"
    "workflows/batch-processing.md"
    "workflows/debugging.md"
    "workflows/decompose.md"
    "workflows/direct-skill.md"
    "workflows/feature-dev.md"
    "workflows/interactive-followup.md"
    "workflows/minor-edit.md"
    "workflows/plan-mode.md"
    "workflows/qa-demo.md"
    "workflows/simple-question.md"
    "workflows/spec-review.md"
    "workflows/tdd-cycle.md"
    "packs/extended/WORKFLOWS.md"
    "packs/extended/workflows/audit.md"
    "packs/extended/workflows/email-reply.md"
    "packs/extended/workflows/email-triage.md"
    "packs/extended/workflows/framework-change.md"
    "packs/extended/workflows/github-issue-cycle.md"
    "packs/extended/workflows/peer-review.md"
    "packs/extended/workflows/reference-letter.md"
    "packs/extended/workflows/review-response.md"
    "packs/extended/workflows/strategic-intake.md"
    "packs/extended/workflows/task-tracking.md"
    "packs/extended/workflows/worktree-merge.md"
};

/// Returns the files, packs included.
#[must_use]
pub fn files() -> Vec<File> {
    let files = FILES.iter().map(|(path, text)| File {
        path: (*path).to_owned(),
        text: (*text).to_owned(),
    });
    files.collect()
}
