//! Compiling what nobody vouches for, in a process of its own in the jail.
//!
//! Vetting ([`super::vetting`]) bounds what hostile code makes the compiler use; a process bounds it for certain, and can
//! be ended when the time is up. So a component that is not pinned is compiled by a fresh image of this program, which
//! sees the system's libraries and itself, has no network, nothing to write, and no more memory than it is given. It gets
//! the code on its standard input and writes what it compiled to its standard output.
//!
//! What comes back is machine code, which is then trusted as if it had been compiled here. A flaw of the compiler that lets
//! its input take it over could so answer with any machine code; but where the compiler runs in this process such a flaw
//! has all of this process at once. The child is there for memory and time, and makes nothing worse.
//!
//! Where no jail can be made, or the launcher is another version of hydrant, nothing has been read by then, and the caller
//! compiles by itself as it does for pinned components.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;
use std::time::Duration;

use super::{cache, setup};
use hydrant_jail::{How, InsidePath, Launcher, Limits, Plan, Program, Streams};

/// `argv[0]` of a process that compiles.
const NAME: &str = "hydrant-compile";
/// Where it lies inside.
const BINARY: &str = "/run/hydrant-compile";
/// Bytes of machine code, at most.
const MAX_COMPILED: u64 = 256 * 1024 * 1024;
/// Bytes of the sentence that says why nothing was compiled.
const MAX_REASON: u64 = 4 * 1024;
/// Bytes of the line that it begins with.
const MAX_GREETING: u64 = 128;
/// Bytes of stack of the thread that compiles, as in this process.
const STACK: usize = 16 * 1024 * 1024;
/// Threads that the compiler uses for one component.
const THREADS: &str = "2";
/// Threads and processes, at most.
const PROCESSES: u64 = 16;
/// Open descriptors.
const OPEN_FILES: u64 = 32;
/// Processor time, in seconds, whatever time there is.
const CPU_SECONDS: u64 = 120;
/// What follows: machine code, or why there is none.
const COMPILED: u8 = b'+';
const REFUSED: u8 = b'-';
/// What is said of code of which nothing else is known, as where it is compiled in this process.
const NOT_COMPILED: &str = "the code cannot be compiled";

/// What is compiled, and so by which settings and within which memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A component that is a tool.
    Tool,
    /// The component of a bundle.
    Bundle,
    /// The core module of a bundle.
    CoreModule,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Tool, Self::Bundle, Self::CoreModule];

    fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Bundle => "bundle",
            Self::CoreModule => "core-module",
        }
    }

    /// Above what anything takes that vetting lets through and that is not made to take it.
    fn memory_bytes(self) -> u64 {
        match self {
            Self::Tool => 512 * 1024 * 1024,
            Self::Bundle | Self::CoreModule => 768 * 1024 * 1024,
        }
    }

    fn compile(self, engine: &wasmtime::Engine, code: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Tool | Self::Bundle => engine
                .precompile_component(code)
                .map_err(|error| format!("{error:#}")),
            Self::CoreModule => engine
                .precompile_module(code)
                .map_err(|error| error.root_cause().to_string()),
        }
    }

    fn engine(self) -> Result<wasmtime::Engine, super::EngineError> {
        match self {
            Self::Tool | Self::CoreModule => Ok(setup::tool_engine()?.0),
            Self::Bundle => setup::compiling_engine(),
        }
    }
}

/// Why nothing was compiled.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotCompiled {
    /// No such process can be had; nobody has looked at the code.
    #[error("no process compiles it: {0}")]
    Unavailable(String),
    /// The time was up.
    #[error("compiling takes longer than there is time for")]
    Timeout,
    /// The compiler says so, or did not survive it.
    #[error("{0}")]
    Failed(String),
}

/// Compiles `code`, which was vetted, for `engine`, within `time`.
pub(super) fn compile(
    launcher: &Launcher,
    kind: Kind,
    engine: &wasmtime::Engine,
    code: &[u8],
    time: Duration,
) -> Result<Vec<u8>, NotCompiled> {
    let unavailable = |error: &dyn std::fmt::Display| NotCompiled::Unavailable(error.to_string());
    let (stdin, feed) = io::pipe().map_err(|error| unavailable(&error))?;
    let (output, stdout) = io::pipe().map_err(|error| unavailable(&error))?;
    let streams = Streams {
        stdin: Some(stdin.into()),
        stdout: Some(stdout.into()),
        ..Streams::default()
    };
    let plan = plan(launcher, kind, time).map_err(|error| unavailable(&error))?;
    let jailed = launcher
        .start(plan, streams)
        .map_err(|error| unavailable(&error))?;
    let expected = greeting(engine);
    let (answer, ended) = thread::scope(|scope| {
        // It ends with the jail, which holds the other ends.
        let talk = scope.spawn(|| talk(&expected, code, feed, output));
        let ended = jailed.wait();
        (talk.join(), ended)
    });
    let answer = answer.unwrap_or_else(|_| Err(NotCompiled::Failed(NOT_COMPILED.into())));
    match ended.map(|ended| ended.how) {
        Ok(How::Exited(0)) => answer,
        Ok(How::TimedOut | How::Cancelled) => Err(NotCompiled::Timeout),
        // It may have ended because we did not like how it began.
        Ok(how) => match answer {
            Err(NotCompiled::Unavailable(reason)) => Err(NotCompiled::Unavailable(reason)),
            _ => {
                tracing::debug!(?how, "compiling in the jail ended early");
                Err(NotCompiled::Failed(match how {
                    How::Memory => "compiling it takes too much memory".into(),
                    _ => NOT_COMPILED.into(),
                }))
            }
        },
        Err(error) => {
            tracing::debug!(%error, "the jail that compiles was lost");
            Err(NotCompiled::Failed(NOT_COMPILED.into()))
        }
    }
}

/// Says, once, that code is compiled in this process although it was to be compiled in the jail.
pub(super) fn warn_of_missing_jail(reason: &str) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!(
            reason,
            "there is no jail to compile in: code that nobody vouches for is compiled in this process; \
             `hydrant doctor` says what is missing"
        );
    });
}

fn plan(launcher: &Launcher, kind: Kind, time: Duration) -> io::Result<Plan> {
    let program = Program::Descriptor {
        file: binary(launcher)?,
        at: InsidePath::new(BINARY)?,
    };
    // The system has the libraries that it is linked to.
    Ok(Plan {
        environment: vec![("RAYON_NUM_THREADS".into(), THREADS.into())],
        limits: Limits {
            wall: Some(time),
            grace: None,
            cpu_seconds: Some(CPU_SECONDS),
            memory_bytes: Some(kind.memory_bytes()),
            processes: Some(PROCESSES),
            file_bytes: Some(0),
            open_files: Some(OPEN_FILES),
        },
        ..Plan::new(program, vec![NAME.into(), kind.name().into()])
    })
}

/// A reference to the program that compiles, which is this one.
#[cfg(target_os = "linux")]
fn binary(launcher: &Launcher) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(launcher.binary(), flags, Mode::empty())?)
}

/// Elsewhere nothing is jailed.
#[cfg(not(target_os = "linux"))]
fn binary(launcher: &Launcher) -> io::Result<OwnedFd> {
    Err(io::Error::other(launcher.refusal()))
}

/// Hears who it is, says what to compile, and hears what came of it.
fn talk(
    expected: &str,
    code: &[u8],
    mut feed: impl Write,
    output: impl Read,
) -> Result<Vec<u8>, NotCompiled> {
    let unavailable = |_: io::Error| NotCompiled::Unavailable("it does not answer".into());
    let failed = |_: io::Error| NotCompiled::Failed(NOT_COMPILED.into());
    let mut output = BufReader::new(output);
    let mut greeting = Vec::new();
    output
        .by_ref()
        .take(MAX_GREETING)
        .read_until(b'\n', &mut greeting)
        .map_err(unavailable)?;
    if greeting != expected.as_bytes() {
        return Err(NotCompiled::Unavailable(
            "it is another version of hydrant".into(),
        ));
    }
    feed.write_all(code).map_err(failed)?;
    drop(feed);
    let mut verdict = [0];
    output.read_exact(&mut verdict).map_err(failed)?;
    let mut answer = Vec::new();
    match verdict {
        [COMPILED] => {
            let most = MAX_COMPILED.saturating_add(1);
            output.take(most).read_to_end(&mut answer).map_err(failed)?;
            if u64::try_from(answer.len()).unwrap_or(u64::MAX) > MAX_COMPILED {
                return Err(NotCompiled::Failed("there is too much of it".into()));
            }
            Ok(answer)
        }
        _ => {
            let reason = output.take(MAX_REASON).read_to_end(&mut answer);
            reason.map_err(failed)?;
            let reason = String::from_utf8_lossy(&answer).into_owned();
            Err(NotCompiled::Failed(reason))
        }
    }
}

/// What both sides have to agree on: version and settings of the compiler.
fn greeting(engine: &wasmtime::Engine) -> String {
    format!("{NAME} {}\n", cache::compatibility(engine))
}

/// To be called as one of the first statements of `main`: where this process was started in a jail to compile, it does
/// that, and the call does not return.
pub fn compile_if_asked() {
    let mut arguments = std::env::args_os();
    if arguments.next().as_deref() != Some(OsStr::new(NAME)) {
        return;
    }
    let kind = arguments.next().unwrap_or_default();
    let kind = Kind::ALL.into_iter().find(|known| kind == known.name());
    let served = kind.is_some_and(|kind| serve(kind).is_ok());
    std::process::exit(i32::from(!served));
}

/// The other side of [`talk`].
fn serve(kind: Kind) -> io::Result<()> {
    let engine = kind.engine().map_err(io::Error::other)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(greeting(&engine).as_bytes())?;
    stdout.flush()?;
    let mut code = Vec::new();
    io::stdin().lock().read_to_end(&mut code)?;
    let compile = move || {
        // The validator has assertions that hostile code can fail: an answer like any other.
        catch_unwind(AssertUnwindSafe(|| kind.compile(&engine, &code)))
            .unwrap_or_else(|_| Err(NOT_COMPILED.into()))
    };
    let compiler = thread::Builder::new().stack_size(STACK).spawn(compile)?;
    let compiled = compiler
        .join()
        .map_err(|_| io::Error::other(NOT_COMPILED))?;
    let (verdict, answer) = match compiled {
        Ok(code) => (COMPILED, code),
        Err(reason) => (REFUSED, reason.into_bytes()),
    };
    stdout.write_all(&[verdict])?;
    stdout.write_all(&answer)?;
    stdout.flush()
}
