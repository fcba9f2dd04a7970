//! What is made anew for each of several programs in one jail: its scratch directories, what is pinned for it, and the
//! numbers of processes.
//!
//! Nothing here begins before the kernel has said that nobody of the last program is left. What cannot be taken away then,
//! since somebody uses it all the same, ends the jail: the next program gets another one.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MoveMountFlags, UnmountFlags, move_mount, unmount};

use super::numbers::Numbers;
use super::tree::{self, ALWAYS, NO_EXECUTION, READ_ONLY};
use super::unless_removed;
use crate::order::{Order, TurnOrder};
use crate::outcome::{InStep, Refused, Step, of_plan};
use crate::path::InsidePath;
use crate::plan::Scratch;
use crate::weakening::Removed;

const ONTO: MoveMountFlags =
    MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH.union(MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH);

/// A scratch directory's mount, detached.
pub(super) fn scratch(scratch: &Scratch) -> io::Result<OwnedFd> {
    let attributes = if scratch.executable {
        ALWAYS
    } else {
        ALWAYS | NO_EXECUTION
    };
    tree::memory(scratch.bytes, scratch.inodes, 0o700, attributes)
}

/// Takes away what the program had, and counts from the start again; `false` if that is not possible.
pub(super) fn clear(order: &Order, turn: &TurnOrder, numbers: &Numbers) -> bool {
    let taken = || -> io::Result<()> {
        if order.keeps(Removed::Mount) {
            for pin in turn.pins.iter().rev() {
                take(&pin.at)?;
            }
            for scratch in &order.scratch {
                take(&scratch.at)?;
            }
        }
        numbers.begin_anew()
    };
    taken().is_ok()
}

/// Makes what each program has for itself.
pub(super) fn make(order: &Order, turn: &TurnOrder, sources: &[OwnedFd]) -> Result<(), Refused> {
    if order.renewed {
        unless_removed(order, Removed::Mount, || make_scratch(order))?;
    }
    pin(order, turn, sources)
}

fn make_scratch(order: &Order) -> Result<(), Refused> {
    for one in &order.scratch {
        let place = || -> io::Result<OwnedFd> {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(openat(CWD, one.at.as_path(), flags, Mode::empty())?)
        };
        let made = scratch(one).and_then(|tree| Ok(move_mount(tree, c"", place()?, c"", ONTO)?));
        made.step(Step::Mount, format_args!("make {}", one.at))?;
    }
    Ok(())
}

/// Mounts what is pinned for a program over itself.
fn pin(order: &Order, turn: &TurnOrder, sources: &[OwnedFd]) -> Result<(), Refused> {
    if turn.pins.is_empty() {
        return Ok(());
    }
    if !order.renewed {
        return Err(Refused::new(Step::Protocol, "nothing was to be pinned"));
    }
    unless_removed(order, Removed::Mount, || {
        for pin in &turn.pins {
            let attributes = if pin.executable {
                ALWAYS | READ_ONLY
            } else {
                ALWAYS | READ_ONLY | NO_EXECUTION
            };
            let source = sources
                .get(pin.source)
                .ok_or(io::ErrorKind::NotFound.into());
            let pinned = source
                .and_then(|source| tree::at(pin.at.as_path(), source))
                .and_then(|found| {
                    let tree = tree::clone(&found, attributes)?;
                    Ok(move_mount(tree, c"", found, c"", ONTO)?)
                });
            pinned.map_err(|error| {
                let step = of_plan(&error, Step::Mount);
                Refused::new(step, format_args!("pin {}: {error}", pin.at))
            })?;
        }
        Ok(())
    })
}

/// Takes the mount away that lies there: in use it stays, and that is an error.
fn take(at: &InsidePath) -> io::Result<()> {
    Ok(unmount(at.as_path(), UnmountFlags::NOFOLLOW)?)
}
