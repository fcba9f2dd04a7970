//! The checks that a plan passes that a model wrote.

use super::guardrails::{is_name, selected};
use super::never::Never;
use super::row_texts::{is_commit, is_task_close, is_task_open};
use super::text::{MAX_CONTENT, MAX_CONTEXT, MAX_INTENT, folded, is_line, length};
use super::{Failed, MAX_ITEMS, Plan, Settings, active, context, tracker};
use crate::catalogue::{Modifies, Workflow};
use crate::cues::Cue;
use crate::route::{Question, Route};

/// Reasons reported at most.
const MAX_REASONS: usize = 20;

/// The checks that fail.
pub(super) fn check(
    plan: &Plan,
    question: &Question<'_>,
    route: &Route,
    settings: &Settings,
) -> Failed {
    let Some(workflow) = question.catalogue.get(&plan.workflow) else {
        return vec![format!("workflow {:?} is not active", plan.workflow)];
    };
    let mut check = Check {
        plan,
        question,
        route,
        settings,
        workflow,
        failed: Vec::new(),
    };
    check.head();
    check.items();
    check.rows();
    check.never();
    check.failed.truncate(MAX_REASONS);
    check.failed
}

/// An item's text and what its label says.
struct Labelled<'p> {
    checkpoint: bool,
    /// `Step N: `
    number: Option<usize>,
    text: &'p str,
}

fn labelled(content: &str) -> Labelled<'_> {
    if let Some(text) = content.strip_prefix("CHECKPOINT: ") {
        return Labelled {
            checkpoint: true,
            number: None,
            text,
        };
    }
    let numbered = content
        .strip_prefix("Step ")
        .and_then(|rest| rest.split_once(": "))
        .and_then(|(number, text)| {
            let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            Some((number.parse().ok().filter(|_| digits)?, text))
        });
    Labelled {
        checkpoint: false,
        number: numbered.map(|(number, _)| number),
        text: numbered.map_or(content, |(_, text)| text),
    }
}

/// CHECKPOINTs of a plan.
pub(super) fn checkpoints(plan: &Plan) -> usize {
    plan.todos
        .iter()
        .filter(|todo| labelled(&todo.content).checkpoint)
        .count()
}

/// Whether an item of a plan is its commit.
pub(super) fn has_commit(plan: &Plan) -> bool {
    plan.todos.iter().any(|todo| {
        let item = labelled(&todo.content);
        !item.checkpoint && is_commit(item.text)
    })
}

struct Check<'a> {
    plan: &'a Plan,
    question: &'a Question<'a>,
    route: &'a Route,
    settings: &'a Settings,
    workflow: &'a Workflow,
    failed: Failed,
}

impl Check<'_> {
    fn require(&mut self, holds: bool, reason: impl Into<String>) {
        if !holds {
            self.failed.push(reason.into());
        }
    }

    /// Intent, gate, guardrails, context, and the veto.
    fn head(&mut self) {
        let plan = self.plan;
        let intent = is_line(&plan.intent) && length(&plan.intent) <= MAX_INTENT;
        self.require(
            intent,
            format!("the intent is not one line of 1 to {MAX_INTENT} characters"),
        );
        self.require(
            plan.quality_gate == self.workflow.quality_gate,
            "the gate is not the workflow's",
        );
        for (position, name) in plan.guardrails.iter().enumerate() {
            let known = is_name(name) && self.question.catalogue.definition(name).is_some();
            self.require(known, format!("guardrail {name:?} is not registered"));
            let earlier = plan.guardrails.iter().take(position);
            let again = earlier.into_iter().any(|known| known == name);
            self.require(!again, format!("guardrail {name:?} stands twice"));
        }
        for name in selected(self.question.catalogue, self.workflow, self.route) {
            let has = plan.guardrails.contains(&name);
            self.require(
                has,
                format!("guardrail {name:?} of the workflow is missing"),
            );
        }
        let context = (1..=context::MAX_LINES).contains(&plan.relevant_context.len())
            && plan
                .relevant_context
                .iter()
                .all(|text| is_line(text) && length(text) <= MAX_CONTEXT);
        self.require(
            context,
            "relevant_context is not 1 to 8 lines of at most 160 characters",
        );
        let vetoed = self.route.cues.has(Cue::Change) && plan.workflow == "simple-question";
        self.require(
            !vetoed,
            "the prompt asks for a change: simple-question is excluded",
        );
        let kept = self.route.cues.has(Cue::NoChange) && self.workflow.modifies == Modifies::Yes;
        self.require(
            !kept,
            "the prompt forbids changes: this workflow makes them",
        );
    }

    /// Each item by itself, and the numbers.
    fn items(&mut self) {
        let todos = &self.plan.todos;
        self.require(
            (1..=MAX_ITEMS).contains(&todos.len()),
            format!("{} items; 1 to {} are allowed", todos.len(), MAX_ITEMS),
        );
        let alone = todos.len() == 1;
        let mut expected = 0_usize;
        let mut seen: Vec<String> = Vec::new();
        let mut before: Option<String> = None;
        for todo in todos {
            let content = is_line(&todo.content) && length(&todo.content) <= MAX_CONTENT;
            self.require(
                content,
                format!("an item is not one line of 1 to {MAX_CONTENT} characters"),
            );
            self.require(
                active::is_form(&todo.active_form),
                "an activeForm is not 1 to 3 capitalised words",
            );
            let item = labelled(&todo.content);
            self.require(!item.text.trim().is_empty(), "an item says nothing");
            if !item.checkpoint {
                if !alone {
                    expected = expected.saturating_add(1);
                }
                let numbered = if alone {
                    item.number.is_none()
                } else {
                    item.number == Some(expected)
                };
                self.require(
                    numbered,
                    "items other than CHECKPOINTs are not numbered \"Step 1: \" and so on (one item alone has no number)",
                );
            }
            let text = folded(item.text);
            if item.checkpoint {
                self.require(
                    before.as_deref() != Some(&text),
                    "two CHECKPOINTs in a row say the same",
                );
                before = Some(text.clone());
            } else {
                before = None;
            }
            let key = format!("{} {text}", item.checkpoint);
            self.require(!seen.contains(&key), "two items are equal");
            seen.push(key);
        }
    }

    /// CHECKPOINT, task and commit rows.
    fn rows(&mut self) {
        let items: Vec<Labelled<'_>> = self
            .plan
            .todos
            .iter()
            .map(|todo| labelled(&todo.content))
            .collect();
        let refusal = self.route.refusal && self.plan.workflow == "interactive-followup";
        let modifies = self.workflow.modifies;
        let exempt = refusal || modifies == Modifies::No || self.plan.workflow == "direct-skill";
        let checked = items.iter().any(|item| item.checkpoint);
        self.require(exempt || checked, "there is no CHECKPOINT");
        self.commits(&items, modifies, refusal);
        let tracker = tracker(self.settings, self.workflow, self.route);
        let opens = |item: Option<&Labelled<'_>>, tracker: &str| {
            item.is_some_and(|item| !item.checkpoint && is_task_open(item.text, tracker))
        };
        let closes = |item: Option<&Labelled<'_>>, tracker: &str| {
            item.is_some_and(|item| !item.checkpoint && is_task_close(item.text, tracker))
        };
        if tracker.is_empty() {
            let name = self.settings.tracker.as_str();
            let has = opens(items.first(), name) || closes(items.last(), name);
            self.require(!has, "there is a task item where none belongs");
        } else {
            self.require(
                opens(items.first(), &tracker),
                format!("the first item is not \"Create {tracker} task to track …\""),
            );
            self.require(
                closes(items.last(), &tracker),
                format!("the last item is not \"Close {tracker} task …\""),
            );
        }
    }

    fn commits(&mut self, items: &[Labelled<'_>], modifies: Modifies, refusal: bool) {
        let commits: Vec<usize> = items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.checkpoint && is_commit(item.text))
            .map(|(position, _)| position)
            .collect();
        let wanted = modifies == Modifies::Yes && !refusal;
        if wanted {
            self.require(!commits.is_empty(), "there is no item \"Commit and push\"");
        } else {
            self.require(
                commits.is_empty(),
                "there is an unconditional commit item where none belongs",
            );
        }
        self.require(
            self.plan.commit_required != commits.is_empty(),
            "commit_required is wrong",
        );
        for commit in commits {
            let before = items.get(..commit).unwrap_or_default();
            let last = before.iter().rposition(|item| item.checkpoint);
            let covered = last.is_some_and(|checkpoint| {
                before
                    .get(checkpoint.saturating_add(1)..)
                    .unwrap_or_default()
                    .iter()
                    .all(|item| item.text.starts_with("Answer"))
            });
            self.require(covered, "no CHECKPOINT stands before the commit item");
        }
    }

    /// What no item may say.
    fn never(&mut self) {
        let never = Never::new(self.question, self.route, self.settings);
        for todo in &self.plan.todos {
            if let Some(reason) = never.violated(labelled(&todo.content).text) {
                self.failed.push(reason);
            }
        }
        let named = self.plan.workflow != "direct-skill" || self.plan.skill.is_some();
        self.require(named, "direct-skill without a skill that was named");
    }
}
