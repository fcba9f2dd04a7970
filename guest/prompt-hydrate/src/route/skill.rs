//! Skills that the prompt or the list names.

use super::Question;
use super::phrases::Phrase;
use crate::cues::{Cue, skip_openers};
use crate::text::token::{Kind, Stop, Token, listed};

/// Verbs that take a skill or command as their object.
const VERBS: &str = "run use invoke call launch execute apply trigger start try fire utilize employ load \
    running using invoking calling";
/// Words before "skill" or "command" that name none.
const NAMELESS: &str = "a an the this that it my our your same right new following correct above other next first second last \
    appropriate matching existing single shell old previous own proper relevant latest slash best real actual some any which on \
    to for in of with from";
/// Directories of the root, so that "/var fills up" names no command.
const ROOTS: &str =
    "bin boot dev etc home lib media mnt opt proc root run sbin srv sys tmp usr var";

/// The skill that the prompt names.
#[must_use]
pub(super) fn named(question: &Question<'_>) -> Option<String> {
    if question.slash_is_skill
        && let Some(name) = question
            .prompt
            .main
            .split_whitespace()
            .next()
            .and_then(slash)
    {
        return Some(name);
    }
    question
        .prompt
        .tokens
        .split_inclusive(|token| token.stop != Stop::None)
        .find_map(in_clause)
}

/// `/name` without a second slash or an ending.
fn slash(word: &str) -> Option<String> {
    let name = word
        .strip_prefix('/')?
        .trim_end_matches([',', '.', ':', ';', '!', '?']);
    let fits = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.len() <= 64
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':'));
    (fits && !listed(ROOTS, name)).then(|| name.to_owned())
}

/// The skill that a clause orders to use.
fn in_clause(clause: &[Token]) -> Option<String> {
    let opened = skip_openers(clause, 0..clause.len());
    // "use …" opens the clause; "get the icons with …" does not, and needs the word skill.
    clause.get(opened).filter(|verb| verb.among(VERBS))?;
    let rest = clause.get(opened + 1..)?;
    let skipped = rest
        .iter()
        .take_while(|token| token.among("the our my your this a"))
        .count();
    let kind = |token: &Token| token.among("skill command");
    match rest.get(skipped..)? {
        // "run /deploy"
        [first, ..] if first.kind == Kind::Path && slash(&first.text).is_some() => {
            slash(&first.text)
        }
        // "use skill x", "call the skill "x""
        [word, name, ..]
            if kind(word)
                && (word.among("skill") || name.kind != Kind::Word || name.word.contains('-')) =>
        {
            name_of(name)
        }
        // "use the x skill", "invoke x command"
        [name, word, ..] if kind(word) => name_of(name),
        // "use the code review skill": the list writes such names with a hyphen.
        [one, two, word, ..] if word.among("skill") => {
            Some(format!("{}-{}", name_of(one)?, name_of(two)?))
        }
        _ => None,
    }
}

/// A name as a guardrail may hold it: `[A-Za-z0-9._:-]+`.
fn name_of(token: &Token) -> Option<String> {
    let name = token.text.trim_start_matches('/').replace('_', "-");
    let fits = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-'));
    (fits && !token.among(NAMELESS) && token.kind != Kind::Number).then_some(name)
}

/// The skill of the list one of whose triggers is in an order, and the trigger; the longest trigger wins.
#[must_use]
pub(super) fn triggered(
    question: &Question<'_>,
    cues: &crate::cues::Cues,
) -> Option<(String, String)> {
    let mut best: Option<(usize, String, String)> = None;
    if cues.has(Cue::Interrogative) && !cues.has(Cue::Change) {
        return None;
    }
    let listed = question
        .skills
        .unwrap_or_default()
        .iter()
        .chain(&question.catalogue.skills);
    for skill in listed {
        for trigger in &skill.triggers {
            let phrase = Phrase::read(trigger);
            let longer = best
                .as_ref()
                .is_none_or(|(length, ..)| phrase.length() > *length);
            let at = phrase
                .found(question.prompt)
                .filter(|_| longer && phrase.length() >= 2);
            let negated = |at: usize| {
                let before = question
                    .prompt
                    .tokens
                    .get(at.saturating_sub(3)..at)
                    .unwrap_or_default();
                before.iter().any(|token| token.among("not never without"))
            };
            if at.is_some_and(|at| !negated(at)) {
                best = Some((phrase.length(), skill.name.clone(), trigger.clone()));
            }
        }
    }
    best.map(|(_, name, trigger)| (name, trigger))
}

/// Whether there is a list and it lacks the name.
#[must_use]
pub(super) fn missing(question: &Question<'_>, name: &str) -> bool {
    let mut listed = question
        .catalogue
        .skills
        .iter()
        .chain(question.skills.unwrap_or_default());
    question.skills.is_some() && !listed.any(|skill| skill.name == name)
}
