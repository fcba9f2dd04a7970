//! Routes that a prompt names outright, before any score.

use super::phrases::Phrase;
use super::{DIRECT_SKILL, FOLLOW_UP, PLAN_MODE, Question, SIMPLE_QUESTION, not_for, skill};
use crate::catalogue::{Modifies, Workflow};
use crate::cues::{Cue, Cues, is_remainder};
use crate::text::token::{Kind, Stop, Token};

/// What was decided before the scores.
pub(super) struct Forced {
    /// `None`: nothing can be decided.
    pub(super) workflow: Option<String>,
    pub(super) reason: String,
    pub(super) skill: Option<(String, bool)>,
    pub(super) refusal: bool,
}

impl Forced {
    fn new(workflow: Option<&str>, reason: impl Into<String>) -> Self {
        Self {
            workflow: workflow.map(str::to_owned),
            reason: reason.into(),
            skill: None,
            refusal: false,
        }
    }

    fn workflow(id: &str, reason: impl Into<String>) -> Option<Self> {
        Some(Self::new(Some(id), reason))
    }

    fn abstain(reason: &str) -> Option<Self> {
        Some(Self::new(None, reason))
    }
}

/// The first that holds: a workflow by name, pasted text alone, a plan first, a skill, an answer, too few words, a trigger.
pub(super) fn decide(
    question: &Question<'_>,
    cues: &Cues,
    veto: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<Forced> {
    let active = |id: &str| question.catalogue.get(id).is_some();
    // A change is never a question, and "do not change anything" holds for whatever was named.
    let mut allowed = |id: &str| {
        if id == SIMPLE_QUESTION && cues.has(Cue::Change) {
            veto.push(format!(
                "{id}: was asked for, but the prompt asks for a change"
            ));
            return false;
        }
        let workflow = question.catalogue.get(id);
        !(cues.has(Cue::NoChange)
            && workflow.is_some_and(|workflow| workflow.modifies == Modifies::Yes))
    };
    if let Some((id, text)) = explicit(question) {
        if !active(&id) {
            warnings.push(format!("workflow: no active workflow is called {id}"));
        } else if allowed(&id) {
            return Forced::workflow(&id, format!("explicit workflow: {text}"));
        }
    }
    if question.prompt.is_empty() {
        if question.prompt.error.is_some() && active("debugging") {
            return Forced::workflow("debugging", "pasted error alone");
        }
        return Forced::abstain("no main text");
    }
    if cues.has(Cue::PlanFirst) {
        return Forced::workflow(PLAN_MODE, "plan first");
    }
    if active(DIRECT_SKILL)
        && let Some(found) = by_skill(question, cues)
    {
        return Some(found);
    }
    let answers = [Cue::Refusal, Cue::Confirmation, Cue::Choice];
    if let Some(cue) = answers.into_iter().find(|cue| cues.has(*cue)) {
        if !question.session.has_turns() {
            return Forced::abstain("an answer without a question before it");
        }
        if active(FOLLOW_UP) {
            let found = Forced::workflow(FOLLOW_UP, format!("follow-up: {}", cue.name()));
            return found.map(|found| Forced {
                refusal: cue == Cue::Refusal,
                ..found
            });
        }
    }
    if !question.session.has_turns() {
        if cues.has(Cue::Vague) {
            return Forced::abstain("vague");
        }
    } else if active(FOLLOW_UP) && is_remainder(question.prompt, cues) {
        return Forced::workflow(FOLLOW_UP, "follow-up: short remainder");
    }
    let mut best: Option<(usize, &Workflow, &str)> = None;
    for workflow in &question.catalogue.workflows {
        let special = matches!(workflow.id.as_str(), DIRECT_SKILL | FOLLOW_UP);
        if let Some((length, trigger)) = strong(question, cues, workflow)
            && !special
            && best.is_none_or(|(found, ..)| length > found)
            && allowed(&workflow.id)
            && not_for(question.prompt, workflow).is_none()
        {
            best = Some((length, workflow, trigger));
        }
    }
    best.and_then(|(_, workflow, trigger)| {
        Forced::workflow(&workflow.id, format!("trigger: {trigger}"))
    })
}

/// A skill that the prompt names, or one of whose triggers it holds.
fn by_skill(question: &Question<'_>, cues: &Cues) -> Option<Forced> {
    let (name, reason) = match skill::named(question) {
        Some(name) => (name, "explicit skill".to_owned()),
        None => {
            let (name, trigger) = skill::triggered(question, cues)?;
            (name, format!("skill trigger: {trigger}"))
        }
    };
    let missing = skill::missing(question, &name);
    Forced::workflow(DIRECT_SKILL, reason).map(|found| Forced {
        skill: Some((name, missing)),
        ..found
    })
}

/// The longest trigger of a workflow that decides alone and is in the prompt, with its number of words.
///
/// In a question only a trigger that asks itself decides.
fn strong<'a>(
    question: &Question<'_>,
    cues: &Cues,
    workflow: &'a Workflow,
) -> Option<(usize, &'a str)> {
    let only_asks =
        cues.has(Cue::Interrogative) && !cues.has(Cue::Change) && workflow.id != SIMPLE_QUESTION;
    let mut best: Option<(usize, &str)> = None;
    for trigger in &workflow.triggers {
        let phrase = Phrase::read(trigger);
        let longer = best.is_none_or(|(length, _)| phrase.length() > length);
        if longer
            && phrase.strong()
            && (!only_asks || phrase.asks())
            && phrase.found(question.prompt).is_some()
        {
            best = Some((phrase.length(), trigger));
        }
    }
    best
}

/// `--workflow id`, "workflow: id", "use the id workflow": the id, and the words that say it.
fn explicit(question: &Question<'_>) -> Option<(String, String)> {
    if let Some(id) = question.workflow {
        return Some((id.to_owned(), "--workflow".to_owned()));
    }
    let tokens = &question.prompt.tokens;
    tokens.windows(2).enumerate().find_map(|(at, pair)| {
        let [one, two] = pair else { return None };
        let label = one.among("workflow") && one.stop == Stop::Colon || one.text == "--workflow";
        if label && let Some(id) = id(two) {
            return Some((id.clone(), format!("workflow: {id}")));
        }
        let before = tokens.get(at.saturating_sub(2)..at).unwrap_or_default();
        let used = before
            .iter()
            .any(|token| token.among("use run follow with via using take in through start apply"));
        let id = id(one).filter(|id| question.catalogue.get(id).is_some() || id.contains('-'))?;
        (two.among("workflow") && used).then(|| (id.clone(), format!("the {id} workflow")))
    })
}

/// A token as the id of a workflow.
fn id(token: &Token) -> Option<String> {
    let fits = token.kind != Kind::Number
        && token.word.len() <= 40
        && token
            .word
            .starts_with(|letter: char| letter.is_ascii_lowercase())
        && token
            .word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    fits.then(|| token.word.clone())
}
