//! How a jail ended, or why there is none.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Steps on the way to a jailed program, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// There is no jail on this operating system.
    Platform,
    /// The plan, the launcher, and what they tell each other.
    Protocol,
    /// What the plan names is not there, or not for processes without rights over other users' files; there is more of
    /// it than a jail takes; or the machine is short of memory or descriptors. No layer is missing.
    Plan,
    /// The user namespace, its maps, and the other namespaces made with it.
    Userns,
    /// The pid namespace and its init.
    Pid,
    /// The root and all that is mounted in it.
    Mount,
    /// The network namespace and the relay.
    Net,
    /// Capabilities, ids, `no_new_privs`.
    Privileges,
    /// Landlock.
    Landlock,
    /// Resource limits.
    Rlimits,
    /// The system call filter.
    Seccomp,
    /// Sampling of memory and processes.
    Memory,
    /// Standard streams, working directory, arguments.
    Exec,
    /// The self-test: a layer that was made lets something through.
    SelfTest,
}

impl Step {
    /// The name that a user reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Protocol => "protocol",
            Self::Plan => "plan",
            Self::Userns => "userns",
            Self::Pid => "pid",
            Self::Mount => "mount",
            Self::Net => "net",
            Self::Privileges => "privileges",
            Self::Landlock => "landlock",
            Self::Rlimits => "rlimits",
            Self::Seccomp => "seccomp",
            Self::Memory => "memory",
            Self::Exec => "exec",
            Self::SelfTest => "self-test",
        }
    }
}

/// The jail could not be made; nothing was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("no jail: {}: {reason}", step.name())]
pub struct Refused {
    /// What failed.
    pub step: Step,
    /// Why.
    pub reason: String,
}

impl Refused {
    pub(super) fn new(step: Step, reason: impl std::fmt::Display) -> Self {
        Self {
            step,
            reason: reason.to_string(),
        }
    }
}

impl Refused {
    /// Whether a layer of the jail is missing, so that no plan could be carried out. Otherwise this plan, or this moment,
    /// is the reason.
    pub fn is_of_a_layer(&self) -> bool {
        !matches!(self.step, Step::Protocol | Step::Plan)
    }
}

/// Names the step in which something failed.
#[cfg(target_os = "linux")]
pub(super) trait InStep<T> {
    /// `what` says what was tried, as in `mount /usr`.
    fn step(self, step: Step, what: impl std::fmt::Display) -> Result<T, Refused>;
}

/// The step to which an error belongs that came with something of the plan: its own, or, if it says that this system does
/// not make such mounts at all, `layer`.
#[cfg(target_os = "linux")]
pub(super) fn of_plan(error: &io::Error, layer: Step) -> Step {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP) => layer,
        _ => Step::Plan,
    }
}

#[cfg(target_os = "linux")]
impl<T, E: std::fmt::Display> InStep<T> for Result<T, E> {
    fn step(self, step: Step, what: impl std::fmt::Display) -> Result<T, Refused> {
        self.map_err(|error| Refused::new(step, format_args!("{what}: {error}")))
    }
}

/// Why no program runs.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no jail.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The jail was made, and the program could not be executed in it.
    #[error("not executable: {}", io::Error::from_raw_os_error(*errno))]
    NotExecutable {
        /// What `execve` said.
        errno: i32,
    },
}

/// A running jail was lost. It has been killed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its processes could not be counted.
    #[error("cannot sample the processes of the jail")]
    Sampling(#[source] io::Error),
    /// It ended without a report.
    #[error("the jail ended without saying how")]
    Lost(#[source] io::Error),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It exited with this status.
    Exited(u8),
    /// This signal ended it.
    Signaled(u8),
    /// The processes of the jail had more memory than allowed.
    Memory,
    /// There were more processes than allowed.
    Processes,
    /// The time was over.
    TimedOut,
    /// The call that it ran for was cancelled.
    Cancelled,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time, user and system, of all processes of the jail.
    pub cpu: Duration,
    /// The larger of the largest process (with files it had mapped, and the few megabytes of the launcher's image
    /// before `execve`) and the largest sample of all processes.
    pub peak_memory_bytes: u64,
}

/// The end of a jail. No process of it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    pub how: How,
    /// With what.
    pub usage: Usage,
}

/// One layer of the jail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// `userns`, `mount`, `pid`, `net`, `privileges`, `landlock`, `seccomp`, `rlimits`, `memory`, `egress`.
    pub name: String,
    /// Whether it holds.
    pub state: LayerState,
    /// What was found, as the ABI of Landlock, or why it does not hold.
    pub detail: String,
}

/// Whether a layer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// It does.
    Ok,
    /// It cannot be made here.
    Missing,
    /// It was made, and something got through.
    Failed,
}
