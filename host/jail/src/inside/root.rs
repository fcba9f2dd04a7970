//! The root of a jail: a file system in memory with mounts in it, and nothing of the host besides.
//!
//! What does not depend on a plan comes first, in an empty root that lies over the host's, of which nobody sees anything
//! by a path yet: a [`Base`] that can be made before there is a plan. Then what the plan names of the host is cloned,
//! detached, and the host's root is taken away. Only then that is put in its places, so that a path, a link in
//! somebody's directory or a mistake here can at worst lead to another place of the jail.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, UnmountFlags, mount_change, move_mount, unmount,
};

use super::tree::{self, ALWAYS, NO_EXECUTION, READ_ONLY};
use super::{layout, renewal, system};
use crate::order::Order;
use crate::outcome::{InStep, Refused, Step, of_plan};
use crate::path::InsidePath;
use crate::plan::Access;

/// Room in the root itself beyond the files of the plan.
const ROOT_BYTES: u64 = 1 << 20;
const ROOT_INODES: u64 = 8192;

/// Something with a place in the root.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: InsidePath,
    pub(super) content: Content,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Content {
    /// A detached mount.
    Tree(OwnedFd),
    /// A detached mount of the jail's own memory, in which mount points may be created.
    Scratch(OwnedFd),
    /// A directory of the root.
    Directory,
    /// A symbolic link.
    Link(PathBuf),
    /// A file with these contents and mode.
    File { bytes: Vec<u8>, mode: u32 },
}

/// A root with what all plans have alike. The host's root is still that of this process.
pub(super) struct Base {
    places: Places,
    /// Mounts of which nothing may be executed where what may be is listed.
    programs: Vec<OwnedFd>,
    /// What the system was; none in a root without it.
    system: Option<layout::Seen>,
    /// Room for files of the plan.
    room: u64,
}

impl Base {
    /// For plans that have the system and few files, as most do.
    pub(super) fn usual() -> Result<Self, Refused> {
        Self::new(true, ROOT_BYTES)
    }

    fn new(system: bool, room: u64) -> Result<Self, Refused> {
        // Nothing that is mounted here may appear on the host, nor the other way round.
        mount_change(
            "/",
            MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
        )
        .step(Step::Mount, "make mounts private")?;
        let seen = system.then(layout::Seen::now).transpose()?;
        let mut entries = layout::devices()?;
        if system {
            entries.extend(layout::system()?);
        }
        let root = tree::memory(
            room.saturating_add(ROOT_BYTES),
            ROOT_INODES,
            0o755,
            ALWAYS | NO_EXECUTION,
        )
        .step(Step::Mount, "make the root")?;
        cover(&root).step(Step::Mount, "put the root over the host's")?;
        let mut programs = Vec::new();
        for entry in &entries {
            if let Content::Tree(tree) = &entry.content
                && layout::is_of_programs(entry.at.as_path())
            {
                let tree = tree.try_clone().step(Step::Mount, "keep a mount")?;
                programs.push(tree);
            }
        }
        let mut places = Places {
            own: HashSet::from([device(&root).step(Step::Mount, "look at the root")?]),
            root,
        };
        places.put_all(entries)?;
        Ok(Self {
            places,
            programs,
            system: seen,
            room,
        })
    }

    /// Whether it is what this plan needs, and what it was made of is still the same.
    fn is_for(&self, order: &Order) -> bool {
        let is_same = match &self.system {
            None => !order.system,
            Some(seen) => order.system && layout::Seen::now().is_ok_and(|now| now == *seen),
        };
        is_same && bytes_of_files(order) <= self.room
    }
}

/// Builds the root and makes it the root of this process. What the plan names covers what is there without it.
pub(super) fn build(order: &Order, sources: &[OwnedFd], base: Option<Base>) -> Result<(), Refused> {
    let base = match base.filter(|base| base.is_for(order)) {
        Some(base) => base,
        None => Base::new(order.system, bytes_of_files(order))?,
    };
    let Base {
        mut places,
        programs,
        ..
    } = base;
    if !order.execute.is_empty() {
        for tree in programs {
            system::restrict_mount(tree, system::Reach::AllBelow, NO_EXECUTION)
                .step(Step::Mount, "let nothing be executed")?;
        }
    }
    let entries = planned(order, sources)?;
    enter(&places.root).step(Step::Mount, "change the root")?;
    places.put_all(entries)?;
    // Only the root itself: mounts in it keep their own modes.
    system::restrict_mount(&places.root, system::Reach::Itself, READ_ONLY)
        .step(Step::Mount, "make the root read-only")
}

/// Clones whatever the plan takes from the host.
fn planned(order: &Order, sources: &[OwnedFd]) -> Result<Vec<Entry>, Refused> {
    let mut entries = layout::of_plan(order)?;
    let from_host = |index: usize, at: &InsidePath, attributes| {
        let source = sources.get(index).ok_or(io::ErrorKind::NotFound.into());
        let tree = source
            .and_then(tree::here)
            .and_then(|source| tree::clone(source, attributes));
        tree.map_err(|error| {
            let step = of_plan(&error, Step::Mount);
            Refused::new(step, format_args!("mount {at}: {error}"))
        })
    };
    for mount in &order.mounts {
        let mut attributes = ALWAYS;
        if mount.access == Access::ReadOnly {
            attributes |= READ_ONLY;
        }
        if !mount.executable {
            attributes |= NO_EXECUTION;
        }
        let tree = from_host(mount.source, &mount.at, attributes)?;
        entries.push(Entry {
            at: mount.at.clone(),
            content: Content::Tree(tree),
        });
    }
    for socket in &order.sockets {
        // One can connect to a socket that is mounted read-only, but not change its mode or owner.
        let tree = from_host(socket.source, &socket.at, ALWAYS | READ_ONLY | NO_EXECUTION)?;
        entries.push(Entry {
            at: socket.at.clone(),
            content: Content::Tree(tree),
        });
    }
    for scratch in &order.scratch {
        let content = if order.renewed {
            // Made for each program, the first one too, so that none can tell which it is.
            Content::Directory
        } else {
            let tree = renewal::scratch(scratch);
            Content::Scratch(tree.step(Step::Mount, format_args!("make {}", scratch.at))?)
        };
        entries.push(Entry {
            at: scratch.at.clone(),
            content,
        });
    }
    let contents = match order.contents {
        Some(index) => Some(
            sources
                .get(index)
                .ok_or(io::ErrorKind::NotFound.into())
                .and_then(|contents| contents.try_clone())
                .map(std::fs::File::from)
                .step(Step::Protocol, "the files of the plan")?,
        ),
        None => None,
    };
    let mut offset = 0;
    for file in &order.files {
        let bytes = match &contents {
            None => file.bytes.as_slice().to_vec(),
            Some(contents) => part(contents, offset, file.length)
                .step(Step::Plan, format_args!("the contents of {}", file.at))?,
        };
        offset = offset.saturating_add(file.length);
        let content = Content::File {
            bytes,
            mode: file.mode & 0o777,
        };
        entries.push(Entry {
            at: file.at.clone(),
            content,
        });
    }
    for link in &order.links {
        let content = Content::Link(link.to.clone().into_os_string().into());
        entries.push(Entry {
            at: link.at.clone(),
            content,
        });
    }
    // The working directory may be one that nothing else makes.
    entries.push(Entry {
        at: order.directory.clone(),
        content: Content::Directory,
    });
    Ok(entries)
}

fn bytes_of_files(order: &Order) -> u64 {
    let files = order.files.iter();
    files.fold(0, |sum: u64, file| sum.saturating_add(file.length))
}

fn part(contents: &std::fs::File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    contents.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// Puts `root` over the old root: the one place that exists everywhere. Paths still begin at the old one.
fn cover(root: &OwnedFd) -> io::Result<()> {
    Ok(move_mount(
        root,
        c"",
        CWD,
        c"/",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

/// Makes `root` the root, and takes the old one away.
fn enter(root: &OwnedFd) -> io::Result<()> {
    rustix::process::fchdir(root)?;
    // The old root is put over the new one, where `.` still means the new one, and is taken off again: `pivot_root(2)`.
    rustix::process::pivot_root(c".", c".")?;
    unmount(c".", UnmountFlags::DETACH)?;
    rustix::process::chdir(c"/")?;
    Ok(())
}

/// The root while it is filled.
struct Places {
    root: OwnedFd,
    /// File systems of the jail's own. In all others nothing is created: they are the host's.
    own: HashSet<u64>,
}

impl Places {
    fn put_all(&mut self, mut entries: Vec<Entry>) -> Result<(), Refused> {
        // What holds others comes first. The order is stable: of two at one place the later one covers the earlier.
        entries.sort_by_key(|entry| entry.at.names().count());
        for entry in entries {
            let at = entry.at.clone();
            self.put(entry).map_err(|error| {
                let step = of_plan(&error, Step::Mount);
                Refused::new(step, format_args!("put {at} in place: {error}"))
            })?;
        }
        Ok(())
    }

    fn put(&mut self, entry: Entry) -> io::Result<()> {
        let mut names: Vec<&OsStr> = entry.at.names().collect();
        let Some(name) = names.pop() else {
            // The working directory may be the root; nothing else can be put there.
            return if matches!(entry.content, Content::Directory) {
                Ok(())
            } else {
                Err(Errno::BUSY.into())
            };
        };
        let mut parent = open(&self.root, OsStr::new("."))?;
        for name in names {
            parent = self.directory(&parent, name)?;
        }
        match entry.content {
            Content::Directory => drop(self.directory(&parent, name)?),
            Content::Link(to) => {
                self.may_create_in(&parent)?;
                symlinkat(to, parent, name)?;
            }
            Content::File { bytes, mode } => {
                self.may_create_in(&parent)?;
                create(&parent, name, &bytes, mode)?;
            }
            Content::Tree(tree) => self.attach(&parent, name, &tree)?,
            Content::Scratch(tree) => {
                self.attach(&parent, name, &tree)?;
                self.own.insert(device(&tree)?);
            }
        }
        Ok(())
    }

    fn attach(&self, parent: &OwnedFd, name: &OsStr, tree: &OwnedFd) -> io::Result<()> {
        let place = if FileType::from_raw_mode(fstat(tree)?.st_mode) == FileType::Directory {
            self.directory(parent, name)?
        } else {
            match open(parent, name) {
                Err(Errno::NOENT) => {
                    self.may_create_in(parent)?;
                    create(parent, name, b"", 0o444)?;
                    open(parent, name)?
                }
                opened => opened?,
            }
        };
        let flags =
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(tree, c"", place, c"", flags)?)
    }

    /// Opens a directory, never through a link; makes it if it is not there.
    fn directory(&self, parent: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
        let directory = match open(parent, name) {
            Err(Errno::NOENT) => {
                self.may_create_in(parent)?;
                mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
                open(parent, name)?
            }
            opened => opened?,
        };
        match FileType::from_raw_mode(fstat(&directory)?.st_mode) {
            FileType::Directory => Ok(directory),
            _ => Err(Errno::NOTDIR.into()),
        }
    }

    fn may_create_in(&self, parent: &OwnedFd) -> io::Result<()> {
        if self.own.contains(&device(parent)?) {
            Ok(())
        } else {
            Err(io::Error::other(
                "it would have to be created in a directory of the host",
            ))
        }
    }
}

fn open(parent: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    openat(
        parent,
        name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

fn create(parent: &OwnedFd, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(parent, name, flags, Mode::from_raw_mode(mode))?;
    io::Write::write_all(&mut std::fs::File::from(file), bytes)
}

fn device(of: &OwnedFd) -> io::Result<u64> {
    Ok(fstat(of)?.st_dev)
}
