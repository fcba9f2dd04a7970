//! System calls for which there is no safe interface: the only unsafe code of the jail.
//!
//! All of it runs in the launcher's image, which has one thread where it forks, so that `fork` copies everything that
//! runs and no lock is held by anybody else.
#![allow(unsafe_code)] // One of the places that STYLE allows it.

use std::ffi::{CStr, CString, c_char, c_int, c_long};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use rustix::mount::MountAttrFlags;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Signals that exist, but for the real-time ones.
const SIGNALS: std::ops::Range<c_int> = 1..65;

fn check(result: c_long) -> io::Result<c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// `None` in the child.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the process has one thread (see above), so that the child may do whatever the parent could.
    let child = check(c_long::from(unsafe { libc::fork() }))?;
    Ok(c_int::try_from(child).ok().and_then(Pid::from_raw))
}

/// New namespaces for this process.
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: no thread can be left with another descriptor table, as there is no other thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// What [`close_from`] does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closing {
    /// Closes.
    Now,
    /// Marks to be closed by `execve`.
    AtExec,
}

/// Closes all descriptors from `first` on. With [`Closing::Now`] only where none of them has an owner that could still
/// use it.
pub(super) fn close_from(first: u32, closing: Closing) -> io::Result<()> {
    let flags = match closing {
        Closing::Now => 0,
        Closing::AtExec => libc::CLOSE_RANGE_CLOEXEC,
    };
    // SAFETY: three numbers. Nothing owns a descriptor above 2 when this is called with `Now`, as the first thing that
    // the launcher does; or by a helper of init, which never returns to the frames with the owners.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) }).map(drop)
}

/// How far [`restrict_mount`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// This mount.
    Itself,
    /// This mount and all below it.
    AllBelow,
}

/// Adds attributes to a mount. It never takes one away, so that those which the host has locked stay.
pub(super) fn restrict_mount(
    mount: impl AsFd,
    reach: Reach,
    attributes: MountAttrFlags,
) -> io::Result<()> {
    let recursive = if reach == Reach::AllBelow {
        libc::AT_RECURSIVE
    } else {
        0
    };
    let change = libc::mount_attr {
        attr_set: u64::from(attributes.bits()),
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string, and `change` is valid for the size that is given.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// The ABI of Landlock that the kernel has, 0 for none.
pub(super) fn landlock_abi() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: without attributes and with this flag the call only answers a number.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0_usize,
            VERSION,
        )
    };
    i32::try_from(abi).unwrap_or(0).max(0)
}

/// Sets the loopback interface of this network namespace up.
pub(super) fn loopback_up(socket: impl AsFd) -> io::Result<()> {
    // Of `libc` the type is that of glibc's ioctl alone; musl's takes another.
    const SIOCSIFFLAGS: libc::Ioctl = 0x8914;
    // SAFETY: `ifreq` is a C struct of numbers and unions of numbers and pointers, for which all zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = c_char::try_from(*from).map_err(io::Error::other)?;
    }
    request.ifr_ifru.ifru_flags =
        libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).map_err(io::Error::other)?;
    // SAFETY: the request is the struct that this number asks for, and it lives through the call.
    check(c_long::from(unsafe {
        libc::ioctl(socket.as_fd().as_raw_fd(), SIOCSIFFLAGS, &raw const request)
    }))
    .map(drop)
}

/// Installs a system call filter for this thread, for ever, and answers the descriptor on which the calls arrive that it
/// hands over. While a call is dealt with only its process's end interrupts it, where the kernel can do that (5.19):
/// programs that are full of signals would else make it again and again.
pub(super) fn listen_to_filter(filter: &[seccompiler::sock_filter]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: libc::c_ushort::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    let install = |flags: libc::c_ulong| {
        // SAFETY: both types are the kernel's `sock_filter`; the call only reads them, and they live through it.
        check(unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags | libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &raw const program,
            )
        })
    };
    let listener = install(libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).or_else(|error| {
        match error.raw_os_error() {
            Some(libc::EINVAL) => install(0),
            _ => Err(error),
        }
    })?;
    let listener = c_int::try_from(listener).map_err(io::Error::other)?;
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// A system call that a filter has handed over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notified {
    id: u64,
    /// Of the thread, in the pid namespace of who receives it.
    pub(super) thread: u32,
    pub(super) arguments: [u64; 6],
}

// `_IOWR('!', 0, struct seccomp_notif)` and so on: the same on all architectures of this crate.
const NOTIF_RECV: usize = 0xC050_2100;
const NOTIF_SEND: usize = 0xC018_2101;
const NOTIF_ID_VALID: usize = 0x4008_2102;

/// Waits for the next call.
pub(super) fn receive_call(listener: impl AsFd) -> io::Result<Notified> {
    // SAFETY: a C struct of numbers, which must be zero for the call.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request fills this struct, which lives through it.
    check(unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            listener.as_fd().as_raw_fd(),
            NOTIF_RECV,
            &raw mut call,
        )
    })?;
    Ok(Notified {
        id: call.id,
        thread: call.pid,
        arguments: call.data.args,
    })
}

/// Whether the caller still waits: if not, its number may be another's by now.
pub(super) fn still_waits(listener: impl AsFd, call: &Notified) -> bool {
    // SAFETY: the request reads one number, which lives through it.
    unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            listener.as_fd().as_raw_fd(),
            NOTIF_ID_VALID,
            &raw const call.id,
        ) == 0
    }
}

/// Answers a call with success (0) or an error number.
pub(super) fn answer_call(listener: impl AsFd, call: &Notified, errno: c_int) -> io::Result<()> {
    let answer = libc::seccomp_notif_resp {
        id: call.id,
        val: 0,
        error: errno.saturating_neg(),
        flags: 0,
    };
    // SAFETY: the request reads this struct, which lives through it.
    check(unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            listener.as_fd().as_raw_fd(),
            NOTIF_SEND,
            &raw const answer,
        )
    })
    .map(drop)
}

/// Fills `buffer` with what another process has at this address.
pub(super) fn read_memory(thread: u32, address: u64, buffer: &mut [u8]) -> io::Result<()> {
    let thread = libc::pid_t::try_from(thread).map_err(io::Error::other)?;
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(
            usize::try_from(address).map_err(io::Error::other)?,
        ),
        iov_len: buffer.len(),
    };
    // SAFETY: `local` is the buffer and nothing else; the other address is only read, in the other process.
    let read = check(
        unsafe { libc::process_vm_readv(thread, &raw const local, 1, &raw const remote, 1, 0) }
            .try_into()
            .map_err(io::Error::other)?,
    )?;
    if usize::try_from(read).is_ok_and(|read| read == buffer.len()) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EFAULT))
    }
}

/// `connect` with an address as the kernel reads it.
pub(super) fn connect(socket: impl AsFd, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(io::Error::other)?;
    // SAFETY: the address is as long as is said, and is copied by the call.
    check(c_long::from(unsafe {
        libc::connect(socket.as_fd().as_raw_fd(), address.as_ptr().cast(), length)
    }))
    .map(drop)
}

/// A descriptor that is readable when a child has ended; blocks `SIGCHLD` for it.
pub(super) fn child_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialized by `sigemptyset` before anything reads it, and outlives the calls; a descriptor
    // that `signalfd` answers is new and has no other owner.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(c_long::from(libc::sigprocmask(
            libc::SIG_BLOCK,
            &raw const set,
            std::ptr::null_mut(),
        )))?;
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(c_long::from(descriptor))?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// No signal is ignored, handled or blocked any more: neither what this image needed (`SIGPIPE`, `SIGCHLD`) nor what
/// the host had inherited goes to the program.
pub(super) fn reset_signals() -> io::Result<()> {
    // SAFETY: the default dispositions need no handler. The set is initialized by `sigemptyset`.
    unsafe {
        for signal in SIGNALS {
            // Fails for those that cannot be changed (KILL, STOP, and two of the C library), which cannot be ignored.
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        check(c_long::from(libc::sigprocmask(
            libc::SIG_SETMASK,
            &raw const set,
            std::ptr::null_mut(),
        )))
        .map(drop)
    }
}

/// Sends `KILL` to all processes of this pid namespace, but to this one.
pub(super) fn kill_all() -> io::Result<()> {
    signal_all(libc::SIGKILL)
}

/// Sends `TERM` to all processes of this pid namespace, but to this one. That nobody is there is no error.
pub(super) fn terminate_all() -> io::Result<()> {
    match signal_all(libc::SIGTERM) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        sent => sent,
    }
}

/// Only for process 1 of a jail's own pid namespace: for any other "all" would be those of the host.
fn signal_all(signal: c_int) -> io::Result<()> {
    if rustix::process::getpid() != Pid::INIT {
        return Err(io::Error::other("not process 1 of a pid namespace"));
    }
    // SAFETY: two numbers.
    check(c_long::from(unsafe { libc::kill(-1, signal) })).map(drop)
}

/// Whether there is another process in this pid namespace than its process 1, which asks.
pub(super) fn somebody_is_left() -> io::Result<bool> {
    if rustix::process::getpid() != Pid::INIT {
        return Err(io::Error::other("not process 1 of a pid namespace"));
    }
    // SAFETY: two numbers; signal 0 is none.
    match check(c_long::from(unsafe { libc::kill(-1, 0) })) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Processor time of all children that have been waited for, and the largest memory in bytes that one had.
pub(super) fn children_usage() -> (Duration, u64) {
    // SAFETY: `rusage` is a C struct of numbers; the call fills it and cannot fail with these arguments.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0)).saturating_add(
            Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0)),
        )
    };
    let kibibytes = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    (
        time(usage.ru_utime).saturating_add(time(usage.ru_stime)),
        kibibytes.saturating_mul(1024),
    )
}

/// The error number that a system call answers to six zeros, 0 for success. For probes inside a jail.
pub(super) fn answer_to_zeros(call: c_long) -> c_int {
    // SAFETY: only numbers for which zeros name no memory to write to and start nothing: see the caller's list.
    match check(unsafe {
        libc::syscall(call, 0_usize, 0_usize, 0_usize, 0_usize, 0_usize, 0_usize)
    }) {
        Ok(_) => 0,
        Err(error) => error.raw_os_error().unwrap_or(0),
    }
}

/// Becomes the program, or answers why not.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| {
        list.iter()
            .map(|item| item.as_ptr())
            .chain([std::ptr::null()])
            .collect::<Vec<*const c_char>>()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: C strings and lists of them that end with null, all alive through the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
