//! Running a child in its jail, to its end.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::super::Ending;
use super::super::child::{Ended, NotStarted, Start, Stderr};
use super::super::output::Stream;
use super::plan::reference;
use super::shared;
use super::{Confined, Jails};
use crate::egress::Egress;
use hydrant_jail::{How, Jailed, LOOK, Network, Plan, StartError, Streams};

impl Confined<'_> {
    /// Runs the child to its end, for at most `time`, and keeps the first `keep` bytes of each stream.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing ran; or the jail was lost, and is gone.
    pub(in super::super) fn run(
        &self,
        start: &Start<'_>,
        time: Duration,
        keep: usize,
    ) -> Result<Ended, NotStarted> {
        let started = Instant::now();
        let (stdout, written) = io::pipe()?;
        let mut streams = Streams {
            stdout: Some(written.into()),
            ..Streams::default()
        };
        let mut stderr = Stream::new(None, keep)?;
        if start.stderr == Stderr::Kept {
            let (read, written) = io::pipe()?;
            streams.stderr = Some(written.into());
            stderr = Stream::new(Some(read.into()), keep)?;
        }
        let mut stdout = Stream::new(Some(stdout.into()), keep)?;
        let how = std::thread::scope(|scope| -> Result<How, NotStarted> {
            let mut egress = match self.egress.as_slice() {
                [] => None,
                pairs => {
                    let (account, fetcher) = (self.call, &self.call.fetcher);
                    Some(Egress::start(scope, account, fetcher, pairs.to_vec())?)
                }
            };
            let network = match &egress {
                None => Network::None,
                Some(egress) => Network::Relay {
                    socket: reference(egress.socket())?,
                },
            };
            let mut shared = match self.jails {
                Jails::Shared(shared) => Some(shared.turn(self.key()?)),
                Jails::Own | Jails::First(_) => None,
            };
            let mut jailed = self.start(start, network, time, streams, shared.as_mut())?;
            if let Some(egress) = &mut egress {
                egress.remove_name();
            }
            while !wait(&jailed, [stdout.pipe(), stderr.pipe()]) {
                stdout.drain();
                stderr.drain();
                jailed.sample().map_err(lost)?;
                if egress
                    .as_ref()
                    .is_some_and(|egress| egress.exceeded().is_some())
                {
                    // The budget ends the call, as the caller finds.
                    jailed.kill();
                }
            }
            let (ended, idle) = jailed.finish().map_err(lost)?;
            match (&self.jails, shared) {
                (Jails::First(kept), _) => {
                    *kept.lock().unwrap_or_else(PoisonError::into_inner) = idle.map(Box::new);
                }
                (_, Some(shared)) => shared.give_back(idle),
                (_, None) => {}
            }
            Ok(ended.how)
        })?;
        stdout.drain();
        stderr.drain();
        Ok(Ended {
            ending: ending(how),
            stdout,
            stderr,
            took: started.elapsed(),
        })
    }

    fn start(
        &self,
        start: &Start<'_>,
        network: Network,
        time: Duration,
        streams: Streams,
        shared: Option<&mut shared::Turn<'_>>,
    ) -> Result<Jailed, NotStarted> {
        let plan = || -> Result<Plan, NotStarted> { self.plan(start, network, time) };
        let (idle, pins) = match (&self.jails, shared) {
            (Jails::First(kept), _) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                (kept.take().map(|idle| *idle), Vec::new())
            }
            (_, Some(shared)) => (shared.take(), self.pins()?),
            (_, None) => return Ok(self.launcher.start(plan()?, streams)?),
        };
        Ok(match idle {
            Some(idle) => idle.start(self.turn(start, time)?, streams)?,
            None => self.launcher.start_several(plan()?, pins, streams)?,
        })
    }
}

impl From<StartError> for NotStarted {
    fn from(error: StartError) -> Self {
        match error {
            // What is to be mounted is not there or not for us, or the machine is short of something: no layer is missing.
            StartError::Refused(refused) if !refused.is_of_a_layer() => {
                tracing::warn!(error = %refused, "a process is not started");
                Self::System(io::Error::other(refused))
            }
            StartError::Refused(refused) => {
                tracing::warn!(error = %refused, "a process cannot be confined, and is not started");
                Self::Unconfined
            }
            StartError::NotExecutable { errno } => {
                Self::System(io::Error::from_raw_os_error(errno))
            }
        }
    }
}

/// Waits until the jail has ended, somebody has written, or it is time to look at it; true when it has ended.
fn wait(jailed: &Jailed, pipes: [Option<BorrowedFd<'_>>; 2]) -> bool {
    let mut polled = vec![PollFd::from_borrowed_fd(jailed.descriptor(), PollFlags::IN)];
    let open = pipes.into_iter().flatten();
    polled.extend(open.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
    // Whatever it answers, an interruption too, the caller looks for itself.
    let _ = poll(&mut polled, Timespec::try_from(LOOK).ok().as_ref());
    polled
        .first()
        .is_some_and(|jail| !jail.revents().is_empty())
}

fn lost(error: hydrant_jail::Error) -> NotStarted {
    NotStarted::System(io::Error::other(error))
}

/// As a child outside of a jail would have ended.
fn ending(how: How) -> Ending {
    match how {
        How::Exited(status) => Ending::Exited(status),
        How::Signaled(signal) => Ending::Signaled(signal),
        // SIGKILL.
        How::Memory | How::Processes => Ending::Signaled(9),
        // The meter of the call says which.
        How::TimedOut | How::Cancelled => Ending::TimedOut,
    }
}
