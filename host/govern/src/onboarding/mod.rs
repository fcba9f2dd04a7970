//! Onboarding: what a document wants done before its operations are of use, as its steps were checked.
//!
//! | file | subject |
//! |---|---|
//! | `read` | the steps from a document's data |
//! | `path` | where in an answer a value stands |
//! | `params` | what the host fills in for `{{…}}` |
//!
//! Nothing here runs a step or keeps what became of one: that is [`crate::governor`]'s and the registry's.

mod params;
mod path;
mod read;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::registry::fold;
use hydrant_plan::Operation;

pub(crate) use params::{Given, fit};
pub use path::Path;

/// Bytes of a step's id, of a key of memory, of the name of a placeholder.
const NAME: usize = 128;

/// What a document wants done first.
#[derive(Debug, Clone, PartialEq)]
pub struct Onboarding {
    /// Whether other operations wait for it.
    pub required: bool,
    /// In the order of the document.
    pub steps: Vec<Step>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// No two steps have the same.
    pub id: String,
    /// What ends it.
    pub kind: StepKind,
    /// Of the skill, by id or alias; an `api_call` has one, a human action none.
    pub operation: Option<String>,
    /// What the operation is called with, or what a condition without one looks at.
    pub params: Option<Value>,
    /// Ids of steps that come before.
    pub depends_on: Vec<String>,
    /// What is kept of the answer.
    pub store: Vec<Store>,
    /// Of a human action: `title`, `instructions`, `action-type`, `required-response`.
    pub action: Value,
    /// An operation that has to succeed as well before the step is done.
    pub verify: Option<String>,
}

/// What ends a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "kebab-case", deserialize = "snake_case"))]
pub enum StepKind {
    /// The operation succeeded.
    ApiCall,
    /// An operator answered.
    HumanAction,
    /// The operation succeeded, or, without one, each of the params is there and not `false`.
    Condition,
}

/// What is kept of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Where it stands.
    pub from: Path,
    /// Where it goes.
    pub to: StoreTarget,
}

/// Where a value is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreTarget {
    /// In the skill's memory.
    Memory(String),
    /// Among the skill's secrets, once that is approved.
    Secret(String),
}

impl Onboarding {
    /// The step with this id.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Whether a step calls this operation.
    #[must_use]
    pub fn uses(&self, operation: &Operation) -> bool {
        self.steps
            .iter()
            .any(|step| step.calls(operation) || names(step.verify.as_deref(), operation))
    }

    /// What operations return that is a secret because a step keeps it as one: where it stands, and its name.
    pub fn returned<'a>(
        &'a self,
        operation: &'a Operation,
    ) -> impl Iterator<Item = (&'a Path, &'a str)> {
        self.steps
            .iter()
            .filter(move |step| step.calls(operation))
            .flat_map(Step::secrets)
    }
}

impl Step {
    /// What is kept as a secret: where it stands, and its name.
    pub fn secrets(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.store.iter().filter_map(|store| match &store.to {
            StoreTarget::Secret(name) => Some((&store.from, name.as_str())),
            StoreTarget::Memory(_) => None,
        })
    }

    /// Whether this is its operation.
    #[must_use]
    pub fn calls(&self, operation: &Operation) -> bool {
        names(self.operation.as_deref(), operation)
    }
}

/// Whether an operation has this name, or an alias: case does not count, nor does which of `_`, space and `-` is written.
fn names(name: Option<&str>, operation: &Operation) -> bool {
    name.map(fold).is_some_and(|name| {
        std::iter::once(&operation.id)
            .chain(&operation.aliases)
            .any(|known| fold(known) == name)
    })
}
