//! Routes the prompts of a JSON Lines file with the embedded catalogue and says how well:
//! `cargo run --release -p prompt-hydrate --example measure -- FILE [--wrong]`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a tool for developers"
)]

use prompt_hydrate::catalogue::{Catalogue, Skill};
use prompt_hydrate::route::{Explanation, Question, explain};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;
use serde_json::Value;

fn main() {
    let file = std::env::args().nth(1).expect("a file");
    let shows_wrong = std::env::args().nth(2).as_deref() == Some("--wrong");
    let catalogue = Catalogue::embedded(&[]);
    let text = std::fs::read_to_string(file).expect("readable");
    let (mut rows, mut right, mut committed, mut precise, mut harm) = (0, 0, 0, 0, 0);
    let start = std::time::Instant::now();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).expect("JSON");
        if row["skip_hydration"] == true {
            continue;
        }
        let why = route(&row, &catalogue);
        let expected = list(&row["acceptable"]);
        let good = expected.contains(&why.workflow);
        let harmful = row["mutating"] == true && why.workflow == "simple-question";
        rows += 1;
        right += usize::from(good);
        committed += usize::from(!why.abstained);
        precise += usize::from(good && !why.abstained);
        harm += usize::from(harmful);
        if shows_wrong && !good || harmful {
            show(&row, &expected, &why);
        }
    }
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    println!(
        "n {rows} accuracy {:.1} precision {:.1} coverage {:.1} harm {harm}; {:?} a prompt",
        percent(right, rows),
        percent(precise, committed),
        percent(committed, rows),
        start.elapsed() / rows.max(1) as u32
    );
}

fn list(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

fn route(row: &Value, catalogue: &Catalogue) -> Explanation {
    let prompt = Prompt::read(row["prompt"].as_str().expect("a prompt"));
    let turns = |role: &str| -> Vec<String> {
        let turns = row["session_context"].as_array().into_iter().flatten();
        turns
            .filter(|turn| turn["role"] == role)
            .filter_map(|turn| turn["text"].as_str().map(str::to_owned))
            .collect()
    };
    let session = Facts {
        prompts: turns("user"),
        replies: turns("assistant"),
        ..Facts::default()
    };
    let skills: Option<Vec<Skill>> = row["skills"].as_array().map(|skills| {
        let skill = |skill: &Value| Skill {
            name: skill["name"].as_str().unwrap_or_default().to_owned(),
            triggers: list(&skill["triggers"]),
        };
        skills.iter().map(skill).collect()
    });
    let question = Question {
        prompt: &prompt,
        session: &session,
        catalogue,
        skills: skills.as_deref(),
        workflow: None,
        slash_is_skill: true,
    };
    explain(&question).1
}

fn show(row: &Value, expected: &[String], why: &Explanation) {
    let cues: Vec<&str> = why.signals.iter().map(|fired| fired.signal).collect();
    let scores: Vec<String> = why
        .candidates
        .iter()
        .filter(|candidate| candidate.total > 0.12)
        .map(|candidate| format!("{} {:.2}", candidate.workflow, candidate.total))
        .collect();
    println!(
        "{} {:?}\n   want {expected:?} got {} ({}{}) {}\n   {}",
        row["id"],
        row["prompt"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect::<String>(),
        why.workflow,
        why.decision,
        why.forced
            .as_ref()
            .map_or(String::new(), |reason| format!(": {reason}")),
        cues.join(" "),
        scores.join("  ")
    );
}
