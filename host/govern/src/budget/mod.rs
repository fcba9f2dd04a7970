//! Budgets of a run: what a session may use, what it has used, and what is left for a call.
//!
//! [`Rules`] are what holds for a run: configuration, and what operators added. [`Budget`] is
//! what the run used; it is kept by the registry across restarts. A call is first admitted ([`Rules::admit`]), then has its
//! step reserved ([`Budget::reserve`]), is capped by what is left ([`Rules::left`]), then charged ([`Budget::charge`]), however
//! it ended.
//!
//! Calls of one run at the same time never take more steps than there are. Each is capped by what the calls that have ended
//! left: to reserve all of that for one would leave nothing for the others.

mod dimension;
mod rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chain::Used;
use hydrant_plan::{Operation, Stage};

pub use dimension::Dimension;
pub use rules::{Exhausted, Rules};

/// Where a warning is due, in percent.
const WARNINGS: [u8; 2] = [50, 80];

/// What a request is expected to take.
const HTTP_BYTES: u64 = 10_000;
/// How long an HTTP stage is expected to take.
const HTTP_MILLISECONDS: u64 = 2_000;

/// What a run used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Budget {
    used: BTreeMap<Dimension, u64>,
    /// The highest warning that was given.
    warned: BTreeMap<Dimension, u8>,
}

/// A run has used that much of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warning {
    /// Of what.
    pub dimension: Dimension,
    /// 50 or 80.
    pub percent: u8,
}

impl Warning {
    /// What the chain says of it.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("{} {} %", self.dimension.as_str(), self.percent)
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.dimension.as_str();
        write!(f, "{} % of the budget for {name} is used", self.percent)
    }
}

impl Budget {
    /// What was used of a dimension; of memory, the peak.
    #[must_use]
    pub fn used(&self, dimension: Dimension) -> u64 {
        self.used.get(&dimension).copied().unwrap_or(0)
    }

    /// Admits a call and takes the step that it certainly uses; returns the warnings of [`Rules::admit`]. Whoever calls this has the budget for itself.
    ///
    /// # Errors
    ///
    /// As [`Rules::admit`]; then nothing is taken.
    pub fn reserve(
        &mut self,
        rules: &Rules,
        estimate: &Estimate,
    ) -> Result<Vec<String>, Exhausted> {
        let warnings = rules.admit(self, estimate)?;
        self.add(Dimension::Steps, 1);
        Ok(warnings)
    }

    /// Gives back the step of a call that was not made after all.
    pub fn release(&mut self) {
        if let Some(steps) = self.used.get_mut(&Dimension::Steps) {
            *steps = steps.saturating_sub(1);
        }
    }

    /// Charges what a call used beside the step that it has reserved, however it ended. Answers the warnings that are
    /// due now.
    pub fn charge(&mut self, rules: &Rules, used: &Used, peak_memory_bytes: u64) -> Vec<Warning> {
        self.add(Dimension::WallClockMs, used.wall_clock_ms);
        self.add(Dimension::NetworkBytes, used.network_bytes);
        self.add(Dimension::StorageBytes, used.storage_bytes);
        self.add(Dimension::CpuMs, used.cpu_ms);
        self.add(Dimension::MemoryMb, peak_memory_bytes.div_ceil(1024 * 1024));
        self.due(rules)
    }

    fn add(&mut self, dimension: Dimension, amount: u64) {
        let used = self.used.entry(dimension).or_default();
        *used = match dimension {
            Dimension::MemoryMb => amount.max(*used),
            _ => used.saturating_add(amount),
        };
    }

    /// Each once for a dimension and run.
    fn due(&mut self, rules: &Rules) -> Vec<Warning> {
        let mut due = Vec::new();
        for dimension in Dimension::ALL {
            let Some(limit) = rules.limit(dimension).filter(|limit| *limit > 0) else {
                continue;
            };
            let used = u128::from(self.used(dimension));
            let warned = self.warned.get(&dimension).copied().unwrap_or(0);
            for percent in WARNINGS {
                let reached = used * 100 >= u128::from(limit) * u128::from(percent);
                if percent > warned && reached {
                    self.warned.insert(dimension, percent);
                    due.push(Warning { dimension, percent });
                }
            }
        }
        due
    }
}

/// What the HTTP stages of an operation are expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Bytes sent and received.
    pub network_bytes: u64,
    /// Milliseconds.
    pub wall_clock_ms: u64,
}

impl Estimate {
    /// Returns what the HTTP stages of `operation` are expected to take: a fixed amount for each of them.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        let is_http = |stage: &&Stage| matches!(stage, Stage::Http(_));
        let requests = operation.stages.iter().filter(is_http).count();
        let requests = u64::try_from(requests).unwrap_or(u64::MAX);
        Self {
            network_bytes: requests.saturating_mul(HTTP_BYTES),
            wall_clock_ms: requests.saturating_mul(HTTP_MILLISECONDS),
        }
    }

    fn of_dimension(&self, dimension: Dimension) -> u64 {
        match dimension {
            Dimension::NetworkBytes => self.network_bytes,
            Dimension::WallClockMs => self.wall_clock_ms,
            _ => 0,
        }
    }
}
