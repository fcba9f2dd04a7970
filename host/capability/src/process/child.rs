//! Starting a child and seeing it end: by itself, or at its deadline.
//!
//! The child has a session and a process group of its own; the group is killed whatever ended the child, before its
//! number can belong to anybody else: until it is reaped, the child keeps it. Where somebody else reaps it,
//! nothing is killed and no ending is made up: that is an error. Its output is read while it runs and never
//! waited for afterwards, so that a descendant that keeps a pipe open delays nothing. A program whose time
//! was up is told to end first, and killed two seconds later.
//!
//! That is for children outside of a jail; those in one (module `confined`) end with it. A descendant outside that
//! leaves the group (`setsid`) survives. To adopt such
//! orphans (`PR_SET_CHILD_SUBREAPER`) would change the whole process, which may not be ours alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::confined::Confined;
use super::session;
use super::{Ending, ProcessError};
use hydrant_jail::{Cancellation, Captured, LOOK, Pipes, Streams};

/// How long a killed child may take to be gone before it is left to the system.
const REAP: Duration = Duration::from_secs(1);

/// How often a child is looked at where the system gives no notice of its end.
const WITHOUT_NOTICE: Duration = Duration::from_millis(5);

/// What happens to the standard error of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stderr {
    /// Kept like standard output.
    Kept,
    /// `/dev/null`.
    Dropped,
}

/// A child to be.
#[derive(Clone)]
pub(super) struct Start<'call> {
    /// The file to execute: absolute, never looked up in a `PATH`.
    pub(super) executable: PathBuf,
    /// `argv[0]`.
    pub(super) name: OsString,
    /// What follows `argv[0]`.
    pub(super) arguments: Vec<OsString>,
    /// The working directory.
    pub(super) directory: PathBuf,
    /// All of the environment.
    pub(super) environment: BTreeMap<OsString, OsString>,
    /// What happens to standard error.
    pub(super) stderr: Stderr,
    /// After its time: time to end by itself, when it is told to. Without, it is killed at once.
    pub(super) grace: Option<Duration>,
    /// The jail it runs in, whose paths these are then; none: outside of any, because the policy says so.
    pub(super) confined: Option<Arc<Confined<'call>>>,
}

/// Why a child did not run to an end that is known.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    /// It has to be confined, and cannot be: nothing ran.
    #[error("it cannot be confined")]
    Unconfined,
    /// What the system says. Nothing ran, or somebody else took the exit status of a child that ended in time.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<NotStarted> for ProcessError {
    fn from(error: NotStarted) -> Self {
        tracing::debug!(%error, "a process could not be started");
        match error {
            NotStarted::Unconfined => Self::Unconfined,
            NotStarted::System(_) => Self::NotStartable,
        }
    }
}

/// A child that has been.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) ending: Ending,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) took: Duration,
}

impl Start<'_> {
    /// The same child with other arguments.
    pub(super) fn with_arguments(&self, arguments: Vec<OsString>) -> Self {
        Start {
            arguments,
            ..self.clone()
        }
    }

    /// Runs the child to its end, for at most `time`, and keeps the first `keep` bytes of each stream.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn run(&self, time: Duration, keep: usize) -> Result<Ended, NotStarted> {
        match &self.confined {
            Some(confined) => confined.run(self, time, keep),
            None => Ok(self.run_unjailed(time, keep)?),
        }
    }

    /// The pipes of the child, and the child's ends of them.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn pipes(&self, keep: usize) -> io::Result<(Streams, Pipes<'static>)> {
        Pipes::new(&[], keep, (self.stderr == Stderr::Kept).then_some(keep))
    }

    fn run_unjailed(&self, time: Duration, keep: usize) -> io::Result<Ended> {
        session::require_exit_statuses().inspect_err(warn_once)?;
        let started = Instant::now();
        let (streams, pipes) = self.pipes(keep)?;
        let child = self.spawn(streams)?;
        let mut supervised = Supervised {
            notice: exit_notice(&child),
            child,
            pipes,
        };
        let in_time = supervised.watch(Deadline { started, time });
        if let (Ok(false), Some(grace)) = (&in_time, self.grace)
            && !Cancellation::current().is_cancelled()
        {
            let _ = supervised.tell(Deadline::from_now(grace));
        }
        let status = supervised.end();
        // What the child wrote before its end is in the pipes; whoever still holds them is not waited for.
        supervised.pipes.transfer();
        let ending = if in_time? {
            ending(status?)
        } else {
            // The clock says so, whatever became of the child then.
            Ending::TimedOut
        };
        let [stdout, stderr] = supervised.pipes.into_captured();
        Ok(Ended {
            ending,
            stdout,
            stderr,
            took: started.elapsed(),
        })
    }

    fn spawn(&self, streams: Streams) -> io::Result<Child> {
        let mut command = Command::new(&self.executable);
        session::own_session(&mut command);
        command
            .arg0(&self.name)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(streams.stdout.map_or_else(Stdio::null, Stdio::from))
            .stderr(streams.stderr.map_or_else(Stdio::null, Stdio::from))
            .spawn()
    }
}

#[derive(Debug, Clone, Copy)]
struct Deadline {
    started: Instant,
    time: Duration,
}

impl Deadline {
    fn from_now(time: Duration) -> Self {
        Self {
            started: Instant::now(),
            time,
        }
    }

    fn left(self) -> Option<Duration> {
        self.time
            .checked_sub(self.started.elapsed())
            .filter(|left| !left.is_zero())
    }
}

/// Says on the log why no child starts, once: every other start fails alike.
fn warn_once(error: &io::Error) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| tracing::warn!(%error, "no tool and no program is started"));
}

/// A child outside of a jail, while it runs.
struct Supervised {
    child: Child,
    /// Becomes readable when the child ends, where there is such a thing.
    notice: Option<OwnedFd>,
    pipes: Pipes<'static>,
}

impl Supervised {
    /// Reads what the child writes until it has ended; false if its time was up before, or its call was cancelled.
    ///
    /// # Errors
    /// See [`has_ended`].
    fn watch(&mut self, deadline: Deadline) -> io::Result<bool> {
        loop {
            if has_ended(&self.child)? {
                return Ok(true);
            }
            let cancelled = Cancellation::current().is_cancelled();
            let Some(left) = deadline.left().filter(|_| !cancelled) else {
                return Ok(false);
            };
            self.serve(left);
        }
    }

    /// Tells the child and its group to end, and reads on until it has and nobody writes any more, or until the deadline.
    ///
    /// # Errors
    /// See [`has_ended`].
    fn tell(&mut self, deadline: Deadline) -> io::Result<()> {
        // While it can be asked its number is its own.
        has_ended(&self.child)?;
        let _ = kill_process_group(pid(&self.child)?, Signal::TERM);
        self.watch(deadline)?;
        // Who of the group has not ended holds a pipe, unless it has given all of them away.
        while let (Some(left), true) = (deadline.left(), self.pipes.are_open()) {
            self.pipes.wait(None, left.min(WITHOUT_NOTICE));
            self.pipes.transfer();
        }
        Ok(())
    }

    /// Ends the child and its whole group, and reaps it.
    ///
    /// # Errors
    /// It is no longer ours to kill or to reap (see [`has_ended`]), or it was killed and does not go away.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // Ended or not, while it can be asked its number is its own.
        has_ended(&self.child)?;
        // No such group: nobody is left in it.
        let _ = kill_process_group(pid(&self.child)?, Signal::KILL);
        // The child may have left its group. Killing one that has ended changes nothing.
        let _ = self.child.kill();
        let deadline = Deadline::from_now(REAP);
        while !has_ended(&self.child)? {
            let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
            self.serve(left);
        }
        self.child.wait()
    }

    /// Waits until the child has written or ended, or it is time for another look, and reads what is there.
    fn serve(&mut self, left: Duration) {
        let notice = self.notice.as_ref().map(AsFd::as_fd);
        let look = notice.map_or(WITHOUT_NOTICE, |_| LOOK);
        self.pipes.wait(notice, left.min(look));
        self.pipes.transfer();
    }
}

/// Whether the child has ended. It is not reaped by that, and so keeps its number.
///
/// # Errors
/// Somebody else reaped it, so that its number may be anybody's.
fn has_ended(child: &Child) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid(child)?), look) {
        Ok(status) => Ok(status.is_some()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn pid(child: &Child) -> io::Result<Pid> {
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A descriptor that becomes readable when the child ends, where there is such a thing.
#[cfg(target_os = "linux")]
fn exit_notice(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};

    pidfd_open(pid(child).ok()?, PidfdFlags::empty()).ok()
}

/// There is none here.
#[cfg(not(target_os = "linux"))]
fn exit_notice(_: &Child) -> Option<OwnedFd> {
    None
}

fn ending(status: ExitStatus) -> Ending {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(byte(code)),
        (None, signal) => Ending::Signaled(byte(signal.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_somebody_else_reaped_is_an_error_and_never_killed() {
        let child = Command::new("true").spawn().unwrap();
        waitid(WaitId::Pid(pid(&child).unwrap()), WaitIdOptions::EXITED).unwrap();
        let lost = |error: io::Error| error.raw_os_error() == Some(libc::ECHILD);
        let (_, pipes) = Pipes::new(&[], 0, None).unwrap();
        let mut supervised = Supervised {
            child,
            notice: None,
            pipes,
        };
        let deadline = Deadline {
            started: Instant::now(),
            time: Duration::ZERO,
        };
        assert!(supervised.watch(deadline).is_err_and(lost));
        assert!(supervised.end().is_err_and(lost));
    }
}
