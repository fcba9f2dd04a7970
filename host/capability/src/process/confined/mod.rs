//! A child in the jail: what it sees, what it may write and what it may start.
//!
//! Inside, a mount lies at its virtual path, so that no child ever sees a real one. What may be written is mounted once
//! more over what may only be read. In the place of hydrant's own files something empty is mounted. Nothing of a mount or of
//! the directory in memory can be executed, but for tools of `/os`.

mod circumstances;
mod mounts;
mod own;
mod plan;
mod repositories;
mod run;
mod shared;

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub(super) use self::mounts::below;
use self::mounts::shown_together;
use self::plan::reference;
pub(super) use self::shared::Shared;
use super::child::NotStarted;
use super::{SCRATCH, TEMPORARY, executable};
use crate::Call;
use crate::egress::{Pair, PlainHttp};
use crate::fs::Found;
use hydrant_jail::{Access, Idle, InsidePath, Launcher, Mount, Program};
use hydrant_policy::{MountHandle, VirtualPath};

/// Memory, processes and threads of a tool that is asked for its description, at most.
const TOOL_MEMORY: u64 = 536_870_912;
const TOOL_PROCESSES: u64 = 64;

/// The jail of a child, but for its words, its environment and its time.
pub(super) struct Confined<'call> {
    call: &'call Call,
    launcher: Launcher,
    program: Program,
    /// What may be executed besides the program; where there is nothing, all of the system and of `executable` mounts.
    execute: Vec<PathBuf>,
    mounts: Vec<Mount>,
    /// hydrant's own files in `mounts`.
    hidden: Vec<Hidden>,
    /// Files that are in `mounts`, and must be these very ones.
    pins: Vec<Mount>,
    scratch: &'static str,
    /// What it reaches through the host's proxy; without any it has no network at all.
    egress: Vec<Pair>,
    memory_bytes: u64,
    processes: u64,
    jails: Jails<'call>,
}

/// Where a command runs that follows another one.
#[derive(Debug)]
enum Jails<'call> {
    /// In a jail of its own.
    Own,
    /// In that of the first one, while nothing runs in it.
    First(Mutex<Option<Box<Idle>>>),
    /// In one of those of its list.
    Shared(&'call Shared),
}

/// What is not shown, inside.
#[derive(Debug)]
struct Hidden {
    at: PathBuf,
    directory: bool,
}

impl<'call> Confined<'call> {
    /// Of a program of the policy, at `real`, which works in `mount`: it sees all mounts, writes nothing but the
    /// directory in memory, and starts nothing but the programs `others` and what these need.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_program(
        call: &'call Call,
        name: &str,
        real: &Path,
        others: &[PathBuf],
        mount: &MountHandle,
    ) -> Result<Self, NotStarted> {
        let mut execute: Vec<PathBuf> = others.to_vec();
        execute.push(real.to_owned());
        let needed: Vec<_> = execute
            .iter()
            .flat_map(|one| executable::needs(one))
            .collect();
        execute.extend(needed);
        let mut confined = Self::new(call, plan::program(name, real)?)?;
        confined.execute = execute;
        for mount in shown_together(call.grant.mounts(), Some(mount)) {
            confined.show(&mount, false)?;
        }
        Ok(confined)
    }

    /// Of a tool that is asked for its description, was `found` in `mount` and really lies at `place` inside: it sees the
    /// mounts of `/os`, and the system, of which it may execute whatever it likes, as a script does. Mounted over its own
    /// path, it is this file whatever becomes of the path.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_tool(
        call: &'call Call,
        found: &Found,
        place: &Path,
        mount: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        let program = Program::Descriptor {
            file: found.reference().try_clone()?,
            at: InsidePath::new(place).map_err(io::Error::from)?,
        };
        Self::of_executable(call, program, mount)
    }

    /// The same of a runner, at this real path of the system, that is given such a tool.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_runner(
        call: &'call Call,
        runner: &Path,
        mount: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        let runner = InsidePath::new(runner).map_err(io::Error::from)?;
        Self::of_executable(call, Program::Path(runner), mount)
    }

    fn of_executable(
        call: &'call Call,
        program: Program,
        mount: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        let mut confined = Self::new(call, program)?;
        confined.scratch = SCRATCH;
        confined.memory_bytes = confined.memory_bytes.min(TOOL_MEMORY);
        confined.processes = confined.processes.min(TOOL_PROCESSES);
        let mut mounts = call.grant.mounts();
        mounts.retain(|mount| mount.at().starts_with(&VirtualPath::os()));
        for mount in shown_together(mounts, mount) {
            confined.show(&mount, true)?;
        }
        Ok(confined)
    }

    /// Of a program that sees nothing yet but the system.
    fn new(call: &'call Call, program: Program) -> Result<Self, NotStarted> {
        Ok(Self {
            call,
            launcher: call.jail.clone().ok_or(NotStarted::Unconfined)?,
            program,
            execute: Vec::new(),
            mounts: Vec::new(),
            hidden: Vec::new(),
            pins: Vec::new(),
            scratch: TEMPORARY,
            egress: Vec::new(),
            memory_bytes: call.limits.process_memory_bytes,
            processes: call.limits.process_pids,
            jails: Jails::Own,
        })
    }

    /// Runs all its commands in one jail, one after the other, in which nothing at all can be written so that none can
    /// leave anything to the next. For a program that needs no directory of its own, and that shows of a file what is
    /// committed: single files of hydrant's own in the work tree, as a policy, would else be changed ones.
    pub(super) fn share_one_jail(&mut self) {
        self.hidden.retain(|hidden| hidden.directory);
        self.jails = Jails::First(Mutex::default());
    }

    /// Runs in one of the jails of its list, of which all use their scratch directory alone.
    pub(super) fn share(&mut self, shared: &'call Shared) {
        self.jails = Jails::Shared(shared);
    }

    /// Lets the child reach these hosts, each `host:port` and whether by plain http, through a proxy of ours.
    pub(super) fn open_network(&mut self, hosts: &[(String, bool)]) {
        let pair = |(host, plain): &(String, bool)| {
            let plain = if *plain {
                PlainHttp::Allowed
            } else {
                PlainHttp::Refused
            };
            // What is no host name for a proxy either is not reached.
            Pair::parse(host, plain).ok()
        };
        self.egress = hosts.iter().filter_map(pair).collect();
    }

    /// Shows this very file there.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn add_opened(&mut self, file: impl AsFd, at: &Path) -> Result<(), NotStarted> {
        self.pins.push(mount(file, at, Access::ReadOnly, false)?);
        Ok(())
    }

    /// Shows the file at this real path there.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn add_file(&mut self, real: &Path, at: &Path) -> Result<(), NotStarted> {
        self.add(reference(real)?, at, Access::ReadOnly, false)
    }

    /// Shows a mount, without hydrant's own files.
    fn show(&mut self, mount: &MountHandle, executable: bool) -> Result<(), NotStarted> {
        if self.hide_own(mount)? {
            let at = Path::new(mount.at().as_str());
            self.add(mount.dir(), at, Access::ReadOnly, executable)?;
            return Ok(());
        }
        let at = Path::new(mount.at().as_str());
        if self
            .mounts
            .iter()
            .any(|outer| at.starts_with(outer.at.as_path()))
        {
            // It still covers what the mount around it has there.
            self.hidden.push(Hidden {
                at: at.to_owned(),
                directory: true,
            });
        }
        Ok(())
    }

    fn add(
        &mut self,
        source: impl AsFd,
        at: &Path,
        access: Access,
        executable: bool,
    ) -> Result<(), NotStarted> {
        self.mounts.push(mount(source, at, access, executable)?);
        Ok(())
    }
}

fn mount(source: impl AsFd, at: &Path, access: Access, executable: bool) -> io::Result<Mount> {
    Ok(Mount {
        source: source.as_fd().try_clone_to_owned()?,
        at: InsidePath::new(at)?,
        access,
        executable,
    })
}
