//! How like a prompt is to a workflow that the model was not trained with: its examples are its definition, beside its
//! triggers, its name and its description.
//!
//! Each text is a direction in the space of word stems, where a stem counts by how few of the catalogue's examples have it;
//! a workflow is the sum of its texts.

use std::collections::{BTreeMap, BTreeSet};

use super::model::exp;
use crate::catalogue::{Catalogue, Workflow};
use crate::cues::has_content;
use crate::text::token::{self, Kind, Token};

/// The likeness at which such a workflow is as probable as all that the model knows together, and how fast that grows.
/// Chosen so that few prompts are drawn away from the default workflows: `examples/train`, `likeness`.
const EVEN: f64 = 0.26;
const STEEP: f64 = 22.0;

/// How much more probable a likeness makes a workflow than all that the model knows together.
#[must_use]
pub fn odds(likeness: f64) -> f64 {
    exp(STEEP * (likeness - EVEN))
}

/// A direction in the space of word stems; its length is one, or nothing where there are no words.
type Direction = BTreeMap<String, f64>;

/// How rare each stem is among the examples of a catalogue.
#[derive(Debug, Clone)]
pub struct Rarity {
    examples: u32,
    with_stem: BTreeMap<String, u32>,
}

impl Rarity {
    /// Counts the stems of all examples.
    #[must_use]
    pub fn new(catalogue: &Catalogue) -> Self {
        let mut rarity = Self {
            examples: 0,
            with_stem: BTreeMap::new(),
        };
        let workflows = catalogue.workflows.iter();
        for example in workflows.flat_map(|workflow| &workflow.examples) {
            rarity.examples += 1;
            let stems: BTreeSet<String> = stems(&token::tokens(example)).collect();
            for stem in stems {
                *rarity.with_stem.entry(stem).or_default() += 1;
            }
        }
        rarity
    }

    /// Returns the likeness of a prompt's tokens to a workflow, 0 to 1.
    #[must_use]
    pub fn likeness(&self, prompt: &[Token], workflow: &Workflow) -> f64 {
        let name = format!("{} {}", workflow.id.replace('-', " "), workflow.title);
        let examples = workflow.examples.iter().map(String::as_str);
        let triggers = workflow.triggers.iter().map(String::as_str);
        let texts = examples
            .chain(triggers)
            .chain([&*name, &workflow.description]);
        let mut sum = Direction::new();
        for text in texts {
            for (stem, part) in self.direction(&token::tokens(text)) {
                *sum.entry(stem).or_default() += part;
            }
        }
        let sum = unit(sum);
        let prompt = self.direction(prompt);
        let common: Vec<f64> = prompt
            .iter()
            .filter_map(|(stem, part)| Some(part * sum.get(stem)?))
            .collect();
        let likeness: f64 = common.iter().sum();
        // One word of several says what a prompt is about, not what it wants.
        if common.len() == 1 && prompt.len() > 2 {
            likeness / 2.0
        } else {
            likeness
        }
    }

    fn direction(&self, tokens: &[Token]) -> Direction {
        let mut direction = Direction::new();
        for stem in stems(tokens) {
            let count = self.with_stem.get(&stem).copied().unwrap_or_default();
            // Whole bits: a logarithm is not the same on every platform.
            let bits = (2 * self.examples / (2 * count + 1)).checked_ilog2();
            direction.insert(stem, f64::from(bits.unwrap_or_default() + 1));
        }
        unit(direction)
    }
}

/// Returns a direction with the length one.
fn unit(mut direction: Direction) -> Direction {
    let length = direction
        .values()
        .map(|part| part * part)
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        direction.values_mut().for_each(|part| *part /= length);
    }
    direction
}

/// The words with content, without their endings.
fn stems(tokens: &[Token]) -> impl Iterator<Item = String> {
    let words = tokens
        .iter()
        .filter(|token| token.kind == Kind::Word && has_content(token));
    words.take(48).map(|token| {
        let word = token.word.as_str();
        let stem = ["ing", "ies", "ed", "es", "er", "s", "e"]
            .iter()
            .find_map(|ending| {
                word.strip_suffix(ending)
                    .filter(|stem| stem.chars().count() > 2)
            });
        stem.unwrap_or(word).chars().take(7).collect()
    })
}
