//! What holds for a run.

use std::collections::BTreeMap;

use super::{Budget, Dimension, Estimate};
use crate::config::{BudgetPolicy, Budgets, DimensionBudget, Limit};
use crate::failure::{Code, Failure};

/// The limits of a run, and what happens at them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    limits: BTreeMap<Dimension, (u64, BudgetPolicy)>,
}

/// A call may not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    /// Of which there is not enough.
    pub dimension: Dimension,
    /// Whether a `budget` request is to be opened.
    pub ask: bool,
    /// By how much a grant extends: as much again, and at least what the call is expected to take.
    pub amount: u64,
}

impl Exhausted {
    /// What the caller is told.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let name = self.dimension.as_str();
        Failure::new(
            Code::BudgetExhausted,
            format!("the budget for {name} is used up"),
        )
        .at_path(format!("budget.{name}"))
    }
}

impl Rules {
    /// Returns the rules of a session: the configuration, raised by what operators granted since
    /// (`registry::session::extensions`, by name).
    #[must_use]
    pub fn new(configured: &Budgets, extensions: &BTreeMap<String, u64>) -> Self {
        let mut limits = BTreeMap::new();
        for dimension in Dimension::ALL {
            let entry = configured_of(configured, dimension);
            let limit = match entry.and_then(|entry| entry.limit) {
                Some(Limit::AtMost(limit)) => Some(limit),
                Some(Limit::Unlimited) => None,
                None => dimension.default_limit(),
            };
            let Some(limit) = limit else { continue };
            let extension = extensions.get(dimension.as_str()).copied().unwrap_or(0);
            let policy = entry.map(|entry| entry.policy).unwrap_or_default();
            limits.insert(dimension, (limit.saturating_add(extension), policy));
        }
        Self { limits }
    }

    /// The limit of a dimension; none: unlimited.
    #[must_use]
    pub fn limit(&self, dimension: Dimension) -> Option<u64> {
        self.limits.get(&dimension).map(|(limit, _)| *limit)
    }

    /// What a call may use at most; none: no limit, or one that is only warned of. Of memory: all of it.
    #[must_use]
    pub fn left(&self, budget: &Budget, dimension: Dimension) -> Option<u64> {
        match self.limits.get(&dimension)? {
            (_, BudgetPolicy::SoftWarn) => None,
            (limit, _) if dimension == Dimension::MemoryMb => Some(*limit),
            (limit, _) => Some(limit.saturating_sub(budget.used(dimension))),
        }
    }

    /// Whether a call may begin; returns the limits that are reached and only warned of.
    ///
    /// # Errors
    ///
    /// The first dimension, in the order of [`Dimension`], of which there is not enough.
    pub fn admit(&self, budget: &Budget, estimate: &Estimate) -> Result<Vec<String>, Exhausted> {
        let mut warnings = Vec::new();
        for (dimension, (limit, policy)) in &self.limits {
            let used = budget.used(*dimension);
            let expected = estimate.of_dimension(*dimension);
            let is_used_up = match dimension {
                // A peak that was reached may be reached again.
                Dimension::MemoryMb => used > *limit || *limit == 0,
                _ => used >= *limit,
            };
            if !is_used_up && expected <= limit.saturating_sub(used) {
                continue;
            }
            if *policy == BudgetPolicy::SoftWarn {
                let name = dimension.as_str();
                warnings.push(format!("the budget for {name} is used up"));
                continue;
            }
            return Err(Exhausted {
                dimension: *dimension,
                ask: *policy == BudgetPolicy::ApprovalRequired,
                amount: (*limit).max(expected).max(1),
            });
        }
        Ok(warnings)
    }
}

fn configured_of(configured: &Budgets, dimension: Dimension) -> Option<DimensionBudget> {
    match dimension {
        Dimension::Steps => configured.steps,
        Dimension::WallClockMs => configured.wall_clock_ms,
        Dimension::NetworkBytes => configured.network_bytes,
        Dimension::StorageBytes => configured.storage_bytes,
        Dimension::CpuMs => configured.cpu_ms,
        Dimension::MemoryMb => configured.memory_mb,
        Dimension::LlmTokens => configured.llm_tokens,
        Dimension::CostUsd => configured.cost_usd,
    }
}
