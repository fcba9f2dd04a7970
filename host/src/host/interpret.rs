//! The interpreter of foreign skills: the pinned skill `skill.interpret`, within limits of its own (K-03).

use std::time::Duration;

use super::run::Prepared;
use super::{Failure, Host, HostError};
use crate::engine::Budgets;

/// The skill behind [`Host::interpret`].
const INTERPRET: &str = "skill.interpret";
/// K-03
const MEMORY_BYTES: u64 = 64 * 1024 * 1024;
/// K-03
const WALL_CLOCK: Duration = Duration::from_secs(2);

impl Host {
    /// What `skill.interpret` answers to a request of its own: `load`, `map`, `filter` or `transform`. It has no
    /// capability, 64 MiB of memory, the policy's fuel, and 2 s; a policy can only give it less.
    ///
    /// # Errors
    ///
    /// [`HostError`] when nothing was executed. What ended the component is a [`Failure`].
    pub fn interpret(&self, request: &[u8]) -> Result<Result<Vec<u8>, Failure>, HostError> {
        self.answer_pinned(INTERPRET, None, request, |prepared| {
            let budgets = Budgets {
                memory_bytes: prepared.budgets.memory_bytes.min(MEMORY_BYTES),
                wall_clock: prepared.budgets.wall_clock.min(WALL_CLOCK),
                ..prepared.budgets
            };
            Prepared {
                budgets,
                ..prepared
            }
        })
    }
}
