//! Permits: so many at work at a time, the others wait in line instead of failing.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hydrant_capability::Cancellation;

pub(super) struct Permits {
    free: Mutex<u32>,
    returned: Condvar,
}

/// A place at work, until it is dropped.
pub(super) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(super) const fn new(count: u32) -> Self {
        Self {
            free: Mutex::new(count),
            returned: Condvar::new(),
        }
    }

    /// Takes a permit, waiting for at most `patience`; none if there was none in time, or before the caller's work was
    /// cancelled.
    pub(super) fn take(&self, patience: Duration) -> Option<Permit<'_>> {
        let (started, cancellation) = (Instant::now(), Cancellation::current());
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(fewer) = free.checked_sub(1) {
                *free = fewer;
                break;
            }
            let wait = cancellation.next_wait(started, patience)?;
            free = self
                .returned
                .wait_timeout(free, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(free);
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.saturating_add(1);
        self.0.returned.notify_one();
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
            let held = permits.take(Duration::ZERO).unwrap();
            let waiting = scope.spawn(|| permits.take(Duration::from_secs(60)).is_some());
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert!(permits.take(Duration::ZERO).is_some());
    }

    #[test]
    fn patience_ends() {
        let permits = Permits::new(1);
        let _held = permits.take(Duration::ZERO).unwrap();
        assert!(permits.take(Duration::from_millis(20)).is_none());
    }
}
