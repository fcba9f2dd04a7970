//! Costs at sizes, and how they grow.

use std::time::{Duration, Instant};

/// What there is more and more of, and the operations that it could make slower.
pub(crate) struct Subject {
    pub(crate) title: &'static str,
    /// What there are so many of.
    pub(crate) items: &'static str,
    pub(crate) series: Vec<Series>,
}

/// One operation.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) grows: Growth,
    /// Sizes and costs, the smallest first.
    pub(crate) points: Vec<(u64, Duration)>,
}

/// How an operation may grow.
#[derive(Clone, Copy)]
pub(crate) enum Growth {
    /// Each item costs the same.
    Linear,
    /// What there is costs nothing: a tree of ten times as many is a step deeper at most.
    Not,
}

impl Growth {
    fn most(self) -> f64 {
        match self {
            Self::Linear => 1.15,
            Self::Not => 0.25,
        }
    }
}

impl Series {
    pub(crate) fn new(name: &'static str, grows: Growth) -> Self {
        Self {
            name,
            grows,
            points: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, size: u64, cost: Duration) {
        self.points.push((size, cost));
    }

    /// Over the last factor of ten: what is the same whatever the size hides growth where sizes are small.
    pub(crate) fn exponent(&self) -> Option<f64> {
        let (last, cost) = self.points.last()?;
        let mut smaller = self.points.iter().rev();
        let (first, before) = smaller.find(|(size, _)| size * 10 <= *last)?;
        let grown = cost.as_secs_f64() / before.as_secs_f64();
        Some(grown.ln() / (*last as f64 / *first as f64).ln())
    }

    pub(crate) fn met(&self) -> bool {
        self.exponent()
            .is_none_or(|exponent| exponent <= self.grows.most())
    }
}

impl Subject {
    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        for series in &self.series {
            println!("  {}", series.name);
            for (size, cost) in &series.points {
                let each = cost.div_f64(*size as f64);
                let (cost, each) = (format!("{cost:.1?}"), format!("{each:.1?}"));
                println!(
                    "    {size:>9} {:<14} {cost:>10}  each {each:>10}",
                    self.items
                );
            }
            if let Some(exponent) = series.exponent() {
                let met = if series.met() { "yes" } else { "NO" };
                let most = series.grows.most();
                println!("    exponent {exponent:.2}, at most {most:.2}: {met}");
            }
        }
    }
}

/// The median of as many samples as fit into a second or so: three to fifty, and one of what takes longer.
pub(crate) fn cost(mut work: impl FnMut()) -> Duration {
    cost_after(|| {}, |()| work())
}

/// The same of work that something has to be made for each time, which is not counted.
pub(crate) fn cost_after<T>(mut make: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let mut samples = Vec::new();
    let begun = Instant::now();
    loop {
        let made = make();
        let started = Instant::now();
        work(made);
        samples.push(started.elapsed());
        let spent = begun.elapsed();
        let enough = samples.len() >= 3 && spent > Duration::from_secs(1);
        if enough || samples.len() >= 50 || spent > Duration::from_secs(4) {
            break;
        }
    }
    median(samples)
}

pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}
