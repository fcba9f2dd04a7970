//! What a prompt names: places, quotations, counts, the object, requirements.

use super::lemma::{Classes, Form, plural};
use super::lexicon::function_words::{
    AUXILIARIES, DETERMINERS, MEASURES, NUMBER_WORDS, PREPOSITIONS, PRONOUNS, QUESTION_WORDS,
    SUBORDINATORS, TIME_NOUNS,
};
use super::lexicon::{nouns, within};
use super::token::{self, Kind, Stop, Token};
use super::{Clause, Prompt};
use crate::signals::speech::Act;

/// How much pasted text is looked through for paths, in bytes.
const PASTED_READ: usize = 64 * 1024;
/// How many of each are kept.
const MOST: usize = 32;

/// Fills the slots from the tokens of the main text.
pub fn fill(prompt: &mut Prompt, tokens: &[Token]) {
    for token in tokens {
        match token.kind {
            Kind::Path => push(&mut prompt.paths, place(&token.text)),
            Kind::Url => push(&mut prompt.urls, &token.text),
            Kind::Quoted => {
                push(&mut prompt.quoted, &token.text);
                if token::is_path(&token.text) {
                    push(&mut prompt.paths, place(&token.text));
                }
            }
            _ => {}
        }
    }
    let mut read = 0;
    let pasted: Vec<String> = prompt.pasted.iter().map(|(_, text)| text.clone()).collect();
    for text in pasted {
        for word in text.split_whitespace() {
            read += word.len();
            if read > PASTED_READ {
                break;
            }
            let word = word.trim_matches(|letter: char| {
                !letter.is_alphanumeric() && letter != '.' && letter != '/' && letter != '_'
            });
            if word.len() < 200 && token::is_path(word) {
                push(&mut prompt.pasted_paths, place(word));
            }
        }
    }
    if prompt.error.is_none() {
        prompt.error = prompt
            .quoted
            .iter()
            .find(|quoted| super::error::message(quoted))
            .cloned();
    }
    prompt.count = count(tokens);
    prompt.object = object(prompt, tokens);
    prompt.requirements = requirements(prompt);
}

fn push(list: &mut Vec<String>, text: &str) {
    if list.len() < MOST && !text.is_empty() && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// A path without its line number.
fn place(text: &str) -> &str {
    match text.split_once(':') {
        Some((head, tail)) if tail.starts_with(|letter: char| letter.is_ascii_digit()) => head,
        _ => text,
    }
}

/// "63 manifests", "all 40 of the notebooks": not a duration, date, size or percentage, and not a number that only
/// says when something happens ("after forty jobs").
#[must_use]
pub fn count(tokens: &[Token]) -> Option<String> {
    for (at, token) in tokens.iter().enumerate() {
        let digits = token.kind == Kind::Number
            && token
                .text
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == ',');
        let word =
            token.kind == Kind::Word && within(NUMBER_WORDS, &token.word) && token.word != "couple";
        if !digits && !word
            || token.word == "0"
            || token.word == "1"
            || token.word == "two"
            || token.word == "2"
        {
            continue;
        }
        let mut before = at.checked_sub(1).and_then(|before| tokens.get(before));
        if before.is_some_and(|before| {
            before.among(&[
                "about",
                "around",
                "roughly",
                "approximately",
                "some",
                "than",
                "exactly",
                "over",
            ])
        }) {
            before = at.checked_sub(2).and_then(|before| tokens.get(before));
        }
        if before.is_some_and(|before| {
            before.stop == Stop::None
                && before.among(&[
                    "after", "every", "per", "within", "for", "to", "by", "than", "more", "least",
                    "most", "from", "until", "before", "at", "between", "version", "step", "line",
                    "max", "only", "with",
                ])
        }) {
            continue;
        }
        for next in tokens.iter().skip(at + 1).take(4) {
            if next.kind == Kind::Word
                && (within(TIME_NOUNS, &next.word) || within(MEASURES, &next.word))
            {
                break;
            }
            if next.among(&[
                "options",
                "ways",
                "alternatives",
                "approaches",
                "ideas",
                "stages",
                "steps",
                "parts",
                "phases",
                "players",
                "people",
                "users",
                "reasons",
                "questions",
                "points",
                "things",
                "variants",
                "devs",
                "developers",
                "students",
                "kids",
                "others",
                "requests",
                "jobs",
                "milestones",
                "goals",
                "events",
                "rounds",
                "wards",
                "paragraphs",
                "sentences",
                "words",
            ]) {
                break;
            }
            if next.kind == Kind::Word
                && (next.within(PREPOSITIONS) && next.word != "of" || next.within(AUXILIARIES))
            {
                break;
            }
            if next.kind == Kind::Word
                && plural(&next.word)
                && !next.verb.is_some_and(|verb| {
                    !verb.noun && verb.form == Form::S && !within(nouns::ITEMS, &next.word)
                })
            {
                return Some(token.text.clone());
            }
            if next.stop != Stop::None {
                break;
            }
        }
    }
    None
}

/// The first named place, else the head noun phrase of the main clause.
fn object(prompt: &Prompt, tokens: &[Token]) -> Option<String> {
    if let Some(path) = prompt.paths.first() {
        return Some(path.clone());
    }
    if let Some(identifier) = tokens.iter().find(|token| token.kind == Kind::Identifier) {
        return Some(identifier.text.clone());
    }
    prompt.main_clause().and_then(noun_phrase)
}

/// The first noun phrase of a clause, as typed and without its determiner.
fn noun_phrase(clause: &Clause) -> Option<String> {
    let reading = clause.reading;
    let mut from =
        if matches!(reading.act, Act::Order | Act::Polite | Act::Wish) && !reading.requirement {
            reading.object
        } else {
            0
        };
    let opens = |token: &Token| {
        token.within(DETERMINERS)
            || token.within(QUESTION_WORDS)
            || token.within(AUXILIARIES)
            || token.within(PREPOSITIONS)
            || token.within(SUBORDINATORS)
            || token.within(super::lexicon::function_words::OPENERS)
            || token.within(PRONOUNS)
            || token.among(&[
                "sure", "if", "whether", "not", "never", "there", "many", "much", "up", "out",
                "down", "through", "into", "way",
            ])
    };
    while clause.tokens.get(from).is_some_and(opens) {
        from += 1;
    }
    let mut words: Vec<&str> = Vec::new();
    for token in clause.tokens.iter().skip(from) {
        if token.kind == Kind::Word {
            let ends = opens(token)
                || token.among(&["and", "or", "but", "then", "so", "that", "because"])
                || super::clause::finite(token)
                || (!words.is_empty()
                    && token.verb.is_some_and(|verb| {
                        !verb.noun && verb.form == Form::Base && verb.classes != Classes::of("open")
                    }));
            if ends {
                if words.is_empty() {
                    continue;
                }
                break;
            }
        }
        if !token.text.is_empty() {
            words.push(token.text.as_str());
        }
        if token.stop != Stop::None || words.len() == 6 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Further clauses "it should …", "it must …", "also …", each as an instruction.
fn requirements(prompt: &Prompt) -> Vec<String> {
    let mut found = Vec::new();
    for (at, clause) in prompt.clauses.iter().enumerate() {
        if Some(at) == prompt.main_clause || prompt.main_clause.is_some_and(|main| at < main) {
            continue;
        }
        if let Some(text) = requirement(clause) {
            push(&mut found, &text);
        }
    }
    found
}

fn requirement(clause: &Clause) -> Option<String> {
    let first = clause.tokens.first()?;
    let words: Vec<&Token> = clause.tokens.iter().collect();
    let pronoun = words
        .iter()
        .take(2)
        .position(|token| token.among(&["it", "this", "they", "that"]));
    if let Some(at) = pronoun
        && let Some(modal) = words
            .get(at + 1)
            .filter(|token| token.among(&["should", "must", "needs", "has", "ought", "shall"]))
    {
        let mut from = at + 2;
        if modal.among(&["needs", "has", "ought"]) {
            from += usize::from(words.get(from).is_some_and(|token| token.is("to")));
        }
        let text = typed(clause, from)?;
        let negative = words
            .get(from)
            .is_some_and(|token| token.among(&["not", "never", "only", "always", "be", "have"]))
            || words
                .get(at + 1)
                .is_some_and(|token| token.text.to_lowercase().contains("n't"));
        return Some(if negative {
            format!(
                "make sure it {} {text}",
                modal.word.replace("needs", "must").replace("has", "must")
            )
        } else {
            text
        });
    }
    if clause
        .tokens
        .iter()
        .take(2)
        .any(|token| token.among(&["also", "additionally", "plus"]))
        && (clause.reading.directs() || first.is("also"))
    {
        let from = clause
            .tokens
            .iter()
            .position(|token| token.among(&["also", "additionally", "plus"]))?
            + 1;
        return typed(clause, from);
    }
    None
}

/// The clause from one token on, as typed.
fn typed(clause: &Clause, from: usize) -> Option<String> {
    let start = clause.tokens.first()?.start;
    let token = clause.tokens.get(from)?;
    clause
        .text
        .get(token.start.checked_sub(start)?..)
        .map(|text| text.trim().to_owned())
        .filter(|text| text.contains(' ') || text.len() > 3)
}
