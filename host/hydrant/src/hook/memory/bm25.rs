//! Which passages have to do with a query: BM25 with k1 = 1.2 and b = 0.75.

use std::collections::{BTreeMap, BTreeSet};

use super::Passage;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// English words that say nothing about a subject.
const STOP_WORDS: [&str; 127] = [
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "down", "each", "few", "for", "from", "get", "had", "has", "have", "having",
    "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "let", "make", "me", "more", "most", "my", "need", "no", "nor", "not", "now", "of", "off",
    "on", "once", "only", "or", "other", "our", "out", "over", "own", "please", "same", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "use",
    "very", "want", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "why", "will", "with", "would", "you", "your", "yours", "it's", "don't", "i'm", "can't",
    "let's", "that's", "what's", "there's", "won't",
];

/// The best passages, best first; of equal ones the earlier first. One counts only if it shares two words with the query
/// that are not stop words, or the one that the query has.
pub(super) fn best(passages: Vec<(String, String)>, query: &str, limit: usize) -> Vec<Passage> {
    let wanted: BTreeSet<String> = words(query)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .collect();
    let needed = wanted.len().min(2);
    if needed == 0 {
        return Vec::new();
    }
    let mut frequencies: BTreeMap<&str, f64> = BTreeMap::new();
    let mut counted = Vec::with_capacity(passages.len());
    let mut total_length = 0.0;
    for (source, text) in passages {
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        let mut length = 0.0;
        for word in words(&text) {
            length += 1.0;
            if let Some(word) = wanted.get(&word) {
                *counts.entry(word).or_default() += 1.0;
            }
        }
        for word in counts.keys() {
            *frequencies.entry(word).or_default() += 1.0;
        }
        total_length += length;
        counted.push((source, text, counts, length));
    }
    let number = f64::from(u32::try_from(counted.len()).unwrap_or(u32::MAX));
    let average = (total_length / number.max(1.0)).max(1.0);
    let mut found: Vec<Passage> = counted
        .into_iter()
        .filter(|(_, _, counts, _)| counts.len() >= needed)
        .map(|(source, text, counts, length)| {
            let score = counts
                .iter()
                .map(|(word, count)| {
                    let holding = frequencies.get(word).copied().unwrap_or_default();
                    let rarity = (1.0 + (number - holding + 0.5) / (holding + 0.5)).ln();
                    let weight = count + K1 * (1.0 - B + B * length / average);
                    rarity * count * (K1 + 1.0) / weight
                })
                .sum();
            Passage {
                text,
                source,
                score,
            }
        })
        .collect();
    // Stable: files are read in order of their names.
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(limit);
    found
}

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !(character.is_alphanumeric() || "'_".contains(character)))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(texts: &[&str], query: &str) -> Vec<String> {
        let passages = texts
            .iter()
            .map(|text| ("notes.md".to_owned(), (*text).to_owned()))
            .collect();
        let found = best(passages, query, 10);
        found.into_iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn the_passage_that_says_most_about_the_query_comes_first() {
        let texts = [
            "The cat sat on the mat.",
            "Memory server restarts lose the index.",
            "The memory server listens on port 8200. The memory server needs its key.",
            "Servers are rented by the hour and memory is cheap.",
        ];
        let found = find(&texts, "why does the memory server not return results");
        assert_eq!(found.first().map(String::as_str), Some(texts[2]));
        assert_eq!(found.get(1).map(String::as_str), Some(texts[1]));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn one_shared_word_is_too_few_unless_the_query_has_but_one() {
        let texts = ["The exporter writes relative paths.", "The weather."];
        assert!(find(&texts, "exporter crash").is_empty());
        assert_eq!(find(&texts, "the exporter"), [texts[0]]);
        assert_eq!(find(&texts, "exporter, paths!").len(), 1);
        // Stop words alone are no query.
        assert!(find(&texts, "what is the").is_empty());
        assert!(find(&[], "exporter paths").is_empty());
    }

    /// A word that is said twice counts once towards the two.
    #[test]
    fn the_shared_words_are_distinct() {
        assert!(find(&["exporter exporter"], "exporter paths").is_empty());
    }
}
