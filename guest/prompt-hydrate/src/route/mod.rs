//! Which workflow a prompt takes.
//!
//! First what the prompt says outright (`forced`), then the scores: the model's probabilities, and likeness to their own
//! texts for workflows that the model was not trained with. Ids come from the catalogue; the four names here have a meaning
//! of their own.

mod explain;
pub mod features;
mod forced;
pub mod likeness;
pub mod model;
pub mod phrases;
mod skill;

pub use explain::{Candidate, Explanation, Fired, Stripped};

use self::likeness::Rarity;
use self::model::Model;
use crate::catalogue::{Catalogue, Modifies, Skill, Workflow};
use crate::cues::{Cue, Cues};
use crate::session::Facts;
use crate::text::Prompt;

/// The decision stages whose names are compiled in.
pub(crate) const PLAN_MODE: &str = "plan-mode";
pub(crate) const SIMPLE_QUESTION: &str = "simple-question";
pub(crate) const DIRECT_SKILL: &str = "direct-skill";
pub(crate) const FOLLOW_UP: &str = "interactive-followup";

/// The total, and the margin to the second, with which a workflow is taken; chosen by cross-validation.
const THRESHOLD: f64 = 0.30;
const MARGIN: f64 = 0.05;
/// What `simple-question` needs beyond that.
const QUESTION_EXTRA: f64 = 0.13;
/// The confidence of an abstention is never above this.
const ABSTAINED_AT_MOST: f64 = 0.49;
/// How many others are named.
const ALTERNATIVES: usize = 3;
/// How often a total is right, from cross-validation; straight lines between the points.
const CERTAIN: [(f64, f64); 10] = [
    (0.0, 0.0),
    (0.15, 0.23),
    (0.25, 0.41),
    (0.35, 0.57),
    (0.45, 0.69),
    (0.55, 0.78),
    (0.65, 0.885),
    (0.75, 0.935),
    (0.85, 0.975),
    (1.0, 1.0),
];

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
    /// Whether `/name` is a skill, as it is outside the hook.
    pub slash_is_skill: bool,
}

/// The decision.
#[derive(Debug, Clone)]
pub struct Route {
    /// Id of an active workflow.
    pub workflow: String,
    /// How often such a route is right, 0 to 1.
    pub confidence: f64,
    /// Whether nothing was certain enough.
    pub abstained: bool,
    /// Up to three others with their totals, two places.
    pub alternatives: Vec<(String, f64)>,
    /// `direct-skill`: the name, and whether a list is present that lacks it.
    pub skill: Option<(String, bool)>,
    /// Whether the prompt declines what was asked.
    pub refusal: bool,
    /// The cues of the prompt.
    pub cues: Cues,
    /// A workflow that was asked for by name and is not active.
    pub warnings: Vec<String>,
}

/// Decides.
#[must_use]
pub fn decide(question: &Question<'_>) -> Route {
    explain(question).0
}

/// Decides, and says why.
#[must_use]
pub fn explain(question: &Question<'_>) -> (Route, Explanation) {
    explain_by(question, model::embedded())
}

/// Decides by another model.
#[must_use]
pub fn explain_by(question: &Question<'_>, model: &Model) -> (Route, Explanation) {
    let cues = Cues::read(question.prompt);
    let mut why = Explanation {
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
        signals: cues
            .iter()
            .map(|(cue, words)| Fired {
                signal: cue.name(),
                words: words.to_owned(),
            })
            .collect(),
        mutating: cues.words(Cue::Change).map(str::to_owned),
        thresholds: vec![
            ("threshold", THRESHOLD),
            ("margin", MARGIN),
            ("question_extra", QUESTION_EXTRA),
        ],
        decision: "abstain",
        abstained: true,
        workflow: PLAN_MODE.to_owned(),
        ..Explanation::default()
    };
    why.candidates = candidates(question, &cues, model, &mut why.veto);
    let mut route = Route {
        workflow: PLAN_MODE.to_owned(),
        confidence: 0.0,
        abstained: true,
        alternatives: Vec::new(),
        skill: None,
        refusal: false,
        cues,
        warnings: Vec::new(),
    };
    let best = by_score(&mut why);
    let forced = forced::decide(question, &route.cues, &mut why.veto, &mut route.warnings);
    if let Some(forced) = forced {
        why.forced = Some(forced.reason);
        why.decision = if forced.workflow.is_some() {
            "forced"
        } else {
            "abstain"
        };
        route.skill = forced.skill;
        route.refusal = forced.refusal;
        route.workflow = forced.workflow.unwrap_or(route.workflow);
    } else if why.decision == "certain" {
        route.workflow.clone_from(&best.workflow);
    }
    route.abstained = why.decision == "abstain";
    route.confidence = two_places(match why.decision {
        "forced" => 1.0,
        "certain" => certainty(best.total),
        _ => certainty(best.total).min(ABSTAINED_AT_MOST),
    });
    let others = why.candidates.iter();
    let mut others: Vec<&Candidate> = others
        .filter(|one| one.workflow != route.workflow)
        .collect();
    // Stable: ties stay in decision order.
    others.sort_by(|one, other| other.total.total_cmp(&one.total));
    let others = others.iter().take(ALTERNATIVES);
    route.alternatives = others
        .map(|one| (one.workflow.clone(), two_places(one.total)))
        .collect();
    why.workflow.clone_from(&route.workflow);
    why.abstained = route.abstained;
    why.confidence = route.confidence;
    why.alternatives.clone_from(&route.alternatives);
    why.skill = route.skill.as_ref().map(|(name, _)| name.clone());
    (route, why)
}

/// The scores of the workflows that may be chosen by them; the others are named in `veto`.
fn candidates(
    question: &Question<'_>,
    cues: &Cues,
    model: &Model,
    veto: &mut Vec<String>,
) -> Vec<Candidate> {
    let mut kept: Vec<&Workflow> = Vec::new();
    for workflow in &question.catalogue.workflows {
        match excluded(question, cues, workflow) {
            Some(reason) => veto.push(format!("{}: {reason}", workflow.id)),
            None => kept.push(workflow),
        }
    }
    let features = features::of_prompt(question.prompt, cues);
    // A class whose file was removed keeps its share; one that is excluded leaves it to the others.
    let probabilities = model.probabilities(&features, |class| {
        question.catalogue.get(class).is_some() && !kept.iter().any(|workflow| workflow.id == class)
            || class == FOLLOW_UP && !question.session.has_turns()
    });
    let catalogue = question.catalogue;
    // Only a catalogue with other workflows than the model's needs it.
    let rarity = || catalogue.rarity.get_or_init(|| Rarity::new(catalogue));
    let mut all = 1.0;
    let mut candidates: Vec<Candidate> = Vec::new();
    for workflow in kept {
        let class = model.classes.iter().position(|class| *class == workflow.id);
        let probability = class.and_then(|class| probabilities.get(class)).copied();
        let likeness = probability
            .is_none()
            .then(|| rarity().likeness(&question.prompt.tokens, workflow));
        let odds = likeness.map(likeness::odds);
        all += odds.unwrap_or_default();
        candidates.push(Candidate {
            workflow: workflow.id.clone(),
            model: probability,
            likeness,
            total: probability.or(odds).unwrap_or_default(),
        });
    }
    for candidate in &mut candidates {
        candidate.total /= all;
    }
    candidates
}

/// Why a workflow cannot be chosen by its score.
pub(crate) fn excluded(
    question: &Question<'_>,
    cues: &Cues,
    workflow: &Workflow,
) -> Option<String> {
    match workflow.id.as_str() {
        SIMPLE_QUESTION if cues.has(Cue::Change) => Some(format!(
            "asks for a change ({})",
            cues.words(Cue::Change).unwrap_or_default()
        )),
        // No skill is named that neither the prompt nor the list names.
        DIRECT_SKILL => Some("names no skill".to_owned()),
        FOLLOW_UP if !question.session.has_turns() => Some("no earlier turn".to_owned()),
        _ if cues.has(Cue::NoChange) && workflow.modifies == Modifies::Yes => {
            Some("nothing may be changed".to_owned())
        }
        // "make sure it never …" says how something is to be built.
        _ if cues.has(Cue::CorrectiveConstraint) && workflow.modifies != Modifies::Yes => {
            Some(format!(
                "asks for a change ({})",
                cues.words(Cue::CorrectiveConstraint).unwrap_or_default()
            ))
        }
        _ => not_for(question.prompt, workflow).map(|phrase| format!("not for \"{phrase}\"")),
    }
}

/// The phrase of the prompt that a workflow says it is not for.
fn not_for<'a>(prompt: &Prompt, workflow: &'a Workflow) -> Option<&'a str> {
    let mut phrases = workflow.not_for.iter();
    phrases
        .find(|phrase| phrases::Phrase::read(phrase).found(prompt).is_some())
        .map(String::as_str)
}

/// The best candidate; says in `why` whether it is certain enough. Ties go to the earlier one.
fn by_score(why: &mut Explanation) -> Candidate {
    let none = Candidate {
        workflow: PLAN_MODE.to_owned(),
        model: None,
        likeness: None,
        total: 0.0,
    };
    let mut best = &none;
    let mut second = 0.0;
    for candidate in &why.candidates {
        if candidate.total > best.total {
            second = best.total;
            best = candidate;
        } else if candidate.total > second {
            second = candidate.total;
        }
    }
    let best = best.clone();
    why.margin = best.total - second;
    let extra = if best.workflow == SIMPLE_QUESTION {
        QUESTION_EXTRA
    } else {
        0.0
    };
    if best.total >= THRESHOLD + extra && why.margin >= MARGIN {
        why.decision = "certain";
    }
    best
}

/// How often a total is right.
fn certainty(total: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for point in CERTAIN {
        if point.0 > before.0 && total <= point.0 {
            let part = (total - before.0) / (point.0 - before.0);
            return before.1 + part * (point.1 - before.1);
        }
        before = point;
    }
    before.1
}

fn two_places(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
