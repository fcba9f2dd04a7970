//! Three opinions on each workflow, and whether they are certain enough.

use super::number::exp;
use super::thresholds::Thresholds;
use super::{Judge, likeness, model};
use crate::catalogue::Workflow;
use crate::signals::Signals;
use crate::text::Prompt;

/// The opinions on one workflow.
#[derive(Debug, Clone)]
pub struct Scored {
    /// Its id.
    pub workflow: String,
    /// By signals; `None` without weights.
    pub r: Option<f64>,
    /// By likeness; `None` without texts.
    pub b: Option<f64>,
    /// By the model; `None` if it was not trained on it.
    pub m: Option<f64>,
    /// The weighted mean of those that there are.
    pub total: f64,
}

/// All candidates, in decision order.
#[must_use]
pub fn score(
    prompt: &Prompt,
    signals: &Signals,
    workflows: &[&Workflow],
    all: &[Workflow],
    judge: &Judge<'_>,
) -> Vec<Scored> {
    let thresholds = &judge.thresholds;
    let likeness = likeness::of(prompt, all);
    let ids: Vec<&str> = workflows
        .iter()
        .map(|workflow| workflow.id.as_str())
        .collect();
    let excluded: Vec<&str> = all
        .iter()
        .map(|workflow| workflow.id.as_str())
        .filter(|id| !ids.contains(id))
        .collect();
    let features = model::features(prompt, signals);
    let probabilities = judge.model.probabilities(&features, &ids, &excluded);
    // The one stands for a workflow of no weight: where no signal speaks for any, none is certain.
    let powers: f64 = 1.0
        + workflows
            .iter()
            .filter_map(|workflow| by_signals(workflow, signals, thresholds))
            .sum::<f64>();
    workflows
        .iter()
        .zip(probabilities)
        .map(|(workflow, m)| {
            let b = all
                .iter()
                .position(|other| other.id == workflow.id)
                .and_then(|place| likeness.get(place).copied().flatten());
            let r = by_signals(workflow, signals, thresholds).map(|power| power / powers);
            Scored {
                workflow: workflow.id.clone(),
                r,
                b,
                m,
                total: total(r, b, m, thresholds),
            }
        })
        .collect()
}

/// R before it is scaled to the sum of all: e to the power of the weights of the signals that hold.
fn by_signals(workflow: &Workflow, signals: &Signals, thresholds: &Thresholds) -> Option<f64> {
    if workflow.signals.is_empty() {
        return None;
    }
    let sum: i32 = workflow
        .signals
        .iter()
        .filter(|(signal, _)| signals.has(*signal))
        .map(|(_, weight)| i32::from(*weight))
        .sum();
    Some(exp(f64::from(sum) * thresholds.signal_scale))
}

/// the weighted mean of the opinions that there are.
fn total(r: Option<f64>, b: Option<f64>, m: Option<f64>, thresholds: &Thresholds) -> f64 {
    let parts = [
        (r, thresholds.weight_r),
        (b, thresholds.weight_b),
        (m, thresholds.weight_m),
    ];
    let weight: f64 = parts
        .iter()
        .filter(|(opinion, _)| opinion.is_some())
        .map(|(_, weight)| weight)
        .sum();
    if weight <= 0.0 {
        return 0.0;
    }
    // Shares of the weight, so that an opinion that stands alone is the total, to the last digit.
    parts
        .iter()
        .map(|(opinion, own)| opinion.unwrap_or_default() * (own / weight))
        .sum()
}

/// What the scores decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Place of the best candidate.
    pub best: Option<usize>,
    /// From the best to the second.
    pub margin: f64,
    /// `agree`, `alone` or `abstain`.
    pub decision: &'static str,
}

/// ties go to the earlier one.
#[must_use]
pub fn decide(scored: &[Scored], thresholds: &Thresholds) -> Verdict {
    let top = |value: &dyn Fn(&Scored) -> Option<f64>| {
        let mut best: Option<(usize, f64)> = None;
        for (at, candidate) in scored.iter().enumerate() {
            if let Some(value) = value(candidate)
                && value > 0.0
                && best.is_none_or(|(_, found)| value > found)
            {
                best = Some((at, value));
            }
        }
        best
    };
    let Some((best, total)) = top(&|candidate| Some(candidate.total)) else {
        return Verdict {
            best: None,
            margin: 0.0,
            decision: "abstain",
        };
    };
    let second = scored
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != best)
        .map(|(_, candidate)| candidate.total)
        .fold(0.0, f64::max);
    let margin = total - second;
    let extra = scored.get(best).map_or(0.0, |candidate| {
        if candidate.workflow == "simple-question" {
            thresholds.question_extra
        } else {
            0.0
        }
    });
    let place = |found: Option<(usize, f64)>| found.map(|(at, _)| at);
    let r = place(top(&|candidate| candidate.r));
    let b = place(top(&|candidate| candidate.b));
    let m = place(top(&|candidate| candidate.m));
    // A candidate without signals has no R that could agree: B and M have to.
    let own_r = scored
        .get(best)
        .is_some_and(|candidate| candidate.r.is_some());
    let agree = if own_r {
        r == Some(best) && (m == r || b == r)
    } else {
        b == Some(best)
            && (m.is_none()
                || m == b
                || scored
                    .get(best)
                    .is_some_and(|candidate| candidate.m.is_none()))
    };
    // no question on the word of R and B alone.
    let unsupported = extra > 0.0 && m.is_some() && m != Some(best);
    let decision = if unsupported {
        "abstain"
    } else if agree && total >= thresholds.theta_agree + extra {
        "agree"
    } else if total >= thresholds.theta_alone + extra && margin >= thresholds.tau {
        "alone"
    } else {
        "abstain"
    };
    Verdict {
        best: Some(best),
        margin,
        decision,
    }
}
