//! The effects behind the hostcalls: reading files, fetching URLs, starting processes.
//!
//! A component asks, the policy answers, and only then does this folder touch anything. Every entry
//! point takes a list, works on at most ten items at a time and answers in the order asked. It relies on
//! [`hydrant_policy`] for every question of the kind "may this call do that", and on a [`Meter`] for what a call has left.
//! It refuses to parse what it reads: bytes go to the guest as they are, and no real path of the host ever leaves in an
//! answer.

pub mod aliases;
pub mod core_module;
#[cfg(target_os = "linux")]
pub mod egress;
pub mod fetch;
pub mod fs;
mod journal;
mod meter;
mod own_files;
mod parallel;
pub mod process;
mod stop;
#[cfg(test)]
mod testing;
pub mod turn;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use hydrant_base::Digest;
use hydrant_jail::Launcher;
use hydrant_policy::{AllowedPath, Grant, Limits};

pub use self::journal::{Entries, Journal, MAX_DENIED_OPERATIONS};
pub use self::meter::{Budget, BudgetExceeded, Meter, MeterBudgets, Used};
pub use self::own_files::OwnFiles;
pub use self::own_files::real;
pub use self::parallel::MAX_HELPERS;
pub use hydrant_jail::Cancellation;

/// What one component call may do and has left: made for the call, shared by its hostcalls, dropped with it.
pub struct Call {
    /// What the policy, the manifest and the run allow.
    pub grant: Grant,
    /// The bounds of single effects: a smaller one than asked for wins silently.
    pub limits: Limits,
    /// What is left of the budgets.
    pub meter: Meter,
    /// What was used and what was refused.
    pub journal: Journal,
    /// The HTTP client of the process.
    pub fetcher: Arc<fetch::Fetcher>,
    /// A key that the host adds for one server.
    pub credential: Option<Arc<fetch::Credential>>,
    /// Describes tools that are components.
    pub components: Arc<dyn DescribeComponent>,
    /// Where changes of files are journalled; without it only one file can be changed at a time.
    pub journals: Option<fs::Journals>,
    /// What is neither read nor changed, whatever mount shows it.
    pub own: Arc<OwnFiles>,
    /// What makes jails; without it no child starts that must be confined.
    pub jail: Option<Launcher>,
    /// Where answers of tools are kept; without it every tool is started each time.
    pub descriptions: Option<Arc<dyn KeepDescriptions>>,
}

impl Call {
    /// Refuses what was opened by this path where it is hydrant's own, and notes that.
    ///
    /// # Errors
    /// [`fs::FsError::Denied`], or what the system says.
    fn check_own(&self, path: &AllowedPath, opened: impl AsFd) -> Result<(), fs::FsError> {
        let own = self.own.in_mount(path.mount());
        let checked = own.and_then(|own| own.check(opened));
        if checked == Err(fs::FsError::Denied) {
            let path = format!("{}/{}", path.mount().at(), path.relative());
            self.journal
                .denied_capability(format!("fs.read:{}", path.trim_end_matches('/')));
        }
        checked
    }
}

/// Asks a component for its description. The engine implements it; this folder knows no WebAssembly.
pub trait DescribeComponent: Send + Sync {
    /// Instantiates `component` (at most 4 MiB) without any capability, for at most `time`, and answers
    /// what its `describe` returned. Waiting for others and compiling do not count against `time`;
    /// all together takes at most `patience`. It is compiled in a process of its own in the `jail`, if there is one.
    ///
    /// # Errors
    /// [`DescribeError`] for every component that has no description to give.
    fn describe(
        &self,
        component: &[u8],
        time: Duration,
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<String, DescribeError>;
}

/// Keeps what tools answered, between calls and processes, so that one that is asked the same again is not started
/// again. The engine implements it, beside compiled code.
pub trait KeepDescriptions: Send + Sync {
    /// What a tool answered under these `circumstances`, if that is known, not too old, and ours.
    fn find(&self, circumstances: &Digest) -> Option<KeptDescription>;

    /// Keeps an answer. That it cannot be kept is nobody's error.
    fn keep(&self, circumstances: &Digest, description: &KeptDescription);
}

/// The answer of a tool that ended with status 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDescription {
    /// The first bytes of its standard output, without real paths.
    pub stdout: Vec<u8>,
    /// There was more.
    pub truncated: bool,
}

/// Why a component has no description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// Its time was up.
    #[error("the component did not describe itself in time")]
    Timeout,
    /// It is no component, asks for what it may not have, trapped, or answered no description.
    #[error("the component cannot be described")]
    NotDescribable,
}

/// What happens to bytes over the limit of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The answer is the error `too-large`.
    Refuse,
    /// The first bytes are answered, marked as truncated.
    Cut,
}
