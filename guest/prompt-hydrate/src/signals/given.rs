//! Signals set by hand, for tests of what follows from them.

use super::{Signal, Signals};

impl Signals {
    /// These, and no others.
    pub(crate) fn given(signals: &[Signal], mutating: bool) -> Self {
        Self {
            found: signals
                .iter()
                .map(|signal| (*signal, String::new()))
                .collect(),
            mutating: mutating.then(String::new),
        }
    }
}
