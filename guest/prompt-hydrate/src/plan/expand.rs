//! The steps of a workflow for one prompt: conditions decided, references followed.

use crate::catalogue::{Catalogue, Condition, Step, StepKind, Workflow};
use crate::cues::{Cue, Cues};

/// References within references.
const MAX_DEPTH: usize = 3;
/// Items that one reference may become before it is one item.
const MAX_EXPANDED: usize = 12;

/// A step to be written: its text still has slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: StepKind,
    pub(super) text: String,
    pub(super) active: Option<String>,
}

/// How a workflow is expanded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expansion<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) cues: &'a Cues,
    /// The prompt declines what was asked.
    pub(super) refusal: bool,
    /// References are one item each.
    pub(super) collapsed: bool,
}

impl Expansion<'_> {
    /// Whether a condition holds. `refusal` is the route's word: a refusal with an order of its own is none.
    pub(super) fn holds(&self, condition: Condition) -> bool {
        let has = match condition.cue {
            Cue::Refusal => self.refusal,
            cue => self.cues.has(cue),
        };
        has != condition.negated
    }

    /// The steps of `workflow`, in order.
    pub(super) fn parts(&self, workflow: &Workflow) -> Vec<Part> {
        let mut parts = Vec::new();
        for step in self.steps(workflow) {
            match &step.workflow {
                None => parts.push(part(step)),
                Some(id) => parts.extend(self.reference(step, id, &[&workflow.id])),
            }
        }
        parts
    }

    fn steps<'w>(&self, workflow: &'w Workflow) -> impl Iterator<Item = &'w Step> {
        workflow
            .steps
            .iter()
            .filter(|step| step.when.is_none_or(|condition| self.holds(condition)))
    }

    /// What stands in place of a step that refers to the workflow `id`.
    fn reference(&self, step: &Step, id: &str, within: &[&str]) -> Vec<Part> {
        let target = self.catalogue.get(id);
        let expanded = target
            .filter(|_| !self.collapsed)
            .and_then(|target| self.expanded(target, within));
        expanded.unwrap_or_else(|| {
            let summary = target.and_then(|target| target.summary.clone());
            vec![Part {
                kind: StepKind::Step,
                text: summary.unwrap_or_else(|| format!("Follow {id}")),
                active: step.active.clone(),
            }]
        })
    }

    /// The `step` and `checkpoint` steps of a workflow; `None`: a cycle, too deep, too many.
    fn expanded(&self, target: &Workflow, within: &[&str]) -> Option<Vec<Part>> {
        if within.contains(&target.id.as_str()) || within.len() > MAX_DEPTH {
            return None;
        }
        let within = [within, &[target.id.as_str()]].concat();
        let mut parts = Vec::new();
        for step in self.steps(target) {
            match (&step.workflow, step.kind) {
                (Some(id), _) => parts.extend(self.reference(step, id, &within)),
                (None, StepKind::Step | StepKind::Checkpoint) => parts.push(part(step)),
                (None, StepKind::TaskOpen | StepKind::TaskClose | StepKind::Commit) => {}
            }
            if parts.len() > MAX_EXPANDED {
                return None;
            }
        }
        (!parts.is_empty()).then_some(parts)
    }
}

fn part(step: &Step) -> Part {
    Part {
        kind: step.kind,
        text: step.name.clone(),
        active: step.active.clone(),
    }
}
