//! Trigger phrases of catalogue files and skills, found in a prompt.

use crate::text::Prompt;
use crate::text::clause::skip_openers;
use crate::text::spelling;
use crate::text::token::{Kind, Token};

/// Most words that `…` stands for.
const GAP: usize = 6;

/// A trigger taken apart.
pub struct Phrase {
    /// `None` is `…`.
    words: Vec<Option<String>>,
    /// Only at the start of a clause.
    anchored: bool,
}

/// One word in the spelling of the tokens; contractions give several.
fn spelt(word: &str) -> Vec<String> {
    let bare = word
        .trim_matches(|letter: char| {
            !letter.is_alphanumeric() && !matches!(letter, '/' | '_' | '<' | '>')
        })
        .to_lowercase()
        .replace('\u{2019}', "'");
    if bare.is_empty() {
        return Vec::new();
    }
    spelling::expand(&bare).map_or_else(
        || vec![spelling::normal(&bare)],
        |words| words.iter().map(|word| (*word).to_owned()).collect(),
    )
}

impl Phrase {
    /// Reads a trigger as it stands in a file.
    #[must_use]
    pub fn read(trigger: &str) -> Self {
        let anchored = trigger.trim_start().starts_with('^');
        let mut words = Vec::new();
        for word in trigger.trim().trim_start_matches('^').split_whitespace() {
            if matches!(word, "…" | "...") {
                words.push(None);
            } else {
                words.extend(spelt(word).into_iter().map(Some));
            }
        }
        Self { words, anchored }
    }

    /// How many words it has, gaps not counted.
    #[must_use]
    pub fn length(&self) -> usize {
        self.words.iter().flatten().count()
    }

    /// Two words or an anchor make a trigger strong.
    #[must_use]
    pub fn strong(&self) -> bool {
        self.length() >= 2 || self.anchored && self.length() == 1
    }

    /// Whether this is its first word.
    #[must_use]
    pub fn starts_with(&self, word: &str) -> bool {
        self.words.first().and_then(Option::as_deref) == Some(word)
    }

    /// Whether it starts like a question itself.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.words
            .first()
            .and_then(Option::as_deref)
            .is_some_and(|word| {
                crate::text::lexicon::within(
                    crate::text::lexicon::function_words::QUESTION_WORDS,
                    word,
                )
            })
    }

    /// The clause it is found in; it may run on into the next one. Quotations are opaque.
    #[must_use]
    pub fn found(&self, prompt: &Prompt) -> Option<usize> {
        if self.length() == 0 {
            return None;
        }
        let tokens: Vec<&Token> = prompt.tokens().collect();
        let mut base = 0;
        for (at, clause) in prompt.clauses.iter().enumerate() {
            let starts = [
                0,
                skip_openers(&clause.tokens, 0),
                clause.reading.verb.unwrap_or(0),
            ];
            for offset in 0..clause.tokens.len() {
                let allowed = !self.anchored || starts.contains(&offset);
                if allowed && matches(&self.words, tokens.get(base + offset..).unwrap_or_default())
                {
                    return Some(at);
                }
            }
            base += clause.tokens.len();
        }
        None
    }
}

/// Whether the tokens start with the words.
fn matches(words: &[Option<String>], tokens: &[&Token]) -> bool {
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
    fn q_95_a_gap_stands_for_up_to_six_words_and_an_anchor_for_a_clause_start() {
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
    fn q_133_two_words_or_an_anchor_are_strong() {
        assert!(Phrase::read("cut the train").strong());
        assert!(Phrase::read("^prove").strong());
        assert!(!Phrase::read("migrate").strong());
    }
}
