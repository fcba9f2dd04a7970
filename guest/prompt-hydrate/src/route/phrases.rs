//! Trigger phrases of catalogue files and skills, found in a prompt.

use std::cell::LazyCell;

use crate::cues::{QUESTION_WORDS, skip_openers};
use crate::text::Prompt;
use crate::text::token::{self, Kind, Stop, Token};

/// Most words that `…` stands for.
const GAP: usize = 6;

/// A trigger phrase.
pub struct Phrase {
    /// Its words; `None` is `…`.
    words: Vec<Option<String>>,
    /// Whether it only counts at the start of a clause.
    anchored: bool,
}

impl Phrase {
    /// Reads a trigger as it is in a file.
    #[must_use]
    pub fn read(trigger: &str) -> Self {
        let anchored = trigger.trim_start().starts_with('^');
        let mut words = Vec::new();
        for word in trigger.trim().trim_start_matches('^').split_whitespace() {
            if matches!(word, "…" | "...") {
                words.push(None);
            } else {
                words.extend(
                    token::tokens(&word.replace('\u{2019}', "'"))
                        .into_iter()
                        .map(|token| Some(token.word)),
                );
            }
        }
        Self { words, anchored }
    }

    /// How many words it has, gaps not counted.
    #[must_use]
    pub fn length(&self) -> usize {
        self.words.iter().flatten().count()
    }

    /// Whether it decides alone: it has two words, or an anchor.
    #[must_use]
    pub fn strong(&self) -> bool {
        self.length() >= 2 || (self.anchored && self.length() == 1)
    }

    /// Whether it begins like a question.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.words
            .first()
            .and_then(Option::as_deref)
            .is_some_and(|word| token::listed(QUESTION_WORDS, word))
    }

    /// The place in the prompt's tokens where it begins. A quotation never matches.
    #[must_use]
    pub fn found(&self, prompt: &Prompt) -> Option<usize> {
        let tokens = &prompt.tokens;
        let first = self.words.first()?.as_deref();
        let mut start = 0;
        for clause in tokens.split_inclusive(|token| token.stop != Stop::None) {
            let within = start..start + clause.len();
            let opened = LazyCell::new(|| skip_openers(tokens, within.clone()));
            for (at, token) in within.clone().zip(clause) {
                if first.is_some_and(|word| word != token.word) {
                    continue;
                }
                let opens = !self.anchored || at == start || at == *opened;
                if opens && matches(&self.words, tokens.get(at..).unwrap_or_default()) {
                    return Some(at);
                }
            }
            start = within.end;
        }
        None
    }
}

/// Whether the tokens start with the words.
fn matches(words: &[Option<String>], tokens: &[Token]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return true;
    };
    match first {
        Some(word) => tokens.split_first().is_some_and(|(token, tail)| {
            token.kind != Kind::Quoted && token.word == *word && matches(rest, tail)
        }),
        None => (0..=GAP.min(tokens.len()))
            .any(|skipped| matches(rest, tokens.get(skipped..).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(trigger: &str, prompt: &str) -> bool {
        Phrase::read(trigger).found(&Prompt::read(prompt)).is_some()
    }

    #[test]
    fn a_gap_is_up_to_six_words_and_an_anchor_a_clause_start() {
        assert!(found(
            "why is … failing",
            "why is the nightly build failing"
        ));
        assert!(!found(
            "why is … failing",
            "why is one two three four five six seven failing"
        ));
        assert!(found("^cut the train", "please cut the train for 4.2"));
        assert!(!found("^cut the train", "we never cut the train"));
        assert!(found("can't figure out", "I can’t figure out why"));
        assert!(!found("what is this", "add a link \"what is this\""));
    }

    #[test]
    fn two_words_or_an_anchor_are_strong() {
        assert!(Phrase::read("cut the train").strong());
        assert!(Phrase::read("^prove").strong());
        assert!(!Phrase::read("migrate").strong());
    }
}
