//! What the model is trained with, and how. Shared by the example and the tests.

pub mod regression;

use prompt_hydrate::catalogue::Catalogue;
use prompt_hydrate::cues::Cues;
use prompt_hydrate::route::features;
use prompt_hydrate::route::model::Model;
use prompt_hydrate::text::Prompt;

use self::regression::Sample;

/// A prompt to train with.
pub struct Labelled {
    pub workflow: String,
    pub prompt: String,
    /// Whether it is an example of the catalogue, which `catalog check` wants routed to its own workflow.
    pub example: bool,
}

/// The workflows that are trained: all but `direct-skill`, which needs the name of a skill.
pub fn classes(catalogue: &Catalogue) -> Vec<String> {
    let ids = catalogue
        .workflows
        .iter()
        .map(|workflow| workflow.id.clone());
    ids.filter(|id| id != "direct-skill").collect()
}

/// The catalogue's examples and the prompts of `examples/catalog/training/prompts`.
pub fn material(catalogue: &Catalogue, classes: &[String]) -> Vec<Labelled> {
    let mut material = Vec::new();
    for class in classes {
        let mut add = |prompt: &str, example| {
            material.push(Labelled {
                workflow: class.clone(),
                prompt: prompt.to_owned(),
                example,
            });
        };
        for prompt in catalogue
            .get(class)
            .map_or(&[][..], |workflow| &workflow.examples)
        {
            add(prompt, true);
        }
        let root = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/catalog/training/prompts"
        );
        let text = std::fs::read_to_string(format!("{root}/{class}.txt")).unwrap_or_default();
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            add(&line.replace("\\n", "\n"), false);
        }
    }
    material
}

/// The features of each prompt. An example of the catalogue counts three times, and the few prompts of a small class so often
/// that it weighs a third of the largest.
pub fn samples(classes: &[String], material: &[Labelled]) -> Vec<Sample> {
    let size = |class: &str| {
        material
            .iter()
            .filter(|one| one.workflow == class)
            .count()
            .max(1)
    };
    let sizes: Vec<usize> = classes.iter().map(|class| size(class)).collect();
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let mut samples = Vec::new();
    for labelled in material {
        let Some(class) = classes.iter().position(|class| *class == labelled.workflow) else {
            continue;
        };
        let prompt = Prompt::read(&labelled.prompt);
        let features = features::of_prompt(&prompt, &Cues::read(&prompt));
        let times = (largest / (3 * sizes[class])).max(if labelled.example { 3 } else { 1 });
        samples.extend(std::iter::repeat_n(Sample { class, features }, times));
    }
    samples
}

/// The model of all prompts.
pub fn trained(catalogue: &Catalogue) -> Model {
    let classes = classes(catalogue);
    regression::train(&classes, &samples(&classes, &material(catalogue, &classes)))
}
