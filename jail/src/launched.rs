//! The process that is the launcher of one jail, and the socket to it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::wire;

/// How long init may take to kill everything and report, before the parent kills the launcher. Init keeps the wall
/// clock itself; the parent's own comes as much later, for an init that the jail has kept from running.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// A launcher. Dropping it kills everything in its jail.
#[derive(Debug)]
pub(super) struct Launched {
    child: Child,
    socket: OwnedFd,
}

impl Launched {
    pub(super) fn new(child: Child, socket: OwnedFd) -> Self {
        Self { child, socket }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Begins the end of everything in the jail.
    pub(super) fn stop(&self) {
        // Init reads the end of the stream as the order to kill, so that a parent that dies gives the same order. That
        // the socket is gone already means that the jail is.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }

    /// Lets the launcher collect init, which has been told to end. One that is killed before leaves that to process 1 of
    /// the host, and in a container that may be this process.
    fn let_go(&self) {
        let Some(launcher) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else {
            return;
        };
        if let Ok(launcher) = pidfd_open(launcher, PidfdFlags::empty()) {
            // Late or not, it is killed next.
            let _ = wire::readable(&launcher, Some(Instant::now() + GRACE));
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.stop();
        self.let_go();
        // With the launcher init and so the whole pid namespace die. Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
