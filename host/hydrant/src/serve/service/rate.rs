//! How often a tenant may call: a bucket that fills at a rate and that each call takes from.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::serve::tenants::Rate;

/// See the module.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    level: Mutex<Level>,
}

#[derive(Debug)]
struct Level {
    /// Calls that may come now.
    calls: f64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let level = Mutex::new(Level {
            calls: f64::from(rate.burst),
            at: Instant::now(),
        });
        Self { rate, level }
    }

    /// Takes one call from it.
    ///
    /// # Errors
    ///
    /// How long until there is one.
    pub fn take(&self) -> Result<(), Duration> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), Duration> {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(level.at).as_secs_f64();
        level.calls = (level.calls + since * self.rate.per_second).min(f64::from(self.rate.burst));
        level.at = level.at.max(now);
        if level.calls >= 1.0 {
            level.calls -= 1.0;
            return Ok(());
        }
        let missing = (1.0 - level.calls) / self.rate.per_second;
        Err(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_calls_come_at_the_rate() {
        let bucket = Bucket::new(Rate {
            per_second: 2.0,
            burst: 3,
        });
        let start = Instant::now();
        for _ in 0..3 {
            assert!(bucket.take_at(start).is_ok());
        }
        let wait = bucket.take_at(start).unwrap_err();
        assert!(wait > Duration::from_millis(400) && wait <= Duration::from_millis(501));
        assert!(bucket.take_at(start + Duration::from_millis(600)).is_ok());
        assert!(bucket.take_at(start + Duration::from_millis(600)).is_err());
        // A pause fills it to the burst and no further.
        let later = start + Duration::from_secs(3600);
        for _ in 0..3 {
            assert!(bucket.take_at(later).is_ok());
        }
        assert!(bucket.take_at(later).is_err());
    }
}
