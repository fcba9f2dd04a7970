//! Prompts that carry on what the session is doing.

use super::Question;
use crate::signals::speech::Act;
use crate::signals::{Signal, Signals};
use crate::text::lexicon::function_words::{PRONOUNS, STOP_WORDS};
use crate::text::lexicon::within;
use crate::text::token::{Kind, Token};
use crate::text::{Clause, Prompt};

/// Most words of a short remainder, and below how many a continuation stays.
const SHORT: usize = 6;
const LONG: usize = 30;

/// How a prompt follows up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowUp {
    Confirmation,
    Refusal,
    Remainder,
    Continuation,
}

impl FollowUp {
    /// For `route --explain`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Confirmation => "follow-up: confirmation",
            Self::Refusal => "follow-up: refusal",
            Self::Remainder => "follow-up: short remainder",
            Self::Continuation => "follow-up: continuation",
        }
    }
}

/// Q-131, for a session with earlier turns.
#[must_use]
pub(super) fn of(question: &Question<'_>, signals: &Signals) -> Option<FollowUp> {
    let prompt = question.prompt;
    let words = prompt
        .tokens()
        .filter(|token| !token.text.is_empty())
        .count();
    if words == 0 || signals.has(Signal::PlanFirst) {
        return None;
    }
    if signals.has(Signal::Refusal) && words <= SHORT {
        return Some(FollowUp::Refusal);
    }
    if (signals.has(Signal::Confirmation) || signals.has(Signal::Choice)) && words <= SHORT {
        return Some(FollowUp::Confirmation);
    }
    let asks = prompt
        .tokens()
        .last()
        .is_some_and(|token| token.stop == crate::text::token::Stop::Question)
        || prompt
            .main_clause()
            .is_some_and(|clause| clause.reading.act == Act::Question);
    let own = prompt.clauses.iter().any(own_object);
    if words <= SHORT && !asks && !own {
        return Some(FollowUp::Remainder);
    }
    let mark = signals.has(Signal::Continuation)
        || signals.has(Signal::Choice)
        || signals.has(Signal::Anaphora)
        || chosen(prompt);
    let pure_question = prompt
        .clauses
        .iter()
        .all(|clause| clause.reading.act == Act::Question || clause.reading.info);
    if words < LONG
        && mark
        && !pure_question
        && !new_object(prompt)
        && prompt.pasted.iter().all(|(kind, _)| *kind == "greeting")
    {
        return Some(FollowUp::Continuation);
    }
    None
}

/// "the second option, but …", "both, please", "option 2 with …".
fn chosen(prompt: &Prompt) -> bool {
    let words: Vec<&str> = prompt
        .tokens()
        .take(4)
        .map(|token| token.word.as_str())
        .collect();
    words.iter().any(|word| {
        matches!(
            *word,
            "option" | "first" | "second" | "third" | "latter" | "former" | "both" | "neither"
        )
    }) && !words
        .iter()
        .any(|word| matches!(*word, "add" | "create" | "make"))
}

/// A clause with a verb of doing and an object that is no pronoun.
fn own_object(clause: &Clause) -> bool {
    let reading = clause.reading;
    reading.wants() && reading.verb.is_some() && nouns(clause, reading.object)
}

/// Whether some clause has a complete object that nothing ties to the session.
fn new_object(prompt: &Prompt) -> bool {
    prompt
        .clauses
        .iter()
        .any(|clause| own_object(clause) && !tied(clause))
}

/// "rename it", "the same for x", "put that in the header": the object hangs on what was said before.
fn tied(clause: &Clause) -> bool {
    clause.tokens.iter().any(|token| {
        token.among(&[
            "it",
            "its",
            "that",
            "those",
            "them",
            "these",
            "same",
            "this",
            "one",
            "instead",
            "too",
            "again",
            "rest",
            "other",
            "others",
            "previous",
            "before",
            "as",
            "also",
            "back",
            "another",
            "remaining",
        ])
    })
}

/// Whether a noun stands in a clause from one token on, beside its verb.
fn nouns(clause: &Clause, from: usize) -> bool {
    clause
        .tokens
        .iter()
        .enumerate()
        .skip(from)
        .any(|(at, token)| {
            // "the retry": behind an article every word of content is one.
            let named = at > 0
                && !within(STOP_WORDS, &token.word)
                && clause.tokens.get(at - 1).is_some_and(|before| {
                    before.among(&["the", "a", "an", "my", "our", "your", "every", "each"])
                });
            Some(at) != clause.reading.verb && (named || noun(token))
        })
}

fn noun(token: &Token) -> bool {
    token.kind != Kind::Word
        || !(within(STOP_WORDS, &token.word)
            || within(PRONOUNS, &token.word)
            || token.verb.is_some_and(|verb| !verb.noun)
            || token.word.ends_with("ly")
            || matches!(
                token.word.as_str(),
                "please" | "again" | "instead" | "too" | "rather" | "better" | "back"
            ))
}

/// without a session a bare answer or an order whose object is only a pronoun says nothing.
#[must_use]
pub(super) fn hangs_in_the_air(prompt: &Prompt, signals: &Signals) -> bool {
    if signals.has(Signal::Confirmation)
        || signals.has(Signal::Refusal)
        || signals.has(Signal::Choice)
    {
        return true;
    }
    let nouns = prompt.clauses.iter().any(|clause| nouns(clause, 0));
    !nouns
        && prompt.error.is_none()
        && prompt
            .main_clause()
            .is_some_and(|clause| clause.reading.act != Act::Question && !clause.reading.info)
}
