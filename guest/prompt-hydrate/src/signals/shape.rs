//! Signals of the group *shape*: constraints, requirements, a second intent, a plan before changes.

use super::speech::{Act, corrective};
use super::{Signal, Signals, phrase, words};
use crate::text::lemma::Classes;
use crate::text::lexicon::function_words::{PRONOUNS, STOP_WORDS};
use crate::text::lexicon::phrases;
use crate::text::lexicon::within;
use crate::text::token::{Kind, Token};
use crate::text::{Clause, Prompt};

phrases! {
    NO_CHANGES =
    "|do not edit|do not change anything|do not change any|do not change the code|do not modify\
     |do not touch anything|do not touch the code|do not touch any|do not write any code|do not write code\
     |do not fix anything|do not fix it|do not fix them|do not make any changes|do not make changes\
     |do not alter|do not commit|do not implement|no changes|no edits|no code changes\
     |without changing anything|without changing any|without changing the code|without editing\
     |without touching anything|without touching the code|without modifying|without making changes\
     |without making any changes|just look|only look|just looking|read only please|read-only please|hands off\
     |leave everything as it is|leave the code|leave the code alone|change nothing|edit nothing|touch nothing\
     |nothing should be changed|nothing changes|nothing may change|not change anything|not touching anything\
     |no fixes|do not apply|never edit|no fixing|no writes|keep your hands off"
}

phrases! {
    PLANS =
    "|plan first|plan mode|plan-mode|planning mode|plan before|plan only|only a plan|just a plan|just plan\
     |only plan|first a plan|first plan|plan it first|plan this first|plan that first|plan it out first\
     |plan this out first|start with a plan|start by planning|begin with a plan|see a plan|see the plan\
     |see your plan|approve the plan|approve a plan|approve your plan|approve it before|approve before\
     |approved plan|sign off|wait for my approval|wait for my ok|wait for my go|wait for approval\
     |wait until i approve|my approval before|until i approve|until i say|until i agree|until i have approved\
     |until i have seen|until i have read|until i ok|until i sign|before i approve|for my approval\
     |for approval|do not code yet|do not implement yet|do not start yet|do not write code yet\
     |do not start coding|do not start implementing|do not touch anything yet|do not touch code yet\
     |do not touch any code yet|do not change anything yet|do not edit anything yet|no code yet|no coding yet\
     |not code yet|nothing yet|before you start coding|before you write any code|before you code\
     |before you implement|before you touch|before you change|before you edit|before you begin|propose a plan\
     |draft a plan|outline a plan|outline your approach|outline your plan|outline the plan|show me a plan\
     |show me the plan|show me your plan|give me a plan|give me the plan|give me your plan|make a plan\
     |write a plan|write me a plan|write up a plan|present a plan|lay out a plan|sketch a plan\
     |come up with a plan|put together a plan|prepare a plan|plan of attack|your approach before\
     |your plan before|the plan before|a plan before|plan for approval|implementation plan|step-by-step plan\
     |action plan|the steps before|your steps before|what you would change before|what you will do before\
     |what you would do before|what you intend to do before|how you would go about it before|run it by me\
     |run it past me|run the plan by me|check with me before|ask me before|ask before you\
     |confirm with me before"
}

phrases! {
    /// Work that belongs to any change: no second intent by itself.
    ATTENDANT =
    "|commit|push|rerun|test|verify|check|confirm|ensure|document|report|release|note|mention|say|let|keep\
     |leave|make|use|remember|try|see|look|thank|help|run|merge|submit|be|go|do|start|put|open|stop|format\
     |lint|get|take|send"
}

pub(super) fn read(prompt: &Prompt, signals: &mut Signals) {
    let all = words(prompt);
    for clause in &prompt.clauses {
        if let Some(found) = constraint(clause) {
            signals.add(Signal::CorrectiveConstraint, found);
        }
        if clause.reading.requirement {
            signals.add(
                Signal::RequirementClause,
                clause.text.chars().take(40).collect::<String>(),
            );
        }
    }
    if let Some(found) = prompt.requirements.first() {
        signals.add(Signal::RequirementClause, found.clone());
    }
    if let Some(second) = second_half(prompt)
        && let Some(clause) = prompt.clauses.get(second)
    {
        signals.add(
            Signal::SecondIntent,
            clause.text.chars().take(60).collect::<String>(),
        );
    }
    if let Some(found) = no_change(&all) {
        signals.add(Signal::NoChange, found);
    }
    let aim = signals.has(Signal::GoalNoun)
        || signals.has(Signal::LongHorizon)
        || signals.has(Signal::UnknownPath);
    let design = prompt
        .main_clause()
        .is_some_and(|clause| clause.reading.classes.any(Classes::DESIGN));
    if let Some(found) = phrase(&all, PLANS) {
        let strict = [
            "first", "mode", "before", "approv", "yet", "until", "sign", "only", "just", "run it",
            "run the", "start", "begin", "wait",
        ]
        .iter()
        .any(|mark| found.contains(mark));
        // "design it, no code yet" wants the design, not a plan of the work.
        let on_paper = design && !found.contains("plan") && !found.contains("approv");
        if (strict || !aim) && !on_paper {
            signals.add(Signal::PlanFirst, found);
        }
    } else if all.contains(" plan ")
        && phrase(
            &all,
            &[
                "before touching",
                "before changing",
                "before writing",
                "before coding",
                "before editing",
                "before making",
                "before implementing",
                "before any",
                "before anything",
                "before doing",
                "before starting",
                "before you",
            ],
        )
        .is_some()
    {
        signals.add(Signal::PlanFirst, "plan before");
    }
    let content = content_words(prompt);
    if content < 2 && prompt.error.is_none() {
        signals.add(
            Signal::Vague,
            prompt.main.chars().take(40).collect::<String>(),
        );
    }
    if !prompt.main.chars().any(char::is_alphanumeric) && !prompt.pasted.is_empty() {
        signals.add(
            Signal::PasteOnly,
            prompt.pasted.first().map_or("", |(kind, _)| *kind),
        );
    }
}

/// "do not touch anything", but not "do not touch anything else".
fn no_change<'a>(all: &str) -> Option<&'a str> {
    NO_CHANGES.iter().copied().find(|phrase| {
        super::says(all, phrase).is_some_and(|behind| {
            !behind.split_whitespace().take(3).any(|word| {
                matches!(
                    word,
                    "else"
                        | "other"
                        | "beyond"
                        | "apart"
                        | "except"
                        | "more"
                        | "outside"
                        | "besides"
                )
            })
        })
    })
}

/// How many words have content of their own.
#[must_use]
pub(super) fn content_words(prompt: &Prompt) -> usize {
    prompt
        .tokens()
        .filter(|token| match token.kind {
            Kind::Word => !within(STOP_WORDS, &token.word) && !token.word.is_empty(),
            kind => kind != Kind::Number,
        })
        .count()
}

/// "make sure it never …", "it must not …", "don't log passwords".
fn constraint(clause: &Clause) -> Option<String> {
    let reading = clause.reading;
    let verb = reading.verb.and_then(|place| clause.tokens.get(place));
    let ensures = verb.is_some_and(|token| {
        token.among(&[
            "make",
            "ensure",
            "be",
            "guarantee",
            "see",
            "verify",
            "check",
        ])
    });
    if reading.directs() && ensures && corrective(&clause.tokens, reading.object) {
        return Some(clause.text.chars().take(60).collect());
    }
    let never = reading.directs()
        && !reading.negated
        && clause
            .tokens
            .iter()
            .take(3)
            .any(|token| token.among(&["never", "stop", "prevent", "avoid"]))
        || reading.act == Act::Order
            && !reading.negated
            && clause.tokens.first().is_some_and(|token| token.is("do"))
            && clause.tokens.get(1).is_some_and(|token| token.is("not"));
    if never || reading.requirement && corrective(&clause.tokens, 0) {
        return Some(clause.text.chars().take(60).collect());
    }
    None
}

/// Where the second intent of a prompt starts: a later clause with an own verb and an own object.
#[must_use]
pub fn second_half(prompt: &Prompt) -> Option<usize> {
    let main = prompt.main_clause?;
    let first = prompt.main_clause()?;
    if !first.reading.wants() {
        return None;
    }
    prompt
        .clauses
        .iter()
        .enumerate()
        .skip(main + 1)
        .find(|(_, clause)| intent_of_its_own(first, clause))
        .map(|(place, _)| place)
}

fn intent_of_its_own(first: &Clause, clause: &Clause) -> bool {
    let reading = clause.reading;
    if reading.negated || reading.requirement || reading.background || reading.unknown {
        return false;
    }
    let verb = reading
        .verb
        .and_then(|place| clause.tokens.get(place))
        .and_then(|token| token.verb);
    let pronoun = clause
        .tokens
        .get(reading.object)
        .is_some_and(|token| token.within(PRONOUNS) && !token.among(&["me", "us"]));
    // A constraint on *it* says how what was named first has to be, in the same request.
    if pronoun && constraint(clause).is_some() {
        return false;
    }
    match reading.act {
        Act::Question => {
            first.reading.directs() && !reading.decision && clause.tokens.len() > 2
                || reading.decision && first.reading.directs()
        }
        Act::Order | Act::Polite if reading.info => {
            first.reading.directs()
                && clause.tokens.len() > 2
                && clause.tokens.iter().skip(reading.object).any(content)
        }
        Act::Order | Act::Polite => {
            let base = verb.map_or("", |verb| verb.base);
            if reading.classes.is_none() {
                return false;
            }
            if pronoun {
                // Enough only behind a half that changes nothing; the route decides that.
                return reading.classes.any(Classes::CHANGE)
                    && !first.reading.classes.any(Classes::CHANGE)
                    && !matches!(base, "commit" | "push" | "run");
            }
            let attendant = ATTENDANT.contains(&base)
                || reading.classes.any(Classes::TEST.with(Classes::VERIFY))
                    && first.reading.classes.any(Classes::CHANGE);
            let docs = clause.tokens.iter().any(|token| {
                token.among(&[
                    "changelog",
                    "docs",
                    "readme",
                    "documentation",
                    "tests",
                    "test",
                ])
            }) && first.reading.classes.any(Classes::CHANGE);
            !attendant && !docs && clause.tokens.iter().skip(reading.object).any(content)
        }
        _ => false,
    }
}

fn content(token: &Token) -> bool {
    token.kind != Kind::Word || !within(STOP_WORDS, &token.word)
}
