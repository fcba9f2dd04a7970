//! Settings of a run and their ranges.

use std::collections::BTreeSet;

use serde::Deserialize;

/// `options`; what is missing has its default.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Hydration is wanted at all.
    pub enabled: bool,
    /// Who reads the plan.
    pub mode: Mode,
    /// The model of the subagent.
    pub model: String,
    /// The task tracker; `none` leaves the task steps out.
    pub tracker: String,
    /// The tool that the items are for.
    pub task_tool: String,
    /// Tokens of the gathered sections.
    pub budgets: Budgets,
    /// Items of a plan: 1 to 12.
    pub max_todos: u8,
    /// Packs of the catalogue that are active.
    pub packs: Vec<String>,
    /// The workflow that the user asked for.
    pub workflow: Option<String>,
    /// What the host could not gather or finish.
    pub degraded: BTreeSet<String>,
    /// `/name` is a skill, as it is outside the hook.
    pub slash_is_skill: bool,
    /// The texts for a language model are wanted as well.
    pub llm: bool,
    /// The file lies in the default directory: the instruction is bound to 400 characters, not 500.
    pub directory_is_default: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Subagent,
            model: "haiku".to_owned(),
            tracker: "bd".to_owned(),
            task_tool: "TodoWrite".to_owned(),
            budgets: Budgets::default(),
            max_todos: 12,
            packs: Vec::new(),
            workflow: None,
            degraded: BTreeSet::new(),
            slash_is_skill: false,
            llm: false,
            directory_is_default: true,
        }
    }
}

/// Who reads the plan.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A subagent reads the file.
    Subagent,
    /// The plan stands in the instruction.
    Inline,
}

/// Tokens of each gathered section, 0 to 4,000.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// `## Memory`
    pub memory: u16,
    /// `## Codebase`
    pub codebase: u16,
    /// `## Session Context`
    pub session: u16,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            memory: 200,
            codebase: 150,
            session: 100,
        }
    }
}

/// What a run may go on without, as it stands in plans: a workflow file or the catalogue, the working tree, the language
/// model, the memory source, the transcript, and the rest of the time budget.
const DEGRADED: [&str; 6] = ["catalog", "codebase", "llm", "memory", "session", "time"];

impl Options {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first option that is out of its range, and the range.
    pub fn check(&self) -> Result<(), &'static str> {
        let Budgets {
            memory,
            codebase,
            session,
        } = self.budgets;
        let is_word = |text: &str, most: usize, marks: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
            (1..=most).contains(&text.len()) && text.chars().all(allowed)
        };
        let is_known = |word: &String| DEGRADED.contains(&word.as_str());
        let message = if memory.max(codebase).max(session) > 4_000 {
            "options.budgets: over 4000"
        } else if !(1..=12).contains(&self.max_todos) {
            "options.max_todos: not 1 to 12"
        } else if !is_word(&self.model, 64, "._:/-") {
            "options.model: not [A-Za-z0-9._:/-]{1,64}"
        // Both stand in a sentence and in an item of the plan.
        } else if !is_word(&self.tracker, 40, "._-") {
            "options.tracker: not [A-Za-z0-9._-]{1,40}"
        } else if !is_word(&self.task_tool, 40, "._-") {
            "options.task_tool: not [A-Za-z0-9._-]{1,40}"
        } else if !self.degraded.iter().all(is_known) {
            "options.degraded: not one of catalog, codebase, llm, memory, session, time"
        } else {
            return Ok(());
        };
        Err(message)
    }
}
