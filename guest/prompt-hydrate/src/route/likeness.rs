//! B: how like a prompt is to a workflow's triggers, examples and description, by BM25.
//!
//! Only words of the prompt are counted, so that a call reads the catalogue's texts once and builds no index.

use super::number::{float, ln};
use super::prefixes::Prefixes;
use crate::catalogue::Workflow;
use crate::text::Prompt;
use crate::text::token::Kind;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Most distinct words of a prompt that are counted.
const MOST_TERMS: usize = 64;

/// A word without its ending: cheap, as every word of the catalogue goes through it in every call.
#[must_use]
pub fn stem(word: &str) -> String {
    let lower: String = word
        .chars()
        .filter(|letter| letter.is_alphanumeric() || *letter == '_')
        .flat_map(char::to_lowercase)
        .collect();
    for ending in ["ing", "ies", "ied", "ed", "es", "s"] {
        if lower.chars().count() >= ending.len() + 4
            && let Some(stem) = lower.strip_suffix(ending)
        {
            return stem.trim_end_matches('e').to_owned();
        }
    }
    if lower.chars().count() > 4 {
        lower.trim_end_matches('e').to_owned()
    } else {
        lower
    }
}

/// A text of a workflow.
struct Document {
    /// Position of its workflow.
    workflow: usize,
    /// In words.
    length: usize,
    /// Terms of the prompt that it has, and how often.
    counts: Vec<(usize, u32)>,
}

/// What B says of each workflow, in their order: 0 to 1; `None` for one without texts.
#[must_use]
pub fn of(prompt: &Prompt, workflows: &[Workflow]) -> Vec<Option<f64>> {
    let mut terms: Vec<String> = prompt
        .tokens()
        .filter(|token| token.kind == Kind::Word && !token.text.is_empty())
        .take(400)
        .map(|token| stem(&token.word))
        .filter(|term| !term.is_empty())
        .collect();
    terms.sort();
    terms.dedup();
    terms.truncate(MOST_TERMS);

    let known = Prefixes::of(terms.iter().map(String::as_str));
    let mut documents: Vec<Document> = Vec::new();
    let mut having = vec![0_usize; terms.len()];
    let mut words = 0;
    for (at, workflow) in workflows.iter().enumerate() {
        let texts = workflow
            .triggers
            .iter()
            .chain(&workflow.examples)
            .chain(std::iter::once(&workflow.description));
        for text in texts.filter(|text| !text.is_empty()) {
            let mut length = 0;
            let mut counts: Vec<(usize, u32)> = Vec::new();
            for word in text.split_whitespace() {
                length += 1;
                if !known.may_have(word) {
                    continue;
                }
                let Ok(term) = terms.binary_search(&stem(word)) else {
                    continue;
                };
                match counts.iter_mut().find(|(known, _)| *known == term) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((term, 1)),
                }
            }
            for (term, _) in &counts {
                if let Some(count) = having.get_mut(*term) {
                    *count += 1;
                }
            }
            words += length;
            documents.push(Document {
                workflow: at,
                length,
                counts,
            });
        }
    }
    let total = float(documents.len());
    let average = float(words) / total.max(1.0);
    let weights: Vec<f64> = having
        .iter()
        .map(|count| ln(1.0 + (total - float(*count) + 0.5) / (float(*count) + 0.5)))
        .collect();
    let best_possible: f64 = weights.iter().sum::<f64>() * (K1 + 1.0);

    let mut best: Vec<Option<[f64; 3]>> = workflows.iter().map(|_| None).collect();
    for Document {
        workflow: at,
        length,
        counts,
    } in &documents
    {
        let Some(slot) = best.get_mut(*at) else {
            continue;
        };
        let slot = slot.get_or_insert([0.0; 3]);
        let normal = K1 * (1.0 - B + B * float(*length) / average.max(1.0));
        let score: f64 = counts
            .iter()
            .map(|(term, count)| {
                let count = f64::from(*count);
                weights.get(*term).copied().unwrap_or_default() * count * (K1 + 1.0)
                    / (count + normal)
            })
            .sum();
        // The three best texts of the workflow, best first.
        let mut score = score;
        for kept in slot.iter_mut() {
            if score > *kept {
                std::mem::swap(&mut score, kept);
            }
        }
    }
    best.into_iter()
        .map(|slot| {
            slot.map(|[first, second, third]| {
                if best_possible > 0.0 {
                    ((0.6 * first + 0.25 * second + 0.15 * third) / best_possible).clamp(0.0, 1.0)
                } else {
                    0.0
                }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_135_inflected_words_are_one_term() {
        assert_eq!(stem("Failing"), stem("fails"));
        assert_eq!(stem("caches"), stem("cache"));
        assert_eq!(stem("is"), "is");
    }
}
