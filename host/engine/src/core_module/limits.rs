//! The limits of one run of a core module.

use std::time::{Duration, Instant};

use wasmtime::ResourceLimiter;

use hydrant_capability::{Meter, MeterBudgets};
use hydrant_policy::Limits;

/// How much one run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreBudgets {
    /// Units of fuel.
    pub fuel: u64,
    /// From the start of the run to its end, compiling and hostcalls included.
    pub wall_clock: Duration,
    /// Bytes of linear memory, all memories together.
    pub memory_bytes: u64,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Bytes that one hostcall copies.
    pub copy_bytes: usize,
}

impl Default for CoreBudgets {
    fn default() -> Self {
        Self {
            fuel: 10_000_000,
            wall_clock: Duration::from_secs(30),
            memory_bytes: 8 * 1024 * 1024,
            input_bytes: 16 * 1024 * 1024,
            output_bytes: 8 * 1024 * 1024,
            copy_bytes: 8 * 1024 * 1024,
        }
    }
}

impl CoreBudgets {
    /// Of each row no more than `limits`.
    #[must_use]
    pub fn at_most(self, limits: &Limits) -> Self {
        Self {
            fuel: self.fuel.min(limits.fuel),
            wall_clock: self.wall_clock.min(Duration::from_millis(limits.wall_ms)),
            memory_bytes: self.memory_bytes.min(limits.memory_bytes),
            output_bytes: self.output_bytes.min(limits.output_bytes),
            ..self
        }
    }

    /// The clock of a run that began at `started`: nothing else is counted, neither host calls nor bytes.
    #[must_use]
    pub fn meter_from(&self, started: Instant) -> Meter {
        let budgets = MeterBudgets {
            hostcalls: u64::MAX,
            read_bytes: u64::MAX,
            egress_bytes: u64::MAX,
            wall_clock: self.wall_clock,
        };
        Meter::new(budgets, started)
    }
}

/// Table elements in total; tables, memories and instances.
const TABLE_ELEMENTS: usize = 10_000;
const TABLES: usize = 8;
const MEMORIES: usize = 4;
const INSTANCES: usize = 32;

/// Counts memory and table elements in total. What is over a limit is refused as WebAssembly does it: the module
/// sees that it has not grown, and may go on.
pub(super) struct Limiter {
    memory_limit: u64,
    memory_bytes: u64,
    table_elements: usize,
    refused: bool,
}

impl Limiter {
    pub(super) fn new(memory_limit: u64) -> Self {
        Self {
            memory_limit,
            memory_bytes: 0,
            table_elements: 0,
            refused: false,
        }
    }

    /// Whether memory was refused.
    pub(super) fn has_refused_memory(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = u64::try_from(desired.saturating_sub(current)).unwrap_or(u64::MAX);
        let used = self.memory_bytes.saturating_add(more);
        if used > self.memory_limit {
            self.refused = true;
            return Ok(false);
        }
        self.memory_bytes = used;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let used = self.table_elements.saturating_add(more);
        if used > TABLE_ELEMENTS {
            return Ok(false);
        }
        self.table_elements = used;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
