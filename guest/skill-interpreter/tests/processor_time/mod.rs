//! How much of the processor's time a test takes: a bound that holds on a machine with others at work, too.

use std::time::{Duration, Instant};

/// Begins where it is made.
pub(crate) struct Stopwatch {
    processor: Option<Duration>,
    wall: Instant,
}

impl Stopwatch {
    pub(crate) fn started() -> Self {
        Self {
            processor: of_this_thread(),
            wall: Instant::now(),
        }
    }

    /// What this thread has run since; where the system does not say, all that has passed.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.processor, of_this_thread()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

fn of_this_thread() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
