//! A program in its jail, to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use hydrant_jail::{Captured, Ended, How, InsidePath, Launcher, Pipes, Plan, StartError};
use serde_json::Map;

use super::resources::Allowed;
use super::{
    Caps, End, SandboxEnd, SandboxRun, Settings, plan, required, returned, tools, unavailable,
};
use crate::budget::Dimension;
use crate::chain::Used;
use crate::failure::{Code, Failure};

/// What is kept of a stream; the rest is read and dropped, and the stream is marked as cut.
pub(super) const KEPT_BYTES: usize = 10 * 1024 * 1024;

/// A program that has written more than this, and more than `/output` may hold, is ended.
const LEAST_FLOOD: u64 = 10 * 1024 * 1024;

/// A version is told on one line.
const VERSION_TIME: Duration = Duration::from_secs(5);

/// Signals of resource limits.
const SIGXCPU: u8 = 24;
const SIGXFSZ: u8 = 25;
const SIGKILL: u8 = 9;

/// What came of a program.
pub(super) struct Ran {
    pub(super) how: How,
    pub(super) end: End,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) used: Used,
    pub(super) peak_memory_bytes: u64,
    pub(super) exhausted: Option<Dimension>,
    /// What was in the directory that was to be returned.
    pub(super) directory: Option<OwnedFd>,
}

/// Runs a stage.
pub(super) fn run(
    launcher: &Launcher,
    plan: Plan,
    run: &SandboxRun<'_>,
    allowed: &Allowed,
) -> Result<SandboxEnd, Failure> {
    let name = plan.arguments.first().cloned().unwrap_or_default();
    let output = Some(plan::inside(plan::OUTPUT)?);
    let ran = program(launcher, plan, run.stdin, allowed, output)
        .map_err(|error| failed(error, &name.to_string_lossy()))?;
    let mut end = SandboxEnd {
        end: ran.end,
        exit_code: match ran.how {
            How::Exited(code) if ran.end == End::Exit => Some(code),
            _ => None,
        },
        signal: match ran.how {
            How::Signaled(signal) if ran.end == End::Signal => Some(signal),
            How::Processes => Some(SIGKILL),
            _ => None,
        },
        stdout_cut: ran.stdout.truncated,
        stdout: ran.stdout.bytes,
        stderr_cut: ran.stderr.truncated,
        stderr: ran.stderr.bytes,
        files: Vec::new(),
        used: ran.used,
        peak_memory_bytes: ran.peak_memory_bytes,
        egress: None,
        exhausted: ran.exhausted,
        warnings: Vec::new(),
    };
    match ran.how {
        How::Processes => end.warnings.push(format!(
            "ended: more than {} processes and threads",
            allowed.pids()
        )),
        How::Memory => end.warnings.push(format!(
            "ended: more than {} MB of memory",
            allowed.memory_mb()
        )),
        _ => {}
    }
    returned::bring(ran.directory, run, allowed, &mut end).map_err(|error| Failure {
        executed: true,
        ..Failure::new(
            Code::StoreUnavailable,
            format!("the output directory: {error}"),
        )
    })?;
    Ok(end)
}

/// A jail with a program that does nothing.
pub(super) fn probe(launcher: &Launcher, settings: &Settings) -> Result<(), Failure> {
    let sh = tools::find("/bin/sh").ok_or_else(|| unavailable("there is no /bin/sh"))?;
    let arguments = ["sh", "-c", ":"].map(Into::into).to_vec();
    let allowed = small()?;
    let plan = plan::bare(&sh, arguments, &allowed, settings)?;
    match program(launcher, plan, b"", &allowed, None) {
        Ok(ran) if ran.how == How::Exited(0) => Ok(()),
        Ok(ran) => Err(unavailable(format_args!(
            "a program that does nothing ended as {:?}",
            ran.how
        ))),
        Err(error) => Err(failed(error, "sh")),
    }
}

/// What a runtime says when it is asked for its version.
pub(super) fn version(
    launcher: &Launcher,
    settings: &Settings,
    path: &Path,
) -> Result<String, Failure> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_owned();
    let shown = name.to_string_lossy().into_owned();
    let allowed = small()?;
    let plan = plan::bare(path, vec![name, "--version".into()], &allowed, settings)?;
    let ran =
        program(launcher, plan, b"", &allowed, None).map_err(|error| failed(error, &shown))?;
    Ok(String::from_utf8_lossy(&ran.stdout.bytes).into_owned())
}

/// Returns what a program of the host's own choice may use.
fn small() -> Result<Allowed, Failure> {
    let caps = Caps {
        wall_clock: Some(VERSION_TIME),
        ..Caps::default()
    };
    Allowed::new(&Map::new(), caps)
}

/// Why there is no [`Ran`].
pub(super) enum NotRun {
    /// The program was not started.
    Start(StartError),
    /// Streams could not be made.
    System(io::Error),
    /// The jail was lost, and is gone.
    Lost(hydrant_jail::Error),
    /// It was ended, because nobody waits for the answer any more.
    Cancelled,
}

/// Every step that fails is `jail-unavailable`.
pub(super) fn failed(error: NotRun, program: &str) -> Failure {
    match error {
        NotRun::Start(StartError::Refused(refused)) => unavailable(refused),
        NotRun::Start(StartError::NotExecutable { errno }) => {
            tracing::warn!(program, errno, "not executable");
            required::unavailable(vec![format!("tool:{program}")])
        }
        NotRun::System(error) => unavailable(format_args!("streams: {error}")),
        NotRun::Lost(error) => Failure {
            executed: true,
            ..unavailable(error)
        },
        NotRun::Cancelled => Failure {
            executed: true,
            ..Failure::cancelled()
        },
    }
}

/// Runs a program to its end, and keeps what it writes. `returned`: a scratch directory that is wanted back.
pub(super) fn program(
    launcher: &Launcher,
    plan: Plan,
    stdin: &[u8],
    allowed: &Allowed,
    returned: Option<InsidePath>,
) -> Result<Ran, NotRun> {
    let started = Instant::now();
    let (streams, mut pipes) =
        Pipes::new(stdin, KEPT_BYTES, Some(KEPT_BYTES)).map_err(NotRun::System)?;
    let jailed = match returned {
        None => launcher.start(plan, streams),
        Some(directory) => launcher.start_returning(plan, streams, directory),
    }
    .map_err(NotRun::Start)?;
    let most = allowed.output_bytes.max(LEAST_FLOOD);
    let mut flooded = false;
    let within = |written| {
        flooded |= written > most;
        !flooded
    };
    let finished = jailed.serve(&mut pipes, within).map_err(NotRun::Lost)?;
    let ended = finished.ended;
    if ended.how == How::Cancelled {
        return Err(NotRun::Cancelled);
    }
    let [stdout, stderr] = pipes.into_captured();
    let (end, exhausted) = verdict(&ended, flooded, allowed);
    Ok(Ran {
        how: ended.how,
        end,
        stdout,
        stderr,
        used: Used {
            wall_clock_ms: milliseconds(started.elapsed()),
            cpu_ms: milliseconds(ended.usage.cpu),
            ..Used::default()
        },
        peak_memory_bytes: ended.usage.peak_memory_bytes,
        exhausted,
        directory: finished.directory,
    })
}

fn verdict(ended: &Ended, flooded: bool, allowed: &Allowed) -> (End, Option<Dimension>) {
    if flooded {
        return (End::OutputLimit, allowed.by_budget(Dimension::StorageBytes));
    }
    match ended.how {
        How::Exited(_) => (End::Exit, None),
        How::Signaled(SIGXCPU) => (End::Timeout, allowed.by_budget(Dimension::CpuMs)),
        How::Signaled(SIGXFSZ) => (End::OutputLimit, allowed.by_budget(Dimension::StorageBytes)),
        How::Signaled(_) | How::Processes => (End::Signal, None),
        How::Memory => (End::Memory, allowed.by_budget(Dimension::MemoryMb)),
        How::TimedOut | How::Cancelled => (End::Timeout, allowed.by_budget(Dimension::WallClockMs)),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
