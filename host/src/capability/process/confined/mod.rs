//! A child in the jail: what it sees, what it may write and what it may start (TC-43, PE-07).
//!
//! Inside, a mount lies at its virtual path, so that no child ever sees a real one. What may be written is mounted once
//! more over what may only be read; hydrant's own files stay read-only even there. Nothing of a mount or of the directory
//! in memory can be executed, but for tools of `/os`.

mod aliases;
mod circumstances;
mod mounts;
mod own;
mod plan;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

pub(super) use self::mounts::below;
use self::mounts::shown_together;
pub(super) use self::plan::Executable;
use self::plan::{reference, turn};
use super::child::{Ended, NotStarted, Start, Stderr};
use super::output::Stream;
use super::{Ending, executable};
use crate::capability::Call;
use crate::capability::egress::{Egress, Pair, PlainHttp};
use crate::jail::{Access, How, Idle, Jailed, Launcher, Network, Plan, StartError, Streams};
use crate::policy::{MountHandle, VirtualPath};

/// Home and temporary directory of a program, in memory.
pub(super) const TEMPORARY: &str = "/tmp";

/// Working directory, home and temporary directory of a tool, in memory (PE-01, PE-09).
pub(super) const SCRATCH: &str = "/scratch";

/// How often the memory and the processes of a jail are counted (K-337).
const SAMPLE: Duration = Duration::from_millis(100);

/// Memory, processes and threads of a tool that is asked for its description, at most (TN-13).
const TOOL_MEMORY: u64 = 536_870_912;
const TOOL_PROCESSES: u64 = 64;

/// The jail of a child, but for its words, its environment and its time.
pub(super) struct Confined<'call> {
    call: &'call Call,
    launcher: Launcher,
    program: Executable,
    /// What may be executed besides the program; where there is nothing, all of the system and of `executable` mounts.
    execute: Vec<PathBuf>,
    mounts: Vec<Shown>,
    scratch: &'static str,
    /// What it reaches through the host's proxy; without any it has no network at all.
    egress: Vec<Pair>,
    memory_bytes: u64,
    processes: u64,
    jails: Jails,
}

/// Where a command runs that follows another one.
#[derive(Debug)]
enum Jails {
    /// In a jail of its own.
    Own,
    /// In that of the first one, while nothing runs in it.
    First(Mutex<Option<Idle>>),
}

/// A file or directory of the host, inside.
#[derive(Debug)]
struct Shown {
    source: OwnedFd,
    at: PathBuf,
    access: Access,
    executable: bool,
}

impl<'call> Confined<'call> {
    /// Of a program of the policy, at `real`, which works in `mount`: it sees all mounts, writes nothing but the
    /// directory in memory, and starts nothing but the programs `others` and what these need.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_program(
        call: &'call Call,
        name: &str,
        real: &Path,
        others: &[PathBuf],
        mount: &MountHandle,
    ) -> Result<Self, NotStarted> {
        let launcher = call.jail.clone().ok_or(NotStarted::Unconfined)?;
        let mut execute: Vec<PathBuf> = others.to_vec();
        execute.push(real.to_owned());
        let needed: Vec<_> = execute
            .iter()
            .flat_map(|one| executable::needs(one))
            .collect();
        execute.extend(needed);
        let mut confined = Self {
            call,
            launcher,
            program: Executable::program(name, real)?,
            execute,
            mounts: Vec::new(),
            scratch: TEMPORARY,
            egress: Vec::new(),
            memory_bytes: call.limits.process_memory_bytes,
            processes: call.limits.process_pids,
            jails: Jails::Own,
        };
        for mount in shown_together(call.grant.mounts(), Some(mount)) {
            confined.show(mount.dir(), mount.at(), Access::ReadOnly, false)?;
        }
        Ok(confined)
    }

    /// Of a tool that is asked for its description and lies in `mount`: it sees the mounts of `/os`, and the system, of
    /// which it may execute whatever it likes, as a script does.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_tool(
        call: &'call Call,
        program: Executable,
        mount: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        let launcher = call.jail.clone().ok_or(NotStarted::Unconfined)?;
        let mut confined = Self {
            call,
            launcher,
            program,
            execute: Vec::new(),
            mounts: Vec::new(),
            scratch: SCRATCH,
            egress: Vec::new(),
            memory_bytes: call.limits.process_memory_bytes.min(TOOL_MEMORY),
            processes: call.limits.process_pids.min(TOOL_PROCESSES),
            jails: Jails::Own,
        };
        let mut mounts = call.grant.mounts();
        mounts.retain(|mount| mount.at().starts_with(&VirtualPath::os()));
        for mount in shown_together(mounts, mount) {
            confined.show(mount.dir(), mount.at(), Access::ReadOnly, true)?;
        }
        Ok(confined)
    }

    /// Runs all its commands in one jail, one after the other, in which nothing at all can be written so that none can
    /// leave anything to the next. For a program that needs no directory of its own.
    pub(super) fn share_one_jail(&mut self) {
        self.jails = Jails::First(Mutex::default());
    }

    /// Lets the child reach these hosts, each `host:port` and whether by plain http, through a proxy of ours (K-345).
    pub(super) fn open_network(&mut self, hosts: &[(String, bool)]) {
        let pair = |(host, plain): &(String, bool)| {
            let plain = if *plain {
                PlainHttp::Allowed
            } else {
                PlainHttp::Refused
            };
            // What is no host name for a proxy either is not reached.
            Pair::parse(host, plain).ok()
        };
        self.egress = hosts.iter().filter_map(pair).collect();
    }

    /// Shows this very file there (PE-08).
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn add_opened(&mut self, file: impl AsFd, at: &Path) -> Result<(), NotStarted> {
        self.add(file, at.to_owned(), Access::ReadOnly, false)
    }

    /// Shows the file at this real path there.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn add_file(&mut self, real: &Path, at: &Path) -> Result<(), NotStarted> {
        self.add(reference(real)?, at.to_owned(), Access::ReadOnly, false)
    }

    fn show(
        &mut self,
        source: impl AsFd,
        at: &VirtualPath,
        access: Access,
        executable: bool,
    ) -> Result<(), NotStarted> {
        self.add(source, at.as_str().into(), access, executable)
    }

    fn add(
        &mut self,
        source: impl AsFd,
        at: PathBuf,
        access: Access,
        executable: bool,
    ) -> Result<(), NotStarted> {
        self.mounts.push(Shown {
            source: source.as_fd().try_clone_to_owned()?,
            at,
            access,
            executable,
        });
        Ok(())
    }

    /// Runs the child to its end, for at most `time`, and keeps the first `keep` bytes of each stream.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing ran; or the jail was lost, and is gone.
    pub(super) fn run(
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
            let mut jailed = self.start(start, network, time, streams)?;
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
                    // The budget ends the call, as the caller finds (G-06).
                    jailed.kill();
                }
            }
            let (ended, idle) = jailed.finish().map_err(lost)?;
            if let Jails::First(kept) = &self.jails {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = idle;
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
    ) -> Result<Jailed, NotStarted> {
        let plan = || -> Result<Plan, NotStarted> { self.plan(start, network, time) };
        let Jails::First(kept) = &self.jails else {
            return Ok(self.launcher.start(plan()?, streams)?);
        };
        let idle = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(match idle {
            Some(idle) => idle.start(&turn(start, time), streams)?,
            None => self.launcher.start_several(plan()?, streams)?,
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
    let _ = poll(&mut polled, Timespec::try_from(SAMPLE).ok().as_ref());
    polled
        .first()
        .is_some_and(|jail| !jail.revents().is_empty())
}

fn lost(error: crate::jail::Error) -> NotStarted {
    NotStarted::System(io::Error::other(error))
}

/// As a child outside of a jail would have ended.
fn ending(how: How) -> Ending {
    match how {
        How::Exited(status) => Ending::Exited(status),
        How::Signaled(signal) => Ending::Signaled(signal),
        // SIGKILL.
        How::Memory | How::Processes => Ending::Signaled(9),
        How::TimedOut => Ending::TimedOut,
    }
}
