//! Cancelling a call: a flag that whoever waits for the answer raises, and that the guest and its effects look at.
//!
//! A call is made deep below whoever may cancel it, so the flag is that of the thread: [`Cancellation::during`] sets it
//! for the calls that a piece of work makes, and the meter of each call takes it along to other threads. What runs is
//! stopped at the next tick of the engine, what waits looks at its meter before it goes on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// See the module. Clones are the same flag.
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
    pub(crate) fn current() -> Self {
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
