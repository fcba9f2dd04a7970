//! A running jail, as its parent sees it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cancel::{Cancellation, LOOK};
use super::launched::{GRACE, Launched};
use super::order::{Answer, TurnOrder};
use super::outcome::{Ended, Error, How, InStep, Refused, StartError, Step};
use super::pipes::Pipes;
use super::plan::{Limits, Streams, Turn};
use super::prepared::Prepared;
use super::sample::Sampler;
use super::wire;

/// How long starting a program may take before it counts as failed. Building its jail, which is most of it, takes
/// milliseconds; a mount whose server is gone takes for ever.
pub(super) const BUILD: Duration = Duration::from_secs(10);

/// A running jail. Dropping it kills everything in it.
#[derive(Debug)]
pub struct Jailed {
    launched: Launched,
    limits: Limits,
    /// Processes and threads that are not the program's.
    own: u64,
    sampled: bool,
    /// Whether another program may follow.
    several: bool,
    sampler: Option<Sampler>,
    deadline: Option<Instant>,
    /// Of the call that the program runs for.
    cancellation: Cancellation,
    peak: u64,
    /// It has been told to end.
    killed: bool,
    /// Why the parent ended it.
    verdict: Option<How>,
    /// Where the next jail is to be prepared, as soon as that takes no time from this one.
    next: Option<Arc<Prepared>>,
}

impl Jailed {
    pub(super) fn new(
        launched: Launched,
        limits: Limits,
        own: u64,
        sampled: bool,
        several: bool,
    ) -> Self {
        Self {
            launched,
            limits,
            own,
            sampled,
            several,
            sampler: None,
            deadline: None,
            cancellation: Cancellation::current(),
            peak: 0,
            killed: false,
            verdict: None,
            next: None,
        }
    }

    /// Lets the next jail be prepared, in time.
    pub(super) fn prepare_next(&mut self, next: Option<Arc<Prepared>>) {
        self.next = next;
    }

    /// Sends `order`, and waits until its program has been executed.
    pub(super) fn begin(
        &mut self,
        order: &impl serde::Serialize,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), StartError> {
        self.cancellation = Cancellation::current();
        self.launched.set_quiet(false);
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let sent = wire::send_message(self.descriptor(), order, &borrowed);
        drop(descriptors);
        // A launcher that refuses at once may be gone before it has read everything: its answer says more.
        match wire::receive_message(self.descriptor(), Some(Instant::now() + BUILD)) {
            Ok((Answer::Started, _)) => Ok(self.started()?),
            Ok((Answer::Refused(refused), _)) => Err(refused.into()),
            Ok((Answer::NotExecutable { errno }, _)) => Err(StartError::NotExecutable { errno }),
            Ok((Answer::Ended { .. }, _)) => {
                Err(Refused::new(Step::Protocol, "the end came before the start").into())
            }
            Err(error) => {
                sent.step(Step::Protocol, "send the plan")?;
                Err(Refused::new(
                    Step::Protocol,
                    format_args!("the launcher did not answer: {error}"),
                )
                .into())
            }
        }
    }

    /// The program runs: from now on it is sampled, or else it does not run.
    fn started(&mut self) -> Result<(), Refused> {
        self.deadline = self
            .limits
            .wall
            .map(|wall| wall.saturating_add(self.limits.grace.unwrap_or_default()))
            .and_then(|wall| Instant::now().checked_add(wall.checked_add(GRACE)?));
        let limited = self.limits.memory_bytes.is_some() || self.limits.processes.is_some();
        if self.sampled && limited && self.sampler.is_none() {
            let launcher = self.launched.id().unwrap_or_default();
            self.sampler = match Sampler::new(launcher, self.own) {
                // Somebody else waits for it, so that its entry may be gone.
                Err(_) if self.launched.has_ended() => None,
                sampler => sampler.step(Step::Memory, "find the jail's processes")?,
            };
        }
        Ok(())
    }

    /// Readable when the program has ended: for `poll`.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.launched.socket()
    }

    /// Looks at the memory and the number of processes of the whole jail, and ends it above a limit, or when its call was
    /// cancelled. To be called at least every 100 ms.
    ///
    /// # Errors
    /// The processes cannot be seen. The jail is killed then: what cannot be limited does not run.
    pub fn sample(&mut self) -> Result<(), Error> {
        if let Some(next) = &self.next {
            next.prepare(1);
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.condemn(How::TimedOut);
        }
        if self.cancellation.is_cancelled() {
            self.condemn(How::Cancelled);
            return Ok(());
        }
        let Some(sampler) = &mut self.sampler else {
            return Ok(());
        };
        let sample = match sampler.sample() {
            // The numbers may have been others' by then.
            _ if self.launched.has_ended() => return Ok(()),
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

    /// Begins the end of everything in the jail. How it ended says [`Jailed::finish`].
    pub fn kill(&mut self) {
        self.killed = true;
        self.launched.stop();
    }

    fn condemn(&mut self, how: How) {
        self.verdict.get_or_insert(how);
        self.kill();
    }

    /// Feeds the program and collects what it writes until it has ended, sampling. `may_go_on` is asked again and again
    /// with how many bytes it has written; the answer `false` kills everything.
    ///
    /// # Errors
    /// As [`Jailed::sample`] and [`Jailed::finish`].
    pub fn serve(
        mut self,
        pipes: &mut Pipes<'_>,
        mut may_go_on: impl FnMut(u64) -> bool,
    ) -> Result<Finished, Error> {
        while !pipes.wait(Some(self.descriptor()), LOOK) {
            pipes.transfer();
            if !may_go_on(pipes.written()) {
                self.kill();
            }
            self.sample()?;
        }
        let finished = self.finish()?;
        // What it wrote before its end is in the pipes.
        pipes.transfer();
        Ok(finished)
    }

    /// Waits for the end, sampling.
    ///
    /// # Errors
    /// As [`Jailed::finish`].
    pub fn wait(self) -> Result<Ended, Error> {
        Ok(self.finish()?.ended)
    }

    /// Waits for the end of the program, sampling. Afterwards no process of it is left, nor anything else that it had; the
    /// jail itself is kept for another program if it was started for several
    /// ([`Launcher::start_several`](super::Launcher::start_several)) and has not been killed.
    ///
    /// # Errors
    /// As [`Jailed::sample`], or there was no report.
    pub fn finish(mut self) -> Result<Finished, Error> {
        self.watch()?;
        let reusable = self.several && !self.killed;
        if !reusable {
            self.kill();
        }
        let (ended, kept, directory) = self.report()?;
        Ok(Finished {
            ended,
            directory,
            idle: (reusable && kept).then_some(Idle(self)),
        })
    }

    fn watch(&mut self) -> Result<(), Error> {
        loop {
            let ended = wire::readable(self.descriptor(), Some(Instant::now() + LOOK))
                .map_err(Error::Lost)?;
            if ended || self.killed {
                return Ok(());
            }
            self.sample()?;
        }
    }

    /// How it ended, whether another program can follow, and the directory that was to be returned.
    fn report(&mut self) -> Result<(Ended, bool, Option<OwnedFd>), Error> {
        let until = Some(Instant::now() + GRACE);
        match wire::receive_message(self.descriptor(), until) {
            Ok((
                Answer::Ended {
                    how,
                    mut usage,
                    kept,
                },
                descriptors,
            )) => {
                usage.peak_memory_bytes = usage.peak_memory_bytes.max(self.peak);
                let how = self.verdict.unwrap_or(how);
                self.launched.set_quiet(true);
                if let Some(next) = &self.next {
                    next.prepare(1);
                }
                Ok((Ended { how, usage }, kept, descriptors.into_iter().next()))
            }
            Ok(_) => Err(Error::Lost(io::ErrorKind::InvalidData.into())),
            Err(error) => Err(Error::Lost(error)),
        }
    }
}

/// A program that has ended, and what is left of its jail.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// The scratch directory that was asked for ([`Launcher::start_returning`](super::Launcher::start_returning)), open for
    /// reading: a file system in memory, which is gone when this descriptor and all that was opened by it are closed. What
    /// is in it, names and kinds of files too, is as the program left it. None if init was ended by force.
    pub directory: Option<OwnedFd>,
    /// The jail, if another program can follow.
    pub idle: Option<Idle>,
}

/// A jail in which nothing runs, for the next program. Dropping it ends it.
#[derive(Debug)]
pub struct Idle(Jailed);

impl Idle {
    /// Starts a program, the plan's if `turn` names no other, with other words. Privileges, Landlock, resource limits and the system call
    /// filter are entered anew.
    ///
    /// # Errors
    /// As [`Launcher::start`](super::Launcher::start); the jail is gone then.
    pub fn start(self, turn: Turn, streams: Streams) -> Result<Jailed, StartError> {
        let Self(mut jailed) = self;
        jailed.limits.wall = turn.wall;
        jailed.peak = 0;
        let (order, descriptors) = TurnOrder::new(turn, streams);
        jailed.begin(&order, descriptors)?;
        Ok(jailed)
    }
}
