//! The linear model: one weight for each hashed feature and workflow, kept as a level of -7 to 7 whose signed square it is.
//!
//! `examples/train` writes `model.bin`: the number of workflows (one byte), each id as a length byte and text, the weight of
//! level 1 and one bias for each workflow as little-endian `f32`, the number of features as `u32`, then for each feature in
//! ascending order the distance to the one before it (seven bits a byte, the top bit says that more follow) and half a
//! byte for each workflow, the lower half first. A feature that is not there has no weight: training keeps those that decide most.

use std::sync::OnceLock;

use super::features::Feature;

static WEIGHTS: &[u8] = include_bytes!("model.bin");

/// The model that is compiled in.
#[must_use]
pub fn embedded() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::parse(WEIGHTS).unwrap_or_default())
}

/// Workflows, and the weights of features for them.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Model {
    /// Workflow ids.
    pub classes: Vec<String>,
    /// The weight of level 1.
    pub scale: f32,
    /// One for each class.
    pub bias: Vec<f32>,
    /// Numbers of the features with weights, ascending.
    pub features: Vec<u32>,
    /// For each of them one level for each class.
    pub levels: Vec<i8>,
}

impl Model {
    /// Reads [`Model::bytes`]; `None` if it is not whole.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let count = usize::from(byte(&mut rest)?);
        let mut model = Self::default();
        for _ in 0..count {
            let length = usize::from(byte(&mut rest)?);
            let (text, tail) = rest.split_at_checked(length)?;
            model
                .classes
                .push(std::str::from_utf8(text).ok()?.to_owned());
            rest = tail;
        }
        model.scale = f32::from_le_bytes(word(&mut rest)?);
        model.bias = (0..count)
            .map(|_| Some(f32::from_le_bytes(word(&mut rest)?)))
            .collect::<Option<_>>()?;
        let features = u32::from_le_bytes(word(&mut rest)?);
        let mut number = 0_u32;
        for _ in 0..features {
            let mut distance = 0_u32;
            let mut shift = 0;
            loop {
                let part = byte(&mut rest)?;
                distance |= u32::from(part & 0x7f).checked_shl(shift)?;
                shift += 7;
                if part < 0x80 {
                    break;
                }
            }
            number = number.checked_add(distance)?;
            model.features.push(number);
            let (pairs, tail) = rest.split_at_checked(count.div_ceil(2))?;
            let halves = pairs.iter().flat_map(|pair| [pair << 4, pair & 0xf0]);
            model
                .levels
                .extend(halves.take(count).map(|half| half.cast_signed() >> 4));
            rest = tail;
        }
        rest.is_empty().then_some(model)
    }

    /// The bytes that [`Model::parse`] reads.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let small = |length: usize| u8::try_from(length).unwrap_or(u8::MAX);
        let mut bytes = vec![small(self.classes.len())];
        for class in &self.classes {
            bytes.push(small(class.len()));
            bytes.extend(class.as_bytes());
        }
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.bias.iter().flat_map(|bias| bias.to_le_bytes()));
        bytes.extend(
            u32::try_from(self.features.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        let mut before = 0;
        for (feature, levels) in self
            .features
            .iter()
            .zip(self.levels.chunks(self.classes.len()))
        {
            let mut distance = feature - before;
            before = *feature;
            while distance >= 0x80 {
                bytes.push(u8::try_from(distance & 0x7f).unwrap_or_default() | 0x80);
                distance >>= 7;
            }
            bytes.push(u8::try_from(distance).unwrap_or_default());
            for pair in levels.chunks(2) {
                let half = |place: usize| {
                    pair.get(place)
                        .map_or(0, |level| level.cast_unsigned() & 0x0f)
                };
                bytes.push(half(0) | half(1) << 4);
            }
        }
        bytes
    }

    /// The probability of each class. Classes that `excluded` names leave their share to the others.
    #[must_use]
    pub fn probabilities(&self, features: &[Feature], excluded: impl Fn(&str) -> bool) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for (feature, value) in features {
            for (sum, level) in sums.iter_mut().zip(self.levels_of(*feature)) {
                *sum += f64::from(level * level.abs()) * value;
            }
        }
        let scores = sums
            .iter()
            .zip(&self.bias)
            .zip(&self.classes)
            .map(|((sum, bias), class)| {
                (!excluded(class)).then_some(sum * f64::from(self.scale) + f64::from(*bias))
            });
        let scores: Vec<Option<f64>> = scores.collect();
        let top = scores
            .iter()
            .flatten()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = scores
            .iter()
            .map(|score| score.map_or(0.0, |score| exp(score - top)))
            .collect();
        let all: f64 = powers.iter().sum();
        powers
            .iter()
            .map(|power| if all > 0.0 { power / all } else { 0.0 })
            .collect()
    }

    fn levels_of(&self, feature: u32) -> &[i8] {
        let classes = self.classes.len();
        let place = self.features.binary_search(&feature).ok();
        place
            .and_then(|place| self.levels.get(place * classes..(place + 1) * classes))
            .unwrap_or_default()
    }
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, tail) = rest.split_first()?;
    *rest = tail;
    Some(*first)
}

fn word(rest: &mut &[u8]) -> Option<[u8; 4]> {
    let (first, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(*first)
}

/// e to the power of a number that is not above 60, from additions and multiplications alone, so that every platform gives
/// the same bits.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x < -60.0 {
        return 0.0;
    }
    // e^x = (e^(x/256))^256: the series needs few terms near zero.
    let small = x.min(60.0) / 256.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..12_u32 {
        term *= small / f64::from(n);
        sum += term;
    }
    for _ in 0..8 {
        sum *= sum;
    }
    sum
}
