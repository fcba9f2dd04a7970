//! Trains the router's model and writes it: `cargo run --release -p prompt-hydrate --example train`.
//!
//! With `folds` it says instead how well the router does on prompts that it was not trained with (cross-validation), and with
//! `likeness` how well on examples of the packs, whose workflows the model does not know.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    unreachable_pub,
    reason = "a tool for developers"
)]

#[path = "mod.rs"]
mod training;

use prompt_hydrate::catalogue::{Catalogue, Workflow};
use prompt_hydrate::route::model::{Model, embedded};
use prompt_hydrate::route::{Explanation, Question, explain_by};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;

fn main() {
    let catalogue = Catalogue::embedded(&[]);
    match std::env::args().nth(1).as_deref() {
        Some("folds") => folds(&catalogue),
        Some("likeness") => likeness(),
        _ => {
            let bytes = training::trained(&catalogue).bytes();
            std::fs::write(
                concat!(env!("CARGO_MANIFEST_DIR"), "/src/route/model.bin"),
                &bytes,
            )
            .expect("written");
            println!("{} bytes", bytes.len());
        }
    }
}

fn routed(prompt: &str, workflow: &str, catalogue: &Catalogue, model: &Model) -> Explanation {
    let prompt = Prompt::read(prompt);
    let mut session = Facts::default();
    if workflow == "interactive-followup" {
        session.prompts.push("tidy the storage layer".to_owned());
        session.replies.push("Done.".to_owned());
    }
    let question = Question {
        prompt: &prompt,
        session: &session,
        catalogue,
        skills: None,
        workflow: None,
        slash_is_skill: true,
    };
    explain_by(&question, model).1
}

/// Counts of right, committed and all.
#[derive(Default)]
struct Tally {
    right: usize,
    committed: usize,
    precise: usize,
    all: usize,
    /// How often a total between two tenths is right, and how often there was one.
    tenths: [(usize, usize); 10],
}

impl Tally {
    fn add(&mut self, workflow: &str, why: &Explanation) {
        let good = why.workflow == workflow;
        self.all += 1;
        self.right += usize::from(good);
        self.committed += usize::from(!why.abstained);
        self.precise += usize::from(good && !why.abstained);
        let best = why
            .candidates
            .iter()
            .max_by(|one, other| one.total.total_cmp(&other.total));
        if let Some(best) = best.filter(|_| why.forced.is_none()) {
            let tenth = &mut self.tenths[((best.total * 10.0) as usize).min(9)];
            tenth.0 += usize::from(best.workflow == workflow);
            tenth.1 += 1;
        }
    }

    fn print(&self, name: &str) {
        let part = |some: usize, of: usize| 100.0 * some as f64 / of.max(1) as f64;
        println!(
            "{name}: {} prompts, accuracy {:.1}, precision {:.1}, coverage {:.1}; right by tenths of the total {:?}",
            self.all,
            part(self.right, self.all),
            part(self.precise, self.committed),
            part(self.committed, self.all),
            self.tenths
        );
    }
}

/// Five models, each without every fifth prompt, measured on just those.
fn folds(catalogue: &Catalogue) {
    const FOLDS: usize = 5;
    let classes = training::classes(catalogue);
    let material = training::material(catalogue, &classes);
    let mut tally = Tally::default();
    for fold in 0..FOLDS {
        let (held, kept): (Vec<_>, Vec<_>) = material
            .iter()
            .enumerate()
            .partition(|(at, _)| at % FOLDS == fold);
        let kept: Vec<training::Labelled> = kept
            .into_iter()
            .map(|(_, one)| training::Labelled {
                workflow: one.workflow.clone(),
                prompt: one.prompt.clone(),
                example: one.example,
            })
            .collect();
        let model = training::regression::train(&classes, &training::samples(&classes, &kept));
        for (_, one) in held.iter().filter(|(_, one)| !one.example) {
            tally.add(
                &one.workflow,
                &routed(&one.prompt, &one.workflow, catalogue, &model),
            );
        }
    }
    tally.print("folds");
}

/// Every example of the packs and of the default workflows, each left out of its own, without triggers: the first must be
/// found by likeness, the second must not be drawn to a pack.
fn likeness() {
    let mut catalogue = Catalogue::embedded(&["extended".to_owned()]);
    let known = training::classes(&Catalogue::embedded(&[]));
    for workflow in &mut catalogue.workflows {
        workflow.triggers.clear();
    }
    let (mut packs, mut own) = (Tally::default(), Tally::default());
    let workflows: Vec<Workflow> = catalogue.workflows.clone();
    for (place, workflow) in workflows.iter().enumerate() {
        if workflow.id == "direct-skill" {
            continue;
        }
        for (at, example) in workflow.examples.iter().enumerate() {
            catalogue.workflows[place].examples.remove(at);
            let why = routed(example, &workflow.id, &catalogue, embedded());
            let tally = if known.contains(&workflow.id) {
                &mut own
            } else {
                &mut packs
            };
            tally.add(&workflow.id, &why);
            catalogue.workflows[place]
                .examples
                .insert(at, example.clone());
        }
    }
    packs.print("packs");
    own.print("default");
}
