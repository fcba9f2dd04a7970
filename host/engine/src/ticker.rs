//! The clock that stops guests: a thread that raises the engine's epoch while calls are running.
//!
//! A guest checks the epoch on every loop and function entry, so a tight loop is interrupted, which an
//! asynchronous time-out around the call could not do. The thread parks once nothing has run for a second;
//! waking it costs a system call, which calls that follow each other do not pay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How late a deadline may be noticed, at most, on an idle machine.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Ticks without a call until the thread parks.
const IDLE_TICKS: u32 = 200;

pub(super) struct Ticker {
    calls: Arc<Calls>,
    thread: Thread,
}

#[derive(Default)]
struct Calls {
    running: AtomicUsize,
    /// The thread is parked, or about to park, and has to be woken.
    parked: AtomicBool,
}

impl Ticker {
    /// Starts the thread; it ends when the engine is gone.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let calls = Arc::new(Calls::default());
        let seen = Arc::clone(&calls);
        let engine = engine.weak();
        let handle = thread::Builder::new()
            .name("hydrant-epoch".into())
            .spawn(move || tick(&engine, &seen))?;
        Ok(Self {
            calls,
            thread: handle.thread().clone(),
        })
    }

    /// Keeps the clock going until the guard is dropped.
    pub(super) fn run(&self) -> Running<'_> {
        // First counted, then looked: the thread does it the other way round, so one of them sees the other.
        self.calls.running.fetch_add(1, Ordering::SeqCst);
        if self.calls.parked.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running(&self.calls.running)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Wakes a parked thread, which then finds the engine gone.
        self.thread.unpark();
    }
}

pub(super) struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &EngineWeak, calls: &Calls) {
    let mut idle = 0_u32;
    loop {
        if calls.running.load(Ordering::SeqCst) > 0 {
            idle = 0;
        } else {
            idle = idle.saturating_add(1);
        }
        if idle > IDLE_TICKS {
            park(calls);
        } else {
            thread::sleep(TICK);
        }
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
    }
}

fn park(calls: &Calls) {
    calls.parked.store(true, Ordering::SeqCst);
    if calls.running.load(Ordering::SeqCst) == 0 {
        // A call that starts in between has left its unpark behind: this returns at once.
        thread::park_timeout(Duration::from_secs(60));
    }
    calls.parked.store(false, Ordering::SeqCst);
}
