//! The vocabulary of signals: that each is there, can hold and says why (Q-122), and that none knows a prompt (Q-123).
#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub,
    reason = "tests"
)]

mod routing;

use std::collections::BTreeSet;
use std::path::Path;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::session::Facts;
use prompt_hydrate::signals::Signal;
use routing::{names, routed, signals_of};

/// The signals of Q-122, each with a prompt in which it holds.
const VOCABULARY: [(&str, &str); 48] = [
    ("imperative", "rename the flag"),
    ("interrogative", "what does the flag do?"),
    ("yes_no", "does the flag work?"),
    ("polite_request", "could you please rename the flag?"),
    ("wish", "I'd like the header to be blue"),
    ("statement", "the worker dies after a while"),
    ("info_request", "explain how the cache works"),
    ("how_to", "how do I evict a stale lease?"),
    ("why_question", "why do we use a queue here?"),
    ("v_edit", "shorten the tooltip"),
    ("v_build", "implement a dark theme"),
    ("v_remove", "delete the old index"),
    ("v_move", "rename getUser to loadUser"),
    ("v_investigate", "investigate the timeouts"),
    ("v_verify", "make sure the export works"),
    ("v_review", "review the pull request"),
    ("v_design", "design the quota model"),
    ("v_plan", "prioritise the backlog"),
    ("v_test", "write tests for the parser"),
    ("v_migrate", "replace webpack with vite"),
    ("v_run", "deploy the site"),
    ("v_read", "find the retry code"),
    ("symptom", "the worker crashes"),
    ("error_report", "fix the type error in parser.py"),
    (
        "error_text",
        "look:\n```\nerror[E0433]: failed to resolve\n```",
    ),
    ("regression", "the export broke since the last release"),
    ("incident_time", "the worker crashed last night"),
    ("small_object", "shorten the tooltip"),
    ("named_place", "look at src/parser.rs"),
    ("quantifier_plural", "rename every file under out/"),
    ("item_count", "stamp the 63 manifests"),
    ("goal_noun", "I want to launch a product"),
    ("long_horizon", "get it certified within eighteen months"),
    (
        "unknown_path",
        "we have no idea where to start with the migration",
    ),
    ("whole_system", "rewrite the whole system"),
    (
        "corrective_constraint",
        "make sure the export never writes nulls",
    ),
    ("requirement_clause", "add an export. it should write csv"),
    (
        "second_intent",
        "raise the cap to 40 MB; then tell me which services read it",
    ),
    (
        "no_change",
        "look at the retry code, but do not edit anything",
    ),
    ("plan_first", "plan first: move the jobs"),
    ("vague", "blorp"),
    ("continuation", "also in the footer"),
    ("confirmation", "yes"),
    ("refusal", "no thanks"),
    ("choice", "the second one"),
    ("anaphora", "rename it"),
    ("fragment", "dark mode for the settings page"),
    ("paste_only", "```\nerror[E0433]: failed to resolve\n```"),
];

#[test]
fn q_122_every_signal_of_the_vocabulary_has_its_name_and_can_hold() {
    for (name, prompt) in VOCABULARY {
        let signal = Signal::parse(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(signal.name(), name);
        let signals = signals_of(prompt);
        assert!(
            signals.has(signal),
            "{name}: {prompt}: {:?}",
            names(&signals)
        );
    }
    // None is left out here, and none always holds.
    let known: BTreeSet<_> = VOCABULARY.iter().map(|(name, _)| *name).collect();
    let all: BTreeSet<_> = Signal::ALL.iter().map(|signal| signal.name()).collect();
    assert_eq!(known, all);
    for signal in Signal::ALL {
        let free = VOCABULARY
            .iter()
            .any(|(_, prompt)| !signals_of(prompt).has(*signal));
        assert!(free, "{}", signal.name());
    }
}

#[test]
fn q_122_the_explanation_prints_each_signal_with_the_words_that_caused_it() {
    for (name, prompt) in VOCABULARY {
        let catalogue = Catalogue::embedded(&[]);
        let (_, why) = routed(prompt, &Facts::default(), None, &catalogue);
        let fired = why.signals.iter().find(|fired| fired.signal == name);
        let fired = fired.unwrap_or_else(|| panic!("{name}: {prompt}"));
        let named = matches!(name, "vague" | "paste_only" | "fragment" | "statement");
        assert!(!fired.words.trim().is_empty() || named, "{name}: {fired:?}");
    }
}

/// Q-123: other nouns in the same sentence, the same reading.
#[test]
fn q_123_sentences_that_differ_in_invented_nouns_are_read_alike() {
    for form in [
        "rename the {} to {}",
        "why does the {} crash when the {} is empty?",
        "could you explain how the {} talks to the {}?",
        "make sure the {} never drops a {}",
        "delete every {} and then tell me about the {}",
        "I'd like the {} to have a {}",
        "how do I connect a {} to the {}?",
        "the {} dies whenever the {} restarts",
        "write a failing test for the {}, then fix the {}",
    ] {
        let said = |one: &str, other: &str| {
            let prompt = form.replacen("{}", one, 1).replacen("{}", other, 1);
            let signals = signals_of(&prompt);
            (names(&signals), signals.mutating())
        };
        let first = said("frobnicator", "quuxel");
        for (one, other) in [
            ("wibblet", "zorgon"),
            ("blarvik", "snurfel"),
            ("quuxel", "frobnicator"),
        ] {
            assert_eq!(said(one, other), first, "{form}: {one}, {other}");
        }
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Words that a rule about English may have in common with a prompt by chance.
const RUN: usize = 6;

/// Q-123: no rule is made of the words of a prompt that measures it.
#[test]
fn q_123_no_source_of_the_reading_quotes_a_prompt_of_an_evaluation_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for part in ["text", "signals", "route"] {
        sources(&root.join("src").join(part), &mut texts);
    }
    assert!(texts.len() > 20);
    let mut runs = BTreeSet::new();
    for text in &texts {
        let words = words(text);
        runs.extend(words.windows(RUN).map(|run| run.join(" ")));
    }
    let mut prompts = 0;
    for set in ["development.jsonl", "held-out.jsonl"] {
        let path = root.join("../../tests/fixtures/prompts").join(set);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let words = words(row["prompt"].as_str().unwrap());
            for run in words.windows(RUN) {
                let run = run.join(" ");
                assert!(!runs.contains(&run), "{set} {}: {run:?}", row["id"]);
            }
            prompts += 1;
        }
    }
    assert!(prompts > 900, "{prompts}");
}
