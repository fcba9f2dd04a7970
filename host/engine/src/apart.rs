//! Compiling, on a thread of its own: it cannot be interrupted, and a caller's deadline must hold all the same.
//!
//! The stack is large, because types within types make the compiler recurse; what is compiled was vetted first
//! ([`super::vetting`]). Few are compiled at a time, because each takes memory in proportion to its code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::permits::Permits;
use hydrant_capability::Cancellation;

/// The target of the line in the log that says that a caller waits for the compiler.
pub const SLOW_COMPILATION: &str = "hydrant::compile";
/// Compilers at a time, in a process.
static COMPILING: Permits = Permits::new(2);
/// The name of the threads that compile.
const THREAD: &str = "hydrant-compile";
/// Bytes of stack of a thread that compiles.
const STACK: usize = 16 * 1024 * 1024;
/// How long a caller waits for the compiler before the log says so.
const QUIET: Duration = Duration::from_millis(300);

/// Why nothing was compiled.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotCompiled {
    /// The time was up, waiting for others or compiling.
    #[error("compiling takes longer than there is time for")]
    Timeout,
    /// The code is refused, or cannot be compiled.
    #[error("{0}")]
    Failed(String),
}

/// Runs `compile`, for at most `patience`, or until the caller's work is cancelled. Past that nobody waits any more; the
/// thread ends when the compiler is done, and only then may another one start. One in the jail is stopped.
pub(super) fn compile<T: Send + 'static>(
    patience: Duration,
    compile: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, NotCompiled> {
    let started = Instant::now();
    let permit = COMPILING.take(patience).ok_or(NotCompiled::Timeout)?;
    let (answer, answered) = mpsc::sync_channel(1);
    let cancellation = Cancellation::current();
    let of_thread = cancellation.clone();
    let work = move || {
        // The validator has assertions that hostile code can fail: an answer like any other.
        let compiled = catch_unwind(AssertUnwindSafe(|| of_thread.during(compile)));
        drop(permit);
        // Nobody listens any more when the time is up.
        let _ = answer.send(compiled);
    };
    thread::Builder::new()
        .name(THREAD.into())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| NotCompiled::Failed(error.to_string()))?;
    let left = || patience.saturating_sub(started.elapsed());
    let mut compiled = cancellation.receive(&answered, left().min(QUIET));
    if matches!(compiled, Err(RecvTimeoutError::Timeout)) && !left().is_zero() {
        tracing::info!(target: SLOW_COMPILATION, "compiling a component for this processor");
        compiled = cancellation.receive(&answered, left());
    }
    match compiled {
        Ok(Ok(compiled)) => compiled.map_err(NotCompiled::Failed),
        Err(RecvTimeoutError::Timeout) => Err(NotCompiled::Timeout),
        Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
            Err(NotCompiled::Failed("the code cannot be compiled".into()))
        }
    }
}
