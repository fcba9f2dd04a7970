//! The process that is the launcher of one jail, and the socket to it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;
use rustix::process::{Signal, pidfd_send_signal};

use super::jailed::BUILD;
use super::outcome::{InStep, Refused, Step};
use super::wire;
use super::zygote::{Born, Zygote};

/// How long init may take to kill everything and report, before the parent kills the launcher. Init keeps the wall
/// clock itself; the parent's own comes as much later, for an init that the jail has kept from running.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// A launcher. Dropping it kills everything in its jail.
#[derive(Debug)]
pub(super) struct Launched {
    socket: OwnedFd,
    born: Option<Process>,
    /// Nothing runs in its jail: no program has been started yet, or the last one has ended with all that it left.
    is_quiet: bool,
    /// It ends with the last of those that need it.
    _zygote: Arc<Zygote>,
}

/// Not a child of this process, so that its number alone may be another's some day.
#[derive(Debug)]
struct Process {
    number: u32,
    descriptor: OwnedFd,
}

impl Launched {
    pub(super) fn new(socket: OwnedFd, zygote: Arc<Zygote>) -> Self {
        Self {
            socket,
            born: None,
            is_quiet: true,
            _zygote: zygote,
        }
    }

    /// Waits until it is there.
    pub(super) fn wait_for_birth(&mut self) -> Result<(), Refused> {
        if self.born.is_some() {
            return Ok(());
        }
        let until = Some(Instant::now() + BUILD);
        let (born, mut descriptors) = wire::receive_message::<Born>(&self.socket, until)
            .step(Step::Protocol, "the launcher did not answer")?;
        let descriptor = descriptors
            .pop()
            .ok_or_else(|| Refused::new(Step::Protocol, "the launcher has no descriptor"))?;
        self.born = Some(Process {
            number: born.process,
            descriptor,
        });
        Ok(())
    }

    /// Whether it has ended; also if nobody knows it yet.
    pub(super) fn has_ended(&self) -> bool {
        self.born.as_ref().is_none_or(|process| {
            wire::readable(&process.descriptor, Some(Instant::now())).unwrap_or(true)
        })
    }

    /// Its number, which is its own as long as it has not ended.
    pub(super) fn id(&self) -> Option<u32> {
        self.born.as_ref().map(|process| process.number)
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Notes whether a program may be running in its jail.
    pub(super) fn set_quiet(&mut self, is_quiet: bool) {
        self.is_quiet = is_quiet;
    }

    /// Begins the end of everything in the jail.
    pub(super) fn stop(&self) {
        // Init reads the end of the stream as the order to kill, so that a parent that dies gives the same order. That
        // the socket is gone already means that the jail is.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.stop();
        if self.is_quiet {
            // Nothing is left but to take the empty jail down, which nobody has to wait for: the zygote collects it.
            return;
        }
        if let Some(process) = &self.born {
            // Late or not, it is killed next: with the launcher init and so the whole pid namespace die.
            let _ = wire::readable(&process.descriptor, Some(Instant::now() + GRACE));
            let _ = pidfd_send_signal(&process.descriptor, Signal::KILL);
            let _ = wire::readable(&process.descriptor, Some(Instant::now() + GRACE));
        }
    }
}
