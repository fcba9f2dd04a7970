//! The workflows that a prompt may take, read from Markdown files.
//!
//! `load` puts a catalogue together of what `workflow` reads from each file; `check` reports what is wrong with it.

mod check;
mod embedded;
mod index;
mod load;
mod registry;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod workflow;

use std::sync::OnceLock;

use serde::Deserialize;

use crate::cues::Cue;
use crate::route::likeness::Rarity;

pub use check::{Finding, check};
pub use embedded::files as embedded_catalogue;
pub(crate) use registry::is_skill;
pub(crate) use workflow::{MAX_FILE_BYTES, one_line};

/// The active workflows in decision order, and what they refer to.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Active ones, in decision order. `plan-mode` is always among them.
    pub workflows: Vec<Workflow>,
    /// Guardrails by name, without a parameter, and their definitions.
    pub guardrails: Vec<(String, String)>,
    /// Skills with their trigger phrases.
    pub skills: Vec<Skill>,
    /// What was passed over: file and reason.
    pub warnings: Vec<String>,
    /// How rare words are among the examples, counted when a route first needs it.
    pub rarity: OnceLock<Rarity>,
}

/// One workflow file.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// `[a-z][a-z0-9-]{0,39}`, the file's stem.
    pub id: String,
    /// The id where the file has none.
    pub title: String,
    /// One line for the index.
    pub description: String,
    /// development, planning, qa, operations, information or routing; older files have others.
    pub category: String,
    /// One line of at most 60 characters, never empty.
    pub quality_gate: String,
    /// Registered names, in output order.
    pub guardrails: Vec<String>,
    /// Added after them where the condition holds.
    pub guardrails_when: Vec<(Condition, Vec<String>)>,
    /// Whether the work changes files.
    pub modifies: Modifies,
    /// Whether it is tracked.
    pub needs_task: bool,
    /// At most 50 phrases.
    pub triggers: Vec<String>,
    /// Phrases that exclude it.
    pub not_for: Vec<String>,
    /// Of the front matter and of `examples/<id>.txt`: at most 500.
    pub examples: Vec<String>,
    /// Order among files that the index does not name, low first.
    pub priority: i64,
    /// Form of the intent, with `{clause}`.
    pub intent: Option<String>,
    /// What stands for it where it is referred to and cannot be expanded.
    pub summary: Option<String>,
    /// 1 to 20.
    pub steps: Vec<Step>,
    /// The Markdown below the front matter.
    pub body: String,
}

/// `modifies_files`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Modifies {
    /// Never: no commit item.
    #[serde(alias = "No", alias = "false", alias = "False")]
    No,
    /// Perhaps: a CHECKPOINT, and a commit only if files changed.
    #[serde(alias = "Maybe")]
    Maybe,
    /// Surely: a CHECKPOINT and a commit.
    #[serde(alias = "Yes", alias = "true", alias = "True")]
    Yes,
}

/// One step of a workflow.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its text, with slots, without a label.
    pub name: String,
    /// Its active form, as the file has it.
    pub active: Option<String>,
    /// What it is.
    pub kind: StepKind,
    /// It stands in a plan only where this holds.
    pub when: Option<Condition>,
    /// The workflow whose steps stand in its place.
    pub workflow: Option<String>,
}

/// `kind` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Work.
    Step,
    /// Evidence before going on.
    Checkpoint,
    /// Opens the tracking task.
    TaskOpen,
    /// Closes it.
    TaskClose,
    /// Commits and pushes.
    Commit,
}

/// A cue, or `!cue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// What is asked for.
    pub cue: Cue,
    /// It has to be absent.
    pub negated: bool,
}

impl Condition {
    /// Reads `cue` or `!cue`; nothing where there is no such cue.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix('!');
        Some(Self {
            cue: Cue::parse(name.unwrap_or(text).trim())?,
            negated: name.is_some(),
        })
    }
}

/// A skill that may be delegated to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// As it is called.
    pub name: String,
    /// Phrases that mean it.
    #[serde(default)]
    pub triggers: Vec<String>,
}

/// A file by value.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Below the catalogue or the workspace, `/`-separated: `workflows/x.md`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl Catalogue {
    /// The default catalogue, which is compiled in, with these of its packs.
    #[must_use]
    pub fn embedded(packs: &[String]) -> Self {
        load::load(&embedded_catalogue(), packs, false)
    }

    /// A catalogue directory's files, with these of its packs.
    ///
    /// What does not load is passed over with a warning. `plan-mode`, the registry, and a pack that the directory lacks
    /// are the embedded ones; where nothing loads all is.
    #[must_use]
    pub fn load(files: &[File], packs: &[String]) -> Self {
        load::load(files, packs, true)
    }

    /// Returns the active workflow of this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Workflow> {
        self.workflows.iter().find(|workflow| workflow.id == id)
    }

    /// Returns what the registry says of a guardrail; a parameter (`require_skill:x`) is not part of its name.
    #[must_use]
    pub fn definition(&self, guardrail: &str) -> Option<&str> {
        let name = guardrail.split(':').next().unwrap_or_default();
        let (_, definition) = self.guardrails.iter().find(|(known, _)| known == name)?;
        Some(definition)
    }
}
