//! What the benchmarks share: samples of two sides that alternate, medians that are compared, one table.
//!
//! `-- --check` exits with 1 when a target is missed, `-- --quick` takes a tenth of the samples, and every other word
//! chooses the operations that hold it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How an operation is measured, with so many samples.
pub(crate) type Measure = fn(usize) -> Measured;

/// Measures the operations that the arguments of the program choose, and prints the table.
pub(crate) fn run(operations: &[(&'static str, Measure)]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let wanted = |operation: &str| {
        let mut words = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .peekable();
        words.peek().is_none() || words.any(|word| operation.contains(word.as_str()))
    };
    let samples = if flag("--quick") { 50 } else { 500 };
    println!(
        "{:<44} {:>10} {:>10} {:>7}  {:<14} met",
        "operation", "hydrant", "floor", "ratio", "target"
    );
    let mut all_met = true;
    for (operation, measure) in operations {
        if wanted(operation) {
            let measured = measure(samples);
            println!(
                "{}",
                Row {
                    operation,
                    measured: &measured
                }
            );
            all_met &= measured.met();
        }
    }
    if flag("--check") && !all_met {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// What one operation took, and what it may take.
pub(crate) struct Measured {
    pub(crate) hydrant: Duration,
    pub(crate) floor: Duration,
    pub(crate) target: Target,
}

/// The most that an operation may take.
pub(crate) enum Target {
    /// So many times the floor.
    #[allow(dead_code, reason = "not every benchmark has one")]
    Ratio(f64),
    /// So long.
    #[allow(dead_code, reason = "not every benchmark has one")]
    Time(Duration),
    /// So much longer than the floor.
    #[allow(dead_code, reason = "not every benchmark has one")]
    Beyond(Duration),
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.hydrant.as_secs_f64() / self.floor.as_secs_f64()
    }

    fn met(&self) -> bool {
        match self.target {
            Target::Ratio(most) => self.ratio() <= most,
            Target::Time(most) => self.hydrant <= most,
            Target::Beyond(most) => self.hydrant.saturating_sub(self.floor) <= most,
        }
    }
}

struct Row<'a> {
    operation: &'static str,
    measured: &'a Measured,
}

impl std::fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Measured {
            hydrant,
            floor,
            target,
        } = self.measured;
        let target = match target {
            Target::Ratio(most) => format!("<= {most} x"),
            Target::Time(most) => format!("<= {most:?}"),
            Target::Beyond(most) => format!("<= +{most:?}"),
        };
        let met = if self.measured.met() { "yes" } else { "NO" };
        let (hydrant, floor) = (format!("{hydrant:.1?}"), format!("{floor:.1?}"));
        let (operation, ratio) = (self.operation, self.measured.ratio());
        write!(
            f,
            "{operation:<44} {hydrant:>10} {floor:>10} {ratio:>7.2}  {target:<14} {met}"
        )
    }
}

/// Medians of alternating samples, after a tenth of them to warm up.
pub(crate) fn alternate(
    samples: usize,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (Duration, Duration) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for sample in 0..samples + samples / 10 {
        let (first, second) = (time(&mut one), time(&mut other));
        if sample >= samples / 10 {
            ones.push(first);
            others.push(second);
        }
    }
    (median(ones), median(others))
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}
