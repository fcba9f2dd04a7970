//! The self-test of `hydrant doctor`: which layers hold here, by probes that run inside real jails.
//!
//! Three jails: a usual one, one with egress, and one that uses too much memory. The probes are this same binary
//! (`inside::probe`), so that nothing of the system is relied on but the loader and libraries it was started with.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::launcher::Launcher;
use super::outcome::{How, InStep, Layer, LayerState, Refused, StartError, Step};
use super::path::{InsidePath, NotInside};
use super::pipes::Pipes;
use super::plan::{Limits, Network, Plan, Program, Scratch};

/// `argv[0]` of a probe.
pub(super) const NAME: &str = "hydrant-jail-probe";
/// Where the probe finds itself.
pub(super) const PROGRAM: &str = "/run/probe";
/// Memory that is executable as far as mounts go, but not for Landlock.
pub(super) const EXECUTABLE: &str = "/probe";
/// Limits that the probes find.
pub(super) const OPEN_FILES: u64 = 32;
pub(super) const MEMORY_BYTES: u64 = 64 << 20;
/// Bytes that are kept of what a probe writes: a few lines.
const OUTPUT_BYTES: usize = 64 << 10;

/// What a probe is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Probe {
    /// Everything that a jail without network must hold.
    Usual {
        hidden: Vec<PathBuf>,
        host_process: u32,
        host_port: u16,
    },
    /// The way out, and nothing besides it.
    Egress { host_port: u16 },
    /// Using more memory than allowed, in several processes.
    Memory,
    /// One of these.
    MemoryPart,
}

/// Tests the layers that every jail needs, by one jail, before the first call.
pub(super) fn required(launcher: &Launcher) -> Result<(), Refused> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let bound = listener.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
    let (host_port, _listener) = bound.step(Step::Net, "no listener for the test")?;
    for layer in usual(launcher, &[], host_port) {
        if layer.state != LayerState::Ok {
            return Err(Refused::new(
                Step::SelfTest,
                format_args!("the layer {} does not hold: {}", layer.name, layer.detail),
            ));
        }
    }
    Ok(())
}

/// Tests all layers. `hidden` are directories of the host that no jail may show, as the home and the state directory.
/// All required layers hold if every state is [`LayerState::Ok`].
pub fn layers(launcher: &Launcher, hidden: &[PathBuf]) -> Vec<Layer> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let host_port = listener.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
    let (host_port, _listener) = match host_port {
        Ok(listening) => listening,
        Err(error) => {
            return vec![layer(
                "net",
                LayerState::Missing,
                format_args!("no listener for the test: {error}"),
            )];
        }
    };
    let mut layers = usual(launcher, hidden, host_port);
    layers.push(match run(launcher, &Probe::Memory, Network::None) {
        Ok((How::Memory, _)) => layer("memory", LayerState::Ok, "sampled"),
        Ok((how, _)) => layer(
            "memory",
            LayerState::Failed,
            format_args!("more than allowed ended as {how:?}"),
        ),
        Err(error) => failure("memory", &error),
    });
    layers.push(egress(launcher, host_port).unwrap_or_else(|error| failure("egress", &error)));
    layers
}

/// What every jail must hold, by one jail.
fn usual(launcher: &Launcher, hidden: &[PathBuf], host_port: u16) -> Vec<Layer> {
    let usual = Probe::Usual {
        hidden: hidden.to_vec(),
        host_process: std::process::id(),
        host_port,
    };
    let layers: Vec<Layer> = match run(launcher, &usual, Network::None) {
        Ok((_, output)) => output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        Err(error) => vec![failure("jail", &error)],
    };
    if layers.is_empty() {
        let silence = "the probes did not answer";
        return vec![layer("jail", LayerState::Failed, silence)];
    }
    layers
}

fn egress(launcher: &Launcher, host_port: u16) -> Result<Layer, ProbeError> {
    let directory = PathBuf::from(format!(
        "/tmp/hydrant-probe-{}-{}",
        std::process::id(),
        host_port
    ));
    rustix::fs::mkdir(&directory, Mode::RWXU).map_err(io::Error::from)?;
    let result = egress_in(launcher, host_port, &directory);
    // Nobody else can have put anything in there.
    let _ = fs::remove_dir_all(&directory);
    result
}

fn egress_in(launcher: &Launcher, host_port: u16, directory: &Path) -> Result<Layer, ProbeError> {
    let path = directory.join("proxy");
    let listener = UnixListener::bind(&path)?;
    listener.set_nonblocking(true)?;
    let socket = open(&path)?;
    // The program gets its connection through the relay, and says what it has read.
    let greeting = std::thread::spawn(move || {
        if super::wire::readable(
            &listener,
            std::time::Instant::now().checked_add(Duration::from_secs(5)),
        )? {
            listener.accept()?.0.write_all(b"hello")?;
        }
        io::Result::Ok(())
    });
    let ran = run(
        launcher,
        &Probe::Egress { host_port },
        Network::Relay { socket },
    );
    let greeted = greeting
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the proxy of the test failed")));
    let (_, output) = ran?;
    greeted?;
    Ok(output
        .lines()
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| layer("egress", LayerState::Failed, "the probe did not answer")))
}

#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Lost(#[from] super::outcome::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Path(#[from] NotInside),
}

pub(super) fn layer(name: &str, state: LayerState, detail: impl std::fmt::Display) -> Layer {
    Layer {
        name: name.to_owned(),
        state,
        detail: detail.to_string(),
    }
}

/// What is refused is the layer of that step; what else goes wrong is the fault of the layer that was to be tested.
fn failure(tested: &str, error: &ProbeError) -> Layer {
    match error {
        ProbeError::Start(StartError::Refused(refused)) if refused.is_of_a_layer() => {
            layer(refused.step.name(), LayerState::Missing, &refused.reason)
        }
        error => layer(tested, LayerState::Missing, error),
    }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Runs a probe, with what it has written.
fn run(launcher: &Launcher, probe: &Probe, network: Network) -> Result<(How, String), ProbeError> {
    let inside = |path: &str| InsidePath::new(path);
    let scratch = |at, executable| -> Result<Scratch, ProbeError> {
        Ok(Scratch {
            at: inside(at)?,
            bytes: 1 << 20,
            inodes: 64,
            executable,
        })
    };
    let program = Program::Descriptor {
        file: open(&fs::canonicalize(launcher.binary())?)?,
        at: inside(PROGRAM)?,
    };
    let arguments = vec![NAME.into(), serde_json::to_string(probe)?.into()];
    let plan = Plan {
        directory: inside("/tmp")?,
        scratch: vec![scratch("/tmp", false)?, scratch(EXECUTABLE, true)?],
        // All of the system, for the loader, wherever it is; and so not what the probe makes in `EXECUTABLE`.
        execute: ["/usr", "/bin", "/lib", "/lib64", "/nix"]
            .into_iter()
            .map(inside)
            .collect::<Result<_, _>>()?,
        network,
        limits: Limits {
            wall: Some(Duration::from_secs(10)),
            grace: None,
            cpu_seconds: Some(10),
            memory_bytes: Some(MEMORY_BYTES),
            processes: Some(16),
            file_bytes: Some(1 << 20),
            open_files: Some(OPEN_FILES),
        },
        ..Plan::new(program, arguments)
    };
    let (streams, mut pipes) = Pipes::new(&[], OUTPUT_BYTES, None)?;
    let finished = launcher.start(plan, streams)?.serve(&mut pipes, |_| true)?;
    let [stdout, _] = pipes.into_captured();
    let output = String::from_utf8(stdout.bytes).map_err(io::Error::other)?;
    Ok((finished.ended.how, output))
}
