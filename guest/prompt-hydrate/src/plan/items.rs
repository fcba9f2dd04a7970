//! The items of a plan: the chosen workflow's steps, those of a second half, and the rows that every plan keeps
//!

use super::Settings;
use super::active;
use super::expand::{Expansion, Part};
use super::intent;
use super::never::Never;
use super::row_texts::{is_commit, is_task_close, is_task_open, reads_as_row};
use super::slots::Slots;
use super::text::{MAX_SLOT, MAX_TEXT, line, uncapitalised};
use crate::catalogue::steps::without_label;
use crate::catalogue::{Modifies, StepKind, Workflow};
use crate::route::{Question, Route, Second};
use crate::signals::Signals;
use crate::text::Prompt;

/// Requirement clauses that become steps.
const MAX_REQUIREMENTS: usize = 3;

/// An item before it has its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: StepKind,
    /// One line, not empty, without a label.
    pub(super) text: String,
    pub(super) active: String,
    /// May stand between the last CHECKPOINT and the commit.
    pub(super) harmless: bool,
}

/// How much a plan was shrunk, each stage on top of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Full,
    /// The other half of several intents is one item.
    OneSecond,
    /// Requirement clauses are one item.
    OneRequirement,
    /// References are summaries.
    Collapsed,
}

/// What items are made from.
pub(super) struct Maker<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) route: &'a Route,
    pub(super) settings: &'a Settings,
    pub(super) workflow: &'a Workflow,
    pub(super) never: &'a Never<'a>,
    /// Empty: there is none.
    pub(super) tracker: &'a str,
}

/// One half of the prompt.
struct Half<'a> {
    workflow: &'a Workflow,
    prompt: &'a Prompt,
    slots: Slots,
    parts: Vec<Part>,
}

impl Maker<'_> {
    /// All items, in order.
    pub(super) fn items(&self, stage: Stage) -> Vec<Item> {
        let rest;
        let own = match &self.route.second {
            None => self.question.prompt,
            Some(second) => {
                rest = self.own_half(second);
                &rest
            }
        };
        let clause = match &self.route.second {
            None => intent::clause(self.question, self.route, own),
            Some(_) => intent::second_clause(own, MAX_SLOT),
        };
        let half = self.half(self.workflow, own, &clause, &self.route.signals, stage);
        if self.route.refusal {
            return vec![self.refusal(&half)];
        }
        let mut items = self.own_items(&half);
        if self.workflow.modifies == Modifies::Yes {
            self.add_requirements(&mut items, &half, stage);
        }
        if let Some(second) = &self.route.second {
            self.add_second(&mut items, second, stage);
        }
        self.complete(&mut items, &half);
        items
    }

    /// The prompt without its second half.
    fn own_half(&self, second: &Second) -> Prompt {
        let text = intent::without(&self.question.prompt.main, &second.prompt.main);
        let mut own = Prompt::read(&text);
        // Pasted text and what it tells belongs to the prompt as a whole.
        let whole = self.question.prompt;
        own.error = own.error.or_else(|| whole.error.clone());
        // "… and then repair it": the object is that of the first half.
        if own.object.is_none() || (own.paths.is_empty() && has_pronoun(&own.main)) {
            own.object.clone_from(&whole.object);
        }
        own.requirements.clone_from(&whole.requirements);
        own
    }

    fn half<'h>(
        &self,
        workflow: &'h Workflow,
        prompt: &'h Prompt,
        clause: &str,
        signals: &Signals,
        stage: Stage,
    ) -> Half<'h> {
        let expansion = Expansion {
            catalogue: self.question.catalogue,
            signals,
            refusal: self.route.refusal,
            collapsed: stage >= Stage::Collapsed,
        };
        Half {
            workflow,
            prompt,
            slots: Slots::new(prompt, clause, self.question, self.route, self.settings),
            parts: expansion.parts(workflow),
        }
    }

    /// An item, unless its text may not stand in a plan.
    fn item(&self, kind: StepKind, text: &str, active: Option<&str>) -> Option<Item> {
        let text = line(text, MAX_TEXT);
        let text = without_label(&text);
        let text = match kind {
            // What reads like a commit or task item and is none, would be taken for one.
            StepKind::Step if reads_as_row(text, &self.settings.tracker) => {
                line(&format!("Carry out: {}", uncapitalised(text)), MAX_TEXT)
            }
            _ => text.to_owned(),
        };
        if text.is_empty() || self.never.violated(&text).is_some() {
            return None;
        }
        Some(Item {
            kind,
            active: active::form(active, &text),
            harmless: text.starts_with("Answer"),
            text,
        })
    }

    /// An item of our own words; `fallback` has none of the user's, so that it always may stand.
    fn sure(&self, kind: StepKind, text: &str, active: &str, fallback: &str) -> Item {
        self.item(kind, text, Some(active)).unwrap_or_else(|| Item {
            kind,
            text: fallback.to_owned(),
            active: active.to_owned(),
            harmless: false,
        })
    }

    fn filled(&self, half: &Half<'_>, part: &Part) -> Option<Item> {
        let tracker = if self.tracker.is_empty() {
            "tracking"
        } else {
            self.tracker
        };
        let mut text = half.slots.fill(&part.text, tracker);
        // a list is present that lacks the skill.
        if let Some((name, true)) = &self.route.skill
            && part.kind == StepKind::Step
            && part.text.contains("{skill}")
        {
            let name = line(name, MAX_SLOT);
            text = format!("{text}; if {name} is not installed, tell the user and stop");
        }
        self.item(part.kind, &text, part.active.as_deref())
    }

    /// one item that leaves the thing undone.
    fn refusal(&self, half: &Half<'_>) -> Item {
        let step = half.parts.iter().find(|part| part.kind == StepKind::Step);
        step.and_then(|part| self.filled(half, part))
            .unwrap_or_else(|| {
                let text = "Leave it undone and ask the user for the next step";
                self.sure(StepKind::Step, text, "Asking", text)
            })
    }

    /// The steps of the chosen workflow, with the rows its kind demands and its file may lack.
    fn own_items(&self, half: &Half<'_>) -> Vec<Item> {
        let modifies = half.workflow.modifies;
        let commit = half
            .parts
            .iter()
            .rposition(|part| part.kind == StepKind::Commit);
        let mut items = Vec::new();
        for (position, part) in half.parts.iter().enumerate() {
            match part.kind {
                StepKind::Step | StepKind::Checkpoint => items.extend(self.filled(half, part)),
                // Written by `complete`, at their places.
                StepKind::TaskOpen | StepKind::TaskClose => {}
                StepKind::Commit => match modifies {
                    Modifies::No => {}
                    Modifies::Maybe => items.push(self.conditional_commit()),
                    Modifies::Yes if commit == Some(position) => {
                        items.push(self.commit(self.filled(half, part)));
                    }
                    // An earlier one: a step, so that the last one is the commit of the plan.
                    Modifies::Yes => items.extend(self.filled(
                        half,
                        &Part {
                            kind: StepKind::Step,
                            ..part.clone()
                        },
                    )),
                },
            }
        }
        if !items.iter().any(|item| matches!(item.kind, StepKind::Step)) {
            let text = format!("Carry out: {}", half.slots.get("intent"));
            let step = self.sure(StepKind::Step, &text, "Working", "Carry out the request");
            items.insert(0, step);
        }
        // what changes files has a CHECKPOINT, and one that changes them surely a commit after it.
        let exempt = modifies == Modifies::No || half.workflow.id == "direct-skill";
        let checked = items.iter().any(|item| item.kind == StepKind::Checkpoint);
        if !exempt && !checked {
            let before = items
                .iter()
                .rposition(|item| item.kind == StepKind::Commit)
                .unwrap_or(items.len());
            items.insert(before, self.checkpoint(half));
        }
        let committed = items.iter().any(|item| item.kind == StepKind::Commit);
        if modifies == Modifies::Yes && !committed {
            items.push(self.commit(None));
        }
        items
    }

    fn checkpoint(&self, half: &Half<'_>) -> Item {
        let command = half.slots.get("test_cmd");
        let text = if half.workflow.modifies == Modifies::Yes {
            format!("Run {command} and look at the result itself")
        } else {
            "Compare the result with what was asked, with evidence".to_owned()
        };
        let fallback = "Look at the result itself, with evidence";
        self.sure(StepKind::Checkpoint, &text, "Verifying", fallback)
    }

    ///
    fn commit(&self, given: Option<Item>) -> Item {
        let own = "Commit and push";
        match given {
            Some(item) if is_commit(&item.text) => item,
            Some(item) => {
                let text = format!("{own}: {}", uncapitalised(&item.text));
                self.sure(StepKind::Commit, &text, "Committing", own)
            }
            None => self.sure(StepKind::Commit, own, "Committing", own),
        }
    }

    /// of what may change files.
    fn conditional_commit(&self) -> Item {
        let text = "If files changed, commit and push";
        self.sure(StepKind::Step, text, "Committing", text)
    }

    /// before the last CHECKPOINT, in the prompt's order.
    fn add_requirements(&self, items: &mut Vec<Item>, half: &Half<'_>, stage: Stage) {
        let second = self.route.second.as_ref().map(|second| &second.prompt.main);
        let clauses: Vec<String> = half
            .prompt
            .requirements
            .iter()
            .filter(|clause| {
                // What the other half asks for has its own steps.
                second.is_none_or(|second| !same_words(second, clause))
            })
            .map(|clause| super::text::capitalised(&intent::polite(clause)))
            .filter(|clause| !clause.is_empty())
            .take(MAX_REQUIREMENTS)
            .collect();
        let texts = if stage >= Stage::OneRequirement && clauses.len() > 1 {
            let rest = clauses.iter().skip(1).map(|clause| uncapitalised(clause));
            let all: Vec<String> = clauses.iter().take(1).cloned().chain(rest).collect();
            vec![all.join("; ")]
        } else {
            clauses
        };
        let mut place = items
            .iter()
            .rposition(|item| item.kind == StepKind::Checkpoint)
            .unwrap_or(items.len());
        for text in texts {
            if let Some(item) = self.item(StepKind::Step, &text, None) {
                items.insert(place, item);
                place = place.saturating_add(1);
            }
        }
    }

    ///
    fn add_second(&self, items: &mut Vec<Item>, second: &Second, stage: Stage) {
        let workflow = second
            .workflow
            .as_deref()
            .and_then(|id| self.question.catalogue.get(id));
        let changes = workflow.is_none_or(|workflow| workflow.modifies != Modifies::No);
        let mut theirs: Vec<Item> = Vec::new();
        if let Some(workflow) = workflow {
            let clause = intent::second_clause(&second.prompt, MAX_SLOT);
            let half = self.half(workflow, &second.prompt, &clause, &second.signals, stage);
            theirs = half
                .parts
                .iter()
                .filter(|part| matches!(part.kind, StepKind::Step | StepKind::Checkpoint))
                .filter_map(|part| self.filled(&half, part))
                .collect();
        }
        let shrunk = stage >= Stage::OneSecond && theirs.len() > 1;
        if theirs.is_empty() || shrunk {
            theirs = vec![self.named(second)];
        }
        for item in &mut theirs {
            item.harmless |= !changes;
        }
        if second.before {
            items.splice(0..0, theirs);
            return;
        }
        // Before the commit; one item alone, of a half that may change something, also before the CHECKPOINT that would
        // otherwise not cover it.
        let last = |kind| items.iter().rposition(|item: &Item| item.kind == kind);
        let commit = last(StepKind::Commit);
        let one = matches!(theirs.as_slice(), [item] if item.kind == StepKind::Step);
        let place = if one && changes && commit.is_some() {
            last(StepKind::Checkpoint).or(commit)
        } else {
            commit
        };
        let place = place.unwrap_or(items.len());
        items.splice(place..place, theirs);
        let may_commit = workflow.is_some_and(|workflow| workflow.modifies == Modifies::Yes);
        if may_commit && commit.is_none() && self.workflow.modifies == Modifies::Maybe {
            items.push(self.conditional_commit());
        }
    }

    /// One item that names a half.
    fn named(&self, second: &Second) -> Item {
        let clause = intent::second_clause(&second.prompt, MAX_SLOT);
        let (text, fallback) = if second.before {
            (
                format!("First: {clause}"),
                "First take the first part of the request",
            )
        } else {
            (
                format!("Then: {clause}"),
                "Then take the second part of the request",
            )
        };
        self.sure(StepKind::Step, &text, "Continuing", fallback)
    }

    /// Task items at the ends, a CHECKPOINT over all that is committed, no two items alike.
    fn complete(&self, items: &mut Vec<Item>, half: &Half<'_>) {
        if let Some(commit) = items.iter().position(|item| item.kind == StepKind::Commit) {
            let before = items.get(..commit).unwrap_or_default();
            let covered = before
                .iter()
                .rev()
                .find(|item| !item.harmless || item.kind == StepKind::Checkpoint)
                .is_some_and(|item| item.kind == StepKind::Checkpoint);
            if !covered {
                let text = "Look at everything that changed once more before it is committed";
                items.insert(
                    commit,
                    self.sure(StepKind::Checkpoint, text, "Verifying", text),
                );
            }
        }
        items.dedup_by(|b, a| {
            a.kind == StepKind::Checkpoint
                && b.kind == StepKind::Checkpoint
                && a.text.eq_ignore_ascii_case(&b.text)
        });
        if !self.tracker.is_empty() {
            let open = self.task_item(half, StepKind::TaskOpen);
            items.insert(0, open);
            items.push(self.task_item(half, StepKind::TaskClose));
        }
        tell_apart(items);
    }

    fn task_item(&self, half: &Half<'_>, kind: StepKind) -> Item {
        let tracker = self.tracker;
        let given = half
            .parts
            .iter()
            .find(|part| part.kind == kind)
            .and_then(|part| self.filled(half, part));
        let (is_row, text, active): (fn(&str, &str) -> bool, _, _) = match kind {
            StepKind::TaskOpen => (
                is_task_open,
                format!("Create {tracker} task to track the work"),
                "Creating task",
            ),
            _ => (
                is_task_close,
                format!("Close {tracker} task with the result"),
                "Closing task",
            ),
        };
        given
            .filter(|item| is_row(&item.text, tracker))
            .unwrap_or_else(|| Item {
                kind,
                text,
                active: active.to_owned(),
                harmless: false,
            })
    }
}

/// Whether a text speaks of something named elsewhere.
fn has_pronoun(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word.to_lowercase().as_str(),
            "it" | "them" | "this" | "that"
        )
    })
}

/// Whether one text is in the other, but for case and the marks between words.
fn same_words(text: &str, part: &str) -> bool {
    let words = |text: &str| {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let part = words(part);
    !part.is_empty() && words(text).contains(&part)
}

/// No two items of equal text: the later one says that it comes again.
pub(super) fn tell_apart(items: &mut [Item]) {
    let mut seen: Vec<String> = Vec::new();
    for item in items {
        let key = |text: &str| text.to_lowercase();
        let mut turn = 1_usize;
        let base = line(&item.text, MAX_TEXT.saturating_sub(24));
        while seen.contains(&key(&item.text)) {
            turn = turn.saturating_add(1);
            item.text = match turn {
                2 => format!("{base} – again"),
                turn => format!("{base} – again ({turn})"),
            };
        }
        seen.push(key(&item.text));
    }
}
