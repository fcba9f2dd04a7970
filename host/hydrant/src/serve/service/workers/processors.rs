//! Processors that long calls leave to short ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::capability::turn::Turns;

/// Calls that take more of a processor than this are long.
const HEAVY: Duration = Duration::from_millis(1);
/// A call counts as an eighth of a tenant's pace.
const WEIGHT: u32 = 8;
/// For so long after a short call of somebody the long ones of others leave processors to him.
const RECENT: Duration = Duration::from_secs(1);
/// What a call computes at a time: one that wakes has its turn before long calls, which have the system's own slices.
const SLICE: Duration = Duration::from_micros(500);
/// One of so many processors is left, and at least one.
const OF: u32 = 4;

/// How much of a processor the calls of one tenant take, by the last of them.
#[derive(Debug, Default)]
pub struct Pace(AtomicU64);

impl Pace {
    fn is_heavy(&self) -> bool {
        Duration::from_micros(self.0.load(Ordering::Relaxed)) > HEAVY
    }

    /// One more call took so much. However long it was, it alone makes nobody's calls long for long.
    pub(super) fn took(&self, time: Duration) {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let time = micros(time.min(HEAVY.saturating_mul(WEIGHT)));
        let weight = u64::from(WEIGHT);
        let with = |average: u64| Some((average * (weight - 1)).saturating_add(time) / weight);
        // There always is a next value.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, with);
    }
}

/// The processor time of this thread at some moment.
pub(super) struct Spent(Duration);

impl Spent {
    pub(super) fn now() -> Self {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Self(Duration::try_from(time).unwrap_or_default())
    }

    pub(super) fn until_now(&self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

/// Those of this process, and who wanted them for short calls.
pub(super) struct Processors {
    sets: Option<Sets>,
    short: Mutex<Short>,
}

struct Sets {
    all: CpuSet,
    /// Without those that are left to short calls.
    of_long_calls: CpuSet,
    /// Of those that are expected to be long, so many compute at a time while some are left.
    turns: Turns,
}

/// The last short calls of two tenants.
#[derive(Default)]
struct Short {
    last: Option<(Arc<Pace>, Instant)>,
    of_another: Option<Instant>,
}

impl Default for Processors {
    fn default() -> Self {
        Self {
            sets: Sets::of_this_thread(),
            short: Mutex::default(),
        }
    }
}

impl Sets {
    /// None where there is one processor only, or more than a set can name.
    fn of_this_thread() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let mut left = match all.count() {
            0 | 1 => return None,
            many => (many / OF).max(1),
        };
        let mut of_long_calls = all;
        for number in (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number)) {
            if left == 0 {
                break;
            }
            of_long_calls.unset(number);
            left -= 1;
        }
        let turns = Turns::new(usize::try_from(of_long_calls.count()).unwrap_or(1));
        Some(Self {
            all,
            of_long_calls,
            turns,
        })
    }
}

impl Processors {
    /// Does the work of a call of this pace on this thread; if it is expected to be long and others want processors, it
    /// leaves them some and waits for its turn on those that are left.
    pub(super) fn during(&self, pace: &Arc<Pace>, work: impl FnOnce()) {
        let is_heavy = pace.is_heavy();
        if !is_heavy {
            self.note_short(pace);
        }
        match &self.sets {
            Some(sets) if is_heavy && self.are_wanted_by_others_than(pace) => {
                self.confine(None, true);
                sets.turns.during(work);
                // Whoever has this thread next may be short.
                self.confine(None, false);
            }
            _ => work(),
        }
    }

    fn note_short(&self, pace: &Arc<Pace>) {
        let mut short = self.short.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((last, at)) = &short.last
            && !Arc::ptr_eq(last, pace)
        {
            short.of_another = Some(*at);
        }
        short.last = Some((Arc::clone(pace), now));
    }

    /// Whether somebody else had short calls just now.
    pub(super) fn are_wanted_by_others_than(&self, pace: &Arc<Pace>) -> bool {
        let short = self.short.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match &short.last {
            Some((last, at)) if !Arc::ptr_eq(last, pace) => Some(*at),
            _ => short.of_another,
        };
        at.is_some_and(|at| at.elapsed() < RECENT)
    }

    /// Has a thread, this one if none is named, leave processors to others or not.
    pub(super) fn confine(&self, thread: Option<Pid>, confined: bool) {
        let Some(sets) = &self.sets else {
            return;
        };
        let set = if confined {
            &sets.of_long_calls
        } else {
            &sets.all
        };
        if let Err(error) = sched_setaffinity(thread, set) {
            tracing::debug!(%error, confined, "a call does not change its processors");
        }
        set_slice(thread, confined);
    }
}

/// A thread, this one if none is named, computes in short slices, or if it leaves processors to others as others do.
pub(super) fn set_slice(thread: Option<Pid>, confined: bool) {
    let slice = (!confined).then_some(SLICE);
    if let Err(error) = hydrant_jail::set_slice(thread, slice) {
        tracing::debug!(%error, "a call keeps its slices");
    }
}
