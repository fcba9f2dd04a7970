//! Resource limits.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::init::OWN_PROCESSES;
use crate::order::Order;
use crate::outcome::{InStep, Refused, Step};

/// Processes and threads that the kernel counts with the program's: launcher, init, and their helpers.
fn own_processes(order: &Order) -> u64 {
    OWN_PROCESSES.saturating_add(order.own_tasks())
}

/// Lowers the limits, hard ones included: none can be raised again without privileges.
pub(super) fn set(order: &Order) -> Result<(), Refused> {
    let limits = &order.limits;
    // No core dump: one byte, because to a host that hands dumps to a program of its own (as root, with what the jailed
    // process had in memory as input) zero is no limit, and one is the value that turns that off (`core(5)`).
    lower(Resource::Core, Some(1), 0)?;
    // Message queues are memory that belongs to nobody.
    lower(Resource::Msgqueue, Some(0), 0)?;
    // The soft limit can be caught, and a second later the hard one cannot.
    lower(Resource::Cpu, limits.cpu_seconds, 1)?;
    lower(Resource::Fsize, limits.file_bytes, 0)?;
    lower(Resource::Nofile, limits.open_files, 0)?;
    // Not `AS`: node and go reserve more address space than they use.
    lower(Resource::Data, limits.memory_bytes, 0)?;
    // Counted in the jail's own user namespace, whatever else the user runs. Not enforced for root: see `limit_pids`.
    lower(
        Resource::Nproc,
        limits
            .processes
            .map(|processes| processes.saturating_add(own_processes(order))),
        0,
    )
}

fn lower(resource: Resource, limit: Option<u64>, grace: u64) -> Result<(), Refused> {
    let Some(limit) = limit else { return Ok(()) };
    let inherited = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let maximum = limit.saturating_add(grace).min(inherited);
    let new = Rlimit {
        current: Some(limit.min(maximum)),
        maximum: Some(maximum),
    };
    setrlimit(resource, new).step(Step::Rlimits, format_args!("{resource:?}"))?;
    // Some sandboxes answer success and do nothing.
    if getrlimit(resource) == new {
        Ok(())
    } else {
        Err(Refused::new(
            Step::Rlimits,
            format_args!("{resource:?} is not what was set"),
        ))
    }
}
