//! The weights and thresholds of Q-138: one embedded file of names and numbers.

static FILE: &str = include_str!("thresholds.txt");

/// As the file has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Weight of R.
    pub weight_r: f64,
    /// Weight of B.
    pub weight_b: f64,
    /// Weight of M.
    pub weight_m: f64,
    /// Total that is enough when two opinions agree.
    pub theta_agree: f64,
    /// Total that is enough when they do not.
    pub theta_alone: f64,
    /// And the margin to the second.
    pub tau: f64,
    /// What `simple-question` needs beyond.
    pub question_extra: f64,
    /// What a step of a signal's weight is worth.
    pub signal_scale: f64,
}

impl Thresholds {
    /// Those that were calibrated.
    #[must_use]
    pub fn embedded() -> Self {
        let number = |name: &str| {
            FILE.lines()
                .filter_map(|line| line.split_once(' '))
                .find(|(key, _)| *key == name)
                .and_then(|(_, value)| value.trim().parse().ok())
                // A missing threshold can never be reached.
                .unwrap_or(f64::MAX)
        };
        Self {
            weight_r: number("weight_r"),
            weight_b: number("weight_b"),
            weight_m: number("weight_m"),
            theta_agree: number("theta_agree"),
            theta_alone: number("theta_alone"),
            tau: number("tau"),
            question_extra: number("question_extra"),
            signal_scale: number("signal_scale"),
        }
    }

    /// How often a total is right: straight lines between the points of the file, from nothing up.
    #[must_use]
    pub fn confidence(&self, total: f64) -> f64 {
        let mut before = (0.0, 0.0);
        for line in FILE.lines() {
            let Some(point) = line.strip_prefix("certain ").and_then(point) else {
                continue;
            };
            if total <= point.0 {
                let part = (total - before.0) / (point.0 - before.0);
                return (before.1 + part * (point.1 - before.1)).clamp(0.0, 1.0);
            }
            before = point;
        }
        before.1
    }

    /// By name, for `route --explain`.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("weight_r", self.weight_r),
            ("weight_b", self.weight_b),
            ("weight_m", self.weight_m),
            ("theta_agree", self.theta_agree),
            ("theta_alone", self.theta_alone),
            ("tau", self.tau),
            ("question_extra", self.question_extra),
            ("signal_scale", self.signal_scale),
        ]
    }
}

/// "0.15 0.24"
fn point(text: &str) -> Option<(f64, f64)> {
    let (total, certain) = text.split_once(' ')?;
    Some((total.trim().parse().ok()?, certain.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_140_confidence_rises_with_the_total_and_ends_at_one() {
        let thresholds = Thresholds::embedded();
        let steps: Vec<f64> = (0..=20)
            .map(|step| thresholds.confidence(f64::from(step) / 20.0))
            .collect();
        assert!(steps.is_sorted());
        assert_eq!((steps.first(), steps.last()), (Some(&0.0), Some(&1.0)));
        assert!((thresholds.confidence(0.40) - 0.66).abs() < 1e-9);
    }

    #[test]
    fn q_138_the_file_holds_every_threshold_and_questions_need_more() {
        let thresholds = Thresholds::embedded();
        assert!(thresholds.named().iter().all(|(_, value)| *value <= 100.0));
        //
        assert!(thresholds.question_extra > 0.0);
        assert!(
            (thresholds.weight_r + thresholds.weight_b + thresholds.weight_m - 1.0).abs() < 1e-9
        );
    }
}
