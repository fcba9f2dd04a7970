//! Permits: so many at work at a time, the others wait in line instead of failing.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Permits {
    free: Mutex<u32>,
    returned: Condvar,
}

/// A place at work, until it is dropped.
pub(super) struct Permit<P: AsRef<Permits>>(P);

impl Permits {
    pub(super) fn new(count: u32) -> Self {
        Self {
            free: Mutex::new(count),
            returned: Condvar::new(),
        }
    }

    /// Takes a permit of `permits`, waiting for at most `patience`; none if there was none in time.
    pub(super) fn take<P: AsRef<Self>>(permits: P, patience: Duration) -> Option<Permit<P>> {
        let started = Instant::now();
        let this = permits.as_ref();
        let mut free = this.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(fewer) = free.checked_sub(1) {
                *free = fewer;
                break;
            }
            let left = patience.checked_sub(started.elapsed())?;
            free = this
                .returned
                .wait_timeout(free, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(free);
        Some(Permit(permits))
    }
}

impl AsRef<Self> for Permits {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<P: AsRef<Permits>> Drop for Permit<P> {
    fn drop(&mut self) {
        let permits = self.0.as_ref();
        let mut free = permits.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.saturating_add(1);
        permits.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn who_finds_no_permit_waits_for_one() {
        let permits = Permits::new(1);
        thread::scope(|scope| {
            let held = Permits::take(&permits, Duration::ZERO).unwrap();
            let waiting =
                scope.spawn(|| Permits::take(&permits, Duration::from_secs(60)).is_some());
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert!(Permits::take(&permits, Duration::ZERO).is_some());
    }

    #[test]
    fn patience_ends() {
        let permits = Permits::new(1);
        let _held = Permits::take(&permits, Duration::ZERO).unwrap();
        assert!(Permits::take(&permits, Duration::from_millis(20)).is_none());
    }
}
