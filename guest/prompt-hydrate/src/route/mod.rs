//! Which workflow a prompt takes (sections 14.3 to 14.5).
//!
//! First what the prompt says outright (`forced`), then the scores (`score`), each half by itself where there are two
//! intents. Ids come from the catalogue; the four names here are those of Q-92.

mod explain;
mod follow_up;
mod forced;
pub mod likeness;
pub mod model;
pub mod number;
pub mod phrases;
mod prefixes;
pub mod score;
mod skill;
pub mod thresholds;

pub use explain::{Candidate, Explanation, Fired, Stripped};

use self::forced::Forced;
use self::model::Model;
use self::number::two_places;
use self::prefixes::Prefixes;
use self::score::Scored;
use self::thresholds::Thresholds;
use crate::catalogue::{Catalogue, Modifies, Skill, Workflow};
use crate::session::Facts;
use crate::signals::{Signal, Signals, second_half};
use crate::text::Prompt;

/// The decision stages whose names are compiled in.
pub(crate) const PLAN_MODE: &str = "plan-mode";
pub(crate) const SIMPLE_QUESTION: &str = "simple-question";
pub(crate) const DIRECT_SKILL: &str = "direct-skill";
pub(crate) const FOLLOW_UP: &str = "interactive-followup";

/// What an abstention's confidence never passes.
const ABSTAINED_AT_MOST: f64 = 0.49;
/// How many others are named.
const ALTERNATIVES: usize = 3;

/// What a route is decided from.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The prompt, taken apart.
    pub prompt: &'a Prompt,
    /// What came before.
    pub session: &'a Facts,
    /// The active workflows.
    pub catalogue: &'a Catalogue,
    /// The request's list of skills (with those of the catalogue); `None` where there is no list.
    pub skills: Option<&'a [Skill]>,
    /// `--workflow`.
    pub workflow: Option<&'a str>,
    /// Only outside the hook `/name` is a skill.
    pub slash_is_skill: bool,
}

/// The decision.
#[derive(Debug, Clone)]
pub struct Route {
    /// Id of an active workflow.
    pub workflow: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Nothing was certain enough.
    pub abstained: bool,
    /// Up to three others with their totals, two places.
    pub alternatives: Vec<(String, f64)>,
    /// `direct-skill`: the name, and whether a list is present that lacks it.
    pub skill: Option<(String, bool)>,
    /// A refusal gives the one-item plan.
    pub refusal: bool,
    /// Several intents.
    pub second: Option<Second>,
    /// Of the whole prompt.
    pub signals: Signals,
    /// A workflow that was asked for by name and is not active.
    pub warnings: Vec<String>,
}

/// The other half of a prompt with two intents.
#[derive(Debug, Clone)]
pub struct Second {
    /// Its workflow; `None` when it alone would abstain, and becomes one item that names it.
    pub workflow: Option<String>,
    /// The half, taken apart.
    pub prompt: Prompt,
    /// Its signals.
    pub signals: Signals,
    /// Its steps come before those of the chosen workflow (first half a question, second half a change), not after.
    pub before: bool,
}

/// Decides (sections 14.3 to 14.5).
#[must_use]
pub fn decide(question: &Question<'_>) -> Route {
    explain(question).0
}

/// Decides, and says why.
#[must_use]
pub fn explain(question: &Question<'_>) -> (Route, Explanation) {
    let judge = Judge {
        model: model::embedded(),
        thresholds: Thresholds::embedded(),
    };
    explain_by(question, &judge)
}

/// What the scores rest on: the embedded model and thresholds, or others while these are being set.
pub struct Judge<'a> {
    /// Gives M.
    pub model: &'a Model,
    /// Weights and thresholds.
    pub thresholds: Thresholds,
}

/// As [`explain`], by another model or other thresholds.
#[must_use]
pub fn explain_by(question: &Question<'_>, judge: &Judge<'_>) -> (Route, Explanation) {
    let signals = Signals::read(question.prompt);
    let mut decided = whole(question, &signals, judge);
    let mut second = None;
    // A trigger decides for its own half only.
    if decided
        .forced
        .as_ref()
        .is_none_or(|reason| reason.starts_with(forced::TRIGGER))
        && signals.has(Signal::SecondIntent)
        && let Some(halves) = Halves::of(question)
    {
        (decided, second) = halves.join(question, &signals, decided, judge);
    }
    let explanation = decided.explanation(question, &signals, second.as_ref(), &judge.thresholds);
    let route = Route {
        workflow: explanation.workflow.clone(),
        confidence: explanation.confidence,
        abstained: explanation.abstained,
        alternatives: explanation.alternatives.clone(),
        skill: decided.skill,
        refusal: decided.refusal,
        second,
        signals,
        warnings: decided.warnings,
    };
    (route, explanation)
}

/// What was decided on one prompt or half.
struct Decided {
    /// `None`: abstained.
    workflow: Option<String>,
    confidence: f64,
    scored: Vec<Scored>,
    margin: f64,
    decision: &'static str,
    forced: Option<String>,
    veto: Vec<String>,
    skill: Option<(String, bool)>,
    refusal: bool,
    warnings: Vec<String>,
}

/// Decides on a prompt as if it had one intent.
fn whole(question: &Question<'_>, signals: &Signals, judge: &Judge<'_>) -> Decided {
    let mut veto = Vec::new();
    let candidates = candidates(question, signals, &mut veto);
    let scored = score::score(
        question.prompt,
        signals,
        &candidates,
        &question.catalogue.workflows,
        judge,
    );
    let verdict = score::decide(&scored, &judge.thresholds);
    let mut decided = Decided {
        workflow: None,
        confidence: 0.0,
        margin: verdict.margin,
        decision: verdict.decision,
        scored,
        forced: None,
        veto,
        skill: None,
        refusal: false,
        warnings: Vec::new(),
    };
    let best = verdict
        .best
        .and_then(|best| decided.scored.get(best))
        .map(|best| (best.workflow.clone(), best.total));
    let sure = |total| judge.thresholds.confidence(total);
    match forced::of(question, signals, &mut decided.veto, &mut decided.warnings) {
        Some(Forced::Workflow {
            id,
            reason,
            skill,
            refusal,
        }) => {
            decided.workflow = Some(id);
            decided.confidence = 1.0;
            decided.decision = "forced";
            decided.forced = Some(reason);
            decided.skill = skill;
            decided.refusal = refusal;
        }
        Some(Forced::Abstain { reason }) => {
            decided.confidence = best.map_or(0.0, |(_, total)| sure(total).min(ABSTAINED_AT_MOST));
            decided.decision = "abstain";
            decided.forced = Some(reason);
        }
        None => match best {
            Some((id, total)) if verdict.decision != "abstain" => {
                decided.workflow = Some(id);
                decided.confidence = sure(total);
            }
            Some((_, total)) => decided.confidence = sure(total).min(ABSTAINED_AT_MOST),
            None => {}
        },
    }
    decided
}

/// The workflows that scoring may choose; the others are named in `veto`.
fn candidates<'a>(
    question: &Question<'a>,
    signals: &Signals,
    veto: &mut Vec<String>,
) -> Vec<&'a Workflow> {
    let mut kept = Vec::new();
    let known = words_of(question.prompt);
    for workflow in &question.catalogue.workflows {
        match excluded(question, signals, workflow, &known) {
            Some(reason) => veto.push(format!("{}: {reason}", workflow.id)),
            None => kept.push(workflow),
        }
    }
    kept
}

/// Why a workflow cannot be chosen by its score.
fn excluded(
    question: &Question<'_>,
    signals: &Signals,
    workflow: &Workflow,
    known: &Prefixes,
) -> Option<String> {
    match workflow.id.as_str() {
        //
        SIMPLE_QUESTION if signals.mutating() => Some(format!(
            "asks for a change ({})",
            signals.mutating_words().unwrap_or_default()
        )),
        // An order that nobody understands is no question.
        SIMPLE_QUESTION
            if !signals.has(Signal::Interrogative) && !signals.has(Signal::InfoRequest) =>
        {
            Some("asks nothing".to_owned())
        }
        // no skill is named that neither the prompt nor the list names.
        DIRECT_SKILL => Some("names no skill".to_owned()),
        //
        FOLLOW_UP if !question.session.has_turns() => Some("no earlier turn".to_owned()),
        //
        _ if signals.has(Signal::NoChange) && workflow.modifies == Modifies::Yes => {
            Some("nothing may be changed".to_owned())
        }
        _ => {
            not_for(question.prompt, workflow, known).map(|phrase| format!("not for \"{phrase}\""))
        }
    }
}

/// What the words of a prompt start with.
fn words_of(prompt: &Prompt) -> Prefixes {
    Prefixes::of(prompt.tokens().map(|token| token.word.as_str()))
}

///
fn not_for<'a>(prompt: &Prompt, workflow: &'a Workflow, known: &Prefixes) -> Option<&'a str> {
    workflow
        .not_for
        .iter()
        .find(|phrase| {
            known.may_say(phrase) && phrases::Phrase::read(phrase).found(prompt).is_some()
        })
        .map(String::as_str)
}

/// The two halves of a prompt.
struct Halves {
    first: Prompt,
    second: Prompt,
    /// The second half's object is only a pronoun.
    pronoun: bool,
}

impl Halves {
    fn of(question: &Question<'_>) -> Option<Self> {
        let prompt = question.prompt;
        let at = second_half(prompt)?;
        let clause = prompt.clauses.get(at)?;
        let start = clause.tokens.first()?.start;
        let first = prompt
            .main
            .get(..start)?
            .trim_end()
            .trim_end_matches([',', ';', '-', '—'])
            .trim_end();
        let second = prompt.main.get(start..)?;
        let pronoun = clause
            .tokens
            .get(clause.reading.object)
            .is_some_and(|token| token.among(&["it", "that", "this", "them", "those", "these"]));
        let mut first = Prompt::read(first);
        let mut second = Prompt::read(second);
        // What was pasted belongs to both.
        for half in [&mut first, &mut second] {
            half.pasted.clone_from(&prompt.pasted);
            half.pasted_paths.clone_from(&prompt.pasted_paths);
        }
        first.error.clone_from(&prompt.error);
        Some(Self {
            first,
            second,
            pronoun,
        })
    }

    /// Routes both, and puts them together.
    fn join(
        self,
        question: &Question<'_>,
        signals: &Signals,
        whole_decided: Decided,
        judge: &Judge<'_>,
    ) -> (Decided, Option<Second>) {
        let first_signals = Signals::read(&self.first);
        let second_signals = Signals::read_later_half(&self.second);
        let first = whole(
            &Question {
                prompt: &self.first,
                ..*question
            },
            &first_signals,
            judge,
        );
        let second = whole(
            &Question {
                prompt: &self.second,
                ..*question
            },
            &second_signals,
            judge,
        );
        let Some(first_id) = first.workflow.clone() else {
            // The first half would abstain: the whole does, unless the whole is clear by itself.
            return (whole_decided, None);
        };
        let modifies = |id: &str| {
            question
                .catalogue
                .get(id)
                .map_or(Modifies::Maybe, |workflow| workflow.modifies)
        };
        let harmless = modifies(&first_id) == Modifies::No;
        if self.pronoun && !harmless
            || second.workflow.as_ref() == Some(&first_id)
            || second.workflow.as_deref() == Some(PLAN_MODE)
        {
            return (whole_decided, None);
        }
        let confidence = first.confidence.min(second.confidence);
        if harmless && second_signals.mutating() {
            // The change decides; what comes first is answered first.
            let Some(_) = second.workflow.clone() else {
                return (whole_decided, None);
            };
            let other = Second {
                workflow: Some(first_id),
                prompt: self.first,
                signals: first_signals,
                before: true,
            };
            return (
                Decided {
                    confidence,
                    veto: whole_decided.veto,
                    ..second
                },
                Some(other),
            );
        }
        // a question that only leads up to its order is that order, where the whole is clear.
        let more = whole_decided
            .workflow
            .as_deref()
            .is_some_and(|id| modifies(id) != Modifies::No);
        if first_id == SIMPLE_QUESTION && (signals.mutating() || more) {
            return (whole_decided, None);
        }
        let other = Second {
            workflow: second.workflow,
            prompt: self.second,
            signals: second_signals,
            before: false,
        };
        let confidence = if other.workflow.is_some() {
            confidence
        } else {
            first.confidence
        };
        (
            Decided {
                confidence,
                veto: whole_decided.veto,
                ..first
            },
            Some(other),
        )
    }
}

impl Decided {
    fn explanation(
        &self,
        question: &Question<'_>,
        signals: &Signals,
        second: Option<&Second>,
        thresholds: &Thresholds,
    ) -> Explanation {
        let abstained = self.workflow.is_none();
        let workflow = self
            .workflow
            .clone()
            .unwrap_or_else(|| PLAN_MODE.to_owned());
        let mut others: Vec<&Scored> = self
            .scored
            .iter()
            .filter(|scored| scored.workflow != workflow)
            .collect();
        // Stable: ties stay in decision order.
        others.sort_by(|one, other| other.total.total_cmp(&one.total));
        Explanation {
            main: question.prompt.main.clone(),
            stripped: question
                .prompt
                .pasted
                .iter()
                .map(|(kind, text)| Stripped {
                    kind,
                    text: text.clone(),
                })
                .collect(),
            signals: signals
                .iter()
                .map(|(signal, words)| Fired {
                    signal: signal.name(),
                    words: words.to_owned(),
                })
                .collect(),
            mutating: signals.mutating_words().map(str::to_owned),
            forced: self.forced.clone(),
            veto: self.veto.clone(),
            candidates: self
                .scored
                .iter()
                .map(|scored| Candidate {
                    workflow: scored.workflow.clone(),
                    r: scored.r,
                    b: scored.b,
                    m: scored.m,
                    total: scored.total,
                })
                .collect(),
            thresholds: thresholds.named(),
            margin: self.margin,
            decision: self.decision,
            workflow,
            confidence: two_places(self.confidence),
            abstained,
            alternatives: others
                .iter()
                .take(ALTERNATIVES)
                .map(|scored| (scored.workflow.clone(), two_places(scored.total)))
                .collect(),
            secondary: second.and_then(|second| second.workflow.clone()),
            skill: self.skill.as_ref().map(|(name, _)| name.clone()),
        }
    }
}
