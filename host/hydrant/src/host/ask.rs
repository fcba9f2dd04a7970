//! Calls of the components that the governor asks: `skill.interpret` and `data.filter`, within limits of their own.

use std::time::Duration;

use super::run::Prepared;
use super::{Failure, Host, HostError};
use crate::engine::Budgets;

const MEMORY_BYTES: u64 = 64 * 1024 * 1024;
const WALL_CLOCK: Duration = Duration::from_secs(2);

impl Host {
    /// What a pinned skill without capabilities answers. It has 64 MiB of memory, the policy's fuel, and 2 s; a policy can only
    /// give it less.
    ///
    /// # Errors
    ///
    /// [`HostError`] when nothing was executed. What ended the component is a [`Failure`].
    pub fn ask(
        &self,
        skill_id: &str,
        request: &[u8],
    ) -> Result<Result<Vec<u8>, Failure>, HostError> {
        self.answer_pinned(skill_id, None, request, |prepared| {
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
