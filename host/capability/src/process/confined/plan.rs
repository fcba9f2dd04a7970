//! The plan of a child's jail: what is executed, and the limits.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::super::child::Start;
use super::{Confined, Jails};
use hydrant_jail::{
    Access, InsidePath, Limits, Mount, Pin, Plan, Program, Scratch, Turn, is_of_the_system,
};

/// Where a program that is no part of the system is mounted.
const PROGRAMS: &str = "/run/program";

/// Bytes and files in the directory in memory.
const SCRATCH_BYTES: u64 = 256 * 1024 * 1024;
const SCRATCH_FILES: u64 = 16_384;

/// Bytes of each file that a child writes.
const FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// Open descriptors of a process.
const OPEN_FILES: u64 = 256;

/// The program `name`, which lies at this real path: at the same path inside, where that is of the system.
///
/// # Errors
/// It cannot be opened.
pub(super) fn program(name: &str, real: &Path) -> io::Result<Program> {
    if is_of_the_system(real) {
        return Ok(Program::Path(InsidePath::new(real)?));
    }
    Ok(Program::Descriptor {
        file: reference(real)?,
        at: InsidePath::new(Path::new(PROGRAMS).join(name))?,
    })
}

impl Confined<'_> {
    /// `socket`: that of the proxy, if the child reaches anything at all.
    pub(super) fn plan(
        &self,
        start: &Start<'_>,
        socket: Option<OwnedFd>,
        time: Duration,
    ) -> io::Result<Plan> {
        let turn = self.turn(start, time)?;
        let mut mounts: Vec<&Mount> = self.mounts.iter().collect();
        let mut scratch = Vec::new();
        let program = match (&self.jails, turn.program) {
            (Jails::Shared(_), Some(program)) => Program::Path(program),
            _ => {
                mounts.extend(&self.pins);
                self.program.try_clone()?
            }
        };
        if !matches!(self.jails, Jails::First(_)) {
            scratch.push(Scratch {
                at: InsidePath::new(self.scratch)?,
                bytes: SCRATCH_BYTES.min(self.memory_bytes),
                inodes: SCRATCH_FILES,
                executable: false,
            });
        }
        let mounts = mounts.into_iter().map(Mount::try_clone);
        let mut mounts: Vec<Mount> = mounts.collect::<io::Result<_>>()?;
        for hidden in &self.hidden {
            let at = InsidePath::new(&hidden.at)?;
            if hidden.directory {
                // With room for the directory itself alone: nothing can be made in it.
                scratch.push(Scratch {
                    at,
                    bytes: 1,
                    inodes: 1,
                    executable: false,
                });
            } else {
                // No device can be opened in a mount.
                mounts.push(Mount {
                    source: reference(Path::new("/dev/null"))?,
                    at,
                    access: Access::ReadOnly,
                    executable: false,
                });
            }
        }
        let execute = self.execute.iter().map(InsidePath::new);
        let mut plan = Plan {
            environment: turn.environment,
            directory: InsidePath::new(&start.directory)?,
            mounts,
            scratch,
            execute: execute.collect::<Result<_, _>>()?,
            limits: Limits {
                wall: turn.wall,
                grace: start.grace,
                cpu_seconds: None,
                memory_bytes: Some(self.memory_bytes),
                processes: Some(self.processes),
                file_bytes: Some(FILE_BYTES),
                open_files: Some(OPEN_FILES),
            },
            ..Plan::new(program, turn.arguments)
        };
        if let Some(socket) = socket {
            plan.connect_to_proxy(socket);
        }
        Ok(plan)
    }

    /// What one command of a jail is told.
    pub(super) fn turn(&self, start: &Start<'_>, time: Duration) -> io::Result<Turn> {
        let arguments = std::iter::once(&start.name).chain(&start.arguments);
        let environment = start.environment.iter();
        let (program, pins) = match self.jails {
            Jails::Shared(_) => (Some(self.program.at().clone()), self.pins()?),
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
        let pin = |file: &OwnedFd, at: &InsidePath, executable| {
            Ok(Pin {
                file: file.try_clone()?,
                at: at.clone(),
                executable,
            })
        };
        let program = match &self.program {
            Program::Path(_) => None,
            Program::Descriptor { file, at } => Some(pin(file, at, true)),
        };
        let pins = self.pins.iter();
        let pins = pins.map(|shown| pin(&shown.source, &shown.at, shown.executable));
        program.into_iter().chain(pins).collect()
    }
}

pub(super) fn reference(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
