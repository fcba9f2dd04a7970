//! The namespaces.

use std::fs;
use std::io;

use rustix::process::{DumpableBehavior, getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::system;
use crate::outcome::{InStep, Refused, Step};
use crate::weakening::{Removed, Without};

/// The only user and group of the jail.
pub(super) const NOBODY: u32 = 65534;

/// Enters new namespaces; the pid namespace begins with the next child.
pub(super) fn enter(without: &Without) -> Result<(), Refused> {
    // Should the kernel run out of memory, by what no sampling sees either, it is this jail that it ends.
    fs::write("/proc/self/oom_score_adj", "1000")
        .step(Step::Memory, "offer the jail to the kernel's OOM killer")?;
    // Groups of root's session would stay valid for files of the host. An ordinary user may not drop its own.
    let _ = rustix::thread::set_thread_groups(&[]);
    let (user, group) = (geteuid(), getegid());
    let mut namespaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWUTS;
    for (layer, flag) in [
        (Removed::Pid, UnshareFlags::NEWPID),
        (Removed::Net, UnshareFlags::NEWNET),
        (Removed::Ipc, UnshareFlags::NEWIPC),
    ] {
        if without.keeps(layer) {
            namespaces |= flag;
        }
    }
    system::unshare(namespaces | UnshareFlags::NEWCGROUP)
        .or_else(|error| match error.raw_os_error() {
            // The cgroup namespace only where the kernel has it.
            Some(libc::EINVAL) => system::unshare(namespaces),
            _ => Err(error),
        })
        .step(Step::Userns, "unshare the namespaces")?;
    // Without this the group map is refused to an ordinary user, and a group could be dropped that forbids something.
    map("setgroups", "deny")?;
    map("uid_map", &format!("{NOBODY} {} 1", user.as_raw()))?;
    map("gid_map", &format!("{NOBODY} {} 1", group.as_raw()))?;
    // The host's name says where one is.
    rustix::system::sethostname(b"jail").step(Step::Userns, "set the host name")?;
    // Only now: the files above belong to root for a process that is not dumpable. From here on nothing of the same
    // user can trace the launcher or init, or open their `/proc` entries.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .step(Step::Privileges, "not dumpable")
}

fn map(file: &str, line: &str) -> Result<(), Refused> {
    let written: io::Result<()> = fs::write(format!("/proc/self/{file}"), line);
    written.step(Step::Userns, format_args!("write {file}"))
}
