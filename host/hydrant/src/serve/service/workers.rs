//! The threads that calls run on.
//!
//! They stand behind the threads that read requests and answer what is known: the system prefers those, and whatever else
//! the machine does at the usual priority. A call that takes long steps back further. A thread that stepped back cannot step
//! forward again without privileges; it ends with its call, and another one takes its place.
//!
//! While tenants with short calls call, the long calls of others leave some processors to them: a call that is long already,
//! and those of a tenant whose last calls were. So whoever lets components compute for seconds, or makes the system copy and
//! clear memory, delays those whose calls take a millisecond by little, and who is alone has the whole machine.

mod processors;

use std::collections::VecDeque;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::gettid;
use tokio::sync::oneshot;

pub use self::processors::Pace;
use self::processors::{Processors, Spent};

/// So many steps of `nice` are calls behind from the start.
const BEHIND: i32 = 10;
/// A call that runs so long steps back.
const LONG: Duration = Duration::from_millis(20);
/// By so many steps more.
const BACK: i32 = 5;
/// How often a long call looks whether it has to leave processors to others.
const LOOK: Duration = Duration::from_millis(100);
/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(10);

/// See the module. Clones are the same threads. How many there are is up to who gives them work.
#[derive(Clone, Default)]
pub(super) struct Workers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    wanted: Condvar,
    processors: Processors,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job.
    idle: usize,
}

struct Job {
    work: Box<dyn FnOnce() + Send>,
    stage: Arc<Stage>,
    pace: Arc<Pace>,
}

/// Where a piece of work is.
#[derive(Default)]
struct Stage(Mutex<Where>);

#[derive(Default)]
enum Where {
    #[default]
    Waits,
    Runs(Pid),
    SteppedBack(Pid),
    Ended,
}

/// A piece of work that was begun; dropping this does not end it.
pub(super) struct Working<T> {
    done: oneshot::Receiver<T>,
    stage: Arc<Stage>,
    pace: Arc<Pace>,
    workers: Workers,
}

/// The work broke off.
#[derive(Debug, thiserror::Error)]
#[error("a call broke off")]
pub(super) struct BrokeOff;

impl Workers {
    /// Begins a piece of work of whoever has this pace.
    ///
    /// # Errors
    ///
    /// The system gives no thread; the work is dropped.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        pace: &Arc<Pace>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Working<T>> {
        let (sender, done) = oneshot::channel();
        let stage = Arc::new(Stage::default());
        let work = Box::new(move || {
            // Nobody need wait any more.
            let _ = sender.send(work());
        });
        self.give(Job {
            work,
            stage: Arc::clone(&stage),
            pace: Arc::clone(pace),
        })?;
        Ok(Working {
            done,
            stage,
            pace: Arc::clone(pace),
            workers: self.clone(),
        })
    }

    fn give(&self, job: Job) -> io::Result<()> {
        let mut state = self.0.state();
        if state.idle > state.jobs.len() {
            state.jobs.push_back(job);
            drop(state);
            self.0.wanted.notify_one();
            return Ok(());
        }
        drop(state);
        let inner = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("hydrant-call".into());
        let work = move || {
            step(gettid(), BEHIND);
            processors::set_slice(None, false);
            inner.work(job);
        };
        thread.spawn(work).map(drop)
    }
}

impl<T> Working<T> {
    /// Waits for its end.
    pub(super) async fn done(mut self) -> Result<T, BrokeOff> {
        let mut wait = LONG;
        loop {
            if let Ok(done) = tokio::time::timeout(wait, &mut self.done).await {
                return done.map_err(|_| BrokeOff);
            }
            wait = LOOK;
            let processors = &self.workers.0.processors;
            self.stage.step_back(|thread| {
                let confined = processors.are_wanted_by_others_than(&self.pace);
                processors.confine(Some(thread), confined);
            });
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, first: Job) {
        let mut next = Some(first);
        while let Some(Job { work, stage, pace }) = next {
            let spent = Spent::now();
            self.processors.during(&pace, || {
                *stage.now() = Where::Runs(gettid());
                // What it held is given back; who waits for it is told by the end of the channel.
                if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
                    tracing::error!("a call broke off");
                }
            });
            pace.took(spent.until_now());
            let before = std::mem::replace(&mut *stage.now(), Where::Ended);
            if matches!(before, Where::SteppedBack(_)) {
                return;
            }
            next = self.next();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        state.idle = state.idle.saturating_add(1);
        let waited = self
            .wanted
            .wait_timeout_while(state, IDLE, |state| state.jobs.is_empty());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.idle = state.idle.saturating_sub(1);
        state.jobs.pop_front()
    }
}

impl Stage {
    fn now(&self) -> MutexGuard<'_, Where> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steps back, once, and does `then` to its thread, which cannot begin anything else meanwhile: it has to say that
    /// this ended first.
    fn step_back(&self, then: impl FnOnce(Pid)) {
        let mut now = self.now();
        if let Where::Runs(thread) = *now
            && step(thread, BACK)
        {
            *now = Where::SteppedBack(thread);
        }
        if let Where::SteppedBack(thread) = *now {
            then(thread);
        }
    }
}

/// Has a thread step back; whether it did.
fn step(thread: Pid, steps: i32) -> bool {
    let nice = getpriority_process(Some(thread)).unwrap_or(0);
    let stepped = setpriority_process(Some(thread), nice.saturating_add(steps));
    if let Err(error) = &stepped {
        tracing::warn!(%error, "a call does not step back");
    }
    stepped.is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::RecvTimeoutError;

    use rustix::thread::sched_getaffinity;

    use super::*;

    fn wait<T: Send + 'static>(working: Working<T>) -> Result<T, BrokeOff> {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(working.done())
    }

    fn begin<T: Send + 'static>(
        workers: &Workers,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Working<T> {
        workers.begin(&Arc::default(), work).unwrap()
    }

    fn processors() -> u32 {
        sched_getaffinity(None).unwrap().count()
    }

    fn nice() -> i32 {
        getpriority_process(Some(gettid())).unwrap()
    }

    #[test]
    fn long_work_steps_back_and_what_comes_after_it_does_not() {
        let workers = Workers::default();
        let own = (nice() + BEHIND).min(19);
        assert!(
            own < 19,
            "these tests were started at a priority below which there is none"
        );
        assert_eq!(wait(begin(&workers, nice)).unwrap(), own);
        let long = begin(&workers, || {
            let until = std::time::Instant::now() + Duration::from_secs(60);
            let before = nice();
            while nice() == before && std::time::Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
            nice()
        });
        assert_eq!(wait(long).unwrap(), (own + BACK).min(19));
        for _ in 0..10 {
            assert_eq!(wait(begin(&workers, nice)).unwrap(), own);
        }
    }

    #[test]
    fn work_that_breaks_off_is_told_and_its_thread_goes_on() {
        let workers = Workers::default();
        assert!(wait(begin(&workers, || panic!("broke off"))).is_err());
        let first = wait(begin(&workers, gettid)).unwrap();
        // The thread says that it is idle a moment after its work is done.
        let again = (0..1000).find(|_| {
            std::thread::sleep(Duration::from_millis(1));
            wait(begin(&workers, gettid)).unwrap() == first
        });
        assert!(again.is_some(), "no thread is used twice");
    }

    #[test]
    fn work_runs_at_the_same_time() {
        let workers = Workers::default();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waits = begin(&workers, move || receiver.recv().is_ok());
        let sends = begin(&workers, move || sender.send(()).is_ok());
        assert!(wait(sends).unwrap() && wait(waits).unwrap());
    }

    #[test]
    fn long_calls_leave_processors_to_the_short_ones_of_others() {
        let all = processors();
        if all < 2 {
            return;
        }
        let workers = Workers::default();
        let (slow, quick) = (Arc::<Pace>::default(), Arc::<Pace>::default());
        for _ in 0..20 {
            slow.took(Duration::from_secs(1));
        }
        let count = |pace| wait(workers.begin(pace, processors).unwrap()).unwrap();
        assert_eq!(count(&slow), all, "who is alone has all");
        for _ in 0..10 {
            assert_eq!(count(&quick), all);
            assert!((1..all).contains(&count(&slow)));
        }
        // So does what nobody expected to be long, as long as there are short ones.
        let (confined, stop) = std::sync::mpsc::channel::<()>();
        let others = {
            let workers = workers.clone();
            std::thread::spawn(move || {
                while stop.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    wait(workers.begin(&quick, || ()).unwrap()).unwrap();
                }
            })
        };
        let long = begin(&workers, move || {
            let reaches = |wanted: &dyn Fn(u32) -> bool| {
                (0..60_000).any(|_| {
                    std::thread::sleep(Duration::from_millis(1));
                    wanted(processors())
                })
            };
            let left = reaches(&|now| now < all);
            drop(confined);
            left && reaches(&|now| now == all)
        });
        assert!(wait(long).unwrap());
        others.join().unwrap();
    }
}
