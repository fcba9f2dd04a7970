//! How much a run may use: the numbers of the frozen policy, within what the budget has left.

use std::time::Duration;

use hydrant_jail::{Limits, Scratch};
use serde_json::{Map, Value};

use super::{Caps, NETWORK_BYTES, plan};
use crate::budget::Dimension;
use crate::failure::{Code, Failure};

/// Where no policy says otherwise.
const CPU_SECONDS: u64 = 60;
const MEMORY_MB: u64 = 512;
const WALL_CLOCK_MS: u64 = 30_000;
const PIDS: u64 = 64;
const OUTPUT_BYTES: u64 = 52_428_800;

/// Open descriptors of a process.
const OPEN_FILES: u64 = 256;

/// `/tmp`, which does not count as memory of the jail.
const TEMPORARY_BYTES: u64 = 256 * 1024 * 1024;
const TEMPORARY_FILES: u64 = 16_384;

/// Files, directories and links in `/output`.
pub(super) const OUTPUT_FILES: u64 = 4096;

const MEGABYTE: u64 = 1024 * 1024;

/// What may be used, and by whose word.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    pub(super) wall: Duration,
    cpu_seconds: u64,
    memory_bytes: u64,
    pids: u64,
    /// Bytes of `/output`, and of each file.
    pub(super) output_bytes: u64,
    /// Both ways.
    pub(super) network_bytes: u64,
    /// Which of these the budget has lowered.
    lowered: Vec<Dimension>,
}

impl Allowed {
    /// Returns what a run may use: the `resources` of its policy within `caps`.
    ///
    /// # Errors
    ///
    /// `invalid-plan` for an amount that is no number; `limit` for a resource of which it allows none, as nothing runs
    /// without; `budget-exhausted` where the budget has none left.
    pub(super) fn new(resources: &Map<String, Value>, caps: Caps) -> Result<Self, Failure> {
        let number = |key: &str, default: u64| match resources.get(key) {
            None => Ok(default),
            Some(value) => value.as_u64().ok_or_else(|| {
                let message = format!("resources.{key} of the policy is not a number");
                Failure::new(Code::InvalidPlan, message)
            }),
        };
        let needed = |key: &str, default: u64| match number(key, default)? {
            // `0` means none.
            0 => Err(Failure::new(
                Code::Limit,
                format!("resources.{key} is 0: nothing can run"),
            )),
            amount => Ok(amount),
        };
        let mut lowered = Vec::new();
        let mut within = |own: u64, cap: Option<u64>, dimension: Dimension| match cap {
            Some(cap) if cap < own => {
                lowered.push(dimension);
                cap
            }
            _ => own,
        };
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let wall = within(
            needed("wall-clock-ms", WALL_CLOCK_MS)?,
            caps.wall_clock.map(milliseconds),
            Dimension::WallClockMs,
        );
        let cpu_ms = within(
            needed("cpu-seconds", CPU_SECONDS)?.saturating_mul(1000),
            caps.cpu.map(milliseconds),
            Dimension::CpuMs,
        );
        let memory_bytes = within(
            needed("memory-mb", MEMORY_MB)?.saturating_mul(MEGABYTE),
            caps.memory_bytes,
            Dimension::MemoryMb,
        );
        for (left, dimension) in [
            (wall, "wall-clock-ms"),
            (cpu_ms, "cpu-ms"),
            (memory_bytes, "memory-mb"),
        ] {
            if left == 0 {
                let message = format!("the budget has nothing left of {dimension}");
                return Err(Failure::new(Code::BudgetExhausted, message));
            }
        }
        let output_bytes = within(
            number("output-bytes", OUTPUT_BYTES)?,
            caps.storage_bytes,
            Dimension::StorageBytes,
        );
        Ok(Self {
            wall: Duration::from_millis(wall),
            // The kernel counts whole seconds: what a budget has left of one is given.
            cpu_seconds: cpu_ms.div_ceil(1000),
            memory_bytes,
            pids: needed("pids", PIDS)?,
            output_bytes,
            network_bytes: caps.network_bytes.unwrap_or(NETWORK_BYTES),
            lowered,
        })
    }

    /// Whether it is the budget that gives this limit.
    pub(super) fn by_budget(&self, dimension: Dimension) -> Option<Dimension> {
        self.lowered.contains(&dimension).then_some(dimension)
    }

    pub(super) fn memory_mb(&self) -> u64 {
        self.memory_bytes / MEGABYTE
    }

    pub(super) fn pids(&self) -> u64 {
        self.pids
    }

    /// Returns the limits that the jail sets.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            wall: Some(self.wall),
            grace: None,
            cpu_seconds: Some(self.cpu_seconds),
            memory_bytes: Some(self.memory_bytes),
            processes: Some(self.pids),
            file_bytes: Some(self.output_bytes),
            open_files: Some(OPEN_FILES),
        }
    }

    /// `/tmp`. `executable`: programs that a compiler puts there can be run.
    pub(super) fn temporary(&self, executable: bool) -> Result<Scratch, Failure> {
        Ok(Scratch {
            at: plan::inside("/tmp")?,
            bytes: TEMPORARY_BYTES.min(self.memory_bytes),
            inodes: TEMPORARY_FILES,
            executable,
        })
    }

    /// `/output`.
    pub(super) fn output(&self) -> Result<Scratch, Failure> {
        Ok(Scratch {
            at: plan::inside(plan::OUTPUT)?,
            bytes: self.output_bytes,
            inodes: OUTPUT_FILES,
            executable: false,
        })
    }
}
