//! Runs an attempt in a jail, or outside of one.

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hydrant_jail::{
    Access, How, InsidePath, Launcher, Limits, Mount, Network, Plan, Program, Removed, Scratch,
    Socket, StartError, Streams,
};
use rustix::fs::{Mode, OFlags};

use crate::host::{Host, Side, loader};

/// What a jail is made of beyond `/input` (read-only), `/output` (read-write) and `/tmp` (16 MiB, 1000 files) and
/// these limits: 64 MiB of memory, 32 processes, files of 8 MiB, 64 descriptors, 1 s of processor, 5 s of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    /// With more time than any other limit, however busy the machine is.
    Patient,
    /// Half a second of time.
    Hurried,
    /// `/input` and `/output` may hold programs, and everything of the system may be executed.
    Executable,
    /// Only the attempt itself and what it is linked with may be executed.
    Alone,
    /// With the relay to a proxy of the host.
    Relay,
    /// With one Unix socket of the host.
    Socket,
    /// Its stdin is a terminal of the host.
    Terminal,
    /// Its stdout is a file of the host.
    File,
    /// Without limits.
    Boundless,
    /// With a large scratch directory.
    Roomy,
}

/// How an attempt ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Escaped(String),
    /// The name of an error, or how the jail ended it.
    Stopped(String),
    Untried(String),
}

pub(crate) fn in_jail(host: &Host, attempt: &str, shape: Shape, without: &[Removed]) -> Ended {
    let side = if without.contains(&Removed::Mount) {
        Side::Outside
    } else {
        Side::Inside
    };
    let plan = plan(host, host.words(attempt, side), shape, without);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let terminal = (shape == Shape::Terminal).then(Terminal::new);
    let stdout = if shape == Shape::File {
        drop(writer);
        fs::File::create(host.path("output")).unwrap().into()
    } else {
        OwnedFd::from(writer)
    };
    let stdin = terminal
        .as_ref()
        .map(|terminal| terminal.slave.try_clone().unwrap());
    let streams = Streams {
        stdin,
        stdout: Some(stdout),
        ..Streams::default()
    };
    let jailed = match Launcher::at(env!("CARGO_BIN_EXE_launcher")).start(plan, streams) {
        Ok(jailed) => jailed,
        Err(StartError::NotExecutable { errno }) => {
            return Ended::Untried(format!("not executable: {errno}"));
        }
        Err(StartError::Refused(refused)) => return Ended::Untried(refused.to_string()),
    };
    let how = match jailed.wait() {
        Ok(ended) => ended.how,
        Err(error) => return Ended::Untried(format!("{error:?}")),
    };
    let mut output = Vec::new();
    reader.read_to_end(&mut output).unwrap();
    if shape == Shape::File {
        output = format!("{} bytes", fs::metadata(host.path("output")).unwrap().len()).into_bytes();
    }
    match how {
        How::Exited(status) => exited(i32::from(status), &output),
        other => Ended::Stopped(format!("{other:?}")),
    }
}

/// What stdin is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdin {
    Nothing,
    Socket,
    Terminal,
}

pub(crate) fn outside(host: &Host, attempt: &str, user: Option<u32>, stdin: Stdin) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attempt"));
    command
        .args(host.words(attempt, Side::Outside))
        .current_dir(host.path("tmp"))
        .stderr(Stdio::null());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let terminal = (stdin == Stdin::Terminal).then(Terminal::new);
    let _pair = match stdin {
        Stdin::Nothing => {
            command.stdin(Stdio::null());
            None
        }
        Stdin::Socket => {
            let (near, far) = UnixStream::pair().unwrap();
            command.stdin(OwnedFd::from(far));
            Some(near)
        }
        Stdin::Terminal => {
            command.stdin(terminal.as_ref().unwrap().slave.try_clone().unwrap());
            None
        }
    };
    // A file: what lives on after the attempt keeps a pipe open.
    let path = host.path("output");
    command.stdout(fs::File::create(&path).unwrap());
    let status = command.status().unwrap();
    let mut output = vec![0; 4096];
    let length = fs::File::open(path).unwrap().read(&mut output).unwrap();
    match status.code() {
        Some(status) => exited(status, &output[..length]),
        None => Ended::Stopped(status.to_string()),
    }
}

pub(crate) fn exited(status: i32, output: &[u8]) -> Ended {
    let said = String::from_utf8_lossy(output).trim().to_owned();
    match status {
        0 => Ended::Escaped(said),
        1 => Ended::Stopped(said),
        _ => Ended::Untried(format!("status {status}: {said}")),
    }
}

pub(crate) fn plan(host: &Host, words: Vec<String>, shape: Shape, without: &[Removed]) -> Plan {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_attempt"));
    let executable = shape == Shape::Executable;
    let mount = |name: &str, at: &str, access| Mount {
        source: open(&host.path(name)),
        at: inside(at),
        access,
        executable,
    };
    let on_host = without.contains(&Removed::Mount);
    let at = if on_host {
        program.clone()
    } else {
        PathBuf::from("/run/attempt")
    };
    let mut limits = Limits {
        wall: Some(Duration::from_secs(5)),
        grace: None,
        cpu_seconds: Some(1),
        memory_bytes: Some(64 << 20),
        processes: Some(32),
        file_bytes: Some(8 << 20),
        open_files: Some(64),
    };
    match shape {
        Shape::Hurried => limits.wall = Some(Duration::from_millis(500)),
        Shape::Patient => limits.wall = Some(Duration::from_secs(60)),
        Shape::Boundless => {
            limits = Limits {
                wall: Some(Duration::from_secs(20)),
                ..Limits::default()
            }
        }
        _ => {}
    }
    let room = if shape == Shape::Roomy { 256 } else { 16 };
    let libraries = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", loader()];
    Plan {
        program: Program::Descriptor {
            file: open(&program),
            at: inside(at.to_str().unwrap()),
        },
        arguments: std::iter::once("attempt".to_owned())
            .chain(words)
            .map(Into::into)
            .collect(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        directory: inside(if on_host { "/" } else { "/output" }),
        mounts: vec![
            mount("ro", "/input", Access::ReadOnly),
            mount("rw", "/output", Access::ReadWrite),
        ],
        system: true,
        scratch: vec![Scratch {
            at: inside("/tmp"),
            bytes: room << 20,
            inodes: 1000 * room / 16,
            executable: false,
        }],
        files: Vec::new(),
        links: Vec::new(),
        execute: match shape {
            Shape::Alone => libraries.map(inside).into(),
            _ => Vec::new(),
        },
        network: match shape {
            Shape::Relay => Network::Relay {
                socket: open(&host.stream("outside/egress")),
            },
            _ => Network::None,
        },
        sockets: match shape {
            Shape::Socket => vec![Socket {
                source: open(&host.stream("outside/given")),
                at: inside("/run/hydrant.sock"),
            }],
            _ => Vec::new(),
        },
        limits,
        landlock_min_abi: 1,
        without: without.to_vec(),
    }
}

fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

fn open(path: &Path) -> OwnedFd {
    let path = path.canonicalize().unwrap();
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// A terminal that nobody reads.
struct Terminal {
    _master: OwnedFd,
    slave: OwnedFd,
}

impl Terminal {
    fn new() -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        Self {
            _master: master,
            slave,
        }
    }
}
