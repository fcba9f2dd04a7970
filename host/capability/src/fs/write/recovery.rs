//! What becomes of the journal of a host that was killed.
//!
//! Where targets may have been touched, all that is left to do is done; where not all was staged, or one change had
//! failed, all is undone. A target that somebody else has changed since is left alone. A mount that is not there waits,
//! and its journal with it; one that is another directory by now is not touched.

use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::FsError;
use super::directories::{Directories, Syncing};
use super::journals::Locked;
use super::record::{ChangeRecord, MountRecord, Phase, Record};
use super::steps::Steps;
use crate::Call;
use crate::fs::walk;
use hydrant_policy::{MountHandle, VirtualPath};

/// What can be done about a journal.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// Its work is done.
    Done,
    /// It has to be tried again later.
    Later,
    /// Nothing, ever.
    Unusable,
}

/// Works off all journals of which the call may make every change: it does nothing on behalf of a call that could do more.
pub(super) fn recover(call: &Call, locked: &Locked, steps: &Steps) {
    for name in locked.names() {
        let outcome = match locked.load(&name) {
            Ok(Some(record)) if may_make(call, &record) => work_off(call, &record, steps),
            Ok(Some(_)) => continue,
            Ok(None) => Outcome::Unusable,
            Err(_) => Outcome::Later,
        };
        match outcome {
            Outcome::Done => {
                steps.mark();
                locked.remove(&name);
            }
            Outcome::Later => {
                tracing::warn!(
                    name,
                    "changes of files that were interrupted wait to be finished"
                );
            }
            Outcome::Unusable => locked.set_aside(&name),
        }
    }
}

/// Whether the call's policy allows each of the changes.
fn may_make(call: &Call, record: &Record) -> bool {
    let mounts = call.grant.mounts();
    record.changes.iter().all(|change| {
        let mount = record.mounts.get(change.mount);
        let Some(mount) = mount.and_then(MountRecord::real) else {
            return false;
        };
        let target = mount.join(&change.parent).join(&change.name);
        let allows = |mount: &MountHandle| {
            let below = target.strip_prefix(mount.real()).ok()?.to_str()?;
            let path = VirtualPath::parse(&format!("{}/{below}", mount.at().as_str())).ok()?;
            let leave = call.grant.write(&path).ok()?;
            Some(leave.mount.real().join(&leave.relative) == target)
        };
        mounts.iter().any(|mount| allows(mount) == Some(true))
    })
}

fn work_off(call: &Call, record: &Record, steps: &Steps) -> Outcome {
    let mut mounts = Vec::with_capacity(record.mounts.len());
    for mount in &record.mounts {
        match open_mount(mount) {
            Ok(Some(directory)) => mounts.push(directory),
            Ok(None) => return Outcome::Unusable,
            Err(_) => return Outcome::Later,
        }
    }
    let mut directories = Directories::new(mounts, Arc::clone(&call.own));
    let mut done = true;
    // Undone in reverse, finished in the order given.
    let order: Box<dyn Iterator<Item = &ChangeRecord>> = match record.phase {
        Phase::Commit => Box::new(record.changes.iter()),
        Phase::Staging | Phase::Undo => Box::new(record.changes.iter().rev()),
    };
    for change in order {
        done &= work_off_change(&mut directories, change, record.phase, steps);
    }
    if record.phase != Phase::Commit {
        for made in record.made.iter().rev() {
            directories.unmake(made.mount, &made.path, steps);
        }
    }
    if done && directories.sync(Syncing::of(record.changes.len())).is_ok() {
        Outcome::Done
    } else {
        Outcome::Later
    }
}

/// Whether nothing is left to do.
fn work_off_change(
    directories: &mut Directories,
    change: &ChangeRecord,
    phase: Phase,
    steps: &Steps,
) -> bool {
    let directory = match directories.find(change.mount, &change.parent) {
        Ok(directory) => directory,
        // It was not made yet, or somebody has removed it with all in it.
        Err(FsError::NotFound | FsError::Symlink) => return true,
        Err(_) => return false,
    };
    // What became hydrant's own since, as the file of a policy, stays as it is.
    if phase != Phase::Staging && directories.check_name(directory, &change.name).is_err() {
        return false;
    }
    let Ok(handle) = directories.handle(directory) else {
        return false;
    };
    let directory = std::os::fd::AsFd::as_fd(&handle);
    let outcome = match phase {
        Phase::Staging => change.discard(directory, steps),
        Phase::Commit => change.finish(directory, steps),
        Phase::Undo => change.undo(directory, steps),
    };
    outcome.is_ok()
}

/// The directory of a mount; none if it is another one by now.
///
/// # Errors
/// It cannot be opened, or is not there.
fn open_mount(mount: &MountRecord) -> Result<Option<OwnedFd>, Errno> {
    let Some(real) = mount.real() else {
        return Ok(None);
    };
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut handle = rustix::fs::openat(CWD, Path::new("/"), walk::PASS | flags, Mode::empty())?;
    for component in real.components() {
        let name = match component {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            _ => return Ok(None),
        };
        handle = match rustix::fs::openat(&handle, name, walk::PASS | flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            opened => opened?,
        };
    }
    let handle = rustix::fs::openat(&handle, ".", OFlags::RDONLY | flags, Mode::empty())?;
    let same = mount.is(&MountRecord::of(&real, &handle)?);
    Ok(same.then_some(handle))
}
