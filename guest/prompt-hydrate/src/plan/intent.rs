//! The intent: one line that says what the user wants.

use super::text::{MAX_INTENT, MAX_SLOT, capitalised, cut, length, line};
use crate::catalogue::Workflow;
use crate::cues::{Cue, main_sentence};
use crate::route::{Question, Route};
use crate::text::Prompt;
use crate::text::token::listed;

/// Characters that a form has to leave for the user's own words.
const LEAST: usize = 100;
/// Characters of a prompt that are looked at: what comes later is in no intent.
const LOOKED_AT: usize = 20_000;

/// What opens a polite request and says nothing about it, parted by bars.
const OPENINGS: &str = "please|pls|plz|kindly|hey|hi|hello|hello there|can you|could you|would you|will you|can we|could we|\
    i need you to|i want you to|i'd like you to|i would like you to|we need you to|let's|let us|go ahead and|thanks|thank you|\
    nice,|nice.|great,|great.|perfect,|perfect.|cool,|cool.|ok,|ok.|okay,|alright,";
/// What closes one.
const CLOSINGS: &str = "please|pls|plz|thanks|thank you|thx|cheers";
/// Verbs that open an investigation, which a form such as `Diagnose: {clause}` says already.
const SEARCHES: &str = "figure out|find out|work out|look into|investigate|diagnose";

/// The intent of a plan.
pub(super) fn intent(question: &Question<'_>, route: &Route, workflow: &Workflow) -> String {
    let clause = clause_of(question.prompt);
    if clause.is_empty() {
        return "Clarify: the request is empty".to_owned();
    }
    let form = form(route, workflow);
    let room = MAX_INTENT.saturating_sub(length(&form.replace("{clause}", "")));
    let (form, clause) = match asked(question, route) {
        Some(asked) => (form.as_str(), with_question(&clause, asked, room)),
        // A long form leaves too little room for the user's words: these count for more.
        None if room < LEAST && length(&clause) >= room => {
            ("{clause}", fitted(question.prompt, &clause, MAX_INTENT))
        }
        None => (form.as_str(), fitted(question.prompt, &clause, room)),
    };
    let clause = if form.starts_with("{clause}") {
        &clause
    } else {
        without_search(&clause)
    };
    capitalised(&line(&form.replace("{clause}", clause), MAX_INTENT))
}

/// What the prompt asks for, for a slot: without a form, at most 80 characters.
pub(super) fn clause(question: &Question<'_>, route: &Route) -> String {
    let clause = clause_of(question.prompt);
    match asked(question, route) {
        Some(asked) => with_question(&clause, asked, MAX_SLOT),
        None => fitted(question.prompt, &clause, MAX_SLOT),
    }
}

/// The workflow's form, which may lack `{clause}` only by a mistake of the file's author.
fn form(route: &Route, workflow: &Workflow) -> String {
    if route.abstained {
        return "Clarify: {clause}".to_owned();
    }
    match workflow
        .intent
        .as_deref()
        .map(|form| line(form, MAX_INTENT))
    {
        Some(form) if form.contains("{clause}") => form,
        Some(form) if !form.is_empty() => format!("{form}: {{clause}}"),
        _ if workflow.category == "information" => "Answer: {clause}".to_owned(),
        _ => "{clause}".to_owned(),
    }
}

/// The newest question of the agent, where the prompt is an answer to it.
fn asked<'q>(question: &'q Question<'_>, route: &Route) -> Option<&'q str> {
    let answers = [Cue::Confirmation, Cue::Choice, Cue::Refusal]
        .iter()
        .any(|cue| route.cues.has(*cue));
    let asked = question.session.question.as_deref()?;
    (answers && route.workflow == "interactive-followup" && !asked.trim().is_empty())
        .then_some(asked)
}

/// `why it fails` of `find out why it fails`.
fn without_search(clause: &str) -> &str {
    let after = SEARCHES
        .split('|')
        .find_map(|verb| after_word(clause, verb));
    let asks = |text: &&str| {
        let first = text.split(' ').next().unwrap_or_default().to_lowercase();
        listed("why what how where which who when whether if", &first)
    };
    after.filter(asks).unwrap_or(clause)
}

/// `go for it ("Shall I …?")`
fn with_question(clause: &str, asked: &str, room: usize) -> String {
    let clause = line(clause, room / 2);
    let left = room.saturating_sub(length(&clause)).saturating_sub(5);
    format!("{clause} (\"{}\")", line(&asked.replace('"', "'"), left))
}

/// The main text without politeness, else the error line.
fn clause_of(prompt: &Prompt) -> String {
    let main = polite(&prompt.main);
    if main.is_empty() {
        line(prompt.error.as_deref().unwrap_or_default(), MAX_INTENT)
    } else {
        main
    }
}

/// The clause in the room there is; of a longer one what the first order or question begins.
fn fitted(prompt: &Prompt, clause: &str, room: usize) -> String {
    if length(clause) <= room {
        return clause.to_owned();
    }
    let main = main_sentence(prompt).and_then(|start| prompt.main.get(start..));
    cut(&main.map_or_else(|| clause.to_owned(), polite), room)
}

/// A text without politeness at its ends and without its final period; the question mark of "can you …?" goes with it.
pub(super) fn polite(text: &str) -> String {
    let text = line(text, LOOKED_AT);
    let mut rest = text.as_str();
    let mut request = false;
    while let Some((after, opening)) = OPENINGS
        .split('|')
        .find_map(|opening| Some((after_word(rest, opening)?, opening)))
    {
        request |= opening.ends_with(" you") || opening.ends_with(" we");
        rest = after;
    }
    let mut rest = trimmed(rest, false);
    while let Some(before) = CLOSINGS
        .split('|')
        .find_map(|closing| before_word(rest, closing))
    {
        rest = trimmed(before, false);
    }
    let rest = trimmed(rest, request);
    // "please do": little but politeness, and better that than less.
    if rest.contains(' ') {
        rest.to_owned()
    } else {
        trimmed(&text, false).to_owned()
    }
}

fn trimmed(text: &str, question: bool) -> &str {
    text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!') || (question && c == '?')
    })
}

/// What follows a word at the beginning, if something does.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let after = text.get(word.len()..)?;
    let ends = after.starts_with([' ', ',', '!', ':', '.']);
    let after = after.trim_start_matches([' ', ',', '!', ':', '.', '-', '–', '—']);
    (head.eq_ignore_ascii_case(word) && ends && !after.is_empty()).then_some(after)
}

/// What precedes a word at the end, if something does.
fn before_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (before, tail) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
    let ends = before.ends_with([' ', ',', '.', '!', '?']) && !before.trim().is_empty();
    (tail.eq_ignore_ascii_case(word) && ends).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn politeness_and_the_final_period_are_gone() {
        for (text, expected) in [
            ("please fix the parser.", "fix the parser"),
            ("Could you please fix the parser?", "fix the parser"),
            ("PLEASE, can you fix it? thanks!", "fix it"),
            ("let's fix it", "fix it"),
            ("fix it, please", "fix it"),
            ("what is this?", "what is this?"),
            ("please", "please"),
            ("pleased to see it", "pleased to see it"),
            ("fix it\nnow", "fix it now"),
            ("Nice. Put the flags last.", "Put the flags last"),
            ("great circles are wrong", "great circles are wrong"),
            ("please do", "please do"),
        ] {
            assert_eq!(polite(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_form_does_not_say_twice_that_something_is_looked_into() {
        assert_eq!(without_search("Figure out why it fails"), "why it fails");
        assert_eq!(without_search("figure out the plan"), "figure out the plan");
    }
}
