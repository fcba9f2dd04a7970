//! The items of a plan: the workflow's steps for this prompt, its further demands, and what every plan has.

use super::active;
use super::expand::{Expansion, Part};
use super::intent;
use super::row_texts::{is_commit, is_task_close, is_task_open, reads_as_row};
use super::slots::Slots;
use super::text::{MAX_SLOT, MAX_TEXT, capitalised, length, line, uncapitalised};
use super::{MAX_ITEMS, Settings};
use crate::catalogue::steps::without_label;
use crate::catalogue::{Modifies, StepKind, Workflow};
use crate::route::{Question, Route};
use crate::text::Prompt;
use crate::text::token::{Stop, Token};

/// Requirements of the prompt that become steps.
const MAX_REQUIREMENTS: usize = 3;

/// An item before it has its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: StepKind,
    /// One line, not empty, without a label.
    pub(super) text: String,
    pub(super) active: String,
}

impl Item {
    fn new(kind: StepKind, text: &str, active: &str) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            active: active.to_owned(),
        }
    }
}

/// What items are made from.
pub(super) struct Maker<'a> {
    question: &'a Question<'a>,
    route: &'a Route,
    settings: &'a Settings,
    workflow: &'a Workflow,
    /// Empty: there is none.
    tracker: &'a str,
    slots: Slots,
}

impl<'a> Maker<'a> {
    pub(super) fn new(
        question: &'a Question<'a>,
        route: &'a Route,
        settings: &'a Settings,
        workflow: &'a Workflow,
        tracker: &'a str,
    ) -> Self {
        let clause = intent::clause(question, route);
        let slots = Slots::new(&clause, question, route, settings);
        Self {
            question,
            route,
            settings,
            workflow,
            tracker,
            slots,
        }
    }

    /// The items, at most as many as are wanted where steps can be joined for that.
    pub(super) fn items(&self) -> Vec<Item> {
        let wanted = self.settings.max_todos.clamp(1, MAX_ITEMS);
        let mut items = self.all(false);
        if items.len() > wanted {
            items = self.all(true);
        }
        while items.len() > wanted && join_steps(&mut items) {}
        // A file of a dozen CHECKPOINTs has them joined.
        while items.len() > MAX_ITEMS && join_checkpoints(&mut items) {
            while items.len() > MAX_ITEMS && join_steps(&mut items) {}
        }
        tell_apart(&mut items);
        items
    }

    /// All items; `collapsed` has one for each reference to another workflow.
    fn all(&self, collapsed: bool) -> Vec<Item> {
        let expansion = Expansion {
            catalogue: self.question.catalogue,
            cues: &self.route.cues,
            refusal: self.route.refusal,
            collapsed,
        };
        let parts = expansion.parts(self.workflow);
        if self.route.refusal {
            return vec![self.refusal(&parts)];
        }
        let mut items = self.steps(&parts);
        if self.workflow.modifies == Modifies::Yes {
            self.add_requirements(&mut items);
        }
        self.complete(&mut items);
        if !self.tracker.is_empty() {
            items.insert(0, self.task_item(&parts, StepKind::TaskOpen));
            items.push(self.task_item(&parts, StepKind::TaskClose));
        }
        items
    }

    fn item(&self, kind: StepKind, text: &str, active: Option<&str>) -> Option<Item> {
        let text = line(text, MAX_TEXT);
        let text = without_label(&text);
        // What reads like a commit or task item and is none, would be taken for one.
        let text = if kind == StepKind::Step && reads_as_row(text, &self.settings.tracker) {
            line(&format!("Carry out: {}", uncapitalised(text)), MAX_TEXT)
        } else {
            text.to_owned()
        };
        (!text.is_empty()).then(|| Item {
            kind,
            active: active::form(active, &text),
            text,
        })
    }

    fn filled(&self, part: &Part) -> Option<Item> {
        let tracker = if self.tracker.is_empty() {
            "tracking"
        } else {
            self.tracker
        };
        let mut text = self.slots.fill(&part.text, tracker);
        // A list is present that lacks the skill.
        if let Some((name, true)) = &self.route.skill
            && part.kind == StepKind::Step
            && part.text.contains("{skill}")
        {
            text = format!(
                "{text}; if {} is not installed, tell the user and stop",
                line(name, MAX_SLOT)
            );
        }
        self.item(part.kind, &text, part.active.as_deref())
    }

    /// The one item of a refusal, that leaves the thing undone.
    fn refusal(&self, parts: &[Part]) -> Item {
        let step = parts.iter().find(|part| part.kind == StepKind::Step);
        step.and_then(|part| self.filled(part)).unwrap_or_else(|| {
            Item::new(
                StepKind::Step,
                "Leave it undone and ask the user for the next step",
                "Asking",
            )
        })
    }

    /// The steps of the workflow; task items are added last.
    fn steps(&self, parts: &[Part]) -> Vec<Item> {
        let modifies = self.workflow.modifies;
        let commit = parts.iter().rposition(|part| part.kind == StepKind::Commit);
        let mut items = Vec::new();
        for (position, part) in parts.iter().enumerate() {
            match (part.kind, modifies) {
                (StepKind::Step | StepKind::Checkpoint, _) => items.extend(self.filled(part)),
                (StepKind::TaskOpen | StepKind::TaskClose, _)
                | (StepKind::Commit, Modifies::No) => {}
                (StepKind::Commit, Modifies::Maybe) => {
                    items.push(Item::new(
                        StepKind::Step,
                        "If files changed, commit and push",
                        "Committing",
                    ));
                }
                (StepKind::Commit, Modifies::Yes) if commit == Some(position) => {
                    items.push(commit_item(self.filled(part)));
                }
                // An earlier one: a step, so that the last one is the commit of the plan.
                (StepKind::Commit, Modifies::Yes) => {
                    items.extend(self.filled(&Part {
                        kind: StepKind::Step,
                        ..part.clone()
                    }));
                }
            }
        }
        if !items.iter().any(|item| item.kind == StepKind::Step) {
            let text = line(
                &format!("Carry out: {}", self.slots.get("intent")),
                MAX_TEXT,
            );
            items.insert(0, Item::new(StepKind::Step, &text, "Working"));
        }
        items
    }

    /// "It should …" as steps before the last CHECKPOINT, in the prompt's order.
    fn add_requirements(&self, items: &mut Vec<Item>) {
        let texts = requirements(self.question.prompt);
        let last = items
            .iter()
            .rposition(|item| item.kind == StepKind::Checkpoint)
            .unwrap_or(items.len());
        let found = texts
            .iter()
            .take(MAX_REQUIREMENTS)
            .filter_map(|text| self.item(StepKind::Step, &capitalised(text), None));
        for (place, item) in (last..).zip(found) {
            items.insert(place, item);
        }
    }

    /// Adds what the file lacks: a CHECKPOINT where files may change, and a commit behind it where they surely do.
    fn complete(&self, items: &mut Vec<Item>) {
        let modifies = self.workflow.modifies;
        if modifies == Modifies::Yes && !items.iter().any(|item| item.kind == StepKind::Commit) {
            items.push(commit_item(None));
        }
        let commit = items.iter().position(|item| item.kind == StepKind::Commit);
        let checked = items.iter().any(|item| item.kind == StepKind::Checkpoint);
        let exempt = modifies == Modifies::No || self.workflow.id == "direct-skill";
        if !checked && !exempt {
            let text = if modifies == Modifies::Yes {
                line(
                    &format!(
                        "Run {} and look at the result itself",
                        self.slots.get("test_cmd")
                    ),
                    MAX_TEXT,
                )
            } else {
                "Compare the result with what was asked, with evidence".to_owned()
            };
            items.insert(
                commit.unwrap_or(items.len()),
                Item::new(StepKind::Checkpoint, &text, "Verifying"),
            );
        } else if let Some(commit) = commit
            && !items
                .get(commit.saturating_sub(1))
                .is_some_and(|item| item.kind == StepKind::Checkpoint)
        {
            let text = "Look at everything that changed once more before it is committed";
            items.insert(commit, Item::new(StepKind::Checkpoint, text, "Verifying"));
        }
        items.dedup_by(|b, a| {
            a.kind == StepKind::Checkpoint
                && b.kind == a.kind
                && a.text.eq_ignore_ascii_case(&b.text)
        });
    }

    fn task_item(&self, parts: &[Part], kind: StepKind) -> Item {
        let tracker = self.tracker;
        let opens = kind == StepKind::TaskOpen;
        let reads = |item: &Item| {
            if opens {
                is_task_open(&item.text, tracker)
            } else {
                is_task_close(&item.text, tracker)
            }
        };
        let given = parts
            .iter()
            .find(|part| part.kind == kind)
            .and_then(|part| self.filled(part));
        given.filter(reads).unwrap_or_else(|| {
            if opens {
                Item::new(
                    kind,
                    &format!("Create {tracker} task to track the work"),
                    "Creating task",
                )
            } else {
                Item::new(
                    kind,
                    &format!("Close {tracker} task with the result"),
                    "Closing task",
                )
            }
        })
    }
}

/// The commit of a plan, in the words of its file where these begin so.
fn commit_item(given: Option<Item>) -> Item {
    match given {
        Some(item) if is_commit(&item.text) => item,
        Some(item) => {
            let text = line(
                &format!("Commit and push: {}", uncapitalised(&item.text)),
                MAX_TEXT,
            );
            Item::new(StepKind::Commit, &text, "Committing")
        }
        None => Item::new(StepKind::Commit, "Commit and push", "Committing"),
    }
}

/// Later sentences "it should …" and "it must …", each as an instruction.
fn requirements(prompt: &Prompt) -> Vec<String> {
    let mut sentences = prompt
        .tokens
        .split_inclusive(|token| token.stop > Stop::Comma);
    sentences.next();
    sentences
        .filter_map(|sentence| requirement(prompt, sentence))
        .collect()
}

fn requirement(prompt: &Prompt, sentence: &[Token]) -> Option<String> {
    let pronoun = sentence
        .iter()
        .take(2)
        .position(|token| token.among("it this they that"))?;
    let modal = sentence
        .get(pronoun + 1)
        .filter(|token| token.among("should must shall needs has"))?;
    let to = usize::from(modal.among("needs has"));
    let first = sentence.get(pronoun + 2 + to)?;
    let last = sentence.last()?;
    let text = prompt
        .main
        .get(first.start..last.start + last.text.len())?
        .trim();
    if !text.contains(' ') {
        return None;
    }
    let instruction = !first.among("not never only always be have");
    Some(match first.word.as_str() {
        _ if instruction => text.to_owned(),
        // The second half of a contraction has no text of its own.
        "not" if first.text.is_empty() => {
            let rest = sentence.get(pronoun + 3 + to)?;
            format!(
                "make sure it does not {}",
                prompt.main.get(rest.start..last.start + last.text.len())?
            )
        }
        _ => format!("make sure that it must {text}").replace("that it must be", "it is"),
    })
}

/// Joins the two neighbouring steps that are shortest together.
fn join_steps(items: &mut Vec<Item>) -> bool {
    let shortest = items
        .windows(2)
        .enumerate()
        .filter_map(|(at, pair)| match pair {
            [a, b] if a.kind == StepKind::Step && b.kind == StepKind::Step => {
                Some((length(&a.text) + length(&b.text), at))
            }
            _ => None,
        });
    let Some((_, at)) = shortest.min() else {
        return false;
    };
    let second = items.remove(at + 1);
    if let Some(first) = items.get_mut(at) {
        first.text = joined(&first.text, &second.text);
    }
    true
}

/// Joins the first CHECKPOINT with the one after it.
fn join_checkpoints(items: &mut Vec<Item>) -> bool {
    let mut places = (0..items.len()).filter(|at| {
        items
            .get(*at)
            .is_some_and(|item| item.kind == StepKind::Checkpoint)
    });
    let (Some(first), Some(second)) = (places.next(), places.next()) else {
        return false;
    };
    let first = items.remove(first);
    if let Some(second) = items.get_mut(second - 1) {
        second.text = joined(&first.text, &second.text);
    }
    true
}

/// Two texts as one. Something of both stays, however long the first is.
fn joined(first: &str, second: &str) -> String {
    let room = MAX_TEXT - 2;
    let second = line(second, room.saturating_sub(length(first).min(MAX_TEXT / 2)));
    format!(
        "{}; {}",
        line(first, room.saturating_sub(length(&second))),
        uncapitalised(&second)
    )
}

/// Makes equal texts differ: the later one says that it comes again.
fn tell_apart(items: &mut [Item]) {
    let mut seen: Vec<String> = Vec::new();
    for item in items {
        let base = line(&item.text, MAX_TEXT - 24);
        let mut turn = 1;
        while seen.contains(&item.text.to_lowercase()) {
            turn += 1;
            item.text = if turn == 2 {
                format!("{base} – again")
            } else {
                format!("{base} – again ({turn})")
            };
        }
        seen.push(item.text.to_lowercase());
    }
}
