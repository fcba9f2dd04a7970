//! Changing the file view: roots, mounts old and new.

use std::fs;
use std::os::fd::AsRawFd;

use crate::outcome::{Arguments, Errno, Outcome};
use crate::raw::{Word, call};

/// The attempts of this file. With the last argument `own` they first take an own mount namespace, so that a control
/// changes nothing of the machine.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("chroot", chroot),
    ("pivot_root", pivot_root),
    ("mount_tmpfs", mount_tmpfs),
    ("mount_proc", mount_proc),
    ("mount_bind", mount_bind),
    ("remount_writable", remount_writable),
    ("mount_setattr", mount_setattr),
    ("umount", umount),
    ("open_tree", open_tree),
    ("move_mount", move_mount),
    ("fsopen", fsopen),
    ("fspick", fspick),
];

/// `AT_FDCWD`
const HERE: Word<'_> = Word::Number(-100);

/// `DIRECTORY`: a second root, and out of it by a directory that was left outside.
fn chroot(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    call(libc::SYS_chroot, &mut [Word::Text(&directory)])?;
    std::env::set_current_dir("../".repeat(40))?;
    call(libc::SYS_chroot, &mut [Word::Text(c".")])?;
    Ok("the root is changed".to_owned())
}

/// `DIRECTORY`: made a mount and then the root.
fn pivot_root(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    own_mounts(arguments, 1)?;
    mount(&directory, c"", libc::MS_BIND | libc::MS_REC)?;
    std::env::set_current_dir(arguments.text(0)?)?;
    call(
        libc::SYS_pivot_root,
        &mut [Word::Text(c"."), Word::Text(c".")],
    )?;
    Ok("the root is changed".to_owned())
}

/// `DIRECTORY`: covered by a new tmpfs.
fn mount_tmpfs(arguments: &Arguments) -> Outcome {
    own_mounts(arguments, 1)?;
    mount(&arguments.c_text(0)?, c"tmpfs", 0)?;
    Ok("mounted".to_owned())
}

/// `DIRECTORY`: covered by a new procfs, unmasked and writable.
fn mount_proc(arguments: &Arguments) -> Outcome {
    own_mounts(arguments, 1)?;
    mount(&arguments.c_text(0)?, c"proc", 0)?;
    Ok("mounted".to_owned())
}

/// `DIRECTORY`: bound over itself.
fn mount_bind(arguments: &Arguments) -> Outcome {
    own_mounts(arguments, 1)?;
    mount(&arguments.c_text(0)?, c"", libc::MS_BIND)?;
    Ok("mounted".to_owned())
}

/// `DIRECTORY`: a read-only mount made writable, and written.
fn remount_writable(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    if own_mounts(arguments, 1)? {
        mount(&directory, c"", libc::MS_BIND)?;
        mount(
            &directory,
            c"",
            libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY,
        )?;
    }
    mount(
        &directory,
        c"",
        libc::MS_BIND | libc::MS_REMOUNT | libc::MS_NOSUID | libc::MS_NODEV,
    )?;
    fs::write(
        format!("{}/remounted", arguments.text(0)?),
        "written from the jail",
    )?;
    Ok("writable".to_owned())
}

/// `DIRECTORY`: the same by the newer call.
fn mount_setattr(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    if own_mounts(arguments, 1)? {
        mount(&directory, c"", libc::MS_BIND)?;
        mount(
            &directory,
            c"",
            libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY,
        )?;
    }
    // struct mount_attr: set, clear, propagation, namespace.
    let attributes = structure(&[0, libc::MOUNT_ATTR_RDONLY, 0, 0]);
    call(
        libc::SYS_mount_setattr,
        &mut [
            HERE,
            Word::Text(&directory),
            Word::Null,
            Word::Bytes(&attributes),
            Word::Number(32),
        ],
    )?;
    fs::write(
        format!("{}/remounted", arguments.text(0)?),
        "written from the jail",
    )?;
    Ok("writable".to_owned())
}

/// `DIRECTORY`: what lies below it uncovered.
fn umount(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    if own_mounts(arguments, 1)? {
        mount(&directory, c"tmpfs", 0)?;
    }
    call(
        libc::SYS_umount2,
        &mut [
            Word::Text(&directory),
            Word::Number(libc::MNT_DETACH.into()),
        ],
    )?;
    Ok("unmounted".to_owned())
}

/// `DIRECTORY`: a detached copy of a mount.
fn open_tree(arguments: &Arguments) -> Outcome {
    let tree = detached_copy(arguments)?;
    Ok(format!("descriptor {tree}"))
}

/// `DIRECTORY`: a detached copy put back over it.
fn move_mount(arguments: &Arguments) -> Outcome {
    own_mounts(arguments, 1)?;
    let directory = arguments.c_text(0)?;
    // Without a copy to move, the root of a directory is tried.
    let from = match detached_copy(arguments) {
        Ok(tree) => tree,
        Err(_) => fs::File::open(arguments.text(0)?)?.as_raw_fd().into(),
    };
    call(
        libc::SYS_move_mount,
        &mut [
            Word::Number(from),
            Word::Text(c""),
            HERE,
            Word::Text(&directory),
            Word::Number(libc::MOVE_MOUNT_F_EMPTY_PATH.into()),
        ],
    )?;
    Ok("moved".to_owned())
}

/// A file system's context, configured and made a mount.
fn fsopen(_: &Arguments) -> Outcome {
    let context = call(libc::SYS_fsopen, &mut [Word::Text(c"tmpfs")])?;
    // FSCONFIG_CMD_CREATE
    call(
        libc::SYS_fsconfig,
        &mut [Word::Number(context), Word::Number(6)],
    )?;
    let mount = call(libc::SYS_fsmount, &mut [Word::Number(context)])?;
    Ok(format!("descriptor {mount}"))
}

/// `DIRECTORY`: the file system below it, opened for reconfiguring.
fn fspick(arguments: &Arguments) -> Outcome {
    let directory = arguments.c_text(0)?;
    let context = call(libc::SYS_fspick, &mut [HERE, Word::Text(&directory)])?;
    Ok(format!("descriptor {context}"))
}

/// Takes an own, private mount namespace when the argument at `index` asks for it.
fn own_mounts(arguments: &Arguments, index: usize) -> Result<bool, Errno> {
    let own = arguments.text(index).is_ok_and(|word| word == "own");
    if own {
        call(
            libc::SYS_unshare,
            &mut [Word::Number(libc::CLONE_NEWNS.into())],
        )?;
        mount(c"/", c"", libc::MS_PRIVATE | libc::MS_REC)?;
    }
    Ok(own)
}

fn mount(at: &std::ffi::CStr, kind: &std::ffi::CStr, flags: u64) -> Result<(), Errno> {
    let flags = Word::Number(flags.cast_signed());
    call(
        libc::SYS_mount,
        &mut [Word::Text(at), Word::Text(at), Word::Text(kind), flags],
    )
    .map(drop)
}

fn detached_copy(arguments: &Arguments) -> Result<i64, crate::outcome::Failure> {
    let directory = arguments.c_text(0)?;
    Ok(call(
        libc::SYS_open_tree,
        &mut [
            HERE,
            Word::Text(&directory),
            Word::Number(libc::OPEN_TREE_CLONE.into()),
        ],
    )?)
}

/// A structure of 64-bit members.
pub(crate) fn structure(members: &[u64]) -> Vec<u8> {
    members
        .iter()
        .flat_map(|member| member.to_ne_bytes())
        .collect()
}
