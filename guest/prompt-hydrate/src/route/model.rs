//! M: a linear model over hashed word 1–2-grams and character 3–5-grams, with the signals as further features.
//!
//! `examples/train` makes `model.bin` from the catalogue's examples, written prompts and the template grammar. Its layout:
//! the number of classes (one byte), each id as one length byte and text, one little-endian `f32` scale, one `f32` bias for
//! each class, the number of features as `u32`, their numbers in ascending order as three bytes each, then for each feature
//! one signed byte for each class. A feature that is not there has no weight: training keeps those that decide most.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::number::{exp, float};
use crate::signals::{Signal, Signals};
use crate::text::Prompt;
use crate::text::lemma::{plural, singular};
use crate::text::lexicon::function_words::{
    AUXILIARIES, DETERMINERS, NUMBER_WORDS, PEOPLE, PREPOSITIONS, PRONOUNS, QUESTION_WORDS,
    STOP_WORDS, TECHNOLOGIES, TIME_NOUNS,
};
use crate::text::lexicon::nouns::{FAULTS, FAULTY, GOALS, ITEMS, SMALL};
use crate::text::lexicon::within;
use crate::text::token::{Kind, Token};

/// Bits of a feature's number within its group: few enough for three bytes, so many that features seldom collide.
const BITS: u32 = 20;
/// Where the groups start (words, classes of words, characters, signals), and where the last one ends.
pub const GROUPS: [u32; 5] = [0, 1 << BITS, 2 << BITS, 3 << BITS, 4 << BITS];
/// Number of the first signal.
pub const FIRST_SIGNAL: u32 = GROUPS[3];
/// Room for the signals.
const SIGNALS: u32 = 128;

/// What is read of a prompt, at most.
const MOST_TOKENS: usize = 48;
const MOST_CHARS: usize = 240;

static WEIGHTS: &[u8] = include_bytes!("model.bin");

/// The model that was trained.
#[must_use]
pub fn embedded() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::parse(WEIGHTS).unwrap_or_default())
}

/// Classes and weights.
#[derive(Debug, Default, PartialEq)]
pub struct Model {
    /// Workflow ids.
    pub classes: Vec<String>,
    /// What one step of a weight is worth.
    pub scale: f32,
    /// One for each class.
    pub bias: Vec<f32>,
    /// Numbers of the features with weights, ascending.
    pub features: Vec<u32>,
    /// For each of them one signed byte for each class.
    pub weights: Cow<'static, [u8]>,
}

impl Model {
    /// Reads [`Model::bytes`]; `None` if it is not whole.
    #[must_use]
    pub fn parse(bytes: &'static [u8]) -> Option<Self> {
        let (count, mut rest) = bytes.split_first()?;
        let count = usize::from(*count);
        let mut classes = Vec::new();
        for _ in 0..count {
            let (length, tail) = rest.split_first()?;
            let (text, tail) = tail.split_at_checked(usize::from(*length))?;
            classes.push(std::str::from_utf8(text).ok()?.to_owned());
            rest = tail;
        }
        let mut float = || {
            let (number, tail) = rest.split_first_chunk::<4>()?;
            rest = tail;
            Some(f32::from_le_bytes(*number))
        };
        let scale = float()?;
        let bias = (0..count).map(|_| float()).collect::<Option<Vec<f32>>>()?;
        let (number, tail) = rest.split_first_chunk::<4>()?;
        let number = usize::try_from(u32::from_le_bytes(*number)).ok()?;
        let (numbers, rest) = tail.split_at_checked(number.checked_mul(3)?)?;
        let features: Vec<u32> = numbers
            .as_chunks::<3>()
            .0
            .iter()
            .map(|[low, middle, high]| u32::from_le_bytes([*low, *middle, *high, 0]))
            .collect();
        (rest.len() == count.checked_mul(number)? && features.is_sorted()).then_some(Self {
            classes,
            scale,
            bias,
            features,
            weights: Cow::Borrowed(rest),
        })
    }

    /// As [`Model::parse`] reads it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(self.classes.len()).unwrap_or(u8::MAX)];
        for class in &self.classes {
            bytes.push(u8::try_from(class.len()).unwrap_or(u8::MAX));
            bytes.extend(class.as_bytes());
        }
        bytes.extend(self.scale.to_le_bytes());
        for bias in &self.bias {
            bytes.extend(bias.to_le_bytes());
        }
        let number = u32::try_from(self.features.len()).unwrap_or(u32::MAX);
        bytes.extend(number.to_le_bytes());
        for feature in &self.features {
            bytes.extend(feature.to_le_bytes().iter().take(3));
        }
        bytes.extend(self.weights.iter());
        bytes
    }

    /// The probability of each of `ids`, `None` for one that it was not trained on. `excluded` ids are ruled out and
    /// leave their share to the others; classes that are in neither, as their files were removed, keep theirs.
    #[must_use]
    pub fn probabilities(
        &self,
        features: &[(u32, f64)],
        ids: &[&str],
        excluded: &[&str],
    ) -> Vec<Option<f64>> {
        let scores: Vec<Option<f64>> = self
            .scores(features)
            .into_iter()
            .zip(&self.classes)
            .map(|(score, class)| (!excluded.contains(&class.as_str())).then_some(score))
            .collect();
        let top = scores
            .iter()
            .flatten()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<Option<f64>> = scores
            .iter()
            .map(|score| score.map(|score| exp(score - top)))
            .collect();
        let sum: f64 = powers.iter().flatten().sum();
        ids.iter()
            .map(|id| {
                let place = self.classes.iter().position(|class| class == id)?;
                powers
                    .get(place)
                    .copied()
                    .flatten()
                    .map(|power| power / sum)
            })
            .collect()
    }

    /// The weights of a feature, one for each class; none of one that training did not keep.
    #[must_use]
    pub fn weights_of(&self, feature: u32) -> &[u8] {
        let classes = self.classes.len();
        self.features
            .binary_search(&feature)
            .ok()
            .and_then(|place| {
                let start = place.checked_mul(classes)?;
                self.weights.get(start..start.checked_add(classes)?)
            })
            .unwrap_or_default()
    }

    fn scores(&self, features: &[(u32, f64)]) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for (feature, value) in features {
            for (sum, weight) in sums.iter_mut().zip(self.weights_of(*feature)) {
                *sum += f64::from(weight.cast_signed()) * value;
            }
        }
        sums.iter()
            .zip(&self.bias)
            .map(|(sum, bias)| sum * f64::from(self.scale) + f64::from(*bias))
            .collect()
    }
}

/// The features of a prompt: number and value, each group of length one.
#[must_use]
pub fn features(prompt: &Prompt, signals: &Signals) -> Vec<(u32, f64)> {
    let tokens: Vec<&Token> = prompt.tokens().take(MOST_TOKENS).collect();
    let words: Vec<String> = tokens.iter().map(|token| word_of(token)).collect();
    let shapes: Vec<String> = tokens.iter().map(|token| shape_of(token)).collect();
    let mut all = Vec::new();
    group(&mut all, GROUPS[0], grams(&words, b'w'));
    let classes = grams(&shapes, b's').chain(triples(&shapes));
    group(&mut all, GROUPS[1], classes.chain(main_shape(prompt)));
    let text: Vec<char> = format!(" {} ", words.join(" "))
        .chars()
        .take(MOST_CHARS)
        .collect();
    let chars = (3..=5_usize).flat_map(|length| {
        text.windows(length).map(move |window| {
            hash(
                std::iter::once(b'c').chain(
                    window
                        .iter()
                        .flat_map(|letter| u32::from(*letter).to_le_bytes()),
                ),
            )
        })
    });
    group(&mut all, GROUPS[2], chars);
    let mut on: Vec<u32> = Vec::new();
    for (place, signal) in Signal::ALL.iter().enumerate() {
        if signals.has(*signal) {
            on.extend(u32::try_from(place));
        }
    }
    if signals.mutating() {
        on.push(SIGNALS - 1);
    }
    // Each signal by itself: how many others hold says little.
    all.extend(on.into_iter().map(|place| (FIRST_SIGNAL + place, 0.35)));
    all
}

/// One hashed group, its values so that their squares add up to one.
fn group(all: &mut Vec<(u32, f64)>, offset: u32, hashes: impl Iterator<Item = u64>) {
    let mut places: Vec<u32> = hashes
        .map(|hash| u32::try_from(hash % (1 << BITS)).unwrap_or_default())
        .collect();
    places.sort_unstable();
    places.dedup();
    let value = 1.0 / float(places.len().max(1)).sqrt();
    all.extend(places.into_iter().map(|place| (offset + place, value)));
}

/// 3-grams of classes.
fn triples(shapes: &[String]) -> impl Iterator<Item = u64> {
    shapes.windows(3).map(|three| {
        hash(
            [b't']
                .into_iter()
                .chain(three.iter().flat_map(|shape| shape.bytes().chain([0]))),
        )
    })
}

/// 1-grams and 2-grams, with marks for both ends.
fn grams(words: &[String], mark: u8) -> impl Iterator<Item = u64> {
    let single = words
        .iter()
        .map(move |word| hash([mark, b'1'].into_iter().chain(word.bytes())));
    let starts = std::iter::once("^").chain(words.iter().map(String::as_str));
    let ends = words.iter().map(String::as_str).chain(std::iter::once("$"));
    let pairs = starts.zip(ends).map(move |(one, other)| {
        hash(
            [mark, b'2']
                .into_iter()
                .chain(one.bytes())
                .chain([0])
                .chain(other.bytes()),
        )
    });
    single.chain(pairs)
}

/// The main clause's class of verb with what its object looks like: how general the sense of an order is.
fn main_shape(prompt: &Prompt) -> Vec<u64> {
    let Some(clause) = prompt.main_clause() else {
        return Vec::new();
    };
    let reading = clause.reading;
    let mut found = vec![hash(
        format!("act{:?}{:?}{}", reading.act, reading.asked, reading.info).bytes(),
    )];
    let object: Vec<String> = clause
        .tokens
        .iter()
        .skip(reading.object)
        .take(6)
        .filter(|token| !token.within(DETERMINERS))
        .map(shape_of)
        .collect();
    // The verb itself, apart from where else the word stands; what was pasted; how long the text is.
    if let Some(verb) = reading.verb.and_then(|place| clause.tokens.get(place)) {
        found.push(hash(
            format!("verb {}", crate::text::lemma_of(verb)).bytes(),
        ));
    }
    for clause in &prompt.clauses {
        let reading = clause.reading;
        found.push(hash(
            format!("any{:?}{}", reading.act, reading.info).bytes(),
        ));
        for bit in reading.classes.bits() {
            found.push(hash(format!("any{bit}").bytes()));
        }
    }
    for (kind, _) in &prompt.pasted {
        found.push(hash(format!("pasted {kind}").bytes()));
    }
    let length = prompt.tokens().take(MOST_TOKENS).count();
    found.push(hash(
        format!("length {}", length.next_power_of_two()).bytes(),
    ));
    for bit in reading.classes.bits() {
        found.push(hash(format!("v{bit}").bytes()));
        for shape in &object {
            found.push(hash(format!("v{bit}{shape}").bytes()));
        }
    }
    found
}

/// FNV-1a, mixed once more so that the low bits are good.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// The word itself, in its base form; names are only marks.
fn word_of(token: &Token) -> String {
    match token.kind {
        Kind::Word => crate::text::lemma_of(token),
        Kind::Number => "#".to_owned(),
        Kind::Quoted => "\"".to_owned(),
        Kind::Path => "/".to_owned(),
        Kind::Url => ":".to_owned(),
        Kind::Identifier => "_".to_owned(),
    }
}

/// The class of a word: function words stand for themselves.
fn shape_of(token: &Token) -> String {
    if token.kind != Kind::Word {
        return word_of(token);
    }
    let word = token.word.as_str();
    for class in [
        AUXILIARIES,
        DETERMINERS,
        PRONOUNS,
        PREPOSITIONS,
        QUESTION_WORDS,
    ] {
        if within(class, word) {
            return word.to_owned();
        }
    }
    let number = if plural(word) { "+" } else { "" };
    let one = singular(word);
    let noun = [
        (SMALL, "small"),
        (ITEMS, "item"),
        (FAULTS, "fault"),
        (FAULTY, "faulty"),
        (GOALS, "goal"),
        (PEOPLE, "people"),
        (TECHNOLOGIES, "tech"),
        (TIME_NOUNS, "time"),
        (NUMBER_WORDS, "many"),
    ]
    .iter()
    .find(|(class, _)| within(class, word) || within(class, &one))
    .map(|(_, name)| *name);
    match (token.verb, noun) {
        (Some(verb), None) => format!("{:?}{:?}", verb.classes, verb.form),
        (Some(verb), Some(noun)) if !verb.noun => {
            format!("{:?}{:?}{noun}", verb.classes, verb.form)
        }
        (_, Some(noun)) => format!("{noun}{number}"),
        (None, None) if within(STOP_WORDS, word) => word.to_owned(),
        (None, None) => format!("x{number}"),
    }
}
