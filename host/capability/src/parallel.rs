//! A map over the items of a hostcall: in parallel, bounded, answers in the order asked.
//!
//! Threads are scoped: none outlives the hostcall. The calling thread works too, alone at first where
//! the items are likely to be quick: reading a file that is in the page cache takes less time than
//! starting a thread. A panic in an item is never swallowed: it goes on in the calling thread.
//!
//! All hostcalls of the process together have at most [`MAX_HELPERS`] further threads: a call that finds none free does its
//! work alone. There is no pool that keeps threads: a hostcall would have to wait until those of other tenants give some back.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Cancellation;

/// Effects that are at work at a time.
pub(super) const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);

/// Threads that help hostcalls at a time, in the whole process. Each takes four of the memory mappings that the kernel lets a
/// process have, which the engine leaves to them.
pub const MAX_HELPERS: usize = 576;

/// Threads that help now.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// How long the calling thread works alone on files before it asks for help.
pub(super) const FILES_ALONE: Duration = Duration::from_millis(1);

/// Applies `work` to every item, at most `at_once` at a time, and answers in the order of the items.
///
/// The calling thread works alone for the time `alone`. After the first error no further item is
/// begun, and that error is the answer.
pub(super) fn map<T, R, E>(
    items: Vec<T>,
    at_once: NonZeroUsize,
    alone: Duration,
    work: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Send,
    R: Send,
    E: Send,
{
    let mut items = items.into_iter();
    let mut answers = Vec::with_capacity(items.len());
    let started = Instant::now();
    // A list of one never needs a second thread.
    while items.len() == 1 || started.elapsed() < alone {
        let Some(item) = items.next() else { break };
        answers.push(work(item)?);
    }
    if items.len() == 0 {
        return Ok(answers);
    }
    answers.extend(map_on_threads(items, at_once, &work)?);
    Ok(answers)
}

/// Hands `items` out to at most `at_once` threads, the calling one among them.
fn map_on_threads<T, R, E>(
    items: impl ExactSizeIterator<Item = T> + Send,
    at_once: NonZeroUsize,
    work: &(impl Fn(T) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E>
where
    T: Send,
    R: Send,
    E: Send,
{
    let extra = items.len().min(at_once.get()).saturating_sub(1);
    let permits = HelperPermits::take(&HELPERS, extra);
    let queue = Mutex::new(items.enumerate());
    let failed = AtomicBool::new(false);
    let cancellation = Cancellation::current();
    let work_off_queue = || -> Result<Vec<(usize, R)>, E> {
        let mut done = Vec::new();
        // A panic in `work` happens outside the lock, and cannot leave the queue half changed.
        while !failed.load(Ordering::Relaxed)
            && let Some((index, item)) = {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.next()
            }
        {
            match work(item) {
                Ok(answer) => done.push((index, answer)),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    thread::scope(|scope| {
        // Where the system has no thread to give, fewer do the same work.
        let handles: Vec<_> = (0..permits.count)
            .map_while(|_| {
                thread::Builder::new()
                    .spawn_scoped(scope, || cancellation.during(work_off_queue))
                    .ok()
            })
            .collect();
        let mut outcome = work_off_queue();
        for handle in handles {
            let helped = handle.join().unwrap_or_else(|panic| resume_unwind(panic));
            outcome = match (outcome, helped) {
                (Ok(mut done), Ok(more)) => {
                    done.extend(more);
                    Ok(done)
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        outcome.map(|mut done| {
            done.sort_unstable_by_key(|(index, _)| *index);
            done.into_iter().map(|(_, answer)| answer).collect()
        })
    })
}

/// Permits to start helping threads, given back when this is dropped.
struct HelperPermits<'counter> {
    in_use: &'counter AtomicUsize,
    count: usize,
}

impl<'counter> HelperPermits<'counter> {
    /// As many of `asked` permits as are free, which may be none.
    fn take(in_use: &'counter AtomicUsize, asked: usize) -> Self {
        let mut count = 0;
        // Never fails: the closure always answers a number.
        let _ = in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            count = MAX_HELPERS.saturating_sub(used).min(asked);
            Some(used.saturating_add(count))
        });
        Self { in_use, count }
    }
}

impl Drop for HelperPermits<'_> {
    fn drop(&mut self) {
        self.in_use.fetch_sub(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn answers_come_in_the_order_asked_whatever_finishes_first() {
        let answers: Result<Vec<u64>, Infallible> =
            map((0..30).collect(), AT_ONCE, Duration::ZERO, |item| {
                thread::sleep(Duration::from_millis(3 * (30 - item) / 10));
                Ok(item)
            });
        assert_eq!(answers.unwrap(), (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn at_most_ten_items_are_at_work_at_a_time() {
        let now = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let answers: Result<Vec<()>, Infallible> =
            map(vec![(); 60], AT_ONCE, Duration::ZERO, |()| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(2));
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            });
        assert_eq!(answers.unwrap().len(), 60);
        let most = most.load(Ordering::SeqCst);
        assert!((2..=10).contains(&most), "{most} at once");
    }

    #[test]
    fn the_helpers_of_all_hostcalls_are_bounded_and_permits_come_back() {
        let in_use = AtomicUsize::new(0);
        let many = HelperPermits::take(&in_use, MAX_HELPERS - 4);
        let rest = HelperPermits::take(&in_use, 9);
        assert_eq!((many.count, rest.count), (MAX_HELPERS - 4, 4));
        assert_eq!(HelperPermits::take(&in_use, 9).count, 0);
        drop(many);
        assert_eq!(HelperPermits::take(&in_use, 9).count, 9);
        drop(rest);
        assert_eq!(in_use.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn quick_items_stay_on_the_calling_thread() {
        let threads: Result<Vec<_>, Infallible> =
            map(vec![(); 100], AT_ONCE, Duration::from_secs(60), |()| {
                Ok(thread::current().id())
            });
        let threads: HashSet<_> = threads.unwrap().into_iter().collect();
        assert_eq!(threads, HashSet::from([thread::current().id()]));
    }

    #[test]
    fn the_first_error_ends_the_map() {
        let begun = AtomicUsize::new(0);
        let answers: Result<Vec<()>, &str> = map(vec![(); 1000], AT_ONCE, Duration::ZERO, |()| {
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            Err("no")
        });
        assert_eq!(answers, Err("no"));
        assert!(begun.load(Ordering::SeqCst) <= 10);
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_of_an_item_reaches_the_caller() {
        let _: Result<Vec<()>, Infallible> =
            map((0..20).collect(), AT_ONCE, Duration::ZERO, |item| {
                assert!(item != 7, "item {item}");
                Ok(())
            });
    }
}
