//! Multinomial logistic regression by stochastic gradient descent, the same on every IEEE platform.

use prompt_hydrate::route::model::{GROUPS, Model};
use prompt_hydrate::route::number::exp;

use super::random::Random;

/// A prompt as features, its class, and how much it counts.
#[derive(Clone)]
pub struct Sample {
    pub class: usize,
    pub features: Vec<(u32, f64)>,
    pub weight: f64,
}

/// Visits of every sample before features are chosen.
const SCOUTING: usize = 3;

/// How it is trained.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Visits of every sample.
    pub epochs: usize,
    /// Of the first steps.
    pub rate: f64,
    /// How fast weights fall towards zero, for each sample that touches them.
    pub decay: f64,
    /// One of so many visits leaves a group of features out, so that the model does not lean on single words.
    pub left_out: usize,
    /// What of a class is held possible for all others: labels are not all right.
    pub smooth: f64,
    /// Features that are kept.
    pub keep: usize,
    /// Prompts that a feature has to be in.
    pub least: usize,
}

impl Settings {
    /// Those that cross-validation by writer favoured.
    pub const CHOSEN: Self = Self {
        epochs: 14,
        rate: 1.0,
        decay: 2e-4,
        left_out: 3,
        smooth: 0.05,
        keep: 43_000,
        least: 2,
    };
}

/// Trains a model: a short run with every feature that more than one prompt has, then a whole one with the `keep` features
/// that decided most.
pub fn train(classes: &[String], samples: &[Sample], settings: &Settings) -> Model {
    let mut numbers: Vec<u32> = samples
        .iter()
        .flat_map(|sample| sample.features.iter().map(|(feature, _)| *feature))
        .collect();
    numbers.sort_unstable();
    let mut features = Vec::new();
    let mut counts = Vec::new();
    for same in numbers.chunk_by(|one, other| one == other) {
        if same.len() >= settings.least {
            features.push(same[0]);
            counts.push(same.len());
        }
    }
    drop(numbers);
    if features.len() > settings.keep {
        let (weights, _) = descend(classes, samples, &features, SCOUTING, settings);
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
        features = decided
            .iter()
            .take(settings.keep)
            .map(|(_, feature)| *feature)
            .collect();
        features.sort_unstable();
    }
    let (weights, bias) = descend(classes, samples, &features, settings.epochs, settings);
    let largest = weights
        .iter()
        .fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
    let scale = (largest / 127.0) as f32;
    Model {
        classes: classes.to_vec(),
        scale,
        bias: bias.iter().map(|bias| *bias as f32).collect(),
        features,
        weights: weights
            .iter()
            .map(|weight| ((weight / f64::from(scale)).round() as i8).cast_unsigned())
            .collect(),
    }
}

/// Weights of the features, by feature and class, and the bias of each class.
fn descend(
    classes: &[String],
    samples: &[Sample],
    features: &[u32],
    epochs: usize,
    settings: &Settings,
) -> (Vec<f64>, Vec<f64>) {
    let count = classes.len();
    let groups: Vec<usize> = GROUPS
        .iter()
        .map(|start| features.partition_point(|feature| feature < start))
        .collect();
    let known: Vec<Vec<(usize, f64)>> = samples
        .iter()
        .map(|sample| {
            let places = sample.features.iter().filter_map(|(feature, value)| {
                Some((features.binary_search(feature).ok()?, *value))
            });
            places.collect()
        })
        .collect();
    let mut weights = vec![0.0_f64; features.len() * count];
    let mut squares = vec![1.0_f64; features.len()];
    let mut bias = vec![0.0_f64; count];
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let mut random = Random::new(0x5eed);
    for epoch in 0..epochs {
        random.shuffle(&mut order);
        let rate = settings.rate * (1.0 - epoch as f64 / epochs as f64);
        for place in &order {
            let sample = &samples[*place];
            let group = if random.below(settings.left_out) == 0 {
                let group = random.below(groups.len() - 1);
                groups[group]..groups[group + 1]
            } else {
                0..0
            };
            let used: Vec<(usize, f64)> = known[*place]
                .iter()
                .filter(|(feature, _)| !group.contains(feature))
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
                    let own = if class == sample.class {
                        1.0 - settings.smooth
                    } else {
                        0.0
                    };
                    (power / sum - own - settings.smooth / count as f64) * sample.weight
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
                    *weight -= step * error + rate * settings.decay * *weight;
                }
            }
        }
    }
    (weights, bias)
}
