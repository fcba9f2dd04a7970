//! What the model and likeness see of a prompt: hashed word 1-2-grams, character 4-5-grams, and the cues.

use crate::cues::{Cue, Cues, skip_openers};
use crate::text::Prompt;
use crate::text::token::{Kind, Stop, Token};

/// A hashed feature and its value.
pub type Feature = (u32, f64);

/// Bits of a feature's number within its group.
const BITS: u32 = 19;
/// Where the groups (words, characters, cues) start, and where the last one ends.
pub const GROUPS: [u32; 4] = [0, 1 << BITS, 2 << BITS, 3 << BITS];
/// The value of a cue; the features of the other groups have length one together.
const CUE: f64 = 0.35;

/// How many tokens of the start and the end of a prompt are read.
const FIRST_TOKENS: usize = 48;
const LAST_TOKENS: usize = 24;
/// How many characters are read.
const MOST_CHARS: usize = 320;

/// The features of a prompt, ascending by number within each group.
#[must_use]
pub fn of_prompt(prompt: &Prompt, cues: &Cues) -> Vec<Feature> {
    let tokens: Vec<&Token> = ends(&prompt.tokens).collect();
    let mut words: Vec<&str> = Vec::new();
    for token in &tokens {
        words.push(mark_or_word(token));
        if token.stop >= Stop::Exclamation {
            words.push(if token.stop == Stop::Question {
                "?"
            } else {
                "!"
            });
        }
    }
    let mut features = of_words(&words, &openings(&prompt.tokens));
    let mut on: Vec<String> = cues.iter().map(|(cue, _)| cue.name().to_owned()).collect();
    on.extend(
        prompt
            .pasted
            .iter()
            .map(|(kind, _)| format!("pasted {kind}")),
    );
    on.push(format!(
        "length {}",
        prompt.tokens.len().next_power_of_two().min(128)
    ));
    if cues.has(Cue::Change) && cues.has(Cue::Interrogative) {
        on.push("change and question".to_owned());
    }
    group(
        &mut features,
        GROUPS[2],
        on.iter().map(|name| hash(b'q', &[name])),
        Some(CUE),
    );
    features
}

/// The features of words alone.
fn of_words(words: &[&str], openings: &[String]) -> Vec<Feature> {
    let mut features = Vec::new();
    let starts = std::iter::once("^").chain(words.iter().copied());
    let ends = words.iter().copied().chain(std::iter::once("$"));
    let pairs = starts
        .zip(ends)
        .map(|(one, other)| hash(b'p', &[one, other]));
    let single = words.iter().map(|word| hash(b'w', &[word]));
    let opened = openings.iter().map(|word| hash(b'o', &[word]));
    group(
        &mut features,
        GROUPS[0],
        single.chain(pairs).chain(opened),
        None,
    );
    let text: Vec<char> = format!(" {} ", words.join(" "))
        .chars()
        .take(MOST_CHARS)
        .collect();
    let grams = (4..=5_usize).flat_map(|length| {
        text.windows(length).map(|gram| {
            let mut buffer = [0; 4];
            gram.iter().fold(start(b'c'), |hash, letter| {
                add(hash, letter.encode_utf8(&mut buffer).as_bytes())
            })
        })
    });
    group(&mut features, GROUPS[1], grams.map(finish), None);
    features
}

/// The first and the last tokens.
fn ends(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    let last = tokens.len().saturating_sub(LAST_TOKENS).max(FIRST_TOKENS);
    tokens
        .iter()
        .take(FIRST_TOKENS)
        .chain(tokens.iter().skip(last))
}

/// The word that each sentence begins with, behind its openers, and the first three.
fn openings(tokens: &[Token]) -> Vec<String> {
    let mut openings = Vec::new();
    for sentence in tokens
        .split_inclusive(|token| token.stop >= Stop::Colon)
        .take(12)
    {
        let words = sentence
            .iter()
            .skip(skip_openers(sentence, 0..sentence.len()))
            .map(mark_or_word);
        let first: Vec<&str> = words.take(3).collect();
        openings.extend(first.first().map(|word| (*word).to_owned()));
        openings.push(first.join(" "));
    }
    openings
}

/// The word, or a mark for what only has a name.
fn mark_or_word(token: &Token) -> &str {
    match token.kind {
        Kind::Word => &token.word,
        Kind::Number => "#",
        Kind::Quoted => "\"",
        Kind::Path => "/",
        Kind::Url => ":",
        Kind::Identifier => "_",
    }
}

/// Adds one group; without a given value the squares of its values add up to one.
fn group(
    features: &mut Vec<Feature>,
    offset: u32,
    hashes: impl Iterator<Item = u64>,
    value: Option<f64>,
) {
    let mut numbers: Vec<u32> = hashes
        .map(|hash| offset + u32::try_from(hash % (1 << BITS)).unwrap_or_default())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let count = u32::try_from(numbers.len().max(1)).unwrap_or(u32::MAX);
    let value = value.unwrap_or(1.0 / f64::from(count).sqrt());
    features.extend(numbers.into_iter().map(|number| (number, value)));
}

fn hash(kind: u8, parts: &[&str]) -> u64 {
    finish(parts.iter().fold(start(kind), |hash, part| {
        add(add(hash, part.as_bytes()), &[0])
    }))
}

fn start(kind: u8) -> u64 {
    add(0xcbf2_9ce4_8422_2325, &[kind])
}

/// FNV-1a.
fn add(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Mixes a hash once more, so that its low bits are good.
fn finish(hash: u64) -> u64 {
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}
