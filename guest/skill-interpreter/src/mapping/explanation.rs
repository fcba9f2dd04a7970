//! Sentences for people: why a command needs approval, and what it would do.

use crate::draft::{Draft, DraftStage, Trust};
use crate::model::{Operation, Stage};

/// One sentence on what makes it Tier 3.
pub(super) fn reason(draft: &Draft) -> String {
    let trust = draft
        .plan
        .iter()
        .flatten()
        .filter_map(|stage| match stage {
            DraftStage::Sandbox(stage) => Some((&stage.trust, &stage.packages)),
            _ => None,
        })
        .find(|(trust, _)| **trust != Trust::KnownRuntime);
    match trust {
        Some((Trust::Tool { name } | Trust::Download { name }, _)) => {
            format!("Unknown tool '{name}' requires sandboxed execution")
        }
        Some((Trust::Script { constructs }, _)) if !constructs.is_empty() => format!(
            "A script ({}) requires sandboxed execution",
            constructs.join(", ")
        ),
        Some((Trust::Installer, packages)) => {
            // `npm i`: what a file in the folder names.
            if packages.is_empty() {
                return "Installing packages requires sandboxed execution".to_owned();
            }
            let names: Vec<&str> = packages
                .iter()
                .map(|package| package.name.as_str())
                .collect();
            format!(
                "Installing packages ({}) requires sandboxed execution",
                names.join(", ")
            )
        }
        _ => "A script requires sandboxed execution".to_owned(),
    }
}

/// What a command would do, stage by stage.
pub(super) fn of(draft: &Draft, operation: &Operation) -> String {
    if operation.tier == 3 {
        return reason(draft);
    }
    let stages: Vec<String> = operation.stages.iter().map(stage).collect();
    stages.join(", then ")
}

fn stage(stage: &Stage) -> String {
    match stage {
        Stage::Http(stage) => match &stage.url_input {
            Some(input) => format!("{} request to the address given as {input}", stage.method),
            None => format!("{} request to {}", stage.method, stage.url.display()),
        },
        Stage::JsonFilter { .. } => "a jq program".to_owned(),
        Stage::TextTransform { tool, .. } => format!("the text tool {tool}"),
        Stage::Println { .. } => "text that is put out".to_owned(),
        Stage::ReadFile(_) => "files that are read".to_owned(),
        Stage::Sandbox(stage) => format!("{} in the sandbox", stage.runtime.as_str()),
    }
}
