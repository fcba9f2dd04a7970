//! Whether a prompt asks for a change: what the veto of Q-142 rests on, so doubt counts as a change.

use super::speech::{Act, Asked};
use crate::text::lemma::{Classes, Form};
use crate::text::lexicon::nouns;
use crate::text::{Clause, Prompt};

/// The words that ask for it.
#[must_use]
pub(super) fn mutating(prompt: &Prompt) -> Option<String> {
    prompt
        .clauses
        .iter()
        .find_map(|clause| asks_for_change(clause).then(|| clause.text.chars().take(60).collect()))
}

fn asks_for_change(clause: &Clause) -> bool {
    let reading = clause.reading;
    if reading.negated {
        return false;
    }
    // (c) "which line must I alter so that …"
    if reading.obliged {
        return true;
    }
    if reading.act == Act::Question && !matches!(reading.asked, Some(Asked::YesNo)) {
        return later_order(clause);
    }
    if !matches!(reading.act, Act::Order | Act::Polite | Act::Wish) {
        // "tests for the parser", "adding a flag": a fragment is no order, but one that opens with a verb of change is.
        return reading.act == Act::Fragment
            && reading.verb.is_some()
            && reading.classes.any(Classes::CHANGE);
    }
    if reading.info {
        return later_order(clause);
    }
    if reading.requirement || reading.unknown {
        return true;
    }
    reading.classes.any(Classes::CHANGE.with(Classes::TEST)) && !harmless_run(clause)
}

/// "run the tests", "run a benchmark": nothing is changed by it.
fn harmless_run(clause: &Clause) -> bool {
    let reading = clause.reading;
    let only_run = !reading.classes.any(
        Classes::EDIT
            .with(Classes::BUILD)
            .with(Classes::REMOVE)
            .with(Classes::MOVE)
            .with(Classes::TEST),
    );
    let base = reading
        .verb
        .and_then(|place| clause.tokens.get(place))
        .and_then(|token| token.verb)
        .map_or("", |verb| verb.base);
    only_run
        && matches!(
            base,
            "run" | "rerun" | "execute" | "call" | "fetch" | "query" | "pull" | "compile" | "use"
        )
        && clause.tokens.iter().any(|token| {
            token.among(&[
                "test",
                "tests",
                "suite",
                "benchmark",
                "benchmarks",
                "linter",
                "lint",
                "clippy",
                "build",
                "check",
                "checks",
                "typecheck",
                "demo",
                "query",
                "profiler",
            ])
        })
}

/// A directive behind a question or a request to be told, that no clause cut found: ", then repair it".
fn later_order(clause: &Clause) -> bool {
    clause.tokens.windows(2).enumerate().any(|(at, pair)| {
        let [before, token] = pair else { return false };
        at > 1
            && clause.reading.verb.is_none_or(|verb| at + 1 > verb)
            && before.among(&["then", "please"])
            && token.verb.is_some_and(|verb| {
                verb.form == Form::Base
                    && verb.classes.any(Classes::CHANGE)
                    && (!verb.noun || crate::text::lexicon::within(nouns::NOUN_VERBS, &token.word))
            })
            && !clause
                .tokens
                .iter()
                .take(at)
                .any(|token| token.among(&["does", "did", "do", "will", "can"]))
    })
}
