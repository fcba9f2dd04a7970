//! Trains the planner's model and writes it: `cargo run --release -p prompt-hydrate --example train`.
//! With `signals` it prints weights of signals for the workflow files.
//! With `writers FILE` it says how well models do on prompts of a writer whom they were not trained with.
//! With `folds` it says instead how well models do on examples they were not trained with (cross-validation).
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    unreachable_pub,
    reason = "a tool for developers"
)]

#[path = "mod.rs"]
mod training;
mod writers;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::route::model::Model;
use prompt_hydrate::route::thresholds::Thresholds;
use prompt_hydrate::route::{Candidate, Judge, Question, explain_by};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;
use training::regression::{Sample, Settings};

fn main() {
    let catalogue = Catalogue::embedded(&[]);
    if std::env::args().nth(1).as_deref() == Some("signals") {
        for (id, weights) in training::signal_weights(&catalogue) {
            println!("{id}");
            for (signal, weight) in weights {
                println!("  {signal}: {weight}");
            }
        }
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("folds") {
        folds(&catalogue);
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("writers") {
        writers::measure(&catalogue, &std::env::args().nth(2).expect("a file"));
        return;
    }
    let model = training::trained(&catalogue);
    let bytes = model.bytes();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/route/model.bin");
    std::fs::write(path, &bytes).expect("written");
    println!(
        "{} classes, {} bytes, scale {}",
        model.classes.len(),
        bytes.len(),
        model.scale
    );
}

/// Five models, each without a fifth of the prompts and of the templates: how well the whole planner does, with each of
/// them, on the written prompts that it was not trained with. The catalogue's own examples are left out, as B knows them.
/// Then the same for other thresholds.
fn folds(catalogue: &Catalogue) {
    const FOLDS: usize = 5;
    let classes = training::classes(catalogue);
    let sources = training::Sources::read(&classes);
    let material = training::material(catalogue, &sources);
    let samples = training::samples(&classes, &material);
    let examples: usize = catalogue
        .workflows
        .iter()
        .map(|workflow| workflow.examples.len())
        .sum();
    let models: Vec<Model> = (0..FOLDS)
        .map(|fold| {
            let kept: Vec<Sample> = samples
                .iter()
                .zip(&material)
                .filter(|(_, labelled)| labelled.source % FOLDS != fold)
                .map(|(sample, _)| sample.clone())
                .collect();
            training::regression::train(&classes, &kept, &Settings::CHOSEN)
        })
        .collect();
    let held: Vec<_> = material
        .iter()
        .skip(examples)
        .filter(|labelled| labelled.written)
        .collect();
    let measure = |thresholds: Thresholds, wrong: bool| {
        let (mut right, mut committed, mut precise) = (0, 0, 0);
        let (mut scored, mut tops) = (0, [0; 4]);
        // How often a total between two tenths is right: the table of the thresholds file.
        let mut tenths = [(0, 0); 10];
        for labelled in &held {
            let prompt = Prompt::read(&labelled.prompt);
            let question = Question {
                prompt: &prompt,
                session: &Facts::default(),
                catalogue,
                skills: None,
                workflow: None,
                slash_is_skill: true,
            };
            let judge = Judge {
                model: &models[labelled.source % FOLDS],
                thresholds,
            };
            let (route, why) = explain_by(&question, &judge);
            let good = route.workflow == labelled.workflow;
            right += usize::from(good);
            committed += usize::from(!route.abstained);
            if why.forced.is_none() {
                scored += 1;
                let best = why
                    .candidates
                    .iter()
                    .max_by(|one, other| one.total.total_cmp(&other.total));
                if let Some(best) = best {
                    let tenth = &mut tenths[((best.total * 10.0) as usize).min(9)];
                    tenth.0 += 1;
                    tenth.1 += usize::from(best.workflow == labelled.workflow);
                }
                let picks: [fn(&Candidate) -> Option<f64>; 4] =
                    [|one| one.r, |one| one.b, |one| one.m, |one| Some(one.total)];
                for (top, pick) in tops.iter_mut().zip(picks) {
                    let best = why.candidates.iter().max_by(|one, other| {
                        pick(one)
                            .unwrap_or(0.0)
                            .total_cmp(&pick(other).unwrap_or(0.0))
                    });
                    *top +=
                        usize::from(best.is_some_and(|best| best.workflow == labelled.workflow));
                }
            }
            precise += usize::from(good && !route.abstained);
            if wrong && !good {
                let signals: Vec<&str> = why.signals.iter().map(|fired| fired.signal).collect();
                let sure = if route.abstained { " (abstained)" } else { "" };
                println!(
                    "{} | {}{sure} | {} | {} | {}",
                    labelled.workflow,
                    route.workflow,
                    why.forced.unwrap_or_default(),
                    labelled.prompt,
                    signals.join(" ")
                );
            }
        }
        println!("right and all by tenths of the total: {tenths:?}");
        let part = |some: usize, of: usize| 100.0 * some as f64 / of.max(1) as f64;
        println!(
            "of {scored} scored the top is right: R {} B {} M {} total {}",
            tops[0], tops[1], tops[2], tops[3]
        );
        println!(
            "{:?}: n {} accuracy {:.1} precision {:.1} coverage {:.1}",
            thresholds
                .named()
                .iter()
                .map(|(_, value)| *value)
                .collect::<Vec<_>>(),
            held.len(),
            part(right, held.len()),
            part(precise, committed),
            part(committed, held.len())
        );
    };
    let now = Thresholds::embedded();
    measure(now, true);
    for thresholds in [
        Thresholds {
            weight_r: 0.15,
            weight_b: 0.10,
            weight_m: 0.75,
            ..now
        },
        Thresholds {
            weight_r: 0.35,
            weight_b: 0.10,
            weight_m: 0.55,
            ..now
        },
        Thresholds {
            weight_r: 0.25,
            weight_b: 0.20,
            weight_m: 0.55,
            ..now
        },
        Thresholds {
            signal_scale: 0.35,
            ..now
        },
        Thresholds {
            theta_agree: 0.30,
            ..now
        },
        Thresholds {
            theta_alone: 0.30,
            tau: 0.05,
            ..now
        },
        Thresholds {
            theta_alone: 0.30,
            tau: 0.15,
            ..now
        },
        Thresholds {
            theta_agree: 0.15,
            theta_alone: 0.30,
            tau: 0.10,
            ..now
        },
    ] {
        measure(thresholds, false);
    }
}
