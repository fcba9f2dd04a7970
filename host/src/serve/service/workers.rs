//! The threads that calls run on.
//!
//! They stand behind the threads that read requests and answer what is known: the system prefers those, and whatever else
//! the machine does at the usual priority. A call that takes long steps back further. So whoever lets components compute for
//! seconds, or makes the system copy and clear memory, hardly delays those whose calls take a millisecond. A thread that
//! stepped back cannot step forward again without privileges; it ends with its call, and another one takes its place.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::gettid;
use tokio::sync::oneshot;

/// So many steps of `nice` are calls behind from the start.
const BEHIND: i32 = 10;
/// A call that runs so long steps back.
const LONG: Duration = Duration::from_millis(20);
/// By so many steps more.
const BACK: i32 = 5;
/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(10);

/// See the module. Clones are the same threads. How many there are is up to who gives them work.
#[derive(Clone, Default)]
pub(super) struct Workers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    wanted: Condvar,
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
}

/// Where a piece of work is.
#[derive(Default)]
struct Stage(Mutex<Where>);

#[derive(Default)]
enum Where {
    #[default]
    Waits,
    Runs(Pid),
    SteppedBack,
    Ended,
}

/// A piece of work that was begun; dropping this does not end it.
pub(super) struct Working<T> {
    done: oneshot::Receiver<T>,
    stage: Arc<Stage>,
}

/// The work broke off, or could not begin.
#[derive(Debug, thiserror::Error)]
#[error("a call broke off, or there is no thread for it")]
pub(super) struct BrokeOff;

impl Workers {
    /// Begins a piece of work.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Working<T> {
        let (sender, done) = oneshot::channel();
        let stage = Arc::new(Stage::default());
        let work = Box::new(move || {
            // Nobody need wait any more.
            let _ = sender.send(work());
        });
        let stage_of_job = Arc::clone(&stage);
        self.give(Job {
            work,
            stage: stage_of_job,
        });
        Working { done, stage }
    }

    fn give(&self, job: Job) {
        let mut state = self.0.state();
        if state.idle > state.jobs.len() {
            state.jobs.push_back(job);
            drop(state);
            self.0.wanted.notify_one();
            return;
        }
        drop(state);
        let inner = Arc::clone(&self.0);
        let begun = std::thread::Builder::new()
            .name("hydrant-call".into())
            .spawn(move || {
                step(gettid(), BEHIND);
                inner.work(job);
            });
        if let Err(error) = begun {
            tracing::error!(%error, "there is no thread for a call");
        }
    }
}

impl<T> Working<T> {
    /// Waits for its end.
    pub(super) async fn done(mut self) -> Result<T, BrokeOff> {
        let done = match tokio::time::timeout(LONG, &mut self.done).await {
            Ok(done) => done,
            Err(_) => {
                self.stage.step_back();
                self.done.await
            }
        };
        done.map_err(|_| BrokeOff)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, first: Job) {
        let mut next = Some(first);
        while let Some(Job { work, stage }) = next {
            *stage.now() = Where::Runs(gettid());
            // What it held is given back; who waits for it is told by the end of the channel.
            if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("a call broke off");
            }
            let before = std::mem::replace(&mut *stage.now(), Where::Ended);
            if matches!(before, Where::SteppedBack) {
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

    /// The thread cannot begin anything else meanwhile: it has to say that this ended first.
    fn step_back(&self) {
        let mut now = self.now();
        if let Where::Runs(thread) = *now
            && step(thread, BACK)
        {
            *now = Where::SteppedBack;
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
    use super::*;

    fn wait<T: Send + 'static>(working: Working<T>) -> Result<T, BrokeOff> {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(working.done())
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
        assert_eq!(wait(workers.begin(nice)).unwrap(), own);
        let long = workers.begin(|| {
            let until = std::time::Instant::now() + Duration::from_secs(60);
            let before = nice();
            while nice() == before && std::time::Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
            nice()
        });
        assert_eq!(wait(long).unwrap(), (own + BACK).min(19));
        for _ in 0..10 {
            assert_eq!(wait(workers.begin(nice)).unwrap(), own);
        }
    }

    #[test]
    fn work_that_breaks_off_is_told_and_its_thread_goes_on() {
        let workers = Workers::default();
        assert!(wait(workers.begin(|| panic!("broke off"))).is_err());
        let first = wait(workers.begin(gettid)).unwrap();
        // The thread says that it is idle a moment after its work is done.
        let again = (0..1000).find(|_| {
            std::thread::sleep(Duration::from_millis(1));
            wait(workers.begin(gettid)).unwrap() == first
        });
        assert!(again.is_some(), "no thread is used twice");
    }

    #[test]
    fn work_runs_at_the_same_time() {
        let workers = Workers::default();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waits = workers.begin(move || receiver.recv().is_ok());
        let sends = workers.begin(move || sender.send(()).is_ok());
        assert!(wait(sends).unwrap() && wait(waits).unwrap());
    }
}
