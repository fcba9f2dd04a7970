//! The plan of a child's jail: what is executed, and the limits.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::super::child::{NotStarted, Start};
use super::{Confined, Jails, Shown};
use hydrant_jail::{
    Access, EGRESS_PORT, InsidePath, Limits, Mount, Network, Pin, Plan, Program, Scratch, Turn,
};

/// Where a program that is no part of the system is mounted.
const PROGRAMS: &str = "/run/program";

/// Directories of the system, which every child sees.
const SYSTEM: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix",
];

/// Bytes and files in the directory in memory.
const SCRATCH_BYTES: u64 = 256 * 1024 * 1024;
const SCRATCH_FILES: u64 = 16_384;

/// Bytes of each file that a child writes.
const FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// Open descriptors of a process.
const OPEN_FILES: u64 = 256;

/// The Landlock ABI that a jail needs at least; the namespaces carry what older ones lack.
const LANDLOCK_MIN_ABI: u8 = 1;

/// Where programs look for a proxy.
const PROXY_VARIABLES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// What is executed.
#[derive(Debug)]
pub(super) enum Executable {
    /// A file at the same path inside.
    There(PathBuf),
    /// This very file, mounted there.
    File { file: OwnedFd, at: PathBuf },
}

impl Executable {
    /// The program `name`, which lies at this real path.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn program(name: &str, real: &Path) -> io::Result<Self> {
        if is_of_the_system(real) {
            return Ok(Self::There(real.to_owned()));
        }
        Ok(Self::File {
            file: reference(real)?,
            at: Path::new(PROGRAMS).join(name),
        })
    }

    /// Where it lies inside.
    fn place(&self) -> &Path {
        match self {
            Self::There(at) | Self::File { at, .. } => at,
        }
    }

    /// The same once more.
    fn to_program(&self) -> io::Result<Program> {
        Ok(match self {
            Self::There(path) => Program::Path(inside(path)?),
            Self::File { file, at } => Program::Descriptor {
                file: file.try_clone()?,
                at: inside(at)?,
            },
        })
    }
}

impl Confined<'_> {
    pub(super) fn plan(
        &self,
        start: &Start<'_>,
        network: Network,
        time: Duration,
    ) -> Result<Plan, NotStarted> {
        let mount = |shown: &Shown| -> io::Result<Mount> {
            Ok(Mount {
                source: shown.source.try_clone()?,
                at: inside(&shown.at)?,
                access: shown.access,
                executable: shown.executable,
            })
        };
        let mut turn = self.turn(start, time)?;
        if let Network::Relay { .. } = network {
            let proxy = format!("http://127.0.0.1:{EGRESS_PORT}");
            for name in PROXY_VARIABLES {
                turn.environment.retain(|(other, _)| other != name);
                turn.environment.push((name.into(), proxy.clone().into()));
            }
        }
        let scratch = Scratch {
            at: inside(Path::new(self.scratch))?,
            bytes: SCRATCH_BYTES.min(self.memory_bytes),
            inodes: SCRATCH_FILES,
            executable: false,
        };
        let mut mounts = Vec::new();
        let mut scratch = match self.jails {
            Jails::Own | Jails::Shared(_) => vec![scratch],
            Jails::First(_) => Vec::new(),
        };
        let pins = match self.jails {
            Jails::Shared(_) => [].iter(),
            Jails::Own | Jails::First(_) => self.pins.iter(),
        };
        for shown in self.mounts.iter().chain(pins) {
            mounts.push(mount(shown)?);
        }
        for hidden in &self.hidden {
            let at = inside(&hidden.at)?;
            if hidden.directory {
                // With room for the directory itself alone: nothing can be made in it.
                let (bytes, inodes, executable) = (1, 1, false);
                scratch.push(Scratch {
                    at,
                    bytes,
                    inodes,
                    executable,
                });
            } else {
                // No device can be opened in a mount.
                let source = reference(Path::new("/dev/null"))?;
                let (access, executable) = (Access::ReadOnly, false);
                mounts.push(Mount {
                    source,
                    at,
                    access,
                    executable,
                });
            }
        }
        Ok(Plan {
            program: match (&self.jails, turn.program) {
                (Jails::Shared(_), Some(program)) => Program::Path(program),
                _ => self.program.to_program()?,
            },
            arguments: turn.arguments,
            environment: turn.environment,
            directory: inside(&start.directory)?,
            mounts,
            system: true,
            scratch,
            files: Vec::new(),
            links: Vec::new(),
            execute: self
                .execute
                .iter()
                .map(|path| inside(path))
                .collect::<io::Result<_>>()?,
            network,
            sockets: Vec::new(),
            limits: Limits {
                wall: turn.wall,
                grace: start.grace,
                cpu_seconds: None,
                memory_bytes: Some(self.memory_bytes),
                processes: Some(self.processes),
                file_bytes: Some(FILE_BYTES),
                open_files: Some(OPEN_FILES),
            },
            landlock_min_abi: LANDLOCK_MIN_ABI,
        })
    }

    /// What one command of a jail is told.
    pub(super) fn turn(&self, start: &Start<'_>, time: Duration) -> io::Result<Turn> {
        let arguments = std::iter::once(&start.name).chain(&start.arguments);
        let environment = start.environment.iter();
        let (program, pins) = match self.jails {
            Jails::Shared(_) => (Some(inside(self.program.place())?), self.pins()?),
            Jails::Own | Jails::First(_) => (None, Vec::new()),
        };
        Ok(Turn {
            program,
            pins,
            arguments: arguments.cloned().collect(),
            environment: environment
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            wall: Some(time),
        })
    }

    /// What is pinned for one command of a jail.
    pub(super) fn pins(&self) -> io::Result<Vec<Pin>> {
        let pin = |file: &OwnedFd, at: &Path, executable| {
            Ok(Pin {
                file: file.try_clone()?,
                at: inside(at)?,
                executable,
            })
        };
        let program = match &self.program {
            Executable::There(_) => None,
            Executable::File { file, at } => Some(pin(file, at, true)),
        };
        let pins = self.pins.iter();
        let pins = pins.map(|shown| pin(&shown.source, &shown.at, shown.executable));
        program.into_iter().chain(pins).collect()
    }
}

fn is_of_the_system(real: &Path) -> bool {
    SYSTEM.iter().any(|directory| real.starts_with(directory))
}

pub(super) fn reference(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn inside(path: &Path) -> io::Result<InsidePath> {
    InsidePath::new(path).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
