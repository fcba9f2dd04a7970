//! `process`: programs that the policy names, and tools that documents declare, without a shell.
//!
//! A child runs in the jail (module `confined`): it sees the mounts and the system, writes to memory and to what its rule
//! names, has no network, and ends with everything that it started. Where the machine can make no jail nothing starts:
//! `unconfined`. Only a policy that says `jail: {process: unjailed}` starts children outside of it. What holds for them
//! then is the argument list, the environment, the scratch directory, the deadline and the caps of this folder, and not
//! what a child reads, writes or connects to. Nor does it hold that nothing stays behind: a descendant
//! that leaves the process group runs on, and a scratch directory that a child moves away is emptied, but stays where it
//! was moved to.
//!
//! A child whose program name is `git` gets a guard of its own, whatever the policy says (module `git`).

mod child;
#[cfg(target_os = "linux")]
mod confined;
mod environment;
mod executable;
mod git;
mod kept;
mod output;
mod program;
mod scratch;
mod session;
#[cfg(test)]
mod tests;
mod tool;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::num::NonZeroUsize;
use std::time::Duration;

use self::child::Ended;
use self::confined::Shared;
use self::output::Disguise;
pub use self::scratch::Scratch;
pub use self::session::survive_file_size_limit;
#[cfg(not(target_os = "linux"))]
use self::unsupported as confined;
use super::stop::{Stop, settle};
use super::{BudgetExceeded, Call, parallel, turn};
use hydrant_jail::Captured;

/// Bytes of each stream, at most.
pub const MAX_OUTPUT_BYTES: u32 = 8 * 1024 * 1024;

/// Home and temporary directory of a program in the jail, in memory.
const TEMPORARY: &str = "/tmp";

/// Working directory, home and temporary directory of a tool in the jail, in memory.
const SCRATCH: &str = "/scratch";

/// Words of a command, `argv[0]` included.
const MAX_ARGUMENTS: usize = 256;

/// Bytes of all words of a command.
const MAX_ARGUMENT_BYTES: usize = 131_072;

/// Time of a program, at most.
const MAX_PROGRAM_MS: u32 = 600_000;

/// Time of a tool, at most.
const MAX_TOOL_MS: u32 = 5_000;

/// Why nothing ran. Closed: no other reason exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    /// No rule of the policy, or not the manifest, allows this program or tool.
    #[error("denied")]
    Denied,
    /// A rule names the program, but none with these arguments.
    #[error("arguments denied")]
    ArgumentsDenied,
    /// A rule names the program and its arguments, but not in this working directory.
    #[error("directory denied")]
    DirectoryDenied,
    /// Processes must be confined, and this host cannot confine them.
    #[error("processes cannot be confined")]
    Unconfined,
    /// No such program or tool, or the tool is no regular file.
    #[error("not found")]
    NotFound,
    /// The tool leaves its mount, is not accessible, or is not executable and has no runner.
    #[error("not permitted")]
    NotPermitted,
    /// The remote tool could not be fetched.
    #[error("could not be fetched")]
    FetchFailed,
    /// It could not be started, or (a component) not be described.
    #[error("could not be started")]
    NotStartable,
    /// `directory` does not exist.
    #[error("no such directory")]
    NoDirectory,
    /// `directory` is no directory.
    #[error("not a directory")]
    NotDirectory,
    /// An argument holds a NUL, or the command is over 256 arguments or 131,072 bytes.
    #[error("not a valid request")]
    InvalidRequest,
}

/// A program of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A bare name.
    pub name: String,
    /// A virtual path.
    pub directory: String,
}

/// A tool that a hydrated document declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// A virtual path at or below `/os`, or an https URL.
    pub path: String,
    /// The URI of the document that declares it: `os://…`, or a URL.
    pub declared_by: String,
}

/// What is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A program.
    Program(Program),
    /// A tool.
    Tool(Tool),
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What is to run.
    pub target: Target,
    /// What follows `argv[0]`. For a tool: exactly `--description` or exactly `--help`.
    pub arguments: Vec<String>,
    /// 1 to 600,000 ms; a tool gets 5,000 at most.
    pub timeout_ms: u32,
    /// Of each stream, 0 to 8,388,608 bytes; the rest is read and dropped.
    pub max_output_bytes: u32,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The exit status.
    Exited(u8),
    /// The number of the signal.
    Signaled(u8),
    /// Killed because its time was up.
    TimedOut,
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub ending: Ending,
    /// The first bytes of its standard output.
    pub stdout: Vec<u8>,
    /// There was more.
    pub stdout_truncated: bool,
    /// The first bytes of its standard error; empty for a tool.
    pub stderr: Vec<u8>,
    /// There was more.
    pub stderr_truncated: bool,
    /// Wall-clock time from start to end.
    pub duration_ms: u32,
}

/// Runs commands; each answer stands alone, in the order asked.
///
/// # Errors
/// [`BudgetExceeded`] ends the call: hostcalls (one for each item), the deadline, or what the fetch of a
/// remote tool uses.
pub fn run(
    call: &Call,
    commands: Vec<Command>,
) -> Result<Vec<Result<Exit, ProcessError>>, BudgetExceeded> {
    call.meter
        .hostcalls(u64::try_from(commands.len()).unwrap_or(u64::MAX))?;
    let at_once = usize::try_from(call.limits.process_count)
        .ok()
        .and_then(NonZeroUsize::new)
        .map_or(NonZeroUsize::MIN, |count| count.min(parallel::AT_ONCE));
    let shared = Shared::new();
    turn::aside(|| {
        parallel::map(commands, at_once, Duration::ZERO, |command| {
            settle(run_one(call, &shared, &command))
        })
    })
}

/// What one execution may use.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// From its start to its end.
    time: Duration,
    /// Bytes of each stream that are answered.
    keep: usize,
}

fn run_one(call: &Call, shared: &Shared, command: &Command) -> Result<Exit, Stop<ProcessError>> {
    check(command)?;
    if let Target::Program(_) = command.target {
        call.journal.not_repeatable();
    }
    let most_ms = match command.target {
        Target::Program(_) => MAX_PROGRAM_MS,
        Target::Tool(_) => MAX_TOOL_MS,
    };
    let asked = u64::from(command.timeout_ms.clamp(1, most_ms));
    let keep = u64::from(command.max_output_bytes.min(MAX_OUTPUT_BYTES));
    let bounds = Bounds {
        time: Duration::from_millis(asked.min(call.limits.process_ms)).min(call.meter.remaining()?),
        keep: usize::try_from(keep.min(call.limits.process_output_bytes)).unwrap_or(usize::MAX),
    };
    let exit = match &command.target {
        Target::Program(program) => program::run(call, program, &command.arguments, bounds),
        Target::Tool(tool) => tool::run(call, shared, tool, &command.arguments, bounds),
    };
    // What a child reached over the network counts for the call.
    call.meter.egress(0)?;
    let exit = exit?;
    if exit.ending == Ending::TimedOut {
        // Where the call's own time was up, that is what ends it.
        call.meter.remaining()?;
    }
    Ok(exit)
}

/// The bounds of a command, `argv[0]` included.
fn check(command: &Command) -> Result<(), ProcessError> {
    let name = match &command.target {
        Target::Program(program) => &program.name,
        Target::Tool(tool) => &tool.path,
    };
    let words = || std::iter::once(name).chain(&command.arguments);
    let bytes = words().fold(0_usize, |sum, word| sum.saturating_add(word.len()));
    let acceptable = words().count() <= MAX_ARGUMENTS
        && bytes <= MAX_ARGUMENT_BYTES
        && !words().any(|word| word.contains('\0'));
    acceptable.then_some(()).ok_or(ProcessError::InvalidRequest)
}

/// The answer about a child that ran, its output and its complaints in these disguises.
fn exit_of(ended: &Ended, [output, complaints]: [&Disguise; 2], keep: usize) -> Exit {
    let show = |written: &Captured, disguise: &Disguise| {
        let (shown, cut) = disguise.apply(&written.bytes, keep);
        (shown, written.truncated || cut)
    };
    let (stdout, stdout_truncated) = show(&ended.stdout, output);
    let (stderr, stderr_truncated) = show(&ended.stderr, complaints);
    Exit {
        ending: ended.ending,
        stdout,
        stdout_truncated,
        stderr,
        stderr_truncated,
        duration_ms: u32::try_from(ended.took.as_millis()).unwrap_or(u32::MAX),
    }
}
