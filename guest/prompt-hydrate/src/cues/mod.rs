//! A short table of cues: what the words of a prompt say outright about the kind of request it is.
//!
//! The model weighs them like any other feature; the vetoes and the forced routes rest on them. Where a cue is in doubt,
//! a prompt counts as a change: a question that is planned for costs a moment, a change that is answered in words is lost.

mod lists;

pub use lists::QUESTION_WORDS;

use std::ops::Range;

use lists::{
    ASKS_TO_ACT, AUXILIARIES, CHANGE_PHRASES, CHANGES, CHOICE_WORDS, CHOICES, CONFIRMATIONS,
    CONTINUATIONS, DETERMINERS, ENSURES, LINKS, NO_CHANGES, NO_WORDS, OPENERS, OTHER_ORDERS,
    PLAN_FIRST, POLITE, REFUSALS, REPAIRS, STOP_WORDS, TELLING, TOLD, WISHES, YES_WORDS,
};

use crate::text::Prompt;
use crate::text::token::{Kind, Stop, Token, listed};

/// Declares the cues once, with their names.
macro_rules! cues {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// One property of a prompt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cue {
            $($(#[$doc])* $variant,)*
        }

        impl Cue {
            /// All of them.
            pub const ALL: &'static [Cue] = &[$(Cue::$variant,)*];

            /// The name in catalogue files and explanations.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The cue of a name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|cue| cue.name() == name)
            }
        }
    };
}

cues! {
    /// It asks, or wants something told or explained.
    Interrogative = "interrogative",
    /// It asks for a change.
    Change = "change",
    /// "make sure it never …".
    CorrectiveConstraint = "corrective_constraint",
    /// "it should …", "it must …".
    RequirementClause = "requirement_clause",
    /// A fault is to be corrected.
    ErrorReport = "error_report",
    /// A literal error line, anywhere.
    ErrorText = "error_text",
    /// Nothing is to be changed.
    NoChange = "no_change",
    /// A plan is wanted before any change.
    PlanFirst = "plan_first",
    /// Fewer than two words with content, or a question without any.
    Vague = "vague",
    /// Nothing but agreement.
    Confirmation = "confirmation",
    /// Nothing but refusal.
    Refusal = "refusal",
    /// Nothing but a choice between what was offered.
    Choice = "choice",
    /// It is tied to what came before: "it", "the same", "also".
    Continuation = "continuation",
}

/// The cues of a prompt, each with the words that caused it.
#[derive(Debug, Clone, Default)]
pub struct Cues {
    found: Vec<(Cue, String)>,
}

impl Cues {
    /// Reads the cues of a prompt.
    #[must_use]
    pub fn read(prompt: &Prompt) -> Self {
        let mut cues = Self::default();
        for sentence in sentences(&prompt.tokens) {
            cues.read_sentence(sentence);
        }
        let words = words(&prompt.tokens);
        if let Some(error) = &prompt.error {
            cues.add(Cue::ErrorText, error.chars().take(80).collect::<String>());
        }
        if let Some(words) = forbids_changes(&words) {
            cues.add(Cue::NoChange, words);
        }
        // "design it, no code yet" wants the design, not a plan of the work.
        let on_paper = |found: &str| found.ends_with("yet") && words.contains(" design ");
        if let Some(found) = phrase(&words, PLAN_FIRST)
            .or_else(|| plan_before(&words))
            .filter(|found| !on_paper(found))
        {
            cues.add(Cue::PlanFirst, found);
        }
        cues.read_answer(prompt);
        if let Some(words) = phrase(&words, CONTINUATIONS) {
            cues.add(Cue::Continuation, words);
        }
        let least = if cues.has(Cue::Interrogative) { 1 } else { 2 };
        if prompt.error.is_none() && prompt.pasted.is_empty() && content(prompt) < least {
            cues.add(Cue::Vague, prompt.main.chars().take(40).collect::<String>());
        }
        cues.found.sort_by_key(|(cue, _)| *cue);
        cues
    }

    /// Whether a cue holds.
    #[must_use]
    pub fn has(&self, cue: Cue) -> bool {
        self.words(cue).is_some()
    }

    /// The words that caused a cue.
    #[must_use]
    pub fn words(&self, cue: Cue) -> Option<&str> {
        self.iter()
            .find(|(found, _)| *found == cue)
            .map(|(_, words)| words)
    }

    /// Each cue that holds, with the words that caused it.
    pub fn iter(&self) -> impl Iterator<Item = (Cue, &str)> {
        self.found.iter().map(|(cue, words)| (*cue, words.as_str()))
    }

    /// Cues set by hand, for tests of what follows from them.
    #[cfg(test)]
    pub(crate) fn given(cues: &[Cue]) -> Self {
        Self {
            found: cues.iter().map(|cue| (*cue, String::new())).collect(),
        }
    }

    /// Adds a cue; the first words stay.
    fn add(&mut self, cue: Cue, words: impl Into<String>) {
        if !self.has(cue) {
            self.found.push((cue, words.into()));
        }
    }

    fn read_sentence(&mut self, sentence: &[Token]) {
        let start = skip_openers(sentence, 0..sentence.len());
        let question = asks(sentence, start);
        if question {
            self.add(Cue::Interrogative, typed(sentence, start, 3));
        }
        if let Some(at) = order_of_change(sentence, question) {
            self.add(Cue::Change, typed(sentence, at, 4));
            if sentence.get(at).is_some_and(|verb| verb.among(REPAIRS)) {
                self.add(Cue::ErrorReport, typed(sentence, at, 4));
            }
        }
        if !question && let Some(at) = sentence.windows(2).position(requires) {
            self.add(Cue::RequirementClause, typed(sentence, at, 4));
            self.add(Cue::Change, typed(sentence, at, 4));
        }
        let all = words(sentence);
        if let Some(found) = phrase(&all, ENSURES)
            && let Some((_, rest)) = all.split_once(found)
            && rest
                .split(' ')
                .any(|word| listed("cannot never no not nothing only", word))
        {
            self.add(Cue::CorrectiveConstraint, typed(sentence, start, 6));
            self.add(Cue::Change, typed(sentence, start, 6));
        }
        if let Some(found) = phrase(&all, CHANGE_PHRASES) {
            self.add(Cue::Change, found);
        }
    }

    /// Agreement, refusal and choice: short prompts that are made of such words alone.
    fn read_answer(&mut self, prompt: &Prompt) {
        let tokens = &prompt.tokens;
        let question = tokens
            .last()
            .is_some_and(|token| token.stop == Stop::Question);
        if tokens.is_empty() || tokens.len() > 8 || question || !prompt.pasted.is_empty() {
            return;
        }
        let only = |list: &str| {
            tokens.iter().all(|token| {
                matches!(token.kind, Kind::Word | Kind::Number) && listed(list, &token.word)
            })
        };
        let some = |list: &str| tokens.iter().any(|token| listed(list, &token.word));
        let why_not = words(tokens).contains(" why not ");
        let cue = if only(REFUSALS) && some(NO_WORDS) && !why_not {
            Cue::Refusal
        } else if only(CONFIRMATIONS) && some(YES_WORDS) && (why_not || !some(NO_WORDS)) {
            Cue::Confirmation
        } else if only(CHOICES) && some(CHOICE_WORDS) {
            Cue::Choice
        } else {
            return;
        };
        self.add(cue, prompt.main.chars().take(60).collect::<String>());
    }
}

/// Whether a prompt is so short, and so little of its own, that only what came before can say what it means.
#[must_use]
pub fn is_remainder(prompt: &Prompt, cues: &Cues) -> bool {
    let tokens = &prompt.tokens;
    let start = skip_openers(tokens, 0..tokens.len());
    let ordered = tokens.get(start).is_some_and(|token| is_order(&token.word));
    let own =
        tokens.iter().filter(|token| has_content(token)).count() > if ordered { 2 } else { 4 };
    tokens.len() <= 6
        && !own
        && !cues.has(Cue::Interrogative)
        && prompt.paths.is_empty()
        && prompt.pasted.is_empty()
}

/// Where the sentence begins that orders something, else the one that asks anything, in bytes of the main text.
#[must_use]
pub fn main_sentence(prompt: &Prompt) -> Option<usize> {
    let asking = |sentence: &&[Token]| asks(sentence, skip_openers(sentence, 0..sentence.len()));
    let ordering = |sentence: &&[Token]| {
        let first = sentence.get(skip_openers(sentence, 0..sentence.len()));
        first.is_some_and(|first| is_order(&first.word))
            || order_of_change(sentence, asking(sentence)).is_some()
    };
    let found = sentences(&prompt.tokens)
        .find(ordering)
        .or_else(|| sentences(&prompt.tokens).find(asking));
    found?.first().map(|token| token.start)
}

/// Whether a word is a verb that orders something.
#[must_use]
pub fn is_order(word: &str) -> bool {
    listed(CHANGES, word) || listed(OTHER_ORDERS, word)
}

/// How much content a prompt has: one for a word, two for a name or a quotation.
fn content(prompt: &Prompt) -> usize {
    let tokens = prompt.tokens.iter().filter(|token| has_content(token));
    tokens
        .map(|token| if token.kind == Kind::Word { 1 } else { 2 })
        .sum()
}

/// Runs of tokens up to a mark that ends a clause always.
fn sentences(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    tokens.split_inclusive(|token| token.stop >= Stop::Colon)
}

/// Whether a sentence, whose openers end at `start`, asks or wants something told.
fn asks(sentence: &[Token], start: usize) -> bool {
    let first = sentence.get(start);
    let opened = start > 0
        && sentence.get(..start).is_some_and(|openers| {
            phrase(
                &words(openers),
                "can you|could you|would you|will you|can we|could we",
            )
            .is_some()
        });
    let second = sentence
        .get(start + 1)
        .is_some_and(|token| token.among(QUESTION_WORDS));
    second
        || first.is_some_and(|token| {
            token.among(QUESTION_WORDS)
                || (token.among(AUXILIARIES)
                    && sentence.len() > start + 1
                    && !acts_on_it(sentence, start))
                || token.among(TELLING)
        })
        || (!opened
            && sentence
                .last()
                .is_some_and(|token| token.stop == Stop::Question))
}

/// The place of a verb of change in a sentence, where an order would have it.
fn order_of_change(sentence: &[Token], question: bool) -> Option<usize> {
    let question_begins = question_begins(sentence);
    let mut start = 0;
    let clauses = sentence.split_inclusive(|token| token.stop == Stop::Comma);
    for (number, clause) in clauses.enumerate() {
        let end = start + clause.len();
        let at = skip_openers(sentence, start..end);
        let linked = clause
            .first()
            .is_some_and(|token| token.among("also and but please then"));
        let begins = number == 0 || !question || linked;
        let acts = (!question || number > 0 && at < question_begins) && acts_on_it(sentence, at);
        if at < end && (begins && orders_change(sentence, at) || acts) {
            return Some(at);
        }
        let polite = || {
            [start, at]
                .into_iter()
                .find_map(|at| skip_polite_request(sentence, at..end))
        };
        if begins && let Some(at) = polite() {
            return Some(at);
        }
        start = end;
    }
    // "… and fix the backoff": behind "and" only where a thing follows, and not as a part of what is asked.
    let first = skip_openers(sentence, 0..sentence.len());
    let opens_question = sentence
        .get(first)
        .is_some_and(|token| token.among(QUESTION_WORDS) || token.among(AUXILIARIES));
    sentence.windows(3).enumerate().find_map(|(at, three)| {
        let [link, verb, object] = three else {
            return None;
        };
        let then = link.among("then please afterwards")
            || link.among("that")
                && at > 0
                && sentence
                    .get(at - 1)
                    .is_some_and(|token| token.among("after"));
        let and = link.among("and")
            || link.among("also just maybe")
                && at > 0
                && sentence.get(at - 1).is_some_and(|token| token.among("and"));
        let asked = opens_question || at >= question_begins;
        let linked = and && !asked && (object.among(DETERMINERS) || object.kind != Kind::Word);
        let changes = || verb.among(CHANGES) || acts_on_it(sentence, at + 1);
        ((then || linked) && changes()).then_some(at + 1)
    })
}

/// The place from which on a verb may belong to what is asked before it, or `usize::MAX`: "how to stop it and remove it",
/// "what happens when I stop it and remove it", but not "what it does and remove it".
fn question_begins(sentence: &[Token]) -> usize {
    let first = skip_openers(sentence, 0..sentence.len());
    let asked = sentence.get(first..).unwrap_or_default();
    let begins = asked.windows(2).position(|pair| {
        let [word, next] = pair else { return false };
        word.among(QUESTION_WORDS) && next.among("to happens")
            || word.among("can could do does did may might must should will would")
    });
    begins.map_or(usize::MAX, |begins| first + begins + 2)
}

/// Whether the words order something to be done to what was spoken of: "skip them", "take it out", but not "check it".
fn acts_on_it(tokens: &[Token], at: usize) -> bool {
    let Some([verb, object]) = tokens.get(at..at + 2) else {
        return false;
    };
    let base = verb.word.ends_with("ss")
        || !["s", "ed", "ing"]
            .iter()
            .any(|end| verb.word.ends_with(end));
    let needless = tokens
        .get(at.saturating_sub(3)..at)
        .is_some_and(|before| words(before) == " no need to ");
    let acts = verb.among(CHANGES)
        || verb.among("do") && !needless
        || base && verb.kind == Kind::Word && has_content(verb);
    let spoken_of = if verb.among("do") {
        "it them"
    } else {
        "it them these those"
    };
    acts && object.among(spoken_of)
        && ![OTHER_ORDERS, TELLING, LINKS]
            .iter()
            .any(|list| verb.among(list))
}

/// The place in a range of a verb of change behind a polite request: "any chance you could …", "would it be fine to …".
fn skip_polite_request(tokens: &[Token], within: Range<usize>) -> Option<usize> {
    let from = within.start;
    let rest = tokens.get(within)?;
    let length = rest.iter().take_while(|token| token.among(POLITE)).count();
    let (request, verb) = (rest.get(..length)?, rest.get(length)?);
    let said = words(request);
    phrase(&said, ASKS_TO_ACT)?;
    let ends = |list: &str| {
        list.split('|')
            .any(|end| said.ends_with(&format!(" {end} ")))
    };
    let ordered = ends("to|could|can|would|might|if you|about you|why not|do not you")
        && orders_change(tokens, from + length);
    let bent = ends("if you|if we|of|about|consider|say to") && is_form_of_change(&verb.word);
    (ordered || bent).then_some(from + length)
}

/// Whether a word is a verb of change with "ing" or "ed".
fn is_form_of_change(word: &str) -> bool {
    let stem = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed"));
    stem.is_some_and(|stem| {
        let single = stem.get(..stem.len().saturating_sub(1)).unwrap_or_default();
        listed(CHANGES, stem) || listed(CHANGES, single) || listed(CHANGES, &format!("{stem}e"))
    })
}

/// Whether the words from one place on order a change or wish for a thing.
fn orders_change(tokens: &[Token], at: usize) -> bool {
    let Some(first) = tokens.get(at) else {
        return false;
    };
    let mind = at > 0 && tokens.get(at - 1).is_some_and(|token| token.among("mind"));
    if mind && let Some(stem) = first.word.strip_suffix("ing") {
        return is_form_of_change(&first.word) || stem.len() < 5;
    }
    let rest = words(
        tokens
            .get(at..)
            .unwrap_or_default()
            .get(..8.min(tokens.len() - at))
            .unwrap_or_default(),
    );
    let wish = WISHES
        .split('|')
        .any(|wish| rest.trim_start().starts_with(wish));
    // "give me a summary", "make sure it works"
    let given = tokens.get(at + 1).is_some_and(|next| {
        first.among("give get bring") && next.among("me us")
            || first.among("make") && next.among("sure certain")
    });
    let told = rest.split(' ').any(|word| listed(TOLD, word));
    (first.among(CHANGES) && !given) || (wish && !told)
}

/// "must …", "should …", "has to …".
fn requires(pair: &[Token]) -> bool {
    let [modal, next] = pair else { return false };
    modal.among("must should shall")
        || (modal.among("has have need needs ought") && next.among("to"))
}

/// The place behind the words that say nothing of what is wanted, of those that begin in a range: past its end, if it
/// holds nothing else and something follows.
#[must_use]
pub fn skip_openers(tokens: &[Token], within: Range<usize>) -> usize {
    let mut at = within.start;
    while at < within.end
        && let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty())
    {
        let taken = OPENERS
            .split('|')
            .filter(|opener| {
                let mut words = rest.iter();
                opener
                    .split(' ')
                    .all(|word| words.next().is_some_and(|token| token.among(word)))
            })
            .map(|opener| opener.split(' ').count())
            .max();
        match taken {
            Some(taken) if taken < rest.len() => at += taken,
            _ => break,
        }
    }
    at
}

/// "do not touch anything", but not "do not touch anything else".
fn forbids_changes(words: &str) -> Option<&'static str> {
    NO_CHANGES.split('|').find(|phrase| {
        words
            .split_once(&format!(" {phrase} "))
            .is_some_and(|(_, rest)| {
                !rest
                    .split(' ')
                    .take(3)
                    .any(|word| listed("apart besides beyond else except more other outside", word))
            })
    })
}

/// "a plan for …, before you touch anything".
fn plan_before(words: &str) -> Option<&'static str> {
    let (_, rest) = words.split_once(" plan ")?;
    phrase(
        rest,
        "before touching|before changing|before writing|before coding|before editing|before you|before any|before anything|before we",
    )
}

/// The first of the phrases, which bars part, that is in the words.
fn phrase<'p>(words: &str, phrases: &'p str) -> Option<&'p str> {
    phrases.split('|').find(|phrase| {
        words.match_indices(phrase).any(|(at, _)| {
            words.get(..at).is_some_and(|before| before.ends_with(' '))
                && words
                    .get(at + phrase.len()..)
                    .is_some_and(|after| after.starts_with(' '))
        })
    })
}

/// All words with a blank around each; a quotation or a name is no word.
fn words(tokens: &[Token]) -> String {
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

/// Up to `count` tokens as they were typed.
fn typed(tokens: &[Token], at: usize, count: usize) -> String {
    let tokens = tokens
        .iter()
        .skip(at)
        .take(count)
        .map(|token| token.text.as_str());
    tokens
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a token has content of its own.
#[must_use]
pub fn has_content(token: &Token) -> bool {
    match token.kind {
        Kind::Word => !listed(STOP_WORDS, &token.word),
        kind => kind != Kind::Number,
    }
}
