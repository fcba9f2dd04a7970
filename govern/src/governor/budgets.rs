//! The budget of a session (section 18): read before a call, charged after it.
//!
//! A session with a name is kept in the database, for it outlives this process (K-377); that of a connection is kept in
//! memory and ends with it; that of a single command nowhere.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use super::caller::Lifetime;
use super::{Caller, Governor};
use crate::budget::{Budget, Dimension, Estimate, Own, Rules, Warning};
use crate::chain::Used;
use crate::execute::Caps;
use crate::failure::Failure;
use crate::registry::{Registered, approvals, events, session};

const MIB: u64 = 1024 * 1024;

/// What a session may use, and has used when a call began.
pub(super) struct Session {
    /// Whose budget it is: the caller's session, or the account that stands for it.
    name: String,
    lifetime: Lifetime,
    rules: Rules,
    budget: Budget,
    /// K-291
    pub(super) warnings: Vec<String>,
}

impl Session {
    /// K-290: what is left for a call.
    pub(super) fn caps(&self) -> Caps {
        let left = |dimension| self.rules.left(&self.budget, dimension);
        let time = |dimension| left(dimension).map(Duration::from_millis);
        Caps {
            wall_clock: time(Dimension::WallClockMs),
            cpu: time(Dimension::CpuMs),
            memory_bytes: left(Dimension::MemoryMb).map(|mib| mib.saturating_mul(MIB)),
            storage_bytes: left(Dimension::StorageBytes),
            network_bytes: left(Dimension::NetworkBytes),
        }
    }
}

impl Governor {
    /// Step 9 (K-289).
    pub(super) fn session(&self, caller: &Caller, found: &Registered) -> Result<Session, Failure> {
        let (name, lifetime) = self.charged(caller)?;
        let budget = match lifetime {
            Lifetime::Command => Budget::default(),
            Lifetime::Connection => self.connection(&name),
            Lifetime::Named => self
                .state
                .read(|database| session::budget(database, &name))?
                .unwrap_or_default(),
        };
        let extensions = match lifetime {
            Lifetime::Command => BTreeMap::new(),
            _ => self
                .state
                .read(|database| session::extensions(database, &name))?,
        };
        let rules = Rules::new(&self.config.budgets, &Own::default(), &extensions);
        match rules.admit(&budget, &Estimate::of(&found.operation)) {
            Ok(admission) => Ok(Session {
                name,
                lifetime,
                rules,
                budget,
                warnings: admission.warnings,
            }),
            Err(exhausted) => {
                let who = caller.who();
                let of_operation = events::of_operation(exhausted.entry().event, &who, found);
                let entry = crate::chain::Entry {
                    subject: exhausted.entry().subject,
                    outcome: exhausted.entry().outcome,
                    code: exhausted.entry().code,
                    ..of_operation
                };
                self.state.append(vec![entry])?;
                let failure = exhausted.failure();
                if !exhausted.ask {
                    return Err(failure);
                }
                let dimension = exhausted.dimension.as_str();
                let asked = approvals::ask_budget(
                    &self.state,
                    &name,
                    dimension,
                    exhausted.amount,
                    &who,
                    self,
                )?;
                Err(failure.with_approval(asked.id))
            }
        }
    }

    /// K-290: what a call used, whatever came of it.
    pub(super) fn charge(
        &self,
        session: &mut Session,
        used: &Used,
        peak_memory_bytes: u64,
    ) -> Vec<Warning> {
        let name = session.name.as_str();
        let rules = &session.rules;
        match session.lifetime {
            Lifetime::Command => session.budget.charge(rules, used, peak_memory_bytes),
            Lifetime::Connection => self
                .connections
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(name.to_owned())
                .or_default()
                .charge(rules, used, peak_memory_bytes),
            Lifetime::Named => {
                // Read again: another call of this session may have ended meanwhile.
                let charged = self.state.write(|change| {
                    let mut budget: Budget =
                        session::budget(change.database, name)?.unwrap_or_default();
                    let warnings = budget.charge(rules, used, peak_memory_bytes);
                    session::keep_budget(change, name, &budget)?;
                    Ok(warnings)
                });
                charged.unwrap_or_else(|failure| {
                    tracing::warn!(%failure, "the budget of a session is not kept");
                    Vec::new()
                })
            }
        }
    }

    /// Whose budget a call is charged to, and how long that is kept. An account begins anew each day, for it has no end.
    fn charged(&self, caller: &Caller) -> Result<(String, Lifetime), Failure> {
        let (session, lifetime) = (caller.session().to_owned(), caller.lifetime());
        let Some(account) = caller.account() else {
            return Ok((session, lifetime));
        };
        let now = self.state.now();
        if lifetime == Lifetime::Named
            && self
                .state
                .read(|database| session::has_place(database, &session, now))?
        {
            return Ok((session, lifetime));
        }
        let today: String = now.to_string().chars().take(10).collect();
        Ok((format!("{account}-{today}"), Lifetime::Named))
    }

    fn connection(&self, name: &str) -> Budget {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
            .unwrap_or_default()
    }
}
