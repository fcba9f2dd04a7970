//! The items of a plan: the workflow's steps for this prompt, its further demands, and what every plan has.

use super::expand::Expansion;
use super::slots::Slots;
use super::text::{MAX_SLOT, MAX_TEXT, capitalised, length, line, uncapitalised};
use super::{MAX_ITEMS, Settings, Todo, active};
use crate::catalogue::steps::without_label;
use crate::catalogue::{Modifies, Step, StepKind, Workflow};
use crate::route::{DIRECT_SKILL, Question, Route, SIMPLE_QUESTION};
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
    /// An item with this text; none where it says nothing.
    pub(super) fn new(kind: StepKind, text: &str, active: Option<&str>) -> Option<Self> {
        let text = line(text, MAX_TEXT);
        let text = without_label(&text);
        (!text.is_empty()).then(|| Self {
            kind,
            text: text.to_owned(),
            active: active::form(active, text),
        })
    }
}

/// Returns the items of a plan: at most as many as are wanted where steps can be joined for that.
pub(super) fn todos(
    question: &Question<'_>,
    route: &Route,
    settings: &Settings,
    workflow: &Workflow,
) -> Vec<Todo> {
    let maker = Maker {
        question,
        route,
        workflow,
        tracker: tracker(settings, workflow, route),
        slots: Slots::new(question, route, settings),
    };
    let wanted = settings.max_todos.clamp(1, MAX_ITEMS);
    let mut items = maker.items(false);
    if items.len() > wanted {
        items = maker.items(true);
    }
    while items.len() > wanted && join(&mut items, StepKind::Step) {}
    // A file of a dozen CHECKPOINTs has them joined.
    while items.len() > MAX_ITEMS
        && (join(&mut items, StepKind::Step) || join(&mut items, StepKind::Checkpoint))
    {}
    numbered(items)
}

/// Returns items with their labels and numbers.
pub(super) fn numbered(items: Vec<Item>) -> Vec<Todo> {
    let alone = items.len() == 1;
    let mut number = 0_usize;
    let labelled = items.into_iter().map(|item| {
        let text = capitalised(&item.text);
        let content = if item.kind == StepKind::Checkpoint {
            format!("CHECKPOINT: {text}")
        } else if alone {
            text
        } else {
            number = number.saturating_add(1);
            format!("Step {number}: {text}")
        };
        Todo {
            content,
            status: "pending",
            active_form: item.active,
            kind: item.kind,
        }
    });
    labelled.collect()
}

/// Returns the tracker of a plan that has task items.
fn tracker<'s>(settings: &'s Settings, workflow: &Workflow, route: &Route) -> Option<&'s str> {
    let never = route.refusal || matches!(workflow.id.as_str(), SIMPLE_QUESTION | DIRECT_SKILL);
    let tracker = Some(settings.tracker.as_str()).filter(|tracker| *tracker != "none");
    tracker.filter(|_| !never && workflow.needs_task)
}

/// What items are made from.
struct Maker<'a> {
    question: &'a Question<'a>,
    route: &'a Route,
    workflow: &'a Workflow,
    tracker: Option<&'a str>,
    slots: Slots,
}

impl Maker<'_> {
    /// Returns all items; `collapsed` has one for each reference to another workflow.
    fn items(&self, collapsed: bool) -> Vec<Item> {
        let expansion = Expansion {
            catalogue: self.question.catalogue,
            route: self.route,
            collapsed,
        };
        let steps = expansion.steps(self.workflow);
        if self.route.refusal {
            let leave = steps.iter().find(|step| step.kind == StepKind::Step);
            let leave = leave.and_then(|step| self.filled(step)).or_else(|| {
                let text = "Leave it undone and ask the user for the next step";
                Item::new(StepKind::Step, text, Some("Asking"))
            });
            return leave.into_iter().collect();
        }
        let mut items = self.work(&steps);
        if self.workflow.modifies == Modifies::Yes {
            self.add_requirements(&mut items);
        }
        self.complete(&mut items);
        if let Some(tracker) = self.tracker {
            let given = |kind| {
                let step = steps.iter().find(|step| step.kind == kind);
                step.and_then(|step| self.filled(step))
            };
            let open = given(StepKind::TaskOpen).or_else(|| {
                let text = format!("Create {tracker} task to track the work");
                Item::new(StepKind::TaskOpen, &text, Some("Creating task"))
            });
            let close = given(StepKind::TaskClose).or_else(|| {
                let text = format!("Close {tracker} task with the result");
                Item::new(StepKind::TaskClose, &text, Some("Closing task"))
            });
            items = open.into_iter().chain(items).chain(close).collect();
        }
        items
    }

    /// Returns a step with its slots filled.
    fn filled(&self, step: &Step) -> Option<Item> {
        let mut text = self
            .slots
            .fill(&step.name, self.tracker.unwrap_or("tracking"));
        // A list is present that lacks the skill.
        if let Some((name, true)) = &self.route.skill
            && step.kind == StepKind::Step
            && step.name.contains("{skill}")
        {
            let name = line(name, MAX_SLOT);
            text = format!("{text}; if {name} is not installed, tell the user and stop");
        }
        Item::new(step.kind, &text, step.active.as_deref())
    }

    /// Returns the work itself, with the commit where one belongs.
    fn work(&self, steps: &[Step]) -> Vec<Item> {
        let last_commit = steps.iter().rposition(|step| step.kind == StepKind::Commit);
        let mut items = Vec::new();
        for (position, step) in steps.iter().enumerate() {
            let item = match (step.kind, self.workflow.modifies) {
                (StepKind::Step | StepKind::Checkpoint, _) => self.filled(step),
                (StepKind::TaskOpen | StepKind::TaskClose, _)
                | (StepKind::Commit, Modifies::No) => None,
                (StepKind::Commit, Modifies::Maybe) => {
                    let text = "If files changed, commit and push";
                    Item::new(StepKind::Step, text, Some("Committing"))
                }
                (StepKind::Commit, Modifies::Yes) if last_commit == Some(position) => {
                    self.filled(step)
                }
                // The last one is the commit of the plan.
                (StepKind::Commit, Modifies::Yes) => self.filled(&Step {
                    kind: StepKind::Step,
                    ..step.clone()
                }),
            };
            items.extend(item);
        }
        if !items.iter().any(|item| item.kind == StepKind::Step) {
            let text = format!("Carry out: {}", self.slots.get("intent"));
            items.splice(0..0, Item::new(StepKind::Step, &text, Some("Working")));
        }
        items
    }

    /// Adds "it should …" as steps before the last CHECKPOINT, in the prompt's order.
    fn add_requirements(&self, items: &mut Vec<Item>) {
        let place = items
            .iter()
            .rposition(|item| item.kind == StepKind::Checkpoint)
            .unwrap_or(items.len());
        let found = requirements(self.question.prompt).into_iter();
        let found = found.filter_map(|text| Item::new(StepKind::Step, &capitalised(&text), None));
        items.splice(place..place, found.take(MAX_REQUIREMENTS));
    }

    /// Adds what the file lacks: a CHECKPOINT where files may change, and a commit behind it where they surely do.
    fn complete(&self, items: &mut Vec<Item>) {
        let modifies = self.workflow.modifies;
        if modifies == Modifies::Yes && !items.iter().any(|item| item.kind == StepKind::Commit) {
            items.extend(Item::new(
                StepKind::Commit,
                "Commit and push",
                Some("Committing"),
            ));
        }
        let commit = items.iter().position(|item| item.kind == StepKind::Commit);
        let is_checked =
            |items: &[Item]| items.iter().any(|item| item.kind == StepKind::Checkpoint);
        let place = commit.unwrap_or(items.len());
        let exempt = modifies == Modifies::No || self.workflow.id == DIRECT_SKILL;
        let text = if exempt || is_checked(items.get(..place).unwrap_or_default()) {
            return;
        } else if modifies == Modifies::Yes {
            let tests = self.slots.get("test_cmd");
            format!("Run {tests} and look at the result itself")
        } else {
            "Compare the result with what was asked, with evidence".to_owned()
        };
        items.splice(
            place..place,
            Item::new(StepKind::Checkpoint, &text, Some("Verifying")),
        );
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

/// Joins the two items of a kind that are shortest together: neighbours, or the first two CHECKPOINTs.
fn join(items: &mut Vec<Item>, kind: StepKind) -> bool {
    let places: Vec<usize> = (0..items.len())
        .filter(|place| items.get(*place).is_some_and(|item| item.kind == kind))
        .collect();
    let size = |place: usize| items.get(place).map_or(0, |item| length(&item.text));
    let pairs = places.windows(2).filter_map(|pair| match pair {
        [one, other] if kind == StepKind::Checkpoint || one + 1 == *other => Some((*one, *other)),
        _ => None,
    });
    let Some((one, other)) = pairs.min_by_key(|(one, other)| size(*one) + size(*other)) else {
        return false;
    };
    // A CHECKPOINT looks back: what two of them look at stands where the later one does.
    let first = items.remove(one);
    if let Some(second) = items.get_mut(other - 1) {
        second.text = joined(&first.text, &second.text);
        if kind == StepKind::Step {
            second.active = first.active;
        }
    }
    true
}

/// Returns two texts as one. Something of both stays, however long the first is.
fn joined(first: &str, second: &str) -> String {
    let room = MAX_TEXT - 2;
    let second = line(second, room.saturating_sub(length(first).min(MAX_TEXT / 2)));
    let first = line(first, room.saturating_sub(length(&second)));
    format!("{first}; {}", uncapitalised(&second))
}
