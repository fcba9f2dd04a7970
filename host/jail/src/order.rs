//! The plan as it goes to the launcher: JSON, with descriptors by their index among those that are sent along.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
use super::outcome::{How, InStep, Refused, Step, Usage};
use super::path::InsidePath;
use super::plan::{
    Access, EGRESS_SOCKET, File, Limits, Network, Pin, Plan, Program, Scratch, Streams, Turn,
};
use super::wire::DESCRIPTORS;

/// More than this in files goes into a file in memory instead of the message.
const INLINE_BYTES: usize = 128 << 10;

/// Threads that connect for the program (`inside::connects`): so many of its calls can wait at a time.
pub(super) const CONNECTING: u64 = 4;

/// Parent to launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) program: InsidePath,
    /// The first program.
    pub(super) turn: TurnOrder,
    /// Whether others follow it, each with a [`TurnOrder`] of its own.
    pub(super) several: bool,
    /// Whether mounts are made anew between them: scratch directories, and pins.
    pub(super) renewed: bool,
    pub(super) directory: InsidePath,
    pub(super) mounts: Vec<MountOrder>,
    pub(super) system: bool,
    pub(super) scratch: Vec<Scratch>,
    pub(super) files: Vec<FileOrder>,
    pub(super) links: Vec<LinkOrder>,
    pub(super) execute: Vec<InsidePath>,
    /// The relay's socket is among `sockets`.
    pub(super) relay: bool,
    pub(super) sockets: Vec<SocketOrder>,
    /// Whether the program may make Unix sockets of its own to connect to those of the plan.
    pub(super) unix_sockets: bool,
    pub(super) limits: Limits,
    pub(super) landlock_min_abi: u8,
    /// Whether a terminal among the streams becomes that of the program's session.
    pub(super) terminal: bool,
    /// The scratch directory that goes back to the parent at the end.
    pub(super) returned: Option<InsidePath>,
    /// What is in all files, one after another, where it is too much for a message.
    pub(super) contents: Option<usize>,
    #[cfg(feature = "jail-weakening")]
    pub(super) without: Vec<super::weakening::Removed>,
}

/// What one program is told. The first one's comes with the [`Order`], those of others each in a message of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TurnOrder {
    /// In place of the order's.
    pub(super) program: Option<InsidePath>,
    pub(super) arguments: Vec<Bytes>,
    /// Each as `NAME=value`.
    pub(super) environment: Vec<Bytes>,
    pub(super) wall: Option<Duration>,
    pub(super) streams: [Option<usize>; 3],
    pub(super) pins: Vec<PinOrder>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PinOrder {
    pub(super) source: usize,
    pub(super) at: InsidePath,
    pub(super) executable: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MountOrder {
    pub(super) source: usize,
    pub(super) at: InsidePath,
    pub(super) access: Access,
    pub(super) executable: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileOrder {
    pub(super) at: InsidePath,
    pub(super) length: u64,
    /// Empty, if all is in `contents`.
    pub(super) bytes: Bytes,
    pub(super) mode: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LinkOrder {
    pub(super) at: InsidePath,
    pub(super) to: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SocketOrder {
    pub(super) source: usize,
    pub(super) at: InsidePath,
}

/// Launcher, init or program (before `execve`) to parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    Refused(Refused),
    NotExecutable {
        errno: i32,
    },
    Started,
    /// `kept`: another program may follow.
    Ended {
        how: How,
        usage: Usage,
        kept: bool,
    },
}

impl TurnOrder {
    /// Takes the descriptors out of `streams`.
    pub(super) fn new(turn: Turn, streams: Streams) -> (Self, Vec<OwnedFd>) {
        let mut descriptors = Vec::new();
        let order = Self::indexed(turn, streams, &mut |descriptor| {
            descriptors.push(descriptor);
            descriptors.len().saturating_sub(1)
        });
        (order, descriptors)
    }

    fn indexed(turn: Turn, streams: Streams, index: &mut impl FnMut(OwnedFd) -> usize) -> Self {
        let environment = turn.environment.iter().map(|(name, value)| {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            Bytes::from(pair.as_os_str())
        });
        let arguments = turn.arguments.iter();
        Self {
            program: turn.program,
            arguments: arguments
                .map(|argument| argument.as_os_str().into())
                .collect(),
            environment: environment.collect(),
            wall: turn.wall,
            streams: [streams.stdin, streams.stdout, streams.stderr]
                .map(|stream| stream.map(&mut *index)),
            pins: turn
                .pins
                .into_iter()
                .map(|pin| PinOrder::indexed(pin, index))
                .collect(),
        }
    }
}

impl PinOrder {
    fn indexed(pin: Pin, index: &mut impl FnMut(OwnedFd) -> usize) -> Self {
        Self {
            source: index(pin.file),
            at: pin.at,
            executable: pin.executable,
        }
    }
}

impl Order {
    /// Lets other programs follow the first one, each with scratch directories of its own.
    ///
    /// # Errors
    /// One could leave something to the next: a file in a directory of the host that can be written, or a process or
    /// socket behind the way out. Or what the plan puts into a scratch directory would not be there for the next one.
    pub(super) fn for_several(mut self) -> Result<Self, Refused> {
        let written = |mount: &MountOrder| mount.access == Access::ReadWrite;
        if self.mounts.iter().any(written) || !self.sockets.is_empty() {
            return Err(Refused::new(
                Step::Protocol,
                "programs that follow each other share nothing that can be written, and no socket",
            ));
        }
        let scratch = self.scratch.iter().map(|scratch| &scratch.at);
        let others = self.mounts.iter().map(|mount| &mount.at);
        let others = others.chain(self.files.iter().map(|file| &file.at));
        let others = others.chain(self.links.iter().map(|link| &link.at));
        let mut others = others.chain(scratch.clone());
        let mut scratch = scratch;
        let put_into = |at: &InsidePath, scratch: &InsidePath| {
            at != scratch && at.as_path().starts_with(scratch.as_path())
        };
        if others.any(|at| scratch.clone().any(|scratch| put_into(at, scratch))) {
            return Err(Refused::new(
                Step::Protocol,
                "of programs that follow each other each finds its scratch directories empty",
            ));
        }
        self.renewed = scratch.next().is_some() || !self.turn.pins.is_empty();
        self.several = true;
        Ok(self)
    }

    /// Has a scratch directory returned.
    ///
    /// # Errors
    /// The plan has no such directory.
    pub(super) fn returning(mut self, directory: InsidePath) -> Result<Self, Refused> {
        if !self.scratch.iter().any(|scratch| scratch.at == directory) {
            return Err(Refused::new(
                Step::Protocol,
                format_args!("{directory} is no scratch directory of the plan"),
            ));
        }
        self.returned = Some(directory);
        Ok(self)
    }

    /// Takes the descriptors out of a plan.
    pub(super) fn new(
        plan: Plan,
        pins: Vec<Pin>,
        streams: Streams,
    ) -> Result<(Self, Vec<OwnedFd>), Refused> {
        let mut descriptors = Vec::new();
        let mut index = |descriptor: OwnedFd| {
            descriptors.push(descriptor);
            descriptors.len().saturating_sub(1)
        };
        let mut mounts: Vec<_> = plan
            .mounts
            .into_iter()
            .map(|mount| MountOrder {
                source: index(mount.source),
                at: mount.at,
                access: mount.access,
                executable: mount.executable,
            })
            .collect();
        let program = match plan.program {
            Program::Path(path) => path,
            Program::Descriptor { file, at } => {
                mounts.push(MountOrder {
                    source: index(file),
                    at: at.clone(),
                    access: Access::ReadOnly,
                    executable: true,
                });
                at
            }
        };
        let unix_sockets = !plan.sockets.is_empty();
        let mut sockets: Vec<_> = plan
            .sockets
            .into_iter()
            .map(|socket| SocketOrder {
                source: index(socket.source),
                at: socket.at,
            })
            .collect();
        let relay = match plan.network {
            Network::None => false,
            Network::Relay { socket } => {
                let at = InsidePath::new(EGRESS_SOCKET)
                    .map_err(|error| Refused::new(Step::Protocol, error))?;
                sockets.push(SocketOrder {
                    source: index(socket),
                    at,
                });
                true
            }
        };
        let turn = Turn {
            program: None,
            arguments: plan.arguments,
            environment: plan.environment,
            wall: plan.limits.wall,
            pins,
        };
        let length = |file: &File| u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
        let total = plan
            .files
            .iter()
            .fold(0, |sum: usize, file| sum.saturating_add(file.bytes.len()));
        let contents = if total > INLINE_BYTES {
            let contents = contents(&plan.files).step(Step::Plan, "the files of the plan")?;
            Some(index(contents))
        } else {
            None
        };
        let terminal = streams.terminal;
        let turn = TurnOrder::indexed(turn, streams, &mut index);
        let order = Self {
            program,
            turn,
            several: false,
            renewed: false,
            directory: plan.directory,
            mounts,
            system: plan.system,
            scratch: plan.scratch,
            files: plan
                .files
                .into_iter()
                .map(|file| FileOrder {
                    length: length(&file),
                    at: file.at,
                    bytes: match contents {
                        None => file.bytes.into(),
                        Some(_) => Vec::new().into(),
                    },
                    mode: file.mode,
                })
                .collect(),
            links: plan
                .links
                .iter()
                .map(|link| LinkOrder {
                    at: link.at.clone(),
                    to: link.to.as_os_str().into(),
                })
                .collect(),
            execute: plan.execute,
            relay,
            sockets,
            unix_sockets,
            limits: plan.limits,
            landlock_min_abi: plan.landlock_min_abi,
            terminal,
            returned: None,
            contents,
            #[cfg(feature = "jail-weakening")]
            without: plan.without,
        };
        if descriptors.len() > DESCRIPTORS {
            return Err(Refused::new(
                Step::Plan,
                format_args!(
                    "{} mounts, sockets and streams; a jail takes {DESCRIPTORS}",
                    descriptors.len()
                ),
            ));
        }
        Ok((order, descriptors))
    }

    /// Processes and threads below init that are not the program's: the relay, and those that connect for it.
    pub(super) fn own_tasks(&self) -> u64 {
        let connecting = if self.unix_sockets { CONNECTING } else { 0 };
        connecting.saturating_add(u64::from(self.relay))
    }

    /// Whether a layer is there: always, but for the tests that show what it is there for.
    #[cfg(not(feature = "jail-weakening"))]
    pub(super) const fn keeps(&self, _: super::weakening::Removed) -> bool {
        true
    }

    #[cfg(feature = "jail-weakening")]
    pub(super) fn keeps(&self, layer: super::weakening::Removed) -> bool {
        !self.without.contains(&layer)
    }
}

/// A file in memory with all of this.
fn contents(files: &[File]) -> io::Result<OwnedFd> {
    let memory = memfd_create(c"jail", MemfdFlags::CLOEXEC)?;
    let mut memory = std::fs::File::from(memory);
    for file in files {
        memory.write_all(&file.bytes)?;
    }
    Ok(memory.into())
}
