//! A session of its own for a child, and nothing of the host's open files.
//!
//! Also whether this process can see its children end at all: started with `SIGCHLD` ignored, it cannot.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Refuses a process whose children the system reaps by itself, because `SIGCHLD` is ignored: their exit status is
/// lost, and their numbers belong to somebody else before their groups can be killed. The disposition is inherited
/// from whatever started this process and is not changed here: it belongs to the whole process.
///
/// # Errors
/// A sentence that says so, or what the system says when it cannot be asked.
#[allow(unsafe_code)] // One of the places that STYLE allows it: there is no safe call that asks for a disposition.
pub(super) fn require_exit_statuses() -> io::Result<()> {
    let mut found = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action changes nothing, and `found` is valid for the write of one `sigaction`, which is a C
    // struct of numbers and at most one nullable function pointer, so that all zeros are a valid value, too.
    let found = unsafe {
        if libc::sigaction(libc::SIGCHLD, std::ptr::null(), found.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        found.assume_init()
    };
    if found.sa_sigaction == libc::SIG_IGN || found.sa_flags & libc::SA_NOCLDWAIT != 0 {
        return Err(io::Error::other(
            "SIGCHLD is ignored, so that nobody could learn how a child ends; start hydrant without that",
        ));
    }
    Ok(())
}

/// Makes a file that grows over the limit of this process an error of the write instead of the end of the process, so
/// that what was begun can be undone and recorded. For a program's `main`: it holds for the whole process.
///
/// # Errors
/// What the system says.
#[allow(unsafe_code)] // One of the places that STYLE allows it: there is no safe call that sets a disposition.
pub fn survive_file_size_limit() -> io::Result<()> {
    // SAFETY: no handler is installed, and nothing else of this process relies on the disposition.
    match unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Makes the child that `command` starts the leader of a new session and process group, without a controlling
/// terminal, with umask 022, and with none of the descriptors that this process itself inherited. The child dies
/// with the thread that started it (Linux), so that none outlives a host that is killed.
#[allow(unsafe_code)] // One of the places that STYLE allows it: what runs between fork and exec.
pub(super) fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `prepare` makes system calls and
    // nothing else: it allocates nothing, takes no lock and reads no state of the parent.
    unsafe {
        command.pre_exec(prepare);
    }
}

#[allow(unsafe_code)] // As above.
fn prepare() -> io::Result<()> {
    // SAFETY: `signal` is async-signal-safe, and installs no handler here. What this process ignores, a child would
    // ignore too.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
    }
    rustix::process::setsid()?;
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    close_on_exec()
}

/// Marks every descriptor from 3 on: the standard library marks those it opens, but not those that this process
/// was started with. A kernel without the call (before Linux 5.11) starts no child.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // As above.
fn close_on_exec() -> io::Result<()> {
    // SAFETY: `close_range` takes three numbers, reads and writes no memory of ours, and with this flag closes
    // nothing before the exec.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> io::Result<()> {
    Ok(())
}

/// Starts a child as a careless parent would: with `SIGCHLD` ignored. (A shell cannot: `dash` takes it back.)
#[cfg(test)]
#[allow(unsafe_code)] // As above.
pub(super) fn ignore_sigchld(command: &mut Command) {
    // SAFETY: `signal` is async-signal-safe, and installs no handler here.
    unsafe {
        command.pre_exec(|| match libc::signal(libc::SIGCHLD, libc::SIG_IGN) {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ignores_nothing_may_start_children() {
        require_exit_statuses().unwrap();
    }
}
