//! The budgets of one call: hostcalls, bytes read, egress and wall-clock time.
//!
//! Every hostcall asks here before it acts and reports what it used. All of it is atomic, because the
//! items of a list are worked on in parallel. What is over a budget ends the whole call with an error
//! that names the budget, its limit and what was used; nothing here is ever a soft error.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Cancellation;

/// A budget of a component call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Budget {
    /// Instructions of the guest, in wasmtime's units of fuel.
    Fuel,
    /// Milliseconds from the start of the call, hostcalls included.
    WallClock,
    /// Bytes of linear memory, all memories together.
    Memory,
    /// Table elements.
    Tables,
    /// Bytes of the request.
    RequestBytes,
    /// Bytes of the response.
    ResponseBytes,
    /// Hostcalls, each item of a list counting.
    Hostcalls,
    /// Bytes read from files and answered by `fetch`.
    ReadBytes,
    /// Bytes of requests and bodies of `fetch`.
    EgressBytes,
    /// None: whoever waited for the call cancelled it.
    Cancelled,
}

impl Budget {
    /// The name that messages use, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Budget::Fuel => "fuel",
            Budget::WallClock => "wall-clock",
            Budget::Memory => "memory",
            Budget::Tables => "tables",
            Budget::RequestBytes => "request-bytes",
            Budget::ResponseBytes => "response-bytes",
            Budget::Hostcalls => "hostcalls",
            Budget::ReadBytes => "read-bytes",
            Budget::EgressBytes => "egress-bytes",
            Budget::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A budget that a call used up: a hard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// Which budget.
    pub budget: Budget,
    /// What it allows, in the unit of the budget.
    pub limit: u64,
    /// What the call used or asked for in all, in the same unit; always more than `limit`, but for time.
    pub used: u64,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            budget,
            limit,
            used,
        } = self;
        match budget {
            Budget::Cancelled => write!(formatter, "the call was cancelled after {used} ms"),
            _ => write!(
                formatter,
                "budget {budget} exceeded: limit {limit}, used {used}"
            ),
        }
    }
}

impl std::error::Error for BudgetExceeded {}

/// What a call may use of the effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeterBudgets {
    /// Items of hostcalls.
    pub hostcalls: u64,
    /// Bytes read from files and answered by `fetch`, in all.
    pub read_bytes: u64,
    /// Bytes of requests and bodies of `fetch`, in all.
    pub egress_bytes: u64,
    /// From the start of the call to its end.
    pub wall_clock: Duration,
}

/// What a call has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Items of hostcalls.
    pub hostcalls: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes of egress.
    pub egress_bytes: u64,
    /// Milliseconds since the start of the call.
    pub wall_ms: u64,
}

/// The budgets of one call and what is left of them.
#[derive(Debug)]
pub struct Meter {
    budgets: MeterBudgets,
    started: Instant,
    cancellation: Cancellation,
    hostcalls: AtomicU64,
    read_bytes: AtomicU64,
    egress_bytes: AtomicU64,
}

impl Meter {
    /// A meter for a call that began at `started`, of the work that this thread does.
    pub fn new(budgets: MeterBudgets, started: Instant) -> Meter {
        Meter {
            budgets,
            started,
            cancellation: Cancellation::current(),
            hostcalls: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            egress_bytes: AtomicU64::new(0),
        }
    }

    /// Counts `items` of a hostcall, before any of them is worked on.
    ///
    /// # Errors
    /// [`Budget::Hostcalls`].
    pub fn hostcalls(&self, items: u64) -> Result<(), BudgetExceeded> {
        take(
            &self.hostcalls,
            items,
            Budget::Hostcalls,
            self.budgets.hostcalls,
        )
    }

    /// Counts bytes that are about to be read, or were.
    ///
    /// # Errors
    /// [`Budget::ReadBytes`].
    pub fn read_bytes(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        take(
            &self.read_bytes,
            bytes,
            Budget::ReadBytes,
            self.budgets.read_bytes,
        )
    }

    /// Counts bytes of a request that is about to be sent, or of a body that was received.
    ///
    /// # Errors
    /// [`Budget::EgressBytes`].
    pub fn egress(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        take(
            &self.egress_bytes,
            bytes,
            Budget::EgressBytes,
            self.budgets.egress_bytes,
        )
    }

    /// The time that is left, always more than zero: every effect cuts its own timeout to it.
    ///
    /// # Errors
    /// [`Budget::WallClock`], in milliseconds; [`Budget::Cancelled`].
    pub fn remaining(&self) -> Result<Duration, BudgetExceeded> {
        let used = self.started.elapsed();
        if self.cancellation.is_cancelled() {
            return Err(BudgetExceeded {
                budget: Budget::Cancelled,
                limit: 0,
                used: milliseconds(used),
            });
        }
        match self.budgets.wall_clock.checked_sub(used) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(BudgetExceeded {
                budget: Budget::WallClock,
                limit: milliseconds(self.budgets.wall_clock),
                used: milliseconds(used),
            }),
        }
    }

    /// What was used so far.
    pub fn used(&self) -> Used {
        Used {
            hostcalls: self.hostcalls.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            egress_bytes: self.egress_bytes.load(Ordering::Relaxed),
            wall_ms: milliseconds(self.started.elapsed()),
        }
    }
}

/// Adds `amount` to `counter`; what is over the limit stays counted, so that a later attempt fails too.
fn take(
    counter: &AtomicU64,
    amount: u64,
    budget: Budget,
    limit: u64,
) -> Result<(), BudgetExceeded> {
    // Saturating, so that no sum of huge amounts comes round to a small one.
    let before = counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            Some(used.saturating_add(amount))
        })
        .unwrap_or_else(|used| used);
    let used = before.saturating_add(amount);
    if used > limit {
        Err(BudgetExceeded {
            budget,
            limit,
            used,
        })
    } else {
        Ok(())
    }
}

/// Whole milliseconds, as much as fits.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(wall_clock: Duration) -> Meter {
        let budgets = MeterBudgets {
            hostcalls: 10,
            read_bytes: 20,
            egress_bytes: 30,
            wall_clock,
        };
        Meter::new(budgets, Instant::now())
    }

    #[test]
    fn what_is_over_a_budget_says_which_how_much_and_what_was_used() {
        let meter = meter(Duration::from_secs(60));
        assert_eq!(meter.hostcalls(10), Ok(()));
        let exceeded = meter.hostcalls(1).unwrap_err();
        assert_eq!(
            exceeded.to_string(),
            "budget hostcalls exceeded: limit 10, used 11"
        );
        assert!(meter.read_bytes(21).is_err());
        assert!(meter.egress(31).is_err());
        // No sum of huge amounts comes round to a small one.
        assert!(meter.egress(u64::MAX).is_err());
        assert!(meter.egress(0).is_err());
        let used = meter.used();
        assert_eq!(
            (used.hostcalls, used.read_bytes, used.egress_bytes),
            (11, 21, u64::MAX)
        );
    }

    #[test]
    fn no_time_is_left_once_the_deadline_has_passed() {
        assert!(meter(Duration::from_secs(60)).remaining().unwrap() <= Duration::from_secs(60));
        let exceeded = meter(Duration::ZERO).remaining().unwrap_err();
        assert_eq!((exceeded.budget, exceeded.limit), (Budget::WallClock, 0));
    }
}
