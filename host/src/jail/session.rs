//! A session of its own for a child, and nothing of the host's open files (PE-03, PE-05, TC-41).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the child that `command` starts the leader of a new session and process group, without a controlling
/// terminal, with umask 022, and with none of the descriptors that this process itself inherited. The child dies
/// with the thread that started it (Linux), so that none outlives a host that is killed.
#[allow(unsafe_code)] // One of the places that STYLE allows it: what runs between fork and exec.
pub(crate) fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `prepare` makes system calls and
    // nothing else: it allocates nothing, takes no lock and reads no state of the parent.
    unsafe {
        command.pre_exec(prepare);
    }
}

fn prepare() -> io::Result<()> {
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
