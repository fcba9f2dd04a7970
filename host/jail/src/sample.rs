//! Memory and number of the processes of a jail, seen from outside.
//!
//! There is no cgroup to ask in this version, so the processes are followed from the launcher down, through
//! `/proc/PID/task/*/children`. Orphans belong to the jail's init, so all are below it. The list is not a snapshot: a
//! process that forks and exits all the time can be missed once, memory that stays cannot. The hard bounds for
//! processes are `RLIMIT_NPROC` and the `pid_max` of the pid namespace.

use std::collections::HashSet;
use std::fs;
use std::io;

/// More processes than any jail has: the walk ends here.
const WALKED: usize = 8192;

#[derive(Debug)]
pub(super) struct Sampler {
    init: u32,
    /// Processes and threads below init that are not the program's.
    own: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Anonymous and shared memory, swapped out or not, and the page tables for it.
    pub(super) memory_bytes: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

impl Sampler {
    /// `None`: the jail has ended already. The launcher is a child that nobody has waited for, so that its entry is
    /// there in any case: not to find it means that this system cannot show what is in a jail.
    pub(super) fn new(launcher: u32, own: u64) -> io::Result<Option<Self>> {
        require_own_proc()?;
        let list = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"))?;
        let init = list
            .split_ascii_whitespace()
            .next()
            .and_then(|number| number.parse().ok());
        Ok(init.map(|init| Self { init, own }))
    }

    /// One look at everything below init.
    pub(super) fn sample(&self) -> io::Result<Sample> {
        let mut sum = Sample::default();
        let mut seen = HashSet::new();
        let mut open = below(self.init)?;
        while let Some(process) = open.pop() {
            if !seen.insert(process) || seen.len() > WALKED {
                continue;
            }
            let Some(status) = gone_is_none(fs::read_to_string(format!("/proc/{process}/status")))?
            else {
                continue;
            };
            let one = parse(&status);
            let memory = match one.memory_bytes {
                None if one.tasks > 1 => behind_leader(process)?,
                memory => memory.unwrap_or(0),
            };
            sum.memory_bytes = sum.memory_bytes.saturating_add(memory);
            sum.tasks = sum.tasks.saturating_add(one.tasks);
            // Each thread has its own children.
            open.extend(if one.tasks > 1 {
                below(process)?
            } else {
                children(process, process)?
            });
        }
        sum.tasks = sum.tasks.saturating_sub(self.own);
        Ok(sum)
    }
}

/// The `/proc` of another pid namespace shows other processes under the numbers that this one knows.
fn require_own_proc() -> io::Result<()> {
    let shown = fs::read_link("/proc/self")?;
    if shown.to_str().and_then(|number| number.parse().ok()) == Some(std::process::id()) {
        Ok(())
    } else {
        Err(io::Error::other("/proc belongs to another pid namespace"))
    }
}

/// Memory of a process whose first thread has ended: the process's own entry shows none then, those of the other
/// threads do.
fn behind_leader(process: u32) -> io::Result<u64> {
    for thread in threads(process)? {
        let status = gone_is_none(fs::read_to_string(format!(
            "/proc/{process}/task/{thread}/status"
        )))?;
        if let Some(memory) = status.and_then(|status| parse(&status).memory_bytes) {
            return Ok(memory);
        }
    }
    Ok(0)
}

/// Children of all threads of a process.
fn below(process: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in threads(process)? {
        found.extend(children(process, thread)?);
    }
    Ok(found)
}

fn threads(process: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    let Some(entries) = gone_is_none(fs::read_dir(format!("/proc/{process}/task")))? else {
        return Ok(found);
    };
    for entry in entries {
        // The process may end while its directory is read.
        let Some(entry) = gone_is_none(entry)? else {
            continue;
        };
        found.extend(
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<u32>().ok()),
        );
    }
    Ok(found)
}

fn children(process: u32, thread: u32) -> io::Result<Vec<u32>> {
    let list = gone_is_none(fs::read_to_string(format!(
        "/proc/{process}/task/{thread}/children"
    )))?;
    Ok(list
        .unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|number| number.parse().ok())
        .collect())
}

/// A process that has ended is not an error; a `/proc` that cannot be read is one.
fn gone_is_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What one `status` file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status {
    /// `None`: it does not say.
    memory_bytes: Option<u64>,
    tasks: u64,
}

/// `RssAnon` and `RssShmem` are what the process has touched of its own; `VmSwap` is where that may have gone;
/// `VmPTE` stops the trick of mapping so much of nothing that the page tables are the memory.
fn parse(status: &str) -> Status {
    let mut found = Status {
        memory_bytes: None,
        tasks: 1,
    };
    for line in status.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let number = value
            .split_ascii_whitespace()
            .next()
            .and_then(|number| number.parse::<u64>().ok());
        match (name, number) {
            ("RssAnon" | "RssShmem" | "VmSwap" | "VmPTE", Some(kibibytes)) => {
                let so_far = found.memory_bytes.unwrap_or(0);
                found.memory_bytes = Some(so_far.saturating_add(kibibytes.saturating_mul(1024)));
            }
            ("Threads", Some(threads)) => found.tasks = threads,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Sampler, Status, parse};

    #[test]
    fn memory_is_anonymous_shared_swapped_and_page_tables() {
        let status = "Name:\tx\nVmPeak:\t 900 kB\nRssAnon:\t 100 kB\nRssFile:\t 700 kB\nRssShmem:\t 20 kB\nVmPTE:\t 4 kB\nVmSwap:\t 3 kB\nThreads:\t5\n";
        assert_eq!(
            parse(status),
            Status {
                memory_bytes: Some(127 * 1024),
                tasks: 5
            }
        );
    }

    #[test]
    fn a_process_without_memory_is_still_one() {
        assert_eq!(
            parse("Name:\tkernel or zombie\n"),
            Status {
                memory_bytes: None,
                tasks: 1
            }
        );
    }

    #[test]
    fn the_children_of_a_process_are_found() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let sampler = Sampler {
            init: std::process::id(),
            own: 0,
        };
        let sample = sampler.sample().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(sample.tasks >= 1 && sample.memory_bytes > 0, "{sample:?}");
    }
}
