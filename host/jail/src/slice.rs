//! How long a thread computes before others that wait have their turn.
#![allow(unsafe_code)] // No library has these calls.

use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// Gives a thread, this one if none is named, shorter slices of a processor, 100 µs to 100 ms, or the system's own. One that
/// wakes has its turn before another whose slices are longer (Linux 6.12; systems before that change nothing).
///
/// # Errors
/// What the system says.
pub fn set_slice(thread: Option<Pid>, slice: Option<Duration>) -> io::Result<()> {
    let nanoseconds = slice.map_or(0, |slice| slice.as_nanos());
    let mut attributes = attributes(thread)?;
    attributes.sched_runtime = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    let given = &raw const attributes;
    // SAFETY: the structure, which says how long it is, outlives the call.
    said(unsafe { libc::syscall(libc::SYS_sched_setattr, number(thread), given, 0) })
}

fn attributes(thread: Option<Pid>) -> io::Result<libc::sched_attr> {
    let mut attributes = libc::sched_attr {
        size: 0,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    let (size, filled) = (size_of::<libc::sched_attr>(), &raw mut attributes);
    // SAFETY: the structure outlives the call, which fills it no further than its size.
    said(unsafe { libc::syscall(libc::SYS_sched_getattr, number(thread), filled, size, 0) })?;
    Ok(attributes)
}

fn number(thread: Option<Pid>) -> libc::pid_t {
    thread.map_or(0, |thread| thread.as_raw_nonzero().get())
}

fn said(answer: libc::c_long) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_changes_nothing_else_and_a_thread_that_is_none_is_told() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let slice = || attributes(None).unwrap().sched_runtime;
        let (before, own) = (nice(), slice());
        set_slice(None, Some(Duration::from_micros(100))).unwrap();
        // Systems before Linux 6.12 tell nothing.
        assert_eq!(slice(), if own == 0 { 0 } else { 100_000 });
        assert_eq!(nice(), before);
        set_slice(None, None).unwrap();
        assert_eq!((nice(), slice()), (before, own));
        assert!(set_slice(Pid::from_raw(i32::MAX), None).is_err());
    }
}
