//! The zygote itself: it forks launchers, and collects them when they have ended.
//!
//! Of the host it knows only what the requests bring: one socket each, which goes to the launcher and nowhere else.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, pidfd_open, wait,
};
use rustix::stdio::{dup2_stdin, stdin};

use super::system;
use crate::launched::GRACE;
use crate::outcome::{InStep, Refused, Step};
use crate::weakening::Without;
use crate::wire;
use crate::zygote::{Born, Request};

/// Runs until the host has ended, or wants no other launcher. Returns then; or in a launcher, with what it is to do
/// without.
pub(super) fn run() -> Result<Option<Without>, Refused> {
    // Descriptors that the host has open without `O_CLOEXEC`, in a library that embeds it, go no further than here.
    // The weakened build leaves it to the program's own closing, which can be taken away there.
    if cfg!(not(feature = "jail-weakening")) {
        system::close_from(3, system::Closing::Now)
            .step(Step::Protocol, "close inherited descriptors")?;
    }
    rustix::process::umask(Mode::from_raw_mode(0o022));
    rustix::process::chdir("/").step(Step::Protocol, "go to the root")?;
    // Away from the host's terminal and process group.
    rustix::process::setsid().step(Step::Privileges, "make a session")?;
    // Nothing of the same user can trace it, or open its `/proc` entries.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .step(Step::Privileges, "not dumpable")?;
    // Should somebody else have the host's end of the socket as well, its process says that it is gone. That it is gone
    // already the socket says.
    let host = getppid().and_then(|host| pidfd_open(host, PidfdFlags::empty()).ok());
    let ended = system::child_descriptor().step(Step::Pid, "watch for children")?;
    let own = getpid();
    loop {
        match next(&ended, host.as_ref())? {
            Next::Child => collect(&ended),
            Next::End => {
                wait_for_children(&ended);
                return Ok(None);
            }
            Next::Request(request, socket) => {
                // That there is no launcher the host sees by the end of its socket, which is closed here.
                if let Ok(None) = system::fork() {
                    drop((ended, host));
                    become_launcher(own, socket)?;
                    let without = request.without.into_iter().map(OsString::from);
                    return Ok(Some(Without::named(without)));
                }
            }
        }
    }
}

/// What the zygote is to do next.
enum Next {
    /// A launcher has ended.
    Child,
    /// The host is to have a launcher, with this socket.
    Request(Request, OwnedFd),
    /// The host needs no more, or is gone.
    End,
}

fn next(ended: &OwnedFd, host: Option<&OwnedFd>) -> Result<Next, Refused> {
    let socket = stdin();
    let mut watched = vec![
        PollFd::new(&socket, PollFlags::IN),
        PollFd::new(ended, PollFlags::IN),
    ];
    watched.extend(host.map(|host| PollFd::new(host, PollFlags::IN)));
    rustix::io::retry_on_intr(|| poll(&mut watched, None)).step(Step::Protocol, "wait")?;
    let ready: Vec<bool> = watched
        .iter()
        .map(|one| !one.revents().is_empty())
        .collect();
    Ok(match ready.as_slice() {
        [_, _, true] => Next::End,
        [_, true, ..] => Next::Child,
        _ => match wire::receive_message::<Request>(stdin(), None) {
            Ok((request, mut descriptors)) => match descriptors.pop() {
                Some(socket) => Next::Request(request, socket),
                None => Next::End,
            },
            Err(_) => Next::End,
        },
    })
}

/// Collects who has ended.
fn collect(ended: &OwnedFd) {
    // One signal stands for any number of children.
    let _ = rustix::io::read(ended, &mut [0; 512]);
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Lets the launchers end, whose hosts have no other end of their sockets any more, so that nobody else has to collect
/// them. Who does not end in time dies with the zygote.
fn wait_for_children(ended: &OwnedFd) {
    let deadline = Instant::now() + GRACE / 2;
    while !matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD))
        && wire::readable(ended, Some(deadline)).unwrap_or(false)
    {
        collect(ended);
    }
}

/// Leaves the zygote behind, and tells the host who it is.
fn become_launcher(zygote: Pid, socket: OwnedFd) -> Result<(), Refused> {
    dup2_stdin(&socket).step(Step::Protocol, "take the socket")?;
    drop(socket);
    die_with(zygote)?;
    // Its own entries of `/proc`, which it has to write, belong to root's user otherwise.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)
        .step(Step::Privileges, "dumpable")?;
    let own = getpid();
    let descriptor =
        pidfd_open(own, PidfdFlags::empty()).step(Step::Pid, "open the launcher itself")?;
    let process = own.as_raw_nonzero().get().unsigned_abs();
    wire::send_message(stdin(), &Born { process }, &[descriptor.as_fd()])
        .step(Step::Protocol, "tell the host")
}

/// With the zygote every launcher dies, and with it its jail.
fn die_with(zygote: Pid) -> Result<(), Refused> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .step(Step::Pid, "die with the zygote")?;
    if getppid() == Some(zygote) {
        Ok(())
    } else {
        Err(Refused::new(Step::Pid, "the zygote is gone"))
    }
}
