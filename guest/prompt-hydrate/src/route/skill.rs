//! Skills that the prompt or the list names.

use super::Question;
use super::phrases::Phrase;
use crate::signals::speech::Act;
use crate::text::Clause;
use crate::text::lexicon::function_words::{DETERMINERS, PREPOSITIONS, PRONOUNS};
use crate::text::lexicon::phrases;
use crate::text::token::{Kind, Token};

phrases! {
    /// Verbs that take a skill or command as their object.
    VERBS =
    "|run|use|invoke|call|launch|execute|apply|trigger|start|try|fire|utilize|employ|load"
}

phrases! {
    /// Words that stand before "skill" or "command" without naming one.
    NAMELESS =
    "|same|right|new|following|correct|above|other|next|first|second|last|appropriate|matching|existing\
     |single|shell|old|previous|own|proper|relevant|latest|slash|best|real|actual"
}

phrases! {
    /// Directories of the root, so that "/var fills up" names no command.
    ROOTS =
    "|bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var"
}

/// The skill that the prompt names.
#[must_use]
pub(super) fn named(question: &Question<'_>) -> Option<String> {
    let prompt = question.prompt;
    if question.slash_is_skill
        && let Some(name) = prompt.main.split_whitespace().next().and_then(slash)
    {
        return Some(name);
    }
    prompt
        .clauses
        .iter()
        .filter(|clause| ordered(clause))
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
    (fits && !ROOTS.contains(&name)).then(|| name.to_owned())
}

fn ordered(clause: &Clause) -> bool {
    matches!(clause.reading.act, Act::Order | Act::Polite | Act::Wish) && !clause.reading.negated
}

fn in_clause(clause: &Clause) -> Option<String> {
    let tokens = &clause.tokens;
    for (at, token) in tokens.iter().enumerate() {
        if !token.verb.is_some_and(|verb| VERBS.contains(&verb.base)) && !token.among(VERBS) {
            continue;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let skipped = rest
            .iter()
            .take_while(|token| token.within(DETERMINERS))
            .count();
        let rest = rest.get(skipped..).unwrap_or_default();
        match rest {
            // "run /deploy"
            [first, ..] if first.kind == Kind::Path && slash(&first.text).is_some() => {
                return slash(&first.text);
            }
            // "use skill x", "call the skill "x""
            [kind, name, ..] if kind.among(&["skill", "command"]) => {
                if let Some(name) = name_of(name).filter(|_| {
                    kind.is("skill") || name.kind != Kind::Word || name.word.contains('-')
                }) {
                    return Some(name);
                }
            }
            // "use the x skill", "invoke x command"
            [name, kind, ..] if kind.among(&["skill", "command"]) => {
                if let Some(name) = name_of(name) {
                    return Some(name);
                }
            }
            // "use the code review skill": the list writes such names with a hyphen.
            [one, two, kind, ..]
                if kind.is("skill") && one.stop == crate::text::token::Stop::None =>
            {
                if let (Some(one), Some(two)) = (name_of(one), name_of(two)) {
                    return Some(format!("{one}-{two}"));
                }
            }
            _ => {}
        }
    }
    None
}

/// A name as a guardrail may hold it: `[A-Za-z0-9._:-]+`.
fn name_of(token: &Token) -> Option<String> {
    if token.within(PRONOUNS)
        || token.within(PREPOSITIONS)
        || token.within(DETERMINERS)
        || token.among(NAMELESS)
        || token.kind == Kind::Number
    {
        return None;
    }
    let name = token.text.trim_start_matches('/').replace('_', "-");
    (!name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '-')))
    .then_some(name)
}

/// The skill of the list one of whose triggers stands in a directive; the longest trigger wins.
#[must_use]
pub(super) fn triggered(question: &Question<'_>) -> Option<(String, String)> {
    let mut best: Option<(usize, String, String)> = None;
    let listed = question
        .skills
        .unwrap_or_default()
        .iter()
        .chain(question.catalogue.skills.iter());
    for skill in listed {
        for trigger in &skill.triggers {
            let phrase = Phrase::read(trigger);
            if phrase.length() < 2
                || best
                    .as_ref()
                    .is_some_and(|(length, ..)| *length >= phrase.length())
            {
                continue;
            }
            let Some(clause) = phrase
                .found(question.prompt)
                .and_then(|at| question.prompt.clauses.get(at))
            else {
                continue;
            };
            if matches!(
                clause.reading.act,
                Act::Order | Act::Polite | Act::Wish | Act::Fragment
            ) && !clause.reading.negated
                && clause.reading.asked.is_none()
            {
                best = Some((phrase.length(), skill.name.clone(), trigger.clone()));
            }
        }
    }
    best.map(|(_, name, trigger)| (name, trigger))
}

/// Whether a list is there and lacks the name.
#[must_use]
pub(super) fn missing(question: &Question<'_>, name: &str) -> bool {
    let listed = question
        .catalogue
        .skills
        .iter()
        .chain(question.skills.unwrap_or_default());
    question.skills.is_some() && !listed.into_iter().any(|skill| skill.name == name)
}
