//! The `UserPromptSubmit` hook: from what an agent hands over to a plan in a file.
//! [`crate::setup`] installs it.
//!
//! The host reads stdin, files and servers, writes the temp file and prints; the component `prompt.hydrate` reads what
//! all of that means, and decides. What it returns is checked before anything of it gets out.

mod check;
mod gather;
mod input;
mod memory;
mod message;
mod model;
mod mounts;
mod plan;
mod planner;
mod reply;
mod run;
mod settings;
mod surroundings;
mod temp;
mod transcript;

pub use check::{Asked, Unfit, check_file, check_instruction, check_plan};
pub use gather::{Memory, Sources, gather};
pub use input::{INPUT_PATIENCE, InputError, MAX_INPUT_BYTES, read_input};
pub use memory::{HttpMemory, MemoryError, MemorySource, Notes, Passage};
pub use message::{Source, Warning, line};
pub use mounts::PlannerMounts;
pub use plan::{PlanError, PlanRequest, Planned, plan};
pub use planner::{
    Answer, Finding, Material, Missing, Parsed, Planner, PlannerError, PlannerWarning, Skip,
    Templates,
};
pub use reply::Reply;
pub use run::answer;
pub use settings::{
    Dialect, LlmSettings, MAX_BUDGET_MS, MemorySettings, Mode, Problem, SectionBudgets, Settings,
    TemplateFiles, When,
};
pub use surroundings::{MakeHost, Outward, Surroundings, TemplateError, memory, mounts, templates};
pub use temp::{CleanupLimits, TempError, TempFolder};
pub use transcript::tail as transcript_tail;
