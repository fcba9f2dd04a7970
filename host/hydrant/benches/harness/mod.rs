//! What the benchmarks share: samples of two sides that alternate, medians that are compared, one table.
//!
//! `-- --check` exits with 1 when a target is missed, `-- --quick` takes a tenth of the samples, `-- --no-header` prints the
//! rows alone, and every other word chooses the operations that hold it.

#![allow(dead_code, reason = "no benchmark needs all of it")]

use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How an operation is measured, with so many samples.
pub(crate) type Measure = fn(usize) -> Measured;

/// Measures the operations that the arguments of the program choose, and prints the table.
pub(crate) fn run(operations: &[(&'static str, Measure)]) -> ExitCode {
    let mut rows: Vec<(String, RowMeasure)> = Vec::new();
    for (operation, measure) in operations {
        rows.push(((*operation).to_owned(), Box::new(*measure)));
    }
    run_rows(rows)
}

/// How a row of the table is measured, where that depends on more than the number of samples.
pub(crate) type RowMeasure = Box<dyn Fn(usize) -> Measured>;

/// As [`run`].
pub(crate) fn run_rows(rows: Vec<(String, RowMeasure)>) -> ExitCode {
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
    if !flag("--no-header") {
        println!(
            "{:<50} {:>10} {:>10} {:>7}  {:<12} met",
            "operation", "hydrant", "floor", "ratio", "target"
        );
    }
    let mut all_met = true;
    for (operation, measure) in &rows {
        if wanted(operation) {
            let measured = measure(samples);
            measured.print(operation);
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
    hydrant: Amount,
    floor: Option<Amount>,
    target: Target,
}

/// A time or a size.
#[derive(Clone, Copy)]
pub(crate) enum Amount {
    Time(Duration),
    Bytes(u64),
}

/// The most that an operation may take.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// So many times the floor.
    Ratio(f64),
    /// So long.
    Time(Duration),
    /// So much longer than the floor.
    Beyond(Duration),
    /// So many bytes.
    Bytes(u64),
}

impl Measured {
    pub(crate) fn new(hydrant: Duration, floor: Duration, target: Target) -> Self {
        Self {
            hydrant: Amount::Time(hydrant),
            floor: Some(Amount::Time(floor)),
            target,
        }
    }

    /// A size, which has no floor.
    pub(crate) fn size(bytes: u64, most: u64) -> Self {
        Self {
            hydrant: Amount::Bytes(bytes),
            floor: None,
            target: Target::Bytes(most),
        }
    }

    /// A line of the table.
    pub(crate) fn print(&self, operation: &str) {
        println!(
            "{}",
            Row {
                operation,
                measured: self
            }
        );
    }

    fn ratio(&self) -> Option<f64> {
        Some(self.hydrant.number() / self.floor?.number())
    }

    pub(crate) fn met(&self) -> bool {
        let beyond = |most: Amount| {
            let floor = self.floor.map_or(0.0, Amount::number);
            self.hydrant.number() - floor <= most.number()
        };
        match self.target {
            Target::Ratio(most) => self.ratio().is_some_and(|ratio| ratio <= most),
            Target::Time(most) => self.hydrant.number() <= most.as_secs_f64(),
            Target::Beyond(most) => beyond(Amount::Time(most)),
            Target::Bytes(most) => self.hydrant.number() <= Amount::Bytes(most).number(),
        }
    }
}

impl Amount {
    /// Seconds or bytes.
    #[allow(clippy::as_conversions, reason = "sizes are far below 2^53")]
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Bytes(bytes) => bytes as f64,
        }
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) if time.subsec_nanos() == 0 => write!(f, "{time:?}"),
            Self::Time(time) => write!(f, "{time:.1?}"),
            Self::Bytes(_) if self.number() < 1_048_576.0 => {
                write!(f, "{:.0} KiB", self.number() / 1024.0)
            }
            Self::Bytes(_) => write!(f, "{:.1} MiB", self.number() / 1_048_576.0),
        }
    }
}

struct Row<'a> {
    operation: &'a str,
    measured: &'a Measured,
}

impl Display for Row<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Measured {
            hydrant,
            floor,
            target,
        } = self.measured;
        let target = match target {
            Target::Ratio(most) => format!("<= {most} x"),
            Target::Time(most) => format!("<= {most:?}"),
            Target::Beyond(most) => format!("<= +{most:?}"),
            Target::Bytes(most) => format!("<= {}", Amount::Bytes(*most)),
        };
        let met = if self.measured.met() { "yes" } else { "NO" };
        let floor = floor.map_or_else(|| "-".to_owned(), |floor| floor.to_string());
        let ratio = self.measured.ratio();
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (operation, hydrant) = (self.operation, hydrant.to_string());
        write!(
            f,
            "{operation:<50} {hydrant:>10} {floor:>10} {ratio:>7}  {target:<12} {met}"
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
