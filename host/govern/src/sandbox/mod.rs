//! Sandbox stages: a program of a skill in a jail that is exactly as its approved policy says.
//!
//! What a stage runs, with which inputs, comes from the caller, filled in; here it becomes the plan of a jail
//! ([`hydrant_jail`]), is run to its end, and what it left in `/output` is brought back. Nothing is started outside of
//! a jail, and there is no weaker form: on systems that have none, all is refused, in one place.
//!
//! | file | subject |
//! |---|---|
//! | `resources` | how much a run may use: the policy's numbers within what the budget has left |
//! | `tools` | which runtimes and tools this system has, and which have a sandbox of their own |
//! | `stages` | runs stages, and says whether one could run |
//! | `required` | what a stage needs: failures, and versions that only a runtime itself tells |
//! | `view` | directories of the host that a policy names |
//! | `plan` | the plan of the jail |
//! | `supervise` | the run itself, and what its end means |
//! | `returned` | files of `/output` |
//! | `text_tool` | text tools that the interpreter has not built in |
//! | `unsupported` | other systems than Linux: every stage is refused |

#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod required;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod returned;
#[cfg(target_os = "linux")]
mod stages;
#[cfg(target_os = "linux")]
mod supervise;
#[cfg(target_os = "linux")]
mod text_tool;
mod tools;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
mod view;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hydrant_canonical::Json;
use secrecy::SecretString;
use serde::Serialize;

use crate::budget::Dimension;
use crate::chain::Used;
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::ports::{Egress, EgressReport};
use hydrant_plan::{Policy, Program, SandboxStage};
#[cfg(target_os = "linux")]
pub use stages::Sandbox;
pub use tools::{has_own_sandbox, missing, missing_tool};
#[cfg(not(target_os = "linux"))]
pub use unsupported::Sandbox;

/// What the operator's configuration says of jails.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Directories that a policy may have mounted for reading. Those that are not there allow nothing.
    pub fs_read: Vec<PathBuf>,
    /// The same for writing.
    pub fs_write: Vec<PathBuf>,
    /// hydrant's own directories (home, state): nothing that lies in one of them or contains one is ever mounted.
    pub protected: Vec<PathBuf>,
    /// The least ABI of Landlock. 0 counts as 1.
    pub landlock_min_abi: u8,
}

impl Settings {
    /// What the configuration says. `protected`: hydrant's home and state.
    #[must_use]
    pub fn new(config: &Config, protected: Vec<PathBuf>) -> Self {
        Self {
            fs_read: config.fs_read.clone(),
            fs_write: config.fs_write.clone(),
            protected,
            landlock_min_abi: config.landlock_min_abi,
        }
    }
}

/// One run of a stage. All text is filled in: values are in place, encoded as an argument is.
pub struct SandboxRun<'a> {
    /// The stage, as approved.
    pub stage: &'a SandboxStage,
    /// Of a stage with `argv`: that, filled in. Else ignored.
    pub argv: &'a [String],
    /// The stage's `args`, filled in; they follow the script or module.
    pub args: &'a [String],
    /// What it reads on standard input.
    pub stdin: &'a [u8],
    /// Inputs that arrive as environment variables. Names that steer the shell or the loader are left out here.
    pub environment: &'a [(String, String)],
    /// The validated params, for `/input/params.json`.
    pub params: &'a Json,
    /// The `files` of the call: relative names and contents, for `/input`.
    pub files: &'a [(String, Vec<u8>)],
    /// The bytes of the stage's code file that were given at load. Compared with the approved digest.
    pub code_file: Option<&'a [u8]>,
    /// Secrets for `/run/secrets`, granted and bound. One that the policy does not list is refused.
    pub secrets: &'a [(String, SecretString)],
    /// The frozen policy.
    pub policy: &'a Policy,
    /// What the budget has left.
    pub caps: Caps,
    /// The proxy, for a policy with egress.
    pub egress: &'a dyn Egress,
    /// `allow_private` of the configuration.
    pub allow_private: &'a [String],
    /// Where files of `/output` are put: a directory of this host, made if it is not there (0700).
    pub output: &'a Path,
    /// Takes injected values out of a file of at most 1 MiB; `None` where there are none.
    pub redact: &'a dyn Fn(&[u8]) -> Option<Vec<u8>>,
}

/// What may be used at most, whatever the policy says; `None`: as the policy says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caps {
    /// Time.
    pub wall_clock: Option<Duration>,
    /// Processor time.
    pub cpu: Option<Duration>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes of files and streams that are brought back.
    pub storage_bytes: Option<u64>,
    /// Bytes over the network; `None`: [`NETWORK_BYTES`].
    pub network_bytes: Option<u64>,
}

/// What a run may send and receive where nobody says otherwise.
pub const NETWORK_BYTES: u64 = 10 * 1024 * 1024;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited.
    Exit,
    /// A signal ended it, or there were too many processes.
    Signal,
    /// Its time was over, of the clock or of the processor.
    Timeout,
    /// It had more memory than allowed.
    Memory,
    /// It wrote more than allowed.
    OutputLimit,
}

/// A file of `/output` that was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReturnedFile {
    /// Relative to `/output`.
    pub name: String,
    /// Length, of what was kept.
    pub bytes: u64,
    /// Of what was kept.
    pub digest: String,
    /// On this host.
    pub path: PathBuf,
    /// Larger than what is searched for secrets, and there was one to search for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unscanned: bool,
}

/// How a run ended. That a program fails is a result, not a failure.
#[derive(Debug, Clone)]
pub struct SandboxEnd {
    /// How.
    pub end: End,
    /// Of [`End::Exit`].
    pub exit_code: Option<u8>,
    /// Of a program that a signal ended.
    pub signal: Option<u8>,
    /// What it wrote; not redacted.
    pub stdout: Vec<u8>,
    /// Whether it wrote more than that.
    pub stdout_cut: bool,
    /// The same.
    pub stderr: Vec<u8>,
    /// The same.
    pub stderr_cut: bool,
    /// Redacted, sorted by name.
    pub files: Vec<ReturnedFile>,
    /// What it took.
    pub used: Used,
    /// At its highest.
    pub peak_memory_bytes: u64,
    /// With egress: what the proxy says.
    pub egress: Option<EgressReport>,
    /// The dimension of the budget that ended the run, where not the policy did: the stage ends with `budget-exhausted`.
    pub exhausted: Option<Dimension>,
    /// For the caller: what could not be brought back, and why.
    pub warnings: Vec<String>,
}

/// Whether a stage runs code of the document by a runtime, as against a tool by its name.
fn has_script(stage: &SandboxStage) -> bool {
    matches!(
        stage.program,
        Program::Code(_) | Program::Script(_) | Program::File { .. }
    )
}

fn unavailable(why: impl std::fmt::Display) -> Failure {
    Failure::new(Code::JailUnavailable, why.to_string())
        .with_hint("`hydrant doctor` tells which layer of the jail is missing")
}
