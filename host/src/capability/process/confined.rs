//! A child in the jail: what it sees, what it may write and what it may start (TC-43, PE-07).
//!
//! Inside, a mount lies at its virtual path, so that no child ever sees a real one. What may be written is mounted once
//! more over what may only be read; hydrant's own files stay read-only even there. Nothing of a mount or of the directory
//! in memory can be executed, but for tools of `/os`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::time::Timespec;

use super::child::{Ended, NotStarted, Start, Stderr};
use super::output::Stream;
use super::{Ending, executable};
use crate::capability::Call;
use crate::capability::egress::{Egress, Pair, PlainHttp};
use crate::capability::fs::{Found, descriptor_path};
use crate::jail::{
    Access, EGRESS_PORT, How, InsidePath, Jailed, Launcher, Limits, Mount, Network, Plan, Program,
    Scratch, StartError, Step, Streams,
};
use crate::policy::{MountHandle, VirtualPath};

/// Home and temporary directory of a program, in memory.
pub(super) const TEMPORARY: &str = "/tmp";

/// Working directory, home and temporary directory of a tool, in memory (PE-01, PE-09).
pub(super) const SCRATCH: &str = "/scratch";

/// Where a program that is no part of the system is mounted.
const PROGRAMS: &str = "/run/program";

/// Directories of the system, which every child sees (TC-43).
const SYSTEM: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix",
];

/// Bytes and files in the directory in memory.
const SCRATCH_BYTES: u64 = 256 * 1024 * 1024;
const SCRATCH_FILES: u64 = 16_384;

/// Bytes of each file that a child writes (K-336).
const FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// Open descriptors of a process (K-336).
const OPEN_FILES: u64 = 256;

/// K-44.
const LANDLOCK_MIN_ABI: u8 = 1;

/// Where programs look for a proxy (K-344).
const PROXY_VARIABLES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// How often the memory and the processes of a jail are counted (K-337).
const SAMPLE: Duration = Duration::from_millis(100);

/// Memory, processes and threads of a tool that is asked for its description, at most (TN-13).
const TOOL_MEMORY: u64 = 536_870_912;
const TOOL_PROCESSES: u64 = 64;

/// The jail of a child, but for its words, its environment and its time.
pub(super) struct Confined<'call> {
    call: &'call Call,
    launcher: Launcher,
    program: Executable,
    /// What may be executed besides the program; where there is nothing, all of the system and of `executable` mounts.
    execute: Vec<PathBuf>,
    mounts: Vec<Shown>,
    scratch: &'static str,
    /// What it reaches through the host's proxy; without any it has no network at all.
    egress: Vec<Pair>,
    memory_bytes: u64,
    processes: u64,
}

/// What is executed.
#[derive(Debug)]
pub(super) enum Executable {
    /// A file at the same path inside.
    There(PathBuf),
    /// This very file, mounted there.
    File { file: OwnedFd, at: PathBuf },
}

/// A file or directory of the host, inside.
#[derive(Debug)]
struct Shown {
    source: OwnedFd,
    at: PathBuf,
    access: Access,
    executable: bool,
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
        let launcher = call.jail.clone().ok_or(NotStarted::Unconfined)?;
        let mut execute: Vec<PathBuf> = others.to_vec();
        execute.push(real.to_owned());
        let needed: Vec<_> = execute
            .iter()
            .flat_map(|one| executable::needs(one))
            .collect();
        execute.extend(needed);
        let mut confined = Self {
            call,
            launcher,
            program: Executable::program(name, real)?,
            execute,
            mounts: Vec::new(),
            scratch: TEMPORARY,
            egress: Vec::new(),
            memory_bytes: call.limits.process_memory_bytes,
            processes: call.limits.process_pids,
        };
        for mount in shown_together(call.grant.mounts(), Some(mount)) {
            confined.show(mount.dir(), mount.at(), Access::ReadOnly, false)?;
        }
        Ok(confined)
    }

    /// Of a tool that is asked for its description and lies in `mount`: it sees the mounts of `/os`, and the system, of
    /// which it may execute whatever it likes, as a script does.
    ///
    /// # Errors
    /// [`NotStarted`]
    pub(super) fn of_tool(
        call: &'call Call,
        program: Executable,
        mount: Option<&MountHandle>,
    ) -> Result<Self, NotStarted> {
        let launcher = call.jail.clone().ok_or(NotStarted::Unconfined)?;
        let mut confined = Self {
            call,
            launcher,
            program,
            execute: Vec::new(),
            mounts: Vec::new(),
            scratch: SCRATCH,
            egress: Vec::new(),
            memory_bytes: call.limits.process_memory_bytes.min(TOOL_MEMORY),
            processes: call.limits.process_pids.min(TOOL_PROCESSES),
        };
        let mut mounts = call.grant.mounts();
        mounts.retain(|mount| mount.at().starts_with(&VirtualPath::os()));
        for mount in shown_together(mounts, mount) {
            confined.show(mount.dir(), mount.at(), Access::ReadOnly, true)?;
        }
        Ok(confined)
    }

    /// Lets the child write below these directories (TP-32), but for what is hydrant's own. One that is not there is
    /// passed over.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn open_for_writing(&mut self, writable: &[VirtualPath]) -> Result<(), NotStarted> {
        let mounts = self.call.grant.mounts();
        let mut opened = Vec::new();
        for directory in writable {
            let Some((mount, relative)) = holding(&mounts, directory) else {
                continue;
            };
            let Ok(found) = Found::beneath(mount.dir(), relative) else {
                continue;
            };
            let Some(below) = below(mount, &found) else {
                continue;
            };
            let real = mount.real().join(&below);
            if self.call.protected.iter().any(|own| real.starts_with(own)) {
                tracing::warn!(%directory, "it is hydrant's own: it stays read-only");
                continue;
            }
            if self.would_make_own(mount, &below) {
                tracing::warn!(%directory, "what is hydrant's own could be made here: it stays read-only");
                continue;
            }
            self.show_in(mount, &below, &found, Access::ReadWrite)?;
            opened.push((mount.clone(), below));
        }
        for (mount, below) in &opened {
            self.keep_own(mount, below)?;
        }
        Ok(())
    }

    /// What is hydrant's own in a directory that may be written, below its mount; what lies in it is not named by itself.
    fn own_in(&self, mount: &MountHandle, directory: &Path) -> Vec<PathBuf> {
        let own = self.call.protected.iter();
        let mut own: Vec<_> = own
            .filter_map(|own| own.strip_prefix(mount.real()).ok())
            .filter(|own| own.starts_with(directory))
            .map(Path::to_owned)
            .collect();
        own.sort();
        own.dedup_by(|inner, outer| inner.starts_with(&*outer));
        own
    }

    /// Whether something of hydrant's own is not there yet, or is a link, so that nothing could be mounted over it.
    fn would_make_own(&self, mount: &MountHandle, directory: &Path) -> bool {
        let really = |own: &Path| below(mount, &beneath(mount, own)?);
        let own = self.own_in(mount, directory);
        own.iter()
            .any(|own| really(own).as_deref() != Some(own.as_path()))
    }

    /// Keeps what is hydrant's own as it is, and where it is: a mount point cannot be renamed, but the directories above
    /// it could, so that they become mount points as well.
    fn keep_own(&mut self, mount: &MountHandle, directory: &Path) -> Result<(), NotStarted> {
        let mounts = self.call.grant.mounts();
        for own in self.own_in(mount, directory) {
            let inside = Path::new(mount.at().as_str()).join(&own);
            let covered = |other: &MountHandle| {
                other.at() != mount.at()
                    && other.at().starts_with(mount.at())
                    && inside.starts_with(other.at().as_str())
            };
            if mounts.iter().any(covered) {
                // Nobody sees it there.
                continue;
            }
            let above = own.ancestors().skip(1);
            for above in
                above.take_while(|above| *above != directory && above.starts_with(directory))
            {
                if let Some(found) = beneath(mount, above) {
                    self.show_in(mount, above, &found, Access::ReadWrite)?;
                }
            }
            if let Some(found) = beneath(mount, &own) {
                self.show_in(mount, &own, &found, Access::ReadOnly)?;
            }
        }
        Ok(())
    }

    fn show_in(
        &mut self,
        mount: &MountHandle,
        below: &Path,
        found: &Found,
        access: Access,
    ) -> Result<(), NotStarted> {
        let at = Path::new(mount.at().as_str()).join(below);
        // Joining an empty path would end it with a slash.
        let at = at.components().collect();
        self.add(found.reference(), at, access, false)
    }

    /// Lets the child reach these hosts, each `host:port` and whether by plain http, through a proxy of ours (K-345).
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

    /// Shows the file at this real path there.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn add_file(&mut self, real: &Path, at: &Path) -> Result<(), NotStarted> {
        self.add(reference(real)?, at.to_owned(), Access::ReadOnly, false)
    }

    fn show(
        &mut self,
        source: impl AsFd,
        at: &VirtualPath,
        access: Access,
        executable: bool,
    ) -> Result<(), NotStarted> {
        self.add(source, at.as_str().into(), access, executable)
    }

    fn add(
        &mut self,
        source: impl AsFd,
        at: PathBuf,
        access: Access,
        executable: bool,
    ) -> Result<(), NotStarted> {
        self.mounts.push(Shown {
            source: source.as_fd().try_clone_to_owned()?,
            at,
            access,
            executable,
        });
        Ok(())
    }

    /// Runs the child to its end, for at most `time`, and keeps the first `keep` bytes of each stream.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing ran; or the jail was lost, and is gone.
    pub(super) fn run(
        &self,
        start: &Start<'_>,
        time: Duration,
        keep: usize,
    ) -> Result<Ended, NotStarted> {
        let started = Instant::now();
        let (stdout, written) = io::pipe()?;
        let mut streams = Streams {
            stdout: Some(written.into()),
            ..Streams::default()
        };
        let mut stderr = Stream::new(None, keep)?;
        if start.stderr == Stderr::Kept {
            let (read, written) = io::pipe()?;
            streams.stderr = Some(written.into());
            stderr = Stream::new(Some(read.into()), keep)?;
        }
        let mut stdout = Stream::new(Some(stdout.into()), keep)?;
        let how = std::thread::scope(|scope| -> Result<How, NotStarted> {
            let mut egress = match self.egress.as_slice() {
                [] => None,
                pairs => {
                    let (account, fetcher) = (self.call, &self.call.fetcher);
                    Some(Egress::start(scope, account, fetcher, pairs.to_vec())?)
                }
            };
            let network = match &egress {
                None => Network::None,
                Some(egress) => Network::Relay {
                    socket: reference(egress.socket())?,
                },
            };
            let mut jailed = self
                .launcher
                .start(self.plan(start, network, time)?, streams)?;
            if let Some(egress) = &mut egress {
                egress.remove_name();
            }
            while !wait(&jailed, [stdout.pipe(), stderr.pipe()]) {
                stdout.drain();
                stderr.drain();
                jailed.sample().map_err(lost)?;
                if egress
                    .as_ref()
                    .is_some_and(|egress| egress.exceeded().is_some())
                {
                    // The budget ends the call, as the caller finds (G-06).
                    jailed.kill();
                }
            }
            Ok(jailed.end().map_err(lost)?.how)
        })?;
        stdout.drain();
        stderr.drain();
        Ok(Ended {
            ending: ending(how),
            stdout,
            stderr,
            took: started.elapsed(),
        })
    }

    fn plan(
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
        let mut environment = start.environment.clone();
        if let Network::Relay { .. } = network {
            let proxy = format!("http://127.0.0.1:{EGRESS_PORT}");
            for name in PROXY_VARIABLES {
                environment.insert(name.into(), proxy.clone().into());
            }
        }
        let arguments = std::iter::once(&start.name).chain(&start.arguments);
        Ok(Plan {
            program: self.program.to_program()?,
            arguments: arguments.cloned().collect(),
            environment: environment.into_iter().collect(),
            directory: inside(&start.directory)?,
            mounts: self.mounts.iter().map(mount).collect::<io::Result<_>>()?,
            system: true,
            scratch: vec![Scratch {
                at: inside(Path::new(self.scratch))?,
                bytes: SCRATCH_BYTES.min(self.memory_bytes),
                inodes: SCRATCH_FILES,
                executable: false,
            }],
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
                wall: Some(time),
                cpu_seconds: None,
                memory_bytes: Some(self.memory_bytes),
                processes: Some(self.processes),
                file_bytes: Some(FILE_BYTES),
                open_files: Some(OPEN_FILES),
            },
            landlock_min_abi: LANDLOCK_MIN_ABI,
        })
    }
}

impl From<StartError> for NotStarted {
    fn from(error: StartError) -> Self {
        match error {
            // The machine is short of something, or the plan of a mistake; not of a layer.
            StartError::Refused(refused) if refused.step == Step::Protocol => {
                Self::System(io::Error::other(refused))
            }
            StartError::Refused(refused) => {
                tracing::warn!(error = %refused, "a process cannot be confined, and is not started");
                Self::Unconfined
            }
            StartError::NotExecutable { errno } => {
                Self::System(io::Error::from_raw_os_error(errno))
            }
        }
    }
}

/// The mount that holds a path, and the rest of the path.
fn holding<'m>(
    mounts: &'m [MountHandle],
    path: &'m VirtualPath,
) -> Option<(&'m MountHandle, &'m str)> {
    mounts
        .iter()
        .filter_map(|mount| Some((mount, path.strip_prefix(mount.at())?)))
        .min_by_key(|(_, rest)| rest.len())
}

/// The mounts that can be shown with each other, the outermost first: an inner one needs a directory of its name in the
/// outer one, in which nothing is created. The `wanted` one is among them, if need be without those around it.
fn shown_together(mounts: Vec<MountHandle>, wanted: Option<&MountHandle>) -> Vec<MountHandle> {
    let fits = |outer: &MountHandle, inner: &MountHandle| match inner.at().strip_prefix(outer.at())
    {
        None => true,
        Some(rest) => Found::beneath(outer.dir(), rest).is_ok_and(|found| !found.is_file()),
    };
    let mut shown: Vec<MountHandle> = Vec::new();
    for mount in mounts {
        let covers_wanted = wanted.is_some_and(|wanted| !fits(&mount, wanted));
        if !covers_wanted && shown.iter().all(|outer| fits(outer, &mount)) {
            shown.push(mount);
        } else {
            tracing::warn!(at = %mount.at(), "a process does not see this mount: one needs a directory of its name in the one around it");
        }
    }
    shown
}

/// Where something that was found below a mount really lies, below that mount: links on the way are followed by then, and
/// inside nothing is put behind one.
pub(super) fn below(mount: &MountHandle, found: &Found) -> Option<PathBuf> {
    let real = std::fs::read_link(descriptor_path(found.reference())).ok()?;
    Some(real.strip_prefix(mount.real()).ok()?.to_owned())
}

fn beneath(mount: &MountHandle, below: &Path) -> Option<Found> {
    Found::beneath(mount.dir(), below.to_str()?).ok()
}

/// Waits until the jail has ended, somebody has written, or it is time to look at it; true when it has ended.
fn wait(jailed: &Jailed, pipes: [Option<BorrowedFd<'_>>; 2]) -> bool {
    let mut polled = vec![PollFd::from_borrowed_fd(jailed.descriptor(), PollFlags::IN)];
    let open = pipes.into_iter().flatten();
    polled.extend(open.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
    // Whatever it answers, an interruption too, the caller looks for itself.
    let _ = poll(&mut polled, Timespec::try_from(SAMPLE).ok().as_ref());
    polled
        .first()
        .is_some_and(|jail| !jail.revents().is_empty())
}

fn lost(error: crate::jail::Error) -> NotStarted {
    NotStarted::System(io::Error::other(error))
}

/// As a child outside of a jail would have ended.
fn ending(how: How) -> Ending {
    match how {
        How::Exited(status) => Ending::Exited(status),
        How::Signaled(signal) => Ending::Signaled(signal),
        // SIGKILL.
        How::Memory | How::Processes => Ending::Signaled(9),
        How::TimedOut => Ending::TimedOut,
    }
}

fn is_of_the_system(real: &Path) -> bool {
    SYSTEM.iter().any(|directory| real.starts_with(directory))
}

fn reference(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn inside(path: &Path) -> io::Result<InsidePath> {
    InsidePath::new(path).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
