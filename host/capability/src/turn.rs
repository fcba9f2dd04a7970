//! Turns on the processors: of the long calls that leave some of them to others, as many compute at a time as there are
//! processors left.
//!
//! More of them would wait for each other in the kernel, in the middle of changing the address space, and whoever has a
//! processor to himself would wait with them. A turn is that of the thread, as is [`Cancellation`](super::Cancellation);
//! while its call waits for the network or for a program, somebody else has it.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So long has a call its turn. One that computes longer gains nothing by others that wait for its end.
const SPAN: Duration = Duration::from_millis(50);
/// Nobody waits longer for a turn: it orders who computes, and is no lock.
const PATIENCE: Duration = Duration::from_millis(100);

thread_local! {
    static HELD: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// See the module. Clones are the same turns.
#[derive(Debug, Clone)]
pub struct Turns(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    count: usize,
    span: Duration,
    taken: Mutex<Taken>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// Their numbers, and when they began.
    turns: Vec<(u64, Instant)>,
}

/// One of them, or none where waiting for it took too long; given back when it is dropped.
struct Turn {
    turns: Turns,
    number: Option<u64>,
}

impl Turns {
    /// So many at a time.
    pub fn new(count: usize) -> Self {
        Self::of(count, SPAN)
    }

    fn of(count: usize, span: Duration) -> Self {
        Self(Arc::new(Inner {
            count,
            span,
            taken: Mutex::default(),
            given_back: Condvar::new(),
        }))
    }

    /// Does `work` when it is its turn.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Given back also where the work panics: threads are used again.
        struct GivenBack;
        impl Drop for GivenBack {
            fn drop(&mut self) {
                HELD.with(RefCell::take);
            }
        }
        let turn = self.take();
        HELD.with(|held| held.replace(Some(turn)));
        let _given_back = GivenBack;
        work()
    }

    fn take(&self) -> Turn {
        let begun = Instant::now();
        let mut taken = self.0.taken();
        let number = loop {
            let now = Instant::now();
            taken
                .turns
                .retain(|(_, at)| now.duration_since(*at) < self.0.span);
            if taken.turns.len() < self.0.count {
                let number = taken.next;
                taken.next = number.wrapping_add(1);
                taken.turns.push((number, now));
                break Some(number);
            }
            let left = PATIENCE.saturating_sub(now.duration_since(begun));
            if left.is_zero() {
                break None;
            }
            let ages = taken.turns.iter().map(|(_, at)| now.duration_since(*at));
            let oldest = ages.max().unwrap_or_default();
            let wait = left.min(self.0.span.saturating_sub(oldest));
            let waited = self.0.given_back.wait_timeout(taken, wait);
            (taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        };
        drop(taken);
        Turn {
            turns: self.clone(),
            number,
        }
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let mut taken = self.turns.0.taken();
        taken.turns.retain(|(other, _)| *other != number);
        drop(taken);
        self.turns.0.given_back.notify_one();
    }
}

/// Does `work`, which waits more than it computes; whoever waits for this thread's turn has it meanwhile.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    let Some(turn) = HELD.with(RefCell::take) else {
        return work();
    };
    let turns = turn.turns.clone();
    drop(turn);
    let done = work();
    HELD.with(|held| held.replace(Some(turns.take())));
    done
}

/// What was just done again and again holds up the whole address space, for a moment each time: whoever has a turn, and so
/// leaves processors to others, stays away from it for a millisecond. He keeps his turn, or the next would do the same.
pub fn pause() {
    if HELD.with(|held| held.borrow().is_some()) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Longer than a test lasts.
    const LONG: Duration = Duration::from_secs(3600);

    fn taken(turns: &Turns) -> usize {
        turns.0.taken().turns.len()
    }

    #[test]
    fn a_turn_is_given_back_at_the_end_and_while_its_work_waits() {
        let turns = Turns::of(1, LONG);
        turns.during(|| {
            assert_eq!(taken(&turns), 1);
            aside(|| assert_eq!(taken(&turns), 0));
            assert_eq!(taken(&turns), 1);
        });
        assert_eq!(taken(&turns), 0);
        let broke = std::panic::catch_unwind(|| turns.during(|| panic!("broke off")));
        assert!(broke.is_err());
        assert_eq!(taken(&turns), 0);
        aside(|| assert_eq!(taken(&turns), 0));
    }

    /// Whether a second call of `turns` has a turn of its own beside one that does not end.
    fn has_one_beside(turns: &Turns) -> bool {
        let (held, is_held) = channel();
        let (end, ends) = channel::<()>();
        let other = {
            let turns = turns.clone();
            std::thread::spawn(move || {
                turns.during(|| {
                    held.send(()).unwrap();
                    ends.recv().unwrap_err();
                });
            })
        };
        is_held.recv().unwrap();
        let begun = Instant::now();
        let has =
            turns.during(|| HELD.with(|held| held.borrow().as_ref().unwrap().number.is_some()));
        assert!(has || begun.elapsed() >= PATIENCE);
        drop(end);
        other.join().unwrap();
        assert_eq!(taken(turns), 0);
        has
    }

    #[test]
    fn a_turn_ends_by_itself_and_nobody_waits_for_long() {
        assert!(has_one_beside(&Turns::of(2, LONG)));
        // It is begun without one in the end.
        assert!(!has_one_beside(&Turns::of(1, LONG)));
        assert!(has_one_beside(&Turns::of(1, Duration::from_millis(1))));
    }

    #[test]
    fn a_pause_is_for_those_who_have_a_turn_and_keep_it() {
        let turns = Turns::of(1, LONG);
        let begun = Instant::now();
        turns.during(|| {
            pause();
            assert_eq!(taken(&turns), 1);
        });
        assert!(begun.elapsed() >= Duration::from_millis(1));
    }
}
