//! A program in a jail, with a socket of this host as its only way out: for agents that must not act but
//! by hydrant.
//!
//! | file | subject |
//! |---|---|
//! | `sight` | what it sees of the host, and what is refused |
//! | `command` | which program that is |
//! | `socket` | the socket, which speaks the protocol of `hydrant syscall` |
//!
//! Nothing in it decides what a call may do: that is the policy of the host behind the socket.

mod command;
mod sight;
mod socket;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use self::sight::{Shown, Sight};
use self::socket::Served;
use crate::capability::BudgetExceeded;
use crate::capability::egress::{Account, Egress, Pair, PairError, PlainHttp};
use crate::capability::process::Scratch as PrivateDirectory;
use crate::govern::config::Config;
use crate::host::{HostBuilder, HostError, HydrateRequest};
use crate::jail::{
    Attached, CallerStreams, How, InsidePath, Limits, Mount, NotInside, Plan, Program, Scratch,
    Signals, Socket, StartError, base_environment,
};
use crate::policy::{CliMount, VirtualPath};
use crate::serve::tenants::Tenant;

/// Where the program finds the socket.
const SOCKET: &str = "/run/hydrant.sock";

/// Where it finds this program; its directory comes first in `PATH`.
const BINARY: &str = "/run/hydrant/bin/hydrant";

/// Home and temporary directory, in memory.
const TEMPORARY: &str = "/tmp";
const TEMPORARY_BYTES: u64 = 1024 * 1024 * 1024;
const TEMPORARY_FILES: u64 = 262_144;

/// Processes and threads: more than any agent has, and fewer than a machine.
const PROCESSES: u64 = 4096;

/// Bytes of `TERM` at most.
const MAX_TERMINAL_NAME: usize = 64;

/// A program that is to be jailed.
#[derive(Debug)]
pub struct Agent {
    /// The program, as the jail sees it, and its arguments. A name without `/` is looked for in the system's directories.
    pub command: Vec<OsString>,
    /// The directory behind `/workspace`, for reading, writing and executing.
    pub workspace: Option<PathBuf>,
    /// What else it sees.
    pub directories: Directories,
    /// Each `host:port` that it may connect to.
    pub egress: Vec<String>,
    /// `TERM`.
    pub terminal: Option<OsString>,
    /// The home folder and the configuration of governed execution; none: loaded skills are not served.
    pub governed: Option<(PathBuf, Config)>,
}

/// Which directories of a policy a jailed program sees itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directories {
    /// None.
    None,
    /// Its mounts, at their virtual paths and in their modes.
    OfPolicy,
}

/// How the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEnded {
    /// Its exit status, or 128 and the number of the signal that ended it or this process.
    pub status: u8,
    /// Why it did not end by itself.
    pub reason: Option<String>,
}

/// Why nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// There is no jail without a launcher.
    #[error("nothing is there that starts jails")]
    NoLauncher,
    /// The host behind the socket cannot be made.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A directory that the program must not see, or not write.
    #[error("{0}")]
    Directory(String),
    /// Not a host and a port.
    #[error("--egress: {0}")]
    Egress(#[from] PairError),
    /// A place in the jail that is none.
    #[error(transparent)]
    Place(#[from] NotInside),
    /// The jail could not be made; nothing was executed.
    #[error(transparent)]
    Start(StartError),
    /// The jail was lost, and is gone.
    #[error(transparent)]
    Lost(#[from] crate::jail::Error),
    /// What the system says.
    #[error("the jail cannot be prepared: {0}")]
    System(#[from] io::Error),
    /// The program is not there (127), or cannot be executed (126).
    #[error("{message}")]
    NotStarted {
        /// As a shell has it.
        status: u8,
        /// Why.
        message: String,
    },
}

impl Agent {
    /// Runs the program to its end, at the standard streams of this process. `builder` makes the host behind the socket,
    /// `options` are those of its hydrations, and each of `signals` ends the jail.
    ///
    /// # Errors
    /// [`AgentError`]
    pub fn run(
        &self,
        builder: HostBuilder,
        options: HydrateRequest,
        signals: &Signals,
    ) -> Result<AgentEnded, AgentError> {
        let egress = self.pairs(options.allow_http_loopback)?;
        let private = PrivateDirectory::create()?;
        let workspace = self.workspace(&private)?;
        // The name of the file that is running, which is what can be mounted.
        let binary = std::fs::read_link("/proc/self/exe")?;
        let at = VirtualPath::parse(sight::WORKSPACE)
            .map_err(|error| AgentError::Directory(error.to_string()))?;
        // What the agent sees there, skills see there; and where there is nothing, an empty directory.
        let host = builder
            .mount(CliMount::offered(at, &workspace))
            // The operator's next command is not the agent's, should it lie in the workspace.
            .own_file(&binary)
            .build()?;
        let launcher = host.launcher().cloned().ok_or(AgentError::NoLauncher)?;
        let named = self.workspace.as_deref().map(|named| (named, &*workspace));
        let sight = Sight::of(&host, named, self.directories)?;
        let directory = sight.directory()?;
        let program = command::resolve(self.command.first(), &directory)?;
        let host = Arc::new(host);
        std::thread::scope(|scope| {
            let unmetered = &Unmetered;
            let mut egress = match egress.as_slice() {
                [] => None,
                pairs => {
                    let fetcher = host.fetcher();
                    Some(Egress::start(scope, unmetered, fetcher, pairs.to_vec())?)
                }
            };
            let proxy = egress.as_ref().map(|egress| reference(egress.socket()));
            let proxy = proxy.transpose()?;
            let tenant = self
                .governed
                .clone()
                .map(|(home, config)| Arc::new(Tenant::of_host(Arc::clone(&host), &home, config)));
            let served = Served::start(Arc::clone(&host), options.clone(), tenant, private.real())?;
            let (streams, caller) = CallerStreams::take()?;
            let plan = self.plan(
                program,
                directory.clone(),
                sight.shown(),
                proxy,
                reference(&binary)?,
                served.reference()?,
            )?;
            let started = launcher.start(plan, streams);
            served.remove_name();
            if let Some(egress) = &mut egress {
                egress.remove_name();
            }
            let jailed = match started {
                Ok(jailed) => jailed,
                Err(error) => {
                    // The terminal is as it was before anything is said.
                    drop(caller);
                    return Err(self.not_started(error));
                }
            };
            let ended = Attached::wait(jailed, caller, signals)?;
            // What has been called is finished and recorded, unless it was a signal that ended the jail.
            served.end(signals, ended.signal.is_some());
            Ok(ended.into())
        })
    }

    /// The directory behind `/workspace`, absolute and without links.
    fn workspace(&self, private: &PrivateDirectory) -> Result<PathBuf, AgentError> {
        match &self.workspace {
            Some(named) => named.canonicalize().map_err(|error| {
                AgentError::Directory(format!("--workspace {}: {error}", named.display()))
            }),
            None => {
                let empty = private.real().join("workspace");
                std::fs::create_dir(&empty)?;
                Ok(empty)
            }
        }
    }

    fn pairs(&self, http_loopback: bool) -> Result<Vec<Pair>, AgentError> {
        let pair = |text: &String| {
            // Plain http only to this machine, and only where the operator said so.
            let loopback = ["127.", "[::1]:", "localhost:"]
                .iter()
                .any(|start| text.starts_with(start));
            let plain = if http_loopback && loopback {
                PlainHttp::Allowed
            } else {
                PlainHttp::Refused
            };
            Ok(Pair::parse(text, plain)?)
        };
        self.egress.iter().map(pair).collect()
    }

    fn plan(
        &self,
        program: InsidePath,
        directory: InsidePath,
        shown: Vec<Shown>,
        proxy: Option<OwnedFd>,
        binary: OwnedFd,
        socket: OwnedFd,
    ) -> Result<Plan, AgentError> {
        let mut mounts: Vec<Mount> = shown
            .into_iter()
            .map(|shown| Mount {
                source: shown.source,
                at: shown.at,
                access: shown.access,
                // Memory is executable as well: nothing would be kept from anybody.
                executable: true,
            })
            .collect();
        mounts.push(Mount {
            source: binary,
            at: InsidePath::new(BINARY)?,
            access: crate::jail::Access::ReadOnly,
            executable: true,
        });
        let mut plan = Plan {
            environment: self.environment(),
            directory,
            mounts,
            scratch: vec![Scratch {
                at: InsidePath::new(TEMPORARY)?,
                bytes: TEMPORARY_BYTES,
                inodes: TEMPORARY_FILES,
                executable: true,
            }],
            sockets: vec![Socket {
                source: socket,
                at: InsidePath::new(SOCKET)?,
            }],
            limits: Limits {
                processes: Some(PROCESSES),
                ..Limits::default()
            },
            ..Plan::new(Program::Path(program), self.command.clone())
        };
        if let Some(proxy) = proxy {
            plan.connect_to_proxy(proxy);
        }
        Ok(plan)
    }

    /// Returns the environment of every jailed program, with `TERM`, the socket, and this program in front of the `PATH`.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment = base_environment(command::PATH.join(":"), TEMPORARY);
        environment.push(("HYDRANT_SOCKET".into(), SOCKET.into()));
        let terminal = self.terminal.as_ref().and_then(|name| name.to_str());
        if let Some(name) = terminal
            && name.len() <= MAX_TERMINAL_NAME
            && name.bytes().all(|byte| byte.is_ascii_graphic())
        {
            environment.push(("TERM".into(), name.into()));
        }
        environment
    }

    fn not_started(&self, error: StartError) -> AgentError {
        match error {
            StartError::NotExecutable { errno } => {
                let name = self.command.first().map(OsString::as_os_str);
                command::not_executable(name.unwrap_or_default(), errno)
            }
            refused => AgentError::Start(refused),
        }
    }
}

impl From<Attached> for AgentEnded {
    fn from(attached: Attached) -> Self {
        /// As shells tell that a signal ended a program.
        const BY_SIGNAL: u8 = 128;
        const KILLED: u8 = 9;
        if let Some(signal) = attached.signal {
            return Self {
                status: BY_SIGNAL.saturating_add(signal),
                reason: None,
            };
        }
        let (status, reason) = match attached.ended.how {
            How::Exited(status) => (status, None),
            How::Signaled(signal) => (BY_SIGNAL.saturating_add(signal), None),
            How::Processes => (
                BY_SIGNAL + KILLED,
                Some(format!(
                    "the jail had more than {PROCESSES} processes and threads, and was ended"
                )),
            ),
            // No such limits are set, and nothing cancels it.
            How::Memory | How::TimedOut | How::Cancelled => (
                BY_SIGNAL + KILLED,
                Some("the jail was ended by a limit".to_owned()),
            ),
        };
        Self { status, reason }
    }
}

/// The egress of a jailed agent has no budget: an agent runs without the limits of a call.
struct Unmetered;

impl Account for Unmetered {
    fn count(&self, _: u64) -> Result<(), BudgetExceeded> {
        Ok(())
    }

    fn remaining(&self) -> Result<Duration, BudgetExceeded> {
        Ok(Duration::from_secs(3600))
    }

    fn denied(&self, asked: Option<&str>, reason: &str) {
        let asked = asked.unwrap_or("unreadable");
        tracing::debug!(
            asked,
            reason,
            "the jail asked for what --egress does not name"
        );
    }
}

/// Opens a file for mounting it.
fn reference(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(terminal: &str) -> Agent {
        Agent {
            command: vec!["sh".into()],
            workspace: None,
            directories: Directories::None,
            egress: Vec::new(),
            terminal: Some(terminal.into()),
            governed: None,
        }
    }

    #[test]
    fn the_environment_is_fixed_but_for_a_harmless_name_of_the_terminal() {
        let names = |agent: &Agent| {
            let names = agent.environment().into_iter().map(|(name, _)| name);
            names.collect::<Vec<_>>().join(std::ffi::OsStr::new(" "))
        };
        let usual = "PATH HOME TMPDIR LANG TZ HYDRANT_SOCKET";
        assert_eq!(names(&agent("x\u{1b}[2J")), usual);
        assert_eq!(names(&agent("xterm")), *format!("{usual} TERM"));
        assert_eq!(names(&agent("")), *format!("{usual} TERM"));
    }
}
