//! The budgets of one call and how the engine enforces those that concern the guest itself.
//!
//! Fuel and the epoch deadline stop a loop, the [`Limiter`] counts memory and tables in total. Hostcalls,
//! bytes read and egress are counted by the [`Meter`](hydrant_capability::Meter) of the call.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use hydrant_capability::turn;
use hydrant_capability::{Budget, BudgetExceeded, MeterBudgets};
use hydrant_policy::Limits;

/// How much of everything one call may use. The smaller of these and the policy's limits holds.
#[derive(Debug, Clone, Copy)]
pub struct Budgets {
    /// Units of fuel, about one for each instruction of the guest.
    pub fuel: u64,
    /// From the start of the call to its end, hostcalls included.
    pub wall_clock: Duration,
    /// Bytes of linear memory, all memories of the instance together.
    pub memory_bytes: u64,
    /// Bytes of the request.
    pub request_bytes: u64,
    /// Bytes of the response.
    pub response_bytes: u64,
    /// Hostcalls, each item of a list counting.
    pub hostcalls: u64,
    /// Bytes that hostcalls read from files and servers.
    pub read_bytes: u64,
    /// Bytes that `fetch` sends and receives.
    pub egress_bytes: u64,
    /// Bytes that the guest hands the host in one hostcall; what is more is refused before it is copied.
    pub hostcall_bytes: usize,
}

/// Bytes of a request.
const REQUEST_BYTES: u64 = 16 * 1024 * 1024;
/// What a call may read in all where nothing says less: a search at its work limit, with the ignore files.
const READ_BYTES: u64 = (2 * 1024 + 256) * 1024 * 1024;

/// What an ordinary guest may hand over in one hostcall: all that one `apply` may hold, 64 MiB of content and paths.
const HOSTCALL_BYTES: usize = 80 * 1024 * 1024;

impl Budgets {
    /// The budgets of an ordinary call under the limits of a policy.
    #[must_use]
    pub fn of(limits: &Limits) -> Self {
        Self {
            fuel: limits.fuel,
            wall_clock: Duration::from_millis(limits.wall_ms),
            memory_bytes: limits.memory_bytes,
            request_bytes: REQUEST_BYTES,
            response_bytes: limits.output_bytes,
            hostcalls: limits.hostcalls,
            read_bytes: READ_BYTES,
            egress_bytes: limits.egress_bytes,
            hostcall_bytes: HOSTCALL_BYTES,
        }
    }

    /// The budgets for the `describe` of a pinned skill, which needs next to nothing.
    #[must_use]
    pub fn describe_skill() -> Self {
        Self {
            fuel: 100_000_000,
            hostcalls: 0,
            ..Self::describe_tool(Duration::from_secs(1))
        }
    }

    /// The budgets for the `describe` of a tool: time is what stops it.
    #[must_use]
    pub fn describe_tool(time: Duration) -> Self {
        Self {
            fuel: Limits::default().fuel,
            wall_clock: time,
            memory_bytes: 64 * 1024 * 1024,
            request_bytes: 0,
            response_bytes: 64 * 1024,
            // Each is answered "denied", which is no reason to end the call; nor is it one to spend memory on.
            hostcalls: 1_000,
            read_bytes: 0,
            egress_bytes: 0,
            hostcall_bytes: 1024 * 1024,
        }
    }

    pub(super) fn meter(&self) -> MeterBudgets {
        MeterBudgets {
            hostcalls: self.hostcalls,
            read_bytes: self.read_bytes,
            egress_bytes: self.egress_bytes,
            wall_clock: self.wall_clock,
        }
    }
}

/// Table elements in total, and tables, memories and core instances of one component.
const TABLE_ELEMENTS: usize = 100_000;
pub(super) const TABLES: u32 = 16;
pub(super) const MEMORIES: u32 = 8;
pub(super) const INSTANCES: u32 = 64;

/// Counts memory and table elements of an instance in total: a limit for each memory alone would be
/// multiplied by the number of memories a component declares.
pub(super) struct Limiter {
    memory_limit: u64,
    memory_bytes: u64,
    growths: u32,
    table_elements: usize,
}

/// After so many growths of its memories, each of which changes the address space that all calls share, a call may pause.
const GROWTHS: u32 = 32;

impl Limiter {
    pub(super) fn new(memory_limit: u64) -> Self {
        Self {
            memory_limit,
            memory_bytes: 0,
            growths: 0,
            table_elements: 0,
        }
    }

    /// The most linear memory that the call had at any time, in bytes: memories never shrink.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}

fn as_u64(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = as_u64(desired.saturating_sub(current));
        let used = self.memory_bytes.saturating_add(more);
        if used > self.memory_limit {
            let limit = self.memory_limit;
            return Err(BudgetExceeded {
                budget: Budget::Memory,
                limit,
                used,
            }
            .into());
        }
        self.memory_bytes = used;
        self.growths = self.growths.saturating_add(1);
        if self.growths.is_multiple_of(GROWTHS) {
            turn::pause();
        }
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let used = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        if used > TABLE_ELEMENTS {
            let (limit, used) = (as_u64(TABLE_ELEMENTS), as_u64(used));
            return Err(BudgetExceeded {
                budget: Budget::Tables,
                limit,
                used,
            }
            .into());
        }
        self.table_elements = used;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES.try_into().unwrap_or(usize::MAX)
    }

    fn tables(&self) -> usize {
        TABLES.try_into().unwrap_or(usize::MAX)
    }

    fn memories(&self) -> usize {
        MEMORIES.try_into().unwrap_or(usize::MAX)
    }
}
