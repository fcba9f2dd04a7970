//! The steps of a workflow for one prompt: conditions decided, references followed.

use crate::catalogue::{Catalogue, Condition, Step, StepKind, Workflow};
use crate::cues::Cue;
use crate::route::Route;

/// References within references.
const MAX_DEPTH: usize = 3;
/// Steps that one reference may become before it is one step.
const MAX_EXPANDED: usize = 12;

/// Whether a condition holds. `refusal` is the route's word: a refusal with an order of its own is none.
pub(super) fn holds(condition: Condition, route: &Route) -> bool {
    let has = match condition.cue {
        Cue::Refusal => route.refusal,
        cue => route.cues.has(cue),
    };
    has != condition.negated
}

/// How a workflow is expanded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expansion<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) route: &'a Route,
    /// References are one step each.
    pub(super) collapsed: bool,
}

impl Expansion<'_> {
    /// Returns the steps of `workflow`, in order. Their names still have slots.
    pub(super) fn steps(&self, workflow: &Workflow) -> Vec<Step> {
        let mut steps = Vec::new();
        for step in self.due(workflow) {
            match &step.workflow {
                None => steps.push(step.clone()),
                Some(id) => steps.extend(self.reference(step, id, &[&workflow.id])),
            }
        }
        steps
    }

    fn due<'w>(&self, workflow: &'w Workflow) -> impl Iterator<Item = &'w Step> {
        let steps = workflow.steps.iter();
        steps.filter(|step| {
            step.when
                .is_none_or(|condition| holds(condition, self.route))
        })
    }

    /// Returns what stands in place of a step that refers to the workflow `id`.
    fn reference(&self, step: &Step, id: &str, within: &[&str]) -> Vec<Step> {
        let target = self.catalogue.get(id);
        let expanded = target
            .filter(|_| !self.collapsed)
            .and_then(|target| self.expanded(target, within));
        expanded.unwrap_or_else(|| {
            let summary = target.and_then(|target| target.summary.clone());
            vec![Step {
                kind: StepKind::Step,
                name: summary.unwrap_or_else(|| format!("Follow {id}")),
                ..step.clone()
            }]
        })
    }

    /// Returns the `step` and `checkpoint` steps of a workflow; `None`: a cycle, too deep, too many.
    fn expanded(&self, target: &Workflow, within: &[&str]) -> Option<Vec<Step>> {
        if within.contains(&target.id.as_str()) || within.len() > MAX_DEPTH {
            return None;
        }
        let within = [within, &[target.id.as_str()]].concat();
        let mut steps = Vec::new();
        for step in self.due(target) {
            match (&step.workflow, step.kind) {
                (Some(id), _) => steps.extend(self.reference(step, id, &within)),
                (None, StepKind::Step | StepKind::Checkpoint) => steps.push(step.clone()),
                (None, StepKind::TaskOpen | StepKind::TaskClose | StepKind::Commit) => {}
            }
            if steps.len() > MAX_EXPANDED {
                return None;
            }
        }
        (!steps.is_empty()).then_some(steps)
    }
}
