//! Mounts that are not attached anywhere yet: clones of what the host has, and file systems of the jail's own.
//!
//! A tree gets its restrictions while it is detached, so that there is no moment at which it could be reached without
//! them. All calls are of Linux 5.12; a kernel with Landlock (5.13) has them.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, open_tree,
};

use super::system::{Reach, restrict_mount};

/// What every mount has: no set-user-id programs (which would not work without new privileges anyhow), and no devices.
pub(super) const ALWAYS: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
/// Only reading.
pub(super) const READ_ONLY: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY;
/// No execution, nor mapping for execution.
pub(super) const NO_EXECUTION: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOEXEC;

/// Clones what is mounted at `source`, with all below: parts alone are refused, as they would uncover what the host
/// has covered.
pub(super) fn clone(source: impl AsFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(source, c"", flags)?;
    restrict_mount(&tree, Reach::AllBelow, attributes)?;
    Ok(tree)
}

/// Finds in this mount namespace what the parent has opened in its own, since only a namespace's own mounts can be
/// cloned. The name leads there, and the identity of the file decides: a path that has been replaced since the parent
/// checked it, or that leads through a link by now, is refused.
pub(super) fn here(opened: impl AsFd) -> io::Result<OwnedFd> {
    let name = rustix::fs::readlinkat(
        CWD,
        format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd()),
        Vec::new(),
    )?;
    at(OsStr::from_bytes(name.to_bytes()), opened)
}

/// Finds what the parent has opened under another name, in the same way.
pub(super) fn at(name: impl AsRef<Path>, opened: impl AsFd) -> io::Result<OwnedFd> {
    let found = openat2(
        CWD,
        name.as_ref(),
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )?;
    let (theirs, ours) = (fstat(opened)?, fstat(&found)?);
    if (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino) {
        Ok(found)
    } else {
        Err(io::Error::other("the name leads to another file by now"))
    }
}

/// Opens a directory or file of the system for [`clone`], following links.
pub(super) fn open(path: impl AsRef<Path>) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path.as_ref(),
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// A file system in memory.
pub(super) fn memory(
    bytes: u64,
    inodes: u64,
    mode: u32,
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    // The kernel takes zero as no limit.
    let (bytes, inodes) = (bytes.max(1).to_string(), inodes.max(1).to_string());
    file_system(
        "tmpfs",
        &[
            ("size", &bytes),
            ("nr_inodes", &inodes),
            ("mode", &format!("{mode:o}")),
        ],
        attributes,
    )
}

/// The processes of this pid namespace and nothing else: no `/proc/sys`, no `/proc/kallsyms`, no `/proc/kcore`, which
/// root's user could otherwise read, or write, by owning them.
pub(super) fn processes(shown: Shown) -> io::Result<OwnedFd> {
    let options: &[_] = match shown {
        Shown::All => &[("subset", "pid")],
        Shown::OwnOnly => &[("subset", "pid"), ("hidepid", "ptraceable")],
    };
    file_system("proc", options, ALWAYS | READ_ONLY | NO_EXECUTION)
}

/// Whom [`processes`] shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown {
    /// All of the pid namespace.
    All,
    /// To a program itself and whom it has started: what init has used tells of programs before.
    OwnOnly,
}

/// All of `/proc`, for init's own use.
pub(super) fn whole_proc() -> io::Result<OwnedFd> {
    file_system("proc", &[], ALWAYS | NO_EXECUTION)
}

fn file_system(
    kind: &str,
    options: &[(&str, &str)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let context = fsopen(CString::new(kind)?, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}
