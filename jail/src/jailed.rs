//! A running jail, as its parent sees it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::order::Answer;
use super::outcome::{Ended, Error, How, InStep, Refused, Step};
use super::plan::Limits;
use super::sample::Sampler;
use super::wire;

/// Time between two samples (K-337).
const SAMPLE: Duration = Duration::from_millis(100);

/// How long init may take to kill everything and report, before the parent kills init. Init keeps the wall clock
/// itself; the parent's own comes as much later, for an init that the jail has kept from running.
const GRACE: Duration = Duration::from_secs(2);

/// A running jail. Dropping it kills everything in it.
#[derive(Debug)]
pub struct Jailed {
    child: Child,
    socket: OwnedFd,
    limits: Limits,
    relay: bool,
    sampled: bool,
    sampler: Option<Sampler>,
    deadline: Option<Instant>,
    peak: u64,
    /// Why the parent ended it.
    verdict: Option<How>,
}

impl Jailed {
    pub(super) fn new(
        child: Child,
        socket: OwnedFd,
        limits: Limits,
        relay: bool,
        sampled: bool,
    ) -> Self {
        Self {
            child,
            socket,
            limits,
            relay,
            sampled,
            sampler: None,
            deadline: None,
            peak: 0,
            verdict: None,
        }
    }

    /// The program runs: from now on it is sampled, or else it does not run.
    pub(super) fn started(&mut self) -> Result<(), Refused> {
        self.deadline = self
            .limits
            .wall
            .and_then(|wall| Instant::now().checked_add(wall.checked_add(GRACE)?));
        if self.sampled && (self.limits.memory_bytes.is_some() || self.limits.processes.is_some()) {
            self.sampler = Sampler::new(self.child.id(), self.relay)
                .step(Step::Memory, "find the jail's processes")?;
        }
        Ok(())
    }

    /// Readable when the jail has ended: for `poll`.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Looks at the memory and the number of processes of the whole jail, and ends it above a limit. To be called at
    /// least every 100 ms.
    ///
    /// # Errors
    /// The processes cannot be seen. The jail is killed then: what cannot be limited does not run.
    pub fn sample(&mut self) -> Result<(), Error> {
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.condemn(How::TimedOut);
        }
        let Some(sampler) = &mut self.sampler else {
            return Ok(());
        };
        let sample = match sampler.sample() {
            Ok(sample) => sample,
            Err(error) => {
                self.kill();
                return Err(Error::Sampling(error));
            }
        };
        self.peak = self.peak.max(sample.memory_bytes);
        if self
            .limits
            .memory_bytes
            .is_some_and(|limit| sample.memory_bytes > limit)
        {
            self.condemn(How::Memory);
        } else if self
            .limits
            .processes
            .is_some_and(|limit| sample.tasks > limit)
        {
            self.condemn(How::Processes);
        }
        Ok(())
    }

    /// Begins the end of everything in the jail. How it ended says [`Jailed::end`].
    pub fn kill(&mut self) {
        // Init reads the end of the stream as the order to kill, so that a parent that dies gives the same order. That
        // the socket is gone already means that the jail is.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }

    fn condemn(&mut self, how: How) {
        self.verdict.get_or_insert(how);
        self.kill();
    }

    /// Waits for the end, sampling.
    ///
    /// # Errors
    /// As [`Jailed::sample`] and [`Jailed::end`].
    pub fn wait(mut self) -> Result<Ended, Error> {
        loop {
            let ended =
                wire::readable(&self.socket, Some(Instant::now() + SAMPLE)).map_err(Error::Lost)?;
            if ended || self.verdict.is_some() {
                return self.end();
            }
            self.sample()?;
        }
    }

    /// The end: of itself if it has ended, else by killing it. Afterwards no process of the jail is left.
    ///
    /// # Errors
    /// There was no report.
    pub fn end(mut self) -> Result<Ended, Error> {
        self.kill();
        let answer = wire::receive_message(&self.socket, Some(Instant::now() + GRACE));
        self.let_go();
        self.reap();
        match answer {
            Ok((Answer::Ended { how, mut usage }, _)) => {
                usage.peak_memory_bytes = usage.peak_memory_bytes.max(self.peak);
                Ok(Ended {
                    how: self.verdict.unwrap_or(how),
                    usage,
                })
            }
            Ok(_) => Err(Error::Lost(io::ErrorKind::InvalidData.into())),
            Err(error) => Err(Error::Lost(error)),
        }
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

    /// Kills the launcher, with which init and so the whole pid namespace die, and forgets it.
    fn reap(&mut self) {
        // Both fail only if the launcher is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Jailed {
    fn drop(&mut self) {
        self.kill();
        self.let_go();
        self.reap();
    }
}
