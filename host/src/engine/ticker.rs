//! The clock that stops guests: a thread that raises the engine's epoch while calls are running.
//!
//! A guest checks the epoch on every loop and function entry, so a tight loop is interrupted, which an
//! asynchronous time-out around the call could not do. The thread sleeps while nothing runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How late a deadline may be noticed, at most, on an idle machine.
pub(super) const TICK: Duration = Duration::from_millis(5);

pub(super) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread; it ends when the engine is gone.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&running);
        let engine = engine.weak();
        let handle = thread::Builder::new()
            .name("hydrant-epoch".into())
            .spawn(move || tick(&engine, &seen))?;
        Ok(Self {
            running,
            thread: handle.thread().clone(),
        })
    }

    /// Keeps the clock going until the guard is dropped.
    pub(super) fn run(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Running(&self.running)
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

fn tick(engine: &EngineWeak, running: &AtomicUsize) {
    loop {
        if running.load(Ordering::SeqCst) == 0 {
            // A call that starts in between has left its unpark behind: park returns at once.
            thread::park_timeout(Duration::from_secs(60));
        } else {
            thread::sleep(TICK);
        }
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
    }
}
