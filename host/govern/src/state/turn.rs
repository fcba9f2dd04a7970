//! Something that one thread has at a time; the others wait, but not forever.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::locked;

pub(super) struct Turn<T> {
    taken: Mutex<bool>,
    back: Condvar,
    // Held by whoever has taken the turn only.
    kept: Mutex<T>,
}

impl<T> Turn<T> {
    pub(super) fn new(kept: T) -> Self {
        Self {
            taken: Mutex::new(false),
            back: Condvar::new(),
            kept: Mutex::new(kept),
        }
    }

    /// Waits for it until then.
    pub(super) fn take(&self, until: Instant) -> Option<Taken<'_, T>> {
        let taken = locked(&self.taken);
        let left = until.saturating_duration_since(Instant::now());
        let (mut taken, _) = self
            .back
            .wait_timeout_while(taken, left, |taken| *taken)
            .unwrap_or_else(PoisonError::into_inner);
        if *taken {
            return None;
        }
        *taken = true;
        drop(taken);
        Some(Taken {
            turn: self,
            kept: locked(&self.kept),
        })
    }
}

/// Given back when dropped.
pub(super) struct Taken<'a, T> {
    turn: &'a Turn<T>,
    kept: MutexGuard<'a, T>,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.kept
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.kept
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let mut taken = locked(&self.turn.taken);
        *taken = false;
        self.turn.back.notify_one();
    }
}
