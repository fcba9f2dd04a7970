//! Cancelling a call: a flag that is raised when nobody waits for the answer any more.
//!
//! A call is made deep below whoever may cancel it, so the flag is that of the thread: [`Cancellation::during`] sets it
//! for the calls that a piece of work makes. A thread that works for another one has to take it along. Guests are stopped
//! at the next tick of the engine and jails at their next sample; whatever else waits does so in slices of [`LOOK`].

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long something that cannot be interrupted waits before it looks whether its call was cancelled.
pub const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// The flag of a piece of work. Clones are the same flag.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// One that nobody has raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what runs under it; what is not begun yet, does not begin.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody raised it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// How long to wait next for something that was to be waited for during `patience`, from `started` on: at most
    /// [`LOOK`]. None when that time is up, or nobody waits for the call any more.
    #[must_use]
    pub fn next_wait(&self, started: Instant, patience: Duration) -> Option<Duration> {
        let left = patience.saturating_sub(started.elapsed()).min(LOOK);
        (!left.is_zero() && !self.is_cancelled()).then_some(left)
    }

    /// What comes over a channel within `patience`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] also where nobody waits for the call any more.
    pub fn receive<T>(
        &self,
        receiver: &Receiver<T>,
        patience: Duration,
    ) -> Result<T, RecvTimeoutError> {
        let started = Instant::now();
        while let Some(wait) = self.next_wait(started, patience) {
            match receiver.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                received => return received,
            }
        }
        Err(RecvTimeoutError::Timeout)
    }

    /// Does `work`, whose calls end when this is raised.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back what was, also where the work panics: threads are used again.
        struct Back(Option<Cancellation>);
        impl Drop for Back {
            fn drop(&mut self) {
                CURRENT.with(|current| current.replace(self.0.take()));
            }
        }
        let before = CURRENT.with(|current| current.replace(Some(self.clone())));
        let _back = Back(before);
        work()
    }

    /// That of the work that this thread does; one that nobody raises where there is none.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.with(|current| current.borrow().clone().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_that_of_the_work_and_gone_after_it() {
        let outer = Cancellation::new();
        let inner = Cancellation::new();
        inner.cancel();
        outer.during(|| {
            inner.during(|| assert!(Cancellation::current().is_cancelled()));
            assert!(!Cancellation::current().is_cancelled());
            let broke = std::panic::catch_unwind(|| inner.during(|| panic!("broke off")));
            assert!(broke.is_err());
            assert!(!Cancellation::current().is_cancelled());
        });
        outer.cancel();
        assert!(!Cancellation::current().is_cancelled());
    }
}
