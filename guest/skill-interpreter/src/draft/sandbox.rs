//! Code and tools for the jail.

use super::Template;
use crate::model::{Program, Runtime, SandboxStage};

/// A sandbox stage as its reader knows it: its variables are not resolved, files of code have no digest, and `env_inputs` holds
/// the free variables of a script, secrets among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxDraft {
    /// What is run.
    pub stage: SandboxStage<Template>,
    /// Where its code begins in the document.
    pub line: u32,
}

impl SandboxDraft {
    /// A stage without arguments, input, packages and variables.
    #[must_use]
    pub fn new(runtime: Runtime, program: Program<Template>, line: u32) -> Self {
        Self {
            stage: SandboxStage::new(runtime, program),
            line,
        }
    }

    /// A tool that is run from its argument vector or, of another name, from a file.
    #[must_use]
    pub fn of_tool(name: &str, program: Program<Template>, line: u32) -> Self {
        let mut draft = Self::new(Runtime::Shell, program, line);
        draft.stage.tools.push(name.to_owned());
        draft
    }
}
