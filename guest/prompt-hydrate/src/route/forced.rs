//! Routes that a prompt names outright, before any score (section 14.3).

use super::follow_up::FollowUp;
use super::phrases::Phrase;
use super::{
    DIRECT_SKILL, FOLLOW_UP, PLAN_MODE, Question, SIMPLE_QUESTION, follow_up, not_for, skill,
};
use crate::catalogue::{Modifies, Workflow};
use crate::signals::speech::Act;
use crate::signals::{Signal, Signals};
use crate::text::token::{Kind, Stop, Token};

/// How the reason of Q-133 starts.
pub(super) const TRIGGER: &str = "trigger:";

/// What was decided before scoring.
pub(super) enum Forced {
    Workflow {
        id: String,
        reason: String,
        skill: Option<(String, bool)>,
        refusal: bool,
    },
    Abstain {
        reason: String,
    },
}

impl Forced {
    fn workflow(id: &str, reason: impl Into<String>) -> Self {
        Self::Workflow {
            id: id.to_owned(),
            reason: reason.into(),
            skill: None,
            refusal: false,
        }
    }
}

/// In the order of the rows.
pub(super) fn of(
    question: &Question<'_>,
    signals: &Signals,
    veto: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<Forced> {
    let active = |id: &str| question.catalogue.get(id).is_some();
    let mut allowed = |id: &str| {
        // Q-142 holds for every stage, Q-143 for those that change files.
        if id == SIMPLE_QUESTION && signals.mutating() {
            veto.push(format!(
                "{id}: was asked for, but the prompt asks for a change"
            ));
            return false;
        }
        let changes = question
            .catalogue
            .get(id)
            .is_some_and(|workflow| workflow.modifies == Modifies::Yes);
        !(signals.has(Signal::NoChange) && changes)
    };
    //
    if let Some((id, text)) = explicit(question) {
        if !active(&id) {
            warnings.push(format!("workflow: no active workflow is called {id}"));
        } else if allowed(&id) {
            return Some(Forced::workflow(&id, format!("explicit workflow: {text}")));
        }
    }
    // pasted text alone.
    if question
        .prompt
        .main
        .chars()
        .all(|letter| !letter.is_alphanumeric())
    {
        if signals.has(Signal::PasteOnly) && question.prompt.error.is_some() && active("debugging")
        {
            return Some(Forced::workflow("debugging", "pasted error alone"));
        }
        return Some(Forced::Abstain {
            reason: "no main text".to_owned(),
        });
    }
    //
    if signals.has(Signal::PlanFirst) {
        return Some(Forced::workflow(PLAN_MODE, "plan first"));
    }
    if active(DIRECT_SKILL) {
        //
        if let Some(name) = skill::named(question) {
            let missing = skill::missing(question, &name);
            return Some(delegated(name, missing, "explicit skill".to_owned()));
        }
        //
        if let Some((name, trigger)) = skill::triggered(question) {
            return Some(delegated(name, false, format!("skill trigger: {trigger}")));
        }
    }
    //
    if question.session.has_turns() {
        if active(FOLLOW_UP)
            && let Some(found) = follow_up::of(question, signals)
        {
            return Some(Forced::Workflow {
                id: FOLLOW_UP.to_owned(),
                reason: found.name().to_owned(),
                skill: None,
                refusal: found == FollowUp::Refusal,
            });
        }
    } else if follow_up::hangs_in_the_air(question.prompt, signals) {
        return Some(Forced::Abstain {
            reason: "an answer without a question before it".to_owned(),
        });
    }
    let asks = signals.has(Signal::InfoRequest) || signals.has(Signal::Interrogative);
    if signals.has(Signal::Vague)
        && !(asks && question.prompt.object.is_some())
        && !question.session.has_turns()
    {
        return Some(Forced::Abstain {
            reason: "vague".to_owned(),
        });
    }
    //
    let mut best: Option<(usize, &Workflow, &str)> = None;
    let known = super::words_of(question.prompt);
    for workflow in &question.catalogue.workflows {
        if matches!(workflow.id.as_str(), DIRECT_SKILL | FOLLOW_UP)
            || !allowed(&workflow.id)
            || not_for(question.prompt, workflow, &known).is_some()
        {
            continue;
        }
        if let Some((length, trigger)) = strong(question, workflow, &known)
            && best.is_none_or(|(found, ..)| length > found)
        {
            best = Some((length, workflow, trigger));
        }
    }
    best.map(|(_, workflow, trigger)| {
        Forced::workflow(&workflow.id, format!("{TRIGGER} {trigger}"))
    })
}

fn delegated(name: String, missing: bool, reason: String) -> Forced {
    Forced::Workflow {
        id: DIRECT_SKILL.to_owned(),
        reason,
        skill: Some((name, missing)),
        refusal: false,
    }
}

/// The longest strong trigger of a workflow that stands in the prompt, with its number of words.
fn strong<'a>(
    question: &Question<'_>,
    workflow: &'a Workflow,
    known: &super::Prefixes,
) -> Option<(usize, &'a str)> {
    let prompt = question.prompt;
    let mut best: Option<(usize, &str)> = None;
    for trigger in workflow
        .triggers
        .iter()
        .filter(|trigger| known.may_say(trigger))
    {
        let phrase = Phrase::read(trigger);
        if !phrase.strong() || best.is_some_and(|(length, _)| length >= phrase.length()) {
            continue;
        }
        let Some(clause) = phrase.found(prompt).and_then(|at| prompt.clauses.get(at)) else {
            continue;
        };
        let pure_question = clause.reading.act == Act::Question
            || clause.reading.info && clause.reading.act != Act::Wish;
        // "answer the email": what is asked to be told is the very thing that the trigger orders.
        let own_order = clause.reading.act == Act::Order
            && clause
                .reading
                .verb
                .and_then(|place| clause.tokens.get(place))
                .is_some_and(|verb| phrase.starts_with(&verb.word));
        if !pure_question || own_order || phrase.asks() || workflow.id == SIMPLE_QUESTION {
            best = Some((phrase.length(), trigger));
        }
    }
    best
}

/// `--workflow id`, "workflow: id", "use the id workflow".
fn explicit(question: &Question<'_>) -> Option<(String, String)> {
    if let Some(id) = question.workflow {
        return Some((id.to_owned(), "--workflow".to_owned()));
    }
    let tokens: Vec<&Token> = question.prompt.tokens().collect();
    let id = |token: &Token| {
        let word = token.word.trim_matches('`');
        let fits = token.kind != Kind::Number
            && word.len() <= 40
            && word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.chars().all(|letter| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
            });
        fits.then(|| word.to_owned())
    };
    for (at, pair) in tokens.windows(2).enumerate() {
        let [one, two] = pair else { continue };
        if (one.is("workflow") && one.stop == Stop::Colon || one.text == "--workflow")
            && let Some(id) = id(two)
        {
            return Some((id.clone(), format!("workflow: {id}")));
        }
        let before = tokens.get(at.saturating_sub(2)..at).unwrap_or_default();
        let used = before.iter().any(|token| {
            token.among(&[
                "use", "run", "follow", "with", "via", "using", "take", "in", "through", "start",
                "apply",
            ])
        });
        if two.is("workflow")
            && used
            && let Some(id) = id(one)
            && (question.catalogue.get(&id).is_some() || id.contains('-'))
        {
            return Some((id.clone(), format!("the {id} workflow")));
        }
    }
    None
}
