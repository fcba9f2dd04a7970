//! The intent: one line that says what the user wants.

use super::text::{MAX_INTENT, MAX_SLOT, capitalised, cut, length, line};
use crate::catalogue::Workflow;
use crate::route::{Question, Route};
use crate::signals::Signal;
use crate::text::Prompt;

/// Characters of the main clause of which every noun stands in the intent.
const KEPT: usize = 100;

/// Characters that name a second half at the least.
const LEAST: usize = 16;

/// Characters below which a second half has no room for a connecting word.
const JOINT: usize = 36;

/// Characters of a prompt that are looked at: what comes later is in no intent.
const LOOKED_AT: usize = 20_000;

/// Marks that no text begins with.
const MARKS: [char; 10] = [' ', ',', '.', ';', ':', '!', '?', '-', '–', '—'];

/// Marks between two halves.
const JOINTS: [char; 7] = [' ', ',', ';', ':', '-', '–', '—'];

/// What opens a polite request and says nothing about it, in the order they are tried.
const OPENINGS: &[&str] = &[
    "please",
    "pls",
    "plz",
    "kindly",
    "hey",
    "hi",
    "hello",
    "can you",
    "could you",
    "would you",
    "will you",
    "can we",
    "could we",
    "i need you to",
    "i want you to",
    "i'd like you to",
    "i would like you to",
    "we need you to",
    "let's",
    "let’s",
    "let us",
    "go ahead and",
];

/// What acknowledges the turn before, where a mark follows it.
const ACKNOWLEDGEMENTS: &[&str] = &[
    "nice",
    "great",
    "perfect",
    "cool",
    "thanks",
    "thank you",
    "ok",
    "okay",
    "alright",
    "good",
    "well",
];

/// What closes one.
const CLOSINGS: &[&str] = &[
    "please",
    "pls",
    "plz",
    "thanks",
    "thank you",
    "thx",
    "cheers",
];

/// What a second half begins with and its item does not need.
const CONNECTIVES: &[&str] = &["and then", "then", "and", "also", "but"];

/// The intent of a plan.
pub(super) fn intent(question: &Question<'_>, route: &Route, workflow: &Workflow) -> String {
    let prompt = question.prompt;
    let Some(clause) = whole(prompt) else {
        return "Clarify: the request is empty".to_owned();
    };
    let form = form(route, workflow);
    let room = MAX_INTENT.saturating_sub(length(&form.replace("{clause}", "")));
    let clause = match asked(question, route) {
        Some(asked) => with_question(&clause, asked, room),
        None => fitted(prompt, &clause, route, room),
    };
    // A long form leaves too little room for the user's words: these count for more.
    let (form, clause) = if room < KEPT && length(&clause) >= room {
        (
            "{clause}",
            fitted(prompt, &clause_of(prompt), route, MAX_INTENT),
        )
    } else {
        (form.as_str(), clause)
    };
    let clause = if form.starts_with("{clause}") {
        capitalised(&clause)
    } else {
        without_search(&clause).to_owned()
    };
    let text = line(&form.replace("{clause}", &clause), MAX_INTENT);
    if text.is_empty() {
        return "Clarify: the request is empty".to_owned();
    }
    capitalised(&text)
}

/// What a half asks for, for the slot `{intent}`: without a form, at most 80 characters.
pub(super) fn clause(question: &Question<'_>, route: &Route, half: &Prompt) -> String {
    let clause = clause_of(half);
    match asked(question, route) {
        Some(asked) => with_question(&clause, asked, MAX_SLOT),
        None => line(&clause, MAX_SLOT),
    }
}

/// The clause of a half, as an order: without what ties it to the other.
pub(super) fn second_clause(half: &Prompt, max: usize) -> String {
    line(&second_clause_of(&half.main), max)
}

fn second_clause_of(text: &str) -> String {
    let text = polite(text.trim_start_matches(MARKS));
    let mut rest = text.as_str();
    while let Some(after) = CONNECTIVES.iter().find_map(|word| after_word(rest, word)) {
        rest = after;
    }
    polite(rest)
}

/// The form, which may lack `{clause}` only by a mistake of the file's author.
fn form(route: &Route, workflow: &Workflow) -> String {
    if route.abstained {
        return "Clarify: {clause}".to_owned();
    }
    let given = workflow
        .intent
        .as_deref()
        .map(|form| line(form, MAX_INTENT));
    match given {
        Some(form) if form.contains("{clause}") => form,
        Some(form) if !form.is_empty() => format!("{form}: {{clause}}"),
        _ if workflow.category == "information" => "Answer: {clause}".to_owned(),
        _ => "{clause}".to_owned(),
    }
}

/// The newest question of the agent, where the prompt is an answer to it.
fn asked<'q>(question: &'q Question<'_>, route: &Route) -> Option<&'q str> {
    let answers = route.refusal
        || [Signal::Confirmation, Signal::Choice, Signal::Refusal]
            .iter()
            .any(|signal| route.signals.has(*signal));
    let asked = question.session.question.as_deref()?;
    (answers && route.workflow == "interactive-followup" && !asked.trim().is_empty())
        .then_some(asked)
}

/// Verbs that open an investigation; a form such as `Diagnose: {clause}` says so already.
const SEARCHES: &[&str] = &[
    "figure out",
    "find out",
    "work out",
    "look into",
    "investigate",
    "diagnose",
];

/// What such a question may begin with.
const QUESTIONS: &[&str] = &[
    "why", "what", "how", "where", "which", "who", "when", "whether", "if",
];

/// `why it fails` of `find out why it fails`.
fn without_search(clause: &str) -> &str {
    let after = SEARCHES.iter().find_map(|verb| after_word(clause, verb));
    after
        .filter(|after| {
            QUESTIONS
                .iter()
                .any(|word| after_word(after, word).is_some())
        })
        .unwrap_or(clause)
}

/// `go for it ("Shall I …?")`
fn with_question(clause: &str, asked: &str, room: usize) -> String {
    let clause = line(clause, room / 2);
    let asked = line(
        &asked.replace('"', "'"),
        room.saturating_sub(length(&clause)).saturating_sub(5),
    );
    format!("{clause} (\"{asked}\")")
}

/// The main text, else the error line.
fn whole(prompt: &Prompt) -> Option<String> {
    let clause = clause_of(prompt);
    (!clause.is_empty()).then_some(clause)
}

fn clause_of(prompt: &Prompt) -> String {
    let main = polite(&prompt.main);
    if main.is_empty() {
        line(prompt.error.as_deref().unwrap_or_default(), MAX_INTENT)
    } else {
        main
    }
}

/// The clause in the room there is: all of the main text, else from its main clause on; of two halves something of each.
fn fitted(prompt: &Prompt, clause: &str, route: &Route, room: usize) -> String {
    if length(clause) <= room {
        return clause.to_owned();
    }
    let Some(second) = &route.second else {
        let main = from_main_clause(prompt, &prompt.main);
        return cut(&main.unwrap_or_else(|| clause.to_owned()), room);
    };
    let own = second_clause_of(&without(clause, &second.prompt.main));
    let other = second_clause_of(&second.prompt.main);
    let (first, then) = if second.before {
        (other, own)
    } else {
        (own, other)
    };
    let first = if length(&first) > room.saturating_sub(JOINT) {
        from_main_clause(prompt, &first).unwrap_or(first)
    } else {
        first
    };
    // The nouns of the first half come first; what is left names the other.
    let left = room.saturating_sub(length(&first).min(KEPT));
    let joint = if left < JOINT { "; " } else { "; then: " };
    let most = (room / 2).max(LEAST);
    let then = line(&then, left.saturating_sub(length(joint)).clamp(LEAST, most));
    let rest = room
        .saturating_sub(length(&then))
        .saturating_sub(length(joint));
    format!("{}{joint}{then}", line(&first, rest))
}

/// A text from the prompt's main clause on, if it holds that.
fn from_main_clause(prompt: &Prompt, text: &str) -> Option<String> {
    let clause = prompt.clauses.get(prompt.main_clause?)?;
    let clause = line(&clause.text, LOOKED_AT);
    let text = line(text, LOOKED_AT);
    let start = text.find(&clause).filter(|_| !clause.is_empty())?;
    Some(polite(text.get(start..)?))
}

/// A text without another one that it contains.
pub(super) fn without(text: &str, part: &str) -> String {
    let text = line(text, LOOKED_AT);
    let part = line(part, LOOKED_AT);
    let part = part.trim_end_matches(['.', '!', '?']);
    match text.find(part) {
        Some(start) if !part.is_empty() => {
            let before = text.get(..start).unwrap_or_default();
            let after = text
                .get(start.saturating_add(part.len())..)
                .unwrap_or_default();
            // The mark that ended what was taken out.
            let after = after.trim_start_matches(MARKS);
            let before = before.trim_end_matches(JOINTS);
            let before = CONNECTIVES
                .iter()
                .find_map(|word| before_word(before, word))
                .unwrap_or(before);
            let rest = line(&format!("{before} {after}"), LOOKED_AT);
            rest.trim_start_matches(MARKS)
                .trim_end_matches(JOINTS)
                .to_owned()
        }
        _ => text,
    }
}

/// A text without politeness at its ends and without its final period; the question mark of "can you …?" goes with it.
pub(super) fn polite(text: &str) -> String {
    let text = line(text, LOOKED_AT);
    let mut rest = text.as_str();
    let mut request = false;
    let opened = |rest| {
        let opening = OPENINGS
            .iter()
            .find_map(|opening| Some((after_word(rest, opening)?, *opening)));
        opening.or_else(|| acknowledged(rest).map(|after| (after, "")))
    };
    while let Some((after, opening)) = opened(rest) {
        request |= opening.ends_with(" you") || opening.ends_with(" we");
        rest = after;
    }
    let mut rest = trimmed(rest, false);
    while let Some(before) = CLOSINGS
        .iter()
        .find_map(|closing| before_word(rest, closing))
    {
        rest = trimmed(before, false);
    }
    let rest = trimmed(rest, request);
    if !rest.contains(' ') {
        // "please do": little but politeness, and better that than less.
        return trimmed(&text, false).to_owned();
    }
    rest.to_owned()
}

/// What follows an acknowledgement and its mark.
fn acknowledged(text: &str) -> Option<&str> {
    ACKNOWLEDGEMENTS.iter().find_map(|word| {
        let marked = text.get(word.len()..)?.starts_with([',', '.', '!']);
        after_word(text, word).filter(|_| marked)
    })
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
    let after = after.trim_start_matches([' ', ',', '!', ':', '.']);
    (head.eq_ignore_ascii_case(word) && ends && !after.is_empty()).then_some(after)
}

/// What precedes a word at the end, if something does.
fn before_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.len().checked_sub(word.len())?;
    let (before, tail) = text.split_at_checked(start)?;
    (tail.eq_ignore_ascii_case(word)
        && before.ends_with([' ', ',', '.', '!', '?'])
        && !before.trim().is_empty())
    .then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_146_politeness_and_the_final_period_are_gone() {
        let cases = [
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
        ];
        for (text, expected) in cases {
            assert_eq!(polite(text), expected, "{text:?}");
        }
    }

    #[test]
    fn q_146_a_form_does_not_say_twice_that_something_is_looked_into() {
        assert_eq!(without_search("Figure out why it fails"), "why it fails");
        assert_eq!(without_search("figure out the plan"), "figure out the plan");
    }

    #[test]
    fn q_145_a_half_without_the_other() {
        assert_eq!(
            without("tell me how it works, then fix the leak", "fix the leak"),
            "tell me how it works"
        );
        let text = "can you tell me what port it uses, and move it to 9443";
        assert_eq!(
            without(text, "can you tell me what port it uses"),
            "and move it to 9443"
        );
        assert_eq!(
            without("Laugh. But can you lay it out?", "can you lay it out"),
            "Laugh."
        );
        assert_eq!(without("abc", "x"), "abc");
        assert_eq!(without("abc", ""), "abc");
    }
}
