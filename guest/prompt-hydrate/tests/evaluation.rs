//! What holds of the evaluation sets in the repository: no leak into training, no change taken for a question
//!, and the goal where it may be tuned.
#![allow(
    missing_docs,
    dead_code,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::as_conversions,
    unreachable_pub,
    reason = "a test that shares the trainer's code"
)]

mod support;

#[path = "../examples/train/mod.rs"]
mod training;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use prompt_hydrate::catalogue::Catalogue;
use serde_json::{Value, json};
use support::good;
use training::{classes, material};

/// Words in a row that no training text may share with a prompt.
const RUN: usize = 8;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every evaluation file in the repository: lines of JSON with a prompt.
fn evaluation_files() -> Vec<PathBuf> {
    let mut open = vec![fixtures()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Lower case, words alone.
fn words(text: &str) -> Vec<String> {
    text.replace('\u{2019}', "'")
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// What a prompt shares with training texts: all of it, or a run of words.
struct Leaks {
    whole: BTreeMap<String, String>,
    runs: BTreeSet<String>,
}

impl Leaks {
    fn of(texts: impl IntoIterator<Item = String>) -> Self {
        let mut leaks = Self {
            whole: BTreeMap::new(),
            runs: BTreeSet::new(),
        };
        for text in texts {
            let words = words(&text);
            leaks
                .runs
                .extend(words.windows(RUN).map(|run| run.join(" ")));
            leaks.whole.insert(words.join(" "), text);
        }
        leaks
    }

    fn found(&self, prompt: &str) -> Option<String> {
        let words = words(prompt);
        if let Some(text) = self.whole.get(&words.join(" ")) {
            return Some(text.clone());
        }
        let runs = words.windows(RUN).map(|run| run.join(" "));
        runs.into_iter().find(|run| self.runs.contains(run))
    }
}

/// Everything the model is trained with: examples and training prompts.
fn trained_with() -> Vec<String> {
    let catalogue = Catalogue::embedded(&[]);
    let material = material(&catalogue, &classes(&catalogue));
    assert!(material.len() > 10_000);
    material.into_iter().map(|one| one.prompt).collect()
}

/// "yes please", "no": answers of so few words are everybody's, decided by rule and not by what was trained.
const COMMON: usize = 2;

#[test]
fn no_evaluation_prompt_is_trained_with() {
    let leaks = Leaks::of(trained_with());
    let files = evaluation_files();
    assert!(files.len() >= 2, "{files:?}");
    for path in files {
        let rows = rows(&path);
        assert!(rows.len() >= 120, "{}", path.display());
        for row in rows {
            let prompt = row["prompt"].as_str().unwrap();
            let said = words(prompt).len();
            if let Some(leak) = leaks.found(prompt).filter(|_| said > COMMON) {
                panic!("{} {}: {leak:?}", path.display(), row["id"]);
            }
        }
    }
}

#[test]
fn a_leak_is_found_in_other_dress() {
    let leaks = Leaks::of([
        "Shorten the tooltip!".to_owned(),
        "please move all of the nightly jobs over to timers".to_owned(),
    ]);
    assert!(leaks.found("shorten  the\ntooltip").is_some());
    assert!(
        leaks
            .found("so: move all of the nightly jobs over to that")
            .is_some()
    );
    assert!(
        leaks
            .found("move all of the nightly jobs over there")
            .is_none()
    );
}

/// What the development set's rows for the planner are routed to; skip rows are the hook's.
fn development() -> Vec<(Value, Value)> {
    let rows = rows(&fixtures().join("prompts/development.jsonl"));
    rows.into_iter()
        .filter(|row| row["skip_hydration"] != true)
        .map(|row| {
            let mut asked = json!({"prompt": row["prompt"]});
            for (member, value) in [
                ("turns", &row["session_context"]),
                ("skills", &row["skills"]),
            ] {
                if value.is_array() {
                    asked[member] = value.clone();
                }
            }
            let mut response = good("route", asked);
            (row, response["explain"].take())
        })
        .collect()
}

/// In the set that may be looked at; in any other `examples/eval.py` counts them.
#[test]
fn no_change_of_the_development_set_is_taken_for_a_question() {
    let routed = development();
    let changes = routed.iter().filter(|(row, _)| row["mutating"] == true);
    assert!(changes.clone().count() > 100);
    let wrong: Vec<_> = changes
        .filter(|(_, route)| route["workflow"] == "simple-question")
        .map(|(row, _)| row["id"].to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The goal is about prompts that no developer has seen, and `examples/eval.py` measures it. What does not reach it where it may
/// be tuned does not reach it anywhere; this is no evidence of more.
#[test]
fn the_goal_is_reached_at_least_where_it_may_be_tuned() {
    let (mut counted, mut right, mut committed, mut precise) = (0_u32, 0_u32, 0_u32, 0_u32);
    for (row, route) in development() {
        let acceptable = row["acceptable"].as_array().unwrap();
        let is_right = acceptable.contains(&route["workflow"]);
        let is_committed = route["abstained"] == false;
        counted += 1;
        right += u32::from(is_right);
        committed += u32::from(is_committed);
        precise += u32::from(is_right && is_committed);
    }
    assert!(counted > 250, "{counted}");
    let (accuracy, precision) = (
        f64::from(right) / f64::from(counted),
        f64::from(precise) / f64::from(committed),
    );
    assert!(accuracy >= 0.90, "{right} of {counted}");
    assert!(precision >= 0.95, "{precise} of {committed}");
}
