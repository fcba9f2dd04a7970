//! Multinomial logistic regression by stochastic gradient descent, the same on every IEEE platform.

use prompt_hydrate::route::features::{Feature, GROUPS};
use prompt_hydrate::route::model::{Model, exp};

/// A prompt as features, and the number of its class.
#[derive(Clone)]
pub struct Sample {
    pub class: usize,
    pub features: Vec<Feature>,
}

/// Visits of every sample; the first run, which chooses features, has `SCOUTING` of them.
const EPOCHS: usize = 20;
const SCOUTING: usize = 3;
/// The first step.
const RATE: f64 = 1.0;
/// How fast weights fall towards zero, for each sample that touches them.
const DECAY: f64 = 1e-4;
/// One of so many visits leaves a group of features out, so that the model does not lean on single words.
const LEFT_OUT: usize = 3;
/// What is held possible for all other classes: labels are not all right.
const SMOOTH: f64 = 0.05;
/// Most bytes of a model.
const MOST_BYTES: usize = 256 * 1024;

/// A model of at most 256 KiB: a short run with every feature that more than one prompt has, then a whole one with the
/// features that decided most.
pub fn train(classes: &[String], samples: &[Sample]) -> Model {
    let mut numbers: Vec<u32> = samples
        .iter()
        .flat_map(|sample| sample.features.iter().map(|feature| feature.0))
        .collect();
    numbers.sort_unstable();
    let (features, counts): (Vec<u32>, Vec<usize>) = numbers
        .chunk_by(|one, other| one == other)
        .filter(|same| same.len() > 1)
        .map(|same| (same[0], same.len()))
        .unzip();
    drop(numbers);
    let (weights, _) = descend(classes.len(), samples, &features, SCOUTING);
    let mut decided: Vec<(f64, u32)> = weights
        .chunks(classes.len())
        .zip(&counts)
        .zip(&features)
        .map(|((weights, count), feature)| {
            let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
            (squares * *count as f64, *feature)
        })
        .collect();
    decided.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    // A feature takes half a byte for each class, and one or two bytes for its number.
    let width = classes.len().div_ceil(2) + 1;
    let mut kept = (MOST_BYTES - 1024) / width;
    loop {
        let mut features: Vec<u32> = decided
            .iter()
            .take(kept)
            .map(|(_, feature)| *feature)
            .collect();
        features.sort_unstable();
        let distances = features
            .windows(2)
            .filter(|pair| pair[1] - pair[0] >= 0x80)
            .count();
        if features.len() * width + distances + 1024 <= MOST_BYTES {
            let (weights, bias) = descend(classes.len(), samples, &features, EPOCHS);
            return quantized(classes, features, &weights, &bias);
        }
        kept -= 256;
    }
}

/// The weights as levels. The largest few in ten thousand become smaller, so that all others are finer.
fn quantized(classes: &[String], features: Vec<u32>, weights: &[f64], bias: &[f64]) -> Model {
    let mut sizes: Vec<f64> = weights.iter().map(|weight| weight.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let largest = sizes[(sizes.len() - 1) - sizes.len() / 5_000];
    let level = |weight: &f64| {
        ((weight.abs() / largest).sqrt() * 7.0)
            .round()
            .min(7.0)
            .copysign(*weight) as i8
    };
    Model {
        classes: classes.to_vec(),
        scale: (largest / 49.0) as f32,
        bias: bias.iter().map(|bias| *bias as f32).collect(),
        features,
        levels: weights.iter().map(level).collect(),
    }
}

/// Weights by feature and class, and the bias of each class.
fn descend(
    count: usize,
    samples: &[Sample],
    features: &[u32],
    epochs: usize,
) -> (Vec<f64>, Vec<f64>) {
    let groups = GROUPS.map(|start| features.partition_point(|feature| *feature < start));
    let known: Vec<Vec<(usize, f64)>> = samples
        .iter()
        .map(|sample| {
            let places = sample.features.iter();
            places
                .filter_map(|(feature, value)| {
                    Some((features.binary_search(feature).ok()?, *value))
                })
                .collect()
        })
        .collect();
    let mut weights = vec![0.0_f64; features.len() * count];
    let mut squares = vec![1.0_f64; features.len()];
    let mut bias = vec![0.0_f64; count];
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let mut random = Random(0x5eed);
    for epoch in 0..epochs {
        random.shuffle(&mut order);
        let rate = RATE * (1.0 - epoch as f64 / epochs as f64);
        for place in &order {
            let left_out = if random.below(LEFT_OUT) == 0 {
                let group = random.below(groups.len() - 1);
                groups[group]..groups[group + 1]
            } else {
                0..0
            };
            let used: Vec<(usize, f64)> = known[*place]
                .iter()
                .filter(|(feature, _)| !left_out.contains(feature))
                .copied()
                .collect();
            let mut scores = bias.clone();
            for (feature, value) in &used {
                let row = &weights[feature * count..(feature + 1) * count];
                for (score, weight) in scores.iter_mut().zip(row) {
                    *score += weight * value;
                }
            }
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = scores.iter().map(|score| exp(score - top)).collect();
            let sum: f64 = powers.iter().sum();
            let errors: Vec<f64> = powers
                .iter()
                .enumerate()
                .map(|(class, power)| {
                    let own = if class == samples[*place].class {
                        1.0 - SMOOTH
                    } else {
                        0.0
                    };
                    power / sum - own - SMOOTH / count as f64
                })
                .collect();
            for (bias, error) in bias.iter_mut().zip(&errors) {
                *bias -= 0.05 * rate * error;
            }
            for (feature, value) in &used {
                squares[*feature] += value * value;
                let step = rate / squares[*feature].sqrt() * value;
                let row = &mut weights[feature * count..(feature + 1) * count];
                for (weight, error) in row.iter_mut().zip(&errors) {
                    *weight -= step * error + rate * DECAY * *weight;
                }
            }
        }
    }
    (weights, bias)
}

/// SplitMix64: a seeded generator, so that training is the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..count`, evenly.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    fn shuffle(&mut self, list: &mut [usize]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
