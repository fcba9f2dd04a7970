//! Running a child in its jail, to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::super::Ending;
use super::super::child::{Ended, NotStarted, Start};
use super::plan::reference;
use super::shared;
use super::{Confined, Jails};
use crate::egress::Egress;
use hydrant_jail::{How, Jailed, StartError, Streams};

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
        let (streams, mut pipes) = start.pipes(keep)?;
        let how = std::thread::scope(|scope| -> Result<How, NotStarted> {
            let mut egress = match self.egress.as_slice() {
                [] => None,
                pairs => {
                    let (account, fetcher) = (self.call, &self.call.fetcher);
                    Some(Egress::start(scope, account, fetcher, pairs.to_vec())?)
                }
            };
            let socket = egress.as_ref().map(|egress| reference(egress.socket()));
            let socket = socket.transpose()?;
            let mut shared = match self.jails {
                Jails::Shared(shared) => Some(shared.turn(self.key()?)),
                Jails::Own | Jails::First(_) => None,
            };
            let jailed = self.start(start, socket, time, streams, shared.as_mut())?;
            if let Some(egress) = &mut egress {
                egress.remove_name();
            }
            // Where a budget of the egress is exceeded, that ends the call, as the caller finds.
            let within = |_| egress.as_ref().is_none_or(|one| one.exceeded().is_none());
            let finished = jailed.serve(&mut pipes, within).map_err(io::Error::other)?;
            let idle = finished.idle;
            match (&self.jails, shared) {
                (Jails::First(kept), _) => {
                    *kept.lock().unwrap_or_else(PoisonError::into_inner) = idle.map(Box::new);
                }
                (_, Some(shared)) => shared.give_back(idle),
                (_, None) => {}
            }
            Ok(finished.ended.how)
        })?;
        let [stdout, stderr] = pipes.into_captured();
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
        socket: Option<OwnedFd>,
        time: Duration,
        streams: Streams,
        shared: Option<&mut shared::Turn<'_>>,
    ) -> Result<Jailed, NotStarted> {
        let plan = || self.plan(start, socket, time);
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
