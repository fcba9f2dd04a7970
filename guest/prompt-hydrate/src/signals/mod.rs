//! What kind of request a prompt is: the fixed vocabulary of Q-122, found by grammar and word classes.
//!
//! [`speech`] reads each clause, [`order`] what a verb asks for; the modules below turn readings into signals, one module
//! for each group. Nothing here knows a workflow.

mod change;
mod fault;
#[cfg(test)]
mod given;
pub mod order;
mod phrasal;
mod scope;
mod shape;
pub mod speech;
mod talk;
mod vocabulary;

pub use shape::second_half;
pub use vocabulary::Signal;

use crate::text::Prompt;
use crate::text::token::{Kind, Token};

/// The signals that hold, each with the words that caused it, and whether the prompt asks for a change.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    found: Vec<(Signal, String)>,
    mutating: Option<String>,
}

impl Signals {
    /// Of a prompt.
    #[must_use]
    pub fn read(prompt: &Prompt) -> Self {
        let mut signals = Self::default();
        talk::speech_acts(prompt, &mut signals);
        talk::verbs(prompt, &mut signals);
        fault::read(prompt, &mut signals);
        scope::read(prompt, &mut signals);
        shape::read(prompt, &mut signals);
        talk::session(prompt, &mut signals);
        signals.mutating = change::mutating(prompt);
        signals.found.sort_by_key(|(signal, _)| *signal);
        signals
    }

    /// Whether it holds.
    #[must_use]
    pub fn has(&self, signal: Signal) -> bool {
        self.found.iter().any(|(found, _)| *found == signal)
    }

    ///
    #[must_use]
    pub fn mutating(&self) -> bool {
        self.mutating.is_some()
    }

    /// The words that make it mutating.
    #[must_use]
    pub fn mutating_words(&self) -> Option<&str> {
        self.mutating.as_deref()
    }

    /// Each signal once, in the order of [`Signal::ALL`], with the words that caused it.
    pub fn iter(&self) -> impl Iterator<Item = (Signal, &str)> {
        self.found
            .iter()
            .map(|(signal, words)| (*signal, words.as_str()))
    }

    /// Of the later half of a prompt, whose pronouns mean what the earlier half named.
    #[must_use]
    pub fn read_later_half(half: &Prompt) -> Self {
        let mut signals = Self::read(half);
        signals
            .found
            .retain(|(signal, _)| !matches!(signal, Signal::Anaphora | Signal::Continuation));
        signals
    }

    /// Notes that a signal holds; the first words stay.
    fn add(&mut self, signal: Signal, words: impl Into<String>) {
        if !self.has(signal) {
            self.found.push((signal, words.into()));
        }
    }
}

/// The first of the phrases that the words say.
fn phrase<'a>(words: &str, phrases: &[&'a str]) -> Option<&'a str> {
    phrases
        .iter()
        .copied()
        .find(|phrase| says(words, phrase).is_some())
}

/// What stands behind a phrase that the words say.
fn says<'a>(words: &'a str, phrase: &str) -> Option<&'a str> {
    words.match_indices(phrase).find_map(|(at, _)| {
        let before = words.get(..at).is_some_and(|head| head.ends_with(' '));
        words
            .get(at + phrase.len()..)
            .filter(|tail| before && tail.starts_with(' '))
    })
}

/// All words of the main text in one spelling, a blank around each; quotations are no words.
fn words(prompt: &Prompt) -> String {
    joined(prompt.tokens())
}

fn joined<'a>(tokens: impl Iterator<Item = &'a Token>) -> String {
    let mut words = String::from(" ");
    for token in tokens {
        words.push_str(if token.kind == Kind::Word {
            &token.word
        } else {
            "\u{0}"
        });
        words.push(' ');
    }
    words
}
