//! `jail-try PLAN.json`: a plan with host paths, for tests and for trying by hand; not part of the product.
#![allow(clippy::print_stderr)]

use std::error::Error;
use std::fs::File as HostFile;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use hydrant_jail::{
    Access, File, How, InsidePath, Launcher, Limits, Link, Mount, Network, Plan, Program, Scratch,
    Socket, StartError, Streams,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Try {
    program: TryProgram,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    environment: Vec<(String, String)>,
    #[serde(default = "slash")]
    directory: String,
    #[serde(default)]
    mounts: Vec<TryMount>,
    #[serde(default = "yes")]
    system: bool,
    #[serde(default = "tmp")]
    scratch: Vec<TryScratch>,
    #[serde(default)]
    files: Vec<TryFile>,
    #[serde(default)]
    links: Vec<TryLink>,
    #[serde(default)]
    execute: Vec<String>,
    #[serde(default)]
    network: TryNetwork,
    #[serde(default)]
    sockets: Vec<TrySocket>,
    #[serde(default)]
    limits: TryLimits,
    #[serde(default = "one")]
    landlock_min_abi: u8,
    #[cfg(feature = "jail-weakening")]
    #[serde(default)]
    without: Vec<hydrant_jail::Removed>,
    #[cfg(not(feature = "jail-weakening"))]
    #[serde(default)]
    without: [(); 0],
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TryProgram {
    Path(String),
    Descriptor { file: PathBuf, at: String },
}

#[derive(Deserialize)]
struct TryMount {
    source: PathBuf,
    at: String,
    #[serde(default = "read_only")]
    access: Access,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
struct TryScratch {
    at: String,
    bytes: u64,
    #[serde(default = "inodes")]
    inodes: u64,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
struct TryFile {
    at: String,
    text: String,
    #[serde(default = "mode")]
    mode: u32,
}

#[derive(Deserialize)]
struct TryLink {
    at: String,
    to: PathBuf,
}

#[derive(Deserialize)]
struct TrySocket {
    source: PathBuf,
    at: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TryNetwork {
    #[default]
    None,
    Relay {
        socket: PathBuf,
    },
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TryLimits {
    wall_ms: Option<u64>,
    cpu_seconds: Option<u64>,
    memory_bytes: Option<u64>,
    processes: Option<u64>,
    file_bytes: Option<u64>,
    open_files: Option<u64>,
}

impl Default for TryLimits {
    fn default() -> Self {
        Self {
            wall_ms: Some(10_000),
            cpu_seconds: Some(10),
            memory_bytes: Some(512 << 20),
            processes: Some(64),
            file_bytes: Some(64 << 20),
            open_files: Some(256),
        }
    }
}

fn slash() -> String {
    "/".into()
}
fn yes() -> bool {
    true
}
fn one() -> u8 {
    1
}
fn inodes() -> u64 {
    4096
}
fn mode() -> u32 {
    0o444
}
fn read_only() -> Access {
    Access::ReadOnly
}
fn tmp() -> Vec<TryScratch> {
    vec![TryScratch {
        at: "/tmp".into(),
        bytes: 64 << 20,
        inodes: 4096,
        executable: false,
    }]
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn path(path: String) -> Result<InsidePath> {
    Ok(InsidePath::new(path)?)
}

#[cfg(target_os = "linux")]
fn open(path: &PathBuf) -> Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};

    let opened = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    opened.map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Elsewhere nothing is jailed.
#[cfg(not(target_os = "linux"))]
fn open(_: &PathBuf) -> Result<OwnedFd> {
    Err(Launcher::this_binary().refusal().into())
}

fn plan(from: Try) -> Result<Plan> {
    let program = match from.program {
        TryProgram::Path(inside) => Program::Path(path(inside)?),
        TryProgram::Descriptor { file, at } => Program::Descriptor {
            file: open(&file)?,
            at: path(at)?,
        },
    };
    let mut arguments: Vec<_> = from.arguments.into_iter().map(Into::into).collect();
    if arguments.is_empty() {
        let (Program::Path(inside) | Program::Descriptor { at: inside, .. }) = &program;
        arguments.push(inside.as_path().into());
    }
    #[cfg(not(feature = "jail-weakening"))]
    let [] = from.without;
    Ok(Plan {
        program,
        arguments,
        environment: from
            .environment
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        directory: path(from.directory)?,
        mounts: from
            .mounts
            .into_iter()
            .map(|mount| {
                let (source, at) = (open(&mount.source)?, path(mount.at)?);
                Ok(Mount {
                    source,
                    at,
                    access: mount.access,
                    executable: mount.executable,
                })
            })
            .collect::<Result<_>>()?,
        system: from.system,
        scratch: from
            .scratch
            .into_iter()
            .map(|one| {
                Ok(Scratch {
                    at: path(one.at)?,
                    bytes: one.bytes,
                    inodes: one.inodes,
                    executable: one.executable,
                })
            })
            .collect::<Result<_>>()?,
        files: from
            .files
            .into_iter()
            .map(|file| {
                Ok(File {
                    at: path(file.at)?,
                    bytes: file.text.into(),
                    mode: file.mode,
                })
            })
            .collect::<Result<_>>()?,
        links: from
            .links
            .into_iter()
            .map(|link| {
                Ok(Link {
                    at: path(link.at)?,
                    to: link.to,
                })
            })
            .collect::<Result<_>>()?,
        execute: from.execute.into_iter().map(path).collect::<Result<_>>()?,
        network: match from.network {
            TryNetwork::None => Network::None,
            TryNetwork::Relay { socket } => Network::Relay {
                socket: open(&socket)?,
            },
        },
        sockets: from
            .sockets
            .into_iter()
            .map(|socket| {
                Ok(Socket {
                    source: open(&socket.source)?,
                    at: path(socket.at)?,
                })
            })
            .collect::<Result<_>>()?,
        limits: Limits {
            wall: from.limits.wall_ms.map(Duration::from_millis),
            grace: None,
            cpu_seconds: from.limits.cpu_seconds,
            memory_bytes: from.limits.memory_bytes,
            processes: from.limits.processes,
            file_bytes: from.limits.file_bytes,
            open_files: from.limits.open_files,
        },
        landlock_min_abi: from.landlock_min_abi,
        #[cfg(feature = "jail-weakening")]
        without: from.without,
    })
}

fn run() -> Result<(Value, u8)> {
    let Some(file) = std::env::args_os().nth(1) else {
        return Err("usage: jail-try PLAN.json | jail-try --layers".into());
    };
    if file == "--layers" {
        let layers = hydrant_jail::layers(&Launcher::this_binary(), &[]);
        return Ok((serde_json::to_value(layers)?, 0));
    }
    let plan = plan(serde_json::from_reader(HostFile::open(file)?)?)?;
    let own = |descriptor: std::os::fd::BorrowedFd<'_>| descriptor.try_clone_to_owned();
    let streams = Streams {
        stdin: Some(own(std::io::stdin().as_fd())?),
        stdout: Some(own(std::io::stdout().as_fd())?),
        stderr: Some(own(std::io::stderr().as_fd())?),
        ..Streams::default()
    };
    let jailed = match Launcher::this_binary().start(plan, streams) {
        Ok(jailed) => jailed,
        Err(StartError::Refused(refused)) => return Ok((json!({ "refused": refused }), 125)),
        Err(StartError::NotExecutable { errno }) => {
            return Ok((json!({ "not-executable": { "errno": errno } }), 126));
        }
    };
    let ended = jailed.wait()?;
    let status = match ended.how {
        How::Exited(status) => status,
        How::Signaled(signal) => signal.saturating_add(128),
        How::TimedOut => 124,
        How::Memory | How::Processes | How::Cancelled => 137,
    };
    let usage = json!({
        "cpu_us": u64::try_from(ended.usage.cpu.as_micros())?,
        "peak_memory_bytes": ended.usage.peak_memory_bytes,
    });
    Ok((json!({ "how": ended.how, "usage": usage }), status))
}

fn main() -> ExitCode {
    hydrant_jail::enter_if_asked();
    // Before anything of this process has the number.
    let report = HostFile::options().append(true).open("/proc/self/fd/3");
    match run() {
        Ok((result, status)) => {
            if report
                .and_then(|mut report| writeln!(report, "{result}"))
                .is_err()
            {
                eprintln!("{result}");
            }
            ExitCode::from(status)
        }
        Err(error) => {
            eprintln!("jail-try: {error}");
            ExitCode::from(2)
        }
    }
}
