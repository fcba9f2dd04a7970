//! The budget of a session: one step of it is reserved before a call, and what the call used is charged after it.
//!
//! The reservation of a step is one atomic step with the look at what is left, whichever calls, threads and processes there
//! are. A call that is killed has used its step all the same: nobody gives it back.
//!
//! A session with a name is kept in the database, for it outlives this process; that of a connection is kept in
//! memory and ends with it; that of a single command nowhere.

use std::collections::BTreeMap;
use std::time::Duration;

use super::caller::Lifetime;
use super::{Caller, Governor};
use crate::budget::{Budget, Dimension, Estimate, Exhausted, Rules, Warning};
use crate::chain::{Entry, Event, Outcome, Used};
use crate::failure::Failure;
use crate::locked;
use crate::registry::{Registered, approvals, session};
use crate::sandbox::Caps;

const MIB: u64 = 1024 * 1024;

/// What a session may use, and has used when it was last looked at.
pub(super) struct Session {
    /// The session whose budget it is: the caller's, or the account that stands for it.
    name: String,
    lifetime: Lifetime,
    rules: Rules,
    budget: Budget,
    /// Warnings for dimensions that are used up and whose policy is `soft-warn`.
    pub(super) warnings: Vec<String>,
}

impl Session {
    /// Returns what is left for a call.
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
    /// Opens the session of a call, if its budget admits one more.
    pub(super) fn session(&self, caller: &Caller, found: &Registered) -> Result<Session, Failure> {
        let (name, lifetime) = self.charged(caller)?;
        let budget = match lifetime {
            Lifetime::Command => Budget::default(),
            Lifetime::Connection => {
                let connections = locked(&self.connections);
                connections.get(&name).cloned().unwrap_or_default()
            }
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
        let rules = Rules::new(&self.config.budgets, &extensions);
        match rules.admit(&budget, &Estimate::of(&found.operation)) {
            Ok(warnings) => Ok(Session {
                name,
                lifetime,
                rules,
                budget,
                warnings,
            }),
            Err(exhausted) => Err(self.exhausted(caller, found, &name, &exhausted)?),
        }
    }

    /// Asks the budget once more, because another call may have begun since [`Self::session`], and reserves the step of this call.
    pub(super) fn reserve(
        &self,
        caller: &Caller,
        found: &Registered,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let estimate = Estimate::of(&found.operation);
        match self.change(session, |rules, budget| budget.reserve(rules, &estimate))? {
            Ok(warnings) => {
                session.warnings = warnings;
                Ok(())
            }
            Err(exhausted) => Err(self.exhausted(caller, found, &session.name, &exhausted)?),
        }
    }

    /// Gives back the step of a call that was refused after [`Self::reserve`].
    pub(super) fn release(&self, session: &mut Session) {
        if let Err(failure) = self.change(session, |_, budget| budget.release()) {
            tracing::warn!(%failure, "a step of a session is not given back");
        }
    }

    /// Charges what a call used beside its step, however it ended. Returns the warnings that are due.
    pub(super) fn charge(
        &self,
        session: &mut Session,
        used: &Used,
        peak_memory_bytes: u64,
    ) -> Vec<Warning> {
        self.change(session, |rules, budget| {
            budget.charge(rules, used, peak_memory_bytes)
        })
        .unwrap_or_else(|failure| {
            tracing::warn!(%failure, "the budget of a session is not kept");
            Vec::new()
        })
    }

    /// Changes the budget of a session as it is now: other calls may have begun or ended meanwhile.
    fn change<T>(
        &self,
        session: &mut Session,
        make: impl FnOnce(&Rules, &mut Budget) -> T,
    ) -> Result<T, Failure> {
        let Session {
            name,
            rules,
            budget,
            ..
        } = session;
        match session.lifetime {
            Lifetime::Command => Ok(make(rules, budget)),
            Lifetime::Connection => {
                let mut connections = locked(&self.connections);
                let kept = connections.entry(name.clone()).or_default();
                let made = make(rules, kept);
                budget.clone_from(kept);
                Ok(made)
            }
            Lifetime::Named => self.state.write(|change| {
                let before: Budget = session::budget(change.database, name)?.unwrap_or_default();
                budget.clone_from(&before);
                let made = make(rules, budget);
                if *budget != before {
                    session::keep_budget(change, name, budget)?;
                }
                Ok(made)
            }),
        }
    }

    /// Records that a budget is used up, and asks for more of it where that is its policy.
    fn exhausted(
        &self,
        caller: &Caller,
        found: &Registered,
        name: &str,
        exhausted: &Exhausted,
    ) -> Result<Failure, Failure> {
        let who = caller.who();
        let dimension = exhausted.dimension.as_str();
        let failure = exhausted.failure();
        self.state.append(vec![Entry {
            subject: Some(dimension.to_owned()),
            outcome: Outcome::Denied,
            code: Some(failure.code),
            ..found.entry(Event::BudgetExhausted, &who)
        }])?;
        if !exhausted.ask {
            return Ok(failure);
        }
        let asked =
            approvals::ask_budget(&self.state, name, dimension, exhausted.amount, &who, self)?;
        Ok(failure.with_approval(asked.id))
    }

    /// Returns the session that a call is charged to, and how long its budget is kept. An account has no end, so its budget
    /// begins anew each day.
    fn charged(&self, caller: &Caller) -> Result<(String, Lifetime), Failure> {
        let (session, lifetime) = (caller.session().to_owned(), caller.lifetime);
        let Some(account) = &caller.account else {
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
}
