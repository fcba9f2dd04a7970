//! A program in its jail, to its end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use hydrant_jail::{Ended, How, InsidePath, Jailed, LOOK, Launcher, Plan, StartError, Streams};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
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
        stdout_cut: ran.stdout.cut,
        stdout: ran.stdout.bytes,
        stderr_cut: ran.stderr.cut,
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
    let (streams, mut ours) = streams(stdin).map_err(NotRun::System)?;
    let mut jailed = match returned {
        None => launcher.start(plan, streams),
        Some(directory) => launcher.start_returning(plan, streams, directory),
    }
    .map_err(NotRun::Start)?;
    let mut flooded = false;
    while !ours.wait(&jailed) {
        ours.serve();
        if ours.written() > allowed.output_bytes.max(LEAST_FLOOD) {
            flooded = true;
            jailed.kill();
        }
        jailed.sample().map_err(NotRun::Lost)?;
    }
    let (ended, directory) = jailed.end_returning().map_err(NotRun::Lost)?;
    if ended.how == How::Cancelled {
        return Err(NotRun::Cancelled);
    }
    ours.serve();
    let (end, exhausted) = verdict(&ended, flooded, allowed);
    Ok(Ran {
        how: ended.how,
        end,
        stdout: ours.stdout.captured,
        stderr: ours.stderr.captured,
        used: Used {
            wall_clock_ms: milliseconds(started.elapsed()),
            cpu_ms: milliseconds(ended.usage.cpu),
            ..Used::default()
        },
        peak_memory_bytes: ended.usage.peak_memory_bytes,
        exhausted,
        directory,
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

/// The first bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) cut: bool,
}

/// The host's ends of a program's streams.
struct Ours<'a> {
    /// What is still to be given; `None` when it is closed.
    stdin: Option<(File, &'a [u8])>,
    stdout: Reader,
    stderr: Reader,
}

/// One that is read.
struct Reader {
    pipe: Option<File>,
    captured: Captured,
    read: u64,
}

fn streams(stdin: &[u8]) -> io::Result<(Streams, Ours<'_>)> {
    let (stdout, stdout_written) = io::pipe()?;
    let (stderr, stderr_written) = io::pipe()?;
    let mut streams = Streams {
        stdin: None,
        stdout: Some(stdout_written.into()),
        stderr: Some(stderr_written.into()),
        terminal: false,
    };
    let mut given = None;
    if !stdin.is_empty() {
        let (theirs, ours) = io::pipe()?;
        streams.stdin = Some(theirs.into());
        given = Some((not_waiting(ours.into())?, stdin));
    }
    let ours = Ours {
        stdin: given,
        stdout: Reader::new(stdout.into())?,
        stderr: Reader::new(stderr.into())?,
    };
    Ok((streams, ours))
}

fn not_waiting(pipe: OwnedFd) -> io::Result<File> {
    let flags = rustix::fs::fcntl_getfl(&pipe)?;
    rustix::fs::fcntl_setfl(&pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(File::from(pipe))
}

impl Ours<'_> {
    /// Waits until the jail has ended, a stream can go on, or it is time to look at it; true when it has ended.
    fn wait(&self, jailed: &Jailed) -> bool {
        let mut polled = vec![PollFd::from_borrowed_fd(jailed.descriptor(), PollFlags::IN)];
        if let Some((pipe, _)) = &self.stdin {
            polled.push(PollFd::new(pipe, PollFlags::OUT));
        }
        let read = [&self.stdout.pipe, &self.stderr.pipe];
        let open = read.into_iter().flatten();
        polled.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        // Whatever it answers, an interruption too, the caller looks for itself.
        let _ = poll(&mut polled, Timespec::try_from(LOOK).ok().as_ref());
        polled
            .first()
            .is_some_and(|jail| !jail.revents().is_empty())
    }

    fn serve(&mut self) {
        if let Some((pipe, rest)) = &mut self.stdin {
            let open = loop {
                match pipe.write(rest) {
                    Ok(0) => break false,
                    Ok(written) => *rest = rest.get(written..).unwrap_or_default(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
                }
            };
            if !open || rest.is_empty() {
                // A program that does not read it all is none of our business.
                self.stdin = None;
            }
        }
        self.stdout.drain();
        self.stderr.drain();
    }

    fn written(&self) -> u64 {
        self.stdout.read.saturating_add(self.stderr.read)
    }
}

impl Reader {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            pipe: Some(not_waiting(pipe)?),
            captured: Captured::default(),
            read: 0,
        })
    }

    /// What is there now, at most what a pipe holds several times over, so that one stream cannot keep all attention.
    fn drain(&mut self) {
        let mut buffer = [0; 65_536];
        for _ in 0..32 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.keep(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.read = self
            .read
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let room = KEPT_BYTES.saturating_sub(self.captured.bytes.len());
        self.captured.cut |= bytes.len() > room;
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.captured.bytes.extend_from_slice(kept);
    }
}
