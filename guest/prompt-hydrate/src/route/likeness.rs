//! How like a prompt is to a workflow that the model was not trained with: its triggers, examples and description are its
//! definition.

use super::features::{self, Feature};
use crate::catalogue::Workflow;
use crate::cues::has_content;
use crate::text::Prompt;
use crate::text::token;

/// The likeness at which such a workflow is as probable as all that the model knows together, and how fast that grows.
/// Chosen so that few prompts are drawn away from the default workflows: `examples/train`, `likeness`.
const EVEN: f64 = 0.26;
const STEEP: f64 = 22.0;

/// How much more probable a likeness makes a workflow than all that the model knows together.
#[must_use]
pub fn odds(likeness: f64) -> f64 {
    super::model::exp(STEEP * (likeness - EVEN))
}

/// The likeness of a prompt to the nearest texts of a workflow, 0 to 1.
#[must_use]
pub fn of(prompt: &Prompt, workflow: &Workflow) -> f64 {
    let own = content(&prompt.main);
    let mut best = [0.0_f64; 2];
    let triggers = workflow
        .triggers
        .iter()
        .map(|trigger| trigger.trim_start_matches('^'));
    let texts = triggers
        .chain(workflow.examples.iter().map(String::as_str))
        .chain([workflow.description.as_str()]);
    for text in texts {
        let likeness = cosine(&own, &content(text));
        let [first, second] = best;
        best = [first.max(likeness), second.max(likeness.min(first))];
    }
    0.8 * best[0] + 0.2 * best[1]
}

/// The features of the words with content.
fn content(text: &str) -> Vec<Feature> {
    let tokens = token::tokens(text);
    let words: Vec<&str> = tokens
        .iter()
        .filter(|token| has_content(token))
        .map(|token| token.word.as_str())
        .take(48)
        .collect();
    if words.is_empty() {
        Vec::new()
    } else {
        features::of_words(&words, &[])
    }
}

/// The cosine of the angle between two lists that ascend by number; both groups have length one.
fn cosine(one: &[Feature], other: &[Feature]) -> f64 {
    let mut sum = 0.0;
    let mut rest = other.iter().peekable();
    for (number, value) in one {
        while rest.next_if(|(known, _)| known < number).is_some() {}
        if let Some((_, known)) = rest.next_if(|(known, _)| known == number) {
            sum += value * known;
        }
    }
    sum / 2.0
}
