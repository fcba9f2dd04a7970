//! What the registry asks of the operator's configuration and of this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Connection;

use super::Governor;
use crate::check::Judge;
use crate::failure::Failure;
use crate::registry::Surroundings;
use crate::sandbox::has_own_sandbox;
use crate::secrets::SecretState;
use crate::time::Time;
use hydrant_plan::{JudgedOperation, Stage, judge};

impl Governor {
    pub(super) fn judge(&self) -> Judge<'_> {
        Judge {
            config: &self.config,
            lacks_sandbox: &|tool| !has_own_sandbox(tool),
        }
    }
}

impl Surroundings for Governor {
    fn reasons(
        &self,
        operation: &JudgedOperation,
        bound: &dyn Fn(&str, &[String]) -> bool,
    ) -> Vec<String> {
        judge::reasons(operation, &self.judge(), bound)
    }

    fn missing(&self, operation: &JudgedOperation) -> Vec<String> {
        let of_stage = |stage: &Stage| match stage {
            Stage::Sandbox(stage) => crate::sandbox::missing(stage),
            Stage::TextTransform { tool, .. } => {
                crate::sandbox::missing_tool(tool).into_iter().collect()
            }
            _ => Vec::new(),
        };
        operation.stages.iter().flat_map(of_stage).collect()
    }

    fn installed(&self, folded: &str) -> bool {
        self.installed.contains(folded)
    }

    fn secrets(
        &self,
        database: &Connection,
        skill: &str,
        now: Time,
    ) -> Result<BTreeMap<String, SecretState>, Failure> {
        self.secret_states(database, skill, now)
    }

    fn pending_ttl(&self) -> Duration {
        self.config.pending_ttl
    }
}
