//! Where the kill tests end the process: after each step that leaves something on disk.

/// Does nothing outside of tests.
#[cfg(not(test))]
#[inline]
pub(crate) fn kill_point() {}

/// Ends the process with SIGKILL when it is met for the n-th time, `n` being in `KILL_AT`.
#[cfg(test)]
pub(crate) fn kill_point() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static AT: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("KILL_AT").ok()?.parse().ok());
    static MET: AtomicU64 = AtomicU64::new(0);
    if let Some(at) = *AT
        && MET.fetch_add(1, Ordering::SeqCst) + 1 == at
    {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
