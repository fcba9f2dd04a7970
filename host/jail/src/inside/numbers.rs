//! The numbers of processes in the jail's pid namespace: the greatest one, and which comes next.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags, openat};

use super::init::OWN_PROCESSES;
use super::tree;
use crate::order::Order;
use crate::weakening::Removed;

/// The kernel gives out numbers below this only once.
const RESERVED_PIDS: u64 = 300;

/// Files of the kernel, which process 1 has and nobody else in the jail.
pub(super) struct Numbers {
    /// The greatest number. None where that is the host's.
    most: Option<File>,
    /// The number that was given out last.
    last: Option<File>,
}

impl Numbers {
    /// To be called in the pid namespace.
    pub(super) fn open() -> Self {
        // A container that covers parts of `/proc` refuses the mount.
        let Ok(proc) = tree::whole_proc() else {
            tracing::debug!("no numbers of processes for the jail");
            return Self {
                most: None,
                last: None,
            };
        };
        Self {
            most: pids_are_per_namespace()
                .then(|| file(&proc, "pid_max").ok())
                .flatten(),
            last: file(&proc, "ns_last_pid").ok(),
        }
    }

    /// A hard bound for processes where there is none else: for the user root the kernel does not enforce
    /// `RLIMIT_NPROC`. Linux 6.14 and later have a greatest number for each pid namespace; before that the file is the
    /// *host's*, which root's user could write, and must not be touched. Where it is not there, sampling alone counts.
    pub(super) fn limit(&self, order: &Order) {
        let (Some(most), Some(processes)) = (&self.most, order.limits.processes) else {
            return;
        };
        if !order.keeps(Removed::Rlimits) || !order.keeps(Removed::Pid) {
            return;
        }
        // Above the reserved numbers, which are given out once, there are as many as processes are allowed.
        let number = RESERVED_PIDS
            .saturating_add(processes)
            .saturating_add(OWN_PROCESSES)
            .saturating_add(order.own_tasks());
        if let Err(error) = most.write_all_at(number.to_string().as_bytes(), 0) {
            tracing::debug!(%error, "no pid_max for the jail");
        }
    }

    /// Lets the next process have the number after this one, as the first one had.
    ///
    /// # Errors
    /// The kernel does not let it.
    pub(super) fn begin_anew(&self) -> io::Result<()> {
        let last = self.last.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        // Only what is written at the beginning counts.
        last.write_all_at(b"1", 0)
    }
}

fn file(proc: impl AsFd, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(openat(proc, format!("sys/kernel/{name}"), flags, Mode::empty())?.into())
}

fn pids_are_per_namespace() -> bool {
    let system = rustix::system::uname();
    let mut numbers = system
        .release()
        .to_str()
        .unwrap_or("")
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 14)
}
