//! Routes the prompts of a JSON Lines file (rows of Q-197) with the embedded catalogue and says how well:
//! `cargo run --release -p prompt-hydrate --example measure -- FILE [--wrong] [--explain]`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a tool for developers"
)]

use std::collections::BTreeMap;

use prompt_hydrate::catalogue::{Catalogue, Skill};
use prompt_hydrate::route::{self, Question};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;
use serde_json::Value;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a file");
    let flags: Vec<String> = arguments.collect();
    let flag = |name: &str| flags.iter().any(|flag| flag == name);
    let catalogue = Catalogue::embedded(&[]);
    let text = std::fs::read_to_string(file).expect("readable");
    let (mut rows, mut right, mut committed, mut committed_right, mut harm) = (0, 0, 0, 0, 0);
    let (mut unforced, mut tops) = (0, [0; 4]);
    let mut by: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let start = std::time::Instant::now();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).expect("JSON");
        if row["skip_hydration"] == true {
            continue;
        }
        let prompt_text = row["prompt"].as_str().expect("prompt");
        let prompt = Prompt::read(prompt_text);
        let turns: Vec<(String, String)> = row["session_context"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|turn| {
                (
                    turn["role"].as_str().unwrap_or_default().to_owned(),
                    turn["text"].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        let session = Facts {
            prompts: turns
                .iter()
                .filter(|(role, _)| role == "user")
                .map(|(_, text)| text.clone())
                .collect(),
            replies: turns
                .iter()
                .filter(|(role, _)| role != "user")
                .map(|(_, text)| text.clone())
                .collect(),
            ..Facts::default()
        };
        let skills: Option<Vec<Skill>> = row["skills"].as_array().map(|list| {
            list.iter()
                .map(|skill| Skill {
                    name: skill["name"].as_str().unwrap_or_default().to_owned(),
                    triggers: skill["triggers"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|text| text.as_str().map(str::to_owned))
                        .collect(),
                })
                .collect()
        });
        let question = Question {
            prompt: &prompt,
            session: &session,
            catalogue: &catalogue,
            skills: skills.as_deref(),
            workflow: None,
            slash_is_skill: true,
        };
        let (route, why) = route::explain(&question);
        let expected = row["expected"]
            .as_str()
            .or(row["primary"].as_str())
            .unwrap_or_default()
            .to_owned();
        let acceptable: Vec<String> = row["acceptable"].as_array().map_or_else(
            || vec![expected.clone()],
            |list| {
                list.iter()
                    .filter_map(|id| id.as_str().map(str::to_owned))
                    .collect()
            },
        );
        let good = acceptable.contains(&route.workflow);
        rows += 1;
        right += usize::from(good);
        committed += usize::from(!route.abstained);
        committed_right += usize::from(good && !route.abstained);
        if why.forced.is_none() {
            unforced += 1;
            for (place, pick) in [
                |c: &route::Candidate| c.r.unwrap_or(0.0),
                |c: &route::Candidate| c.b.unwrap_or(0.0),
                |c: &route::Candidate| c.m.unwrap_or(0.0),
                |c: &route::Candidate| c.total,
            ]
            .iter()
            .enumerate()
            {
                let best = why
                    .candidates
                    .iter()
                    .max_by(|one, other| pick(one).total_cmp(&pick(other)));
                tops[place] +=
                    usize::from(best.is_some_and(|best| acceptable.contains(&best.workflow)));
            }
        }
        let harmful = row["mutating"] == true && route.workflow == "simple-question";
        harm += usize::from(harmful);
        let counts = by.entry(expected.clone()).or_default();
        counts.0 += 1;
        counts.1 += usize::from(good);
        counts.2 += usize::from(!route.abstained);
        if flag("--wrong") && !good || harmful {
            let scores: Vec<String> = why
                .candidates
                .iter()
                .filter(|candidate| candidate.total > 0.12)
                .map(|candidate| {
                    format!(
                        "{} {:.2}={:.2}/{:.2}/{:.2}",
                        candidate.workflow,
                        candidate.total,
                        candidate.r.unwrap_or(-1.0),
                        candidate.b.unwrap_or(-1.0),
                        candidate.m.unwrap_or(-1.0)
                    )
                })
                .collect();
            let signals: Vec<&str> = why.signals.iter().map(|fired| fired.signal).collect();
            println!(
                "{} {:?}\n   want {:?} got {}{} [{}] {}\n   {} {}\n   {}",
                row["id"].as_str().unwrap_or_default(),
                prompt_text.chars().take(200).collect::<String>(),
                acceptable,
                route.workflow,
                if route.abstained { " (abstained)" } else { "" },
                why.decision,
                why.forced.clone().unwrap_or_default(),
                signals.join(" "),
                why.mutating
                    .as_deref()
                    .map_or(String::new(), |words| format!("MUTATING {words:?}")),
                scores.join("  ")
            );
        }
    }
    let percent = |part: usize, all: usize| {
        100.0 * f64::from(u32::try_from(part).unwrap_or(0))
            / f64::from(u32::try_from(all.max(1)).unwrap_or(1))
    };
    for (id, (all, good, sure)) in &by {
        println!("{id:22} {good:3}/{all:3} right, committed {sure:3}");
    }
    println!(
        "of {unforced} scored: top of R {} B {} M {} total {}",
        tops[0], tops[1], tops[2], tops[3]
    );
    println!(
        "n {rows} accuracy {:.1} precision {:.1} coverage {:.1} harm {harm}; {:?} a prompt",
        percent(right, rows),
        percent(committed_right, committed),
        percent(committed, rows),
        start.elapsed() / u32::try_from(rows.max(1)).unwrap_or(1)
    );
}
