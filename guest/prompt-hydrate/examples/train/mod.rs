//! Training of the planner's model: what is trained with, and how. Shared by the example and the test that trains
//! again.

pub mod grammar;
pub mod random;
pub mod regression;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::route::model::{self, Model};
use prompt_hydrate::signals::{Signal, Signals};
use prompt_hydrate::text::Prompt;

use self::grammar::Grammar;
use self::regression::{Sample, Settings};

/// Prompts drawn from the grammar for each workflow.
const DRAWN: usize = 300;
const SEED: u64 = 20_261_122;
/// What a prompt that somebody wrote counts, and one that was drawn.
const WRITTEN: f64 = 2.0;
const DRAWN_COUNTS: f64 = 0.5;
/// What one step of a signal's weight is worth in the logarithm of the odds; `signal_scale` of the thresholds.
const STEP: f64 = 0.5;

/// What is trained with beside the catalogue: `examples/catalog/training/`.
pub struct Sources {
    pub grammar: String,
    /// Workflow and its written prompts.
    pub prompts: Vec<(String, Vec<String>)>,
}

impl Sources {
    /// Reads them.
    pub fn read(classes: &[String]) -> Self {
        let root = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/catalog/training"
        );
        let grammar = std::fs::read_to_string(format!("{root}/grammar.txt")).unwrap_or_default();
        let prompts = classes
            .iter()
            .map(|class| {
                let text = std::fs::read_to_string(format!("{root}/prompts/{class}.txt"));
                let lines = text.unwrap_or_default();
                let lines = lines.lines().map(str::trim);
                let kept = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
                (
                    class.clone(),
                    kept.map(|line| line.replace("\\n", "\n")).collect(),
                )
            })
            .collect();
        Self { grammar, prompts }
    }
}

/// A prompt to train with.
pub struct Labelled {
    pub workflow: String,
    pub prompt: String,
    /// Written by somebody, rather than drawn from the grammar.
    pub written: bool,
    /// Number of the prompt or template within its workflow.
    pub source: usize,
}

/// The catalogue's examples and the written prompts, then the expansions of the grammar.
pub fn material(catalogue: &Catalogue, sources: &Sources) -> Vec<Labelled> {
    let examples = catalogue
        .workflows
        .iter()
        .map(|workflow| (workflow.id.clone(), workflow.examples.clone()));
    let mut material = Vec::new();
    for (workflow, prompts) in examples.chain(sources.prompts.iter().cloned()) {
        for (source, prompt) in prompts.into_iter().enumerate() {
            material.push(Labelled {
                workflow: workflow.clone(),
                prompt,
                written: true,
                source,
            });
        }
    }
    let drawn = Grammar::read(&sources.grammar).expand(DRAWN, SEED);
    material.extend(
        drawn
            .into_iter()
            .map(|(workflow, source, prompt)| Labelled {
                workflow,
                prompt,
                written: false,
                source,
            }),
    );
    material
}

/// The workflows in the order of the catalogue.
pub fn classes(catalogue: &Catalogue) -> Vec<String> {
    catalogue
        .workflows
        .iter()
        .map(|workflow| workflow.id.clone())
        .collect()
}

/// Features of each prompt.
pub fn samples(classes: &[String], material: &[Labelled]) -> Vec<Sample> {
    material
        .iter()
        .filter_map(|labelled| {
            let class = classes
                .iter()
                .position(|class| *class == labelled.workflow)?;
            let prompt = Prompt::read(&labelled.prompt);
            let features = model::features(&prompt, &Signals::read(&prompt));
            Some(Sample {
                class,
                features,
                weight: if labelled.written {
                    WRITTEN
                } else {
                    DRAWN_COUNTS
                },
            })
        })
        .collect()
}

/// Trains with everything.
pub fn trained(catalogue: &Catalogue) -> Model {
    let classes = classes(catalogue);
    let sources = Sources::read(&classes);
    let samples = samples(&classes, &material(catalogue, &sources));
    regression::train(&classes, &samples, &Settings::CHOSEN)
}

/// Weights of signals for the workflow files: a model of the signals alone, in whole steps of −5 to 5.
pub fn signal_weights(catalogue: &Catalogue) -> Vec<(String, Vec<(&'static str, i32)>)> {
    let classes = classes(catalogue);
    let sources = Sources::read(&classes);
    let first = model::FIRST_SIGNAL;
    let mut material = material(catalogue, &sources);
    material.retain(|labelled| labelled.written);
    let mut samples = samples(&classes, &material);
    for sample in &mut samples {
        sample.features.retain(|(feature, _)| *feature >= first);
        for (_, value) in &mut sample.features {
            *value = 1.0;
        }
    }
    let model = regression::train(&classes, &samples, &Settings::CHOSEN);
    let weight = |class: usize, place: usize| {
        let weights = model.weights_of(first + place as u32);
        let byte = weights.get(class).copied().unwrap_or_default();
        f64::from(byte.cast_signed()) * f64::from(model.scale)
    };
    classes
        .iter()
        .enumerate()
        .map(|(class, id)| {
            let weights = Signal::ALL.iter().enumerate().map(|(place, signal)| {
                let steps = (weight(class, place) / STEP).round().clamp(-5.0, 5.0);
                (signal.name(), steps as i32)
            });
            let weights = weights.filter(|(_, weight)| *weight != 0).collect();
            (id.clone(), weights)
        })
        .collect()
}
