//! Process 1 of a jail. It builds the root and starts the program, and when it ends, everything in the jail ends. Then it
//! ends itself, or starts the next program if there may be one.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use rustix::stdio::stdin;

use super::program::{self, Restrictions};
use super::{connects, grace, privileges, relay, root, system, tree, unless_removed};
use crate::order::{Answer, Order, TurnOrder};
use crate::outcome::{How, InStep, Refused, Step, Usage};
use crate::weakening::Removed;
use crate::wire;

/// The kernel gives out numbers below this only once.
const RESERVED_PIDS: u64 = 300;

/// Processes of the jail, or of the same user in its user namespace, that are not the program's: launcher and init.
pub(super) const OWN_PROCESSES: u64 = 2;

/// Builds the jail, runs the program in it, and reports.
pub(super) fn run() -> Result<(), Refused> {
    // With the launcher this process dies, and with it the pid namespace, whatever it may be doing.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .step(Step::Pid, "die with the launcher")?;
    let (order, descriptors) =
        wire::receive_message::<Order>(stdin(), None).step(Step::Protocol, "receive the plan")?;
    unless_removed(&order, Removed::Mount, || root::build(&order, &descriptors))?;
    limit_pids(&order);
    let ended = system::child_descriptor().step(Step::Pid, "watch for children")?;
    if order.relay {
        relay::start()?;
    }
    let supervisor = if order.unix_sockets && order.keeps(Removed::Seccomp) {
        Some(connects::start(&order)?)
    } else {
        None
    };
    // Init's own, and so all programs': none is given to them that they would have to drop.
    unless_removed(&order, Removed::Privileges, privileges::drop_all)?;
    let restrictions = Restrictions::new(&order)?;
    let run = |turn: &TurnOrder, descriptors, supervisor| {
        run_one(&order, turn, descriptors, supervisor, &restrictions, &ended)
    };
    let mut executed = run(&order.turn, descriptors, supervisor)?;
    while executed && order.several {
        executed = match wire::receive_message::<TurnOrder>(stdin(), None) {
            Ok((turn, descriptors)) => run(&turn, descriptors, None)?,
            // The parent wants no other, or is gone.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(Refused::new(Step::Protocol, error)),
        };
    }
    Ok(())
}

/// Runs one program to its end and reports; `false` if it could not be executed, as the parent knows then.
fn run_one(
    order: &Order,
    turn: &TurnOrder,
    descriptors: Vec<OwnedFd>,
    supervisor: Option<OwnedFd>,
    restrictions: &Restrictions,
    ended: &OwnedFd,
) -> Result<bool, Refused> {
    let mut descriptors: Vec<_> = descriptors.into_iter().map(Some).collect();
    let streams = turn
        .streams
        .map(|index| descriptors.get_mut(index?).and_then(Option::take));
    // What was mounted is not needed any more, and nobody else gets it.
    drop(descriptors);
    let (cpu_before, _) = system::children_usage();
    let (report, reported) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .step(Step::Exec, "socket pair")?;
    let Some(program) = system::fork().step(Step::Exec, "fork")? else {
        drop(reported);
        let failure = program::become_program(order, turn, streams, supervisor, restrictions);
        // Init answers for this one; that it is gone means that this process is about to be.
        let _ = wire::send_message(&report, &failure, &[]);
        std::process::exit(1);
    };
    // Else the output would have no end while init lives.
    drop((report, streams, supervisor));
    // What only the program keeps, in the tests that show what it is for; init has it no longer when others follow.
    if !order.keeps(Removed::Privileges) && std::ptr::eq(turn, &order.turn) {
        privileges::drop_all()?;
    }
    match wire::receive_message::<Answer>(reported, None) {
        Ok((failure, _)) => {
            super::answer(&failure);
            Ok(false)
        }
        // Closed by `execve`, or by the program's death shortly before it, which its status will tell.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            super::answer(&Answer::Started);
            let how = supervise(order, turn.wall, program, ended)
                .step(Step::Pid, "supervise the program")?;
            if order.several {
                require_nobody(order).step(Step::Pid, "end the program")?;
            }
            let (cpu, peak_memory_bytes) = system::children_usage();
            super::answer(&Answer::Ended {
                how,
                usage: Usage {
                    cpu: cpu.saturating_sub(cpu_before),
                    peak_memory_bytes,
                },
            });
            Ok(true)
        }
        Err(error) => Err(Refused::new(Step::Exec, error)),
    }
}

/// Waits for the end of the program, of its time, or of the parent's interest; then nothing of the jail is left.
fn supervise(
    order: &Order,
    wall: Option<Duration>,
    program: Pid,
    ended: &OwnedFd,
) -> io::Result<How> {
    let deadline = wall.and_then(|wall| Instant::now().checked_add(wall));
    let mut how = None;
    while how.is_none() {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left
            .map(Timespec::try_from)
            .transpose()
            .map_err(io::Error::other)?;
        let socket = stdin();
        let mut watched = [
            PollFd::new(ended, PollFlags::IN),
            PollFd::new(&socket, PollFlags::IN),
        ];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(0) => how = Some(How::TimedOut),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [child, parent] = watched.map(|descriptor| !descriptor.revents().is_empty());
        if child {
            // One signal stands for any number of children.
            let _ = rustix::io::read(ended, &mut [0; 512]);
            while let Some((child, status)) = waited(wait(WaitOptions::NOHANG))? {
                if child == program {
                    how = how.or_else(|| end_of(status));
                }
            }
        }
        if parent {
            // The parent writes nothing after the plan: this is the end of the stream, by `kill` or by its death.
            break;
        }
    }
    grace::give(order, how, ended)?;
    kill_all(order, program)?;
    while let Some((child, status)) = waited(wait(WaitOptions::empty()))? {
        if child == program {
            how = how.or_else(|| end_of(status));
        }
    }
    how.ok_or_else(|| io::Error::other("the program has no status"))
}

/// Kills whatever has not ended, and so everything that the program has left behind, in whatever session.
fn kill_all(order: &Order, program: Pid) -> io::Result<()> {
    let killed = if order.keeps(Removed::Pid) {
        system::kill_all()
    } else {
        kill_process(program, Signal::KILL).map_err(io::Error::from)
    };
    match killed {
        // Nobody is left.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        killed => killed,
    }
}

/// Of a program that another one follows no process is left. That it was killed and waited for is one thing, that the
/// kernel finds nobody is another.
fn require_nobody(order: &Order) -> io::Result<()> {
    if order.keeps(Removed::Pid) && system::somebody_is_left()? {
        return Err(io::Error::other("a process is left"));
    }
    Ok(())
}

/// A hard bound for processes where there is none else: for the user root the kernel does not enforce
/// `RLIMIT_NPROC`. Linux 6.14 and later have a greatest number for each pid namespace; before that the file is the
/// *host's*, which root's user could write, and must not be touched. Where it is not there, sampling alone counts.
fn limit_pids(order: &Order) {
    let Some(processes) = order.limits.processes else {
        return;
    };
    if !order.keeps(Removed::Rlimits) || !order.keeps(Removed::Pid) || !pids_are_per_namespace() {
        return;
    }
    // Above the reserved numbers, which are given out once, there are as many as processes are allowed.
    let most = RESERVED_PIDS
        .saturating_add(processes)
        .saturating_add(OWN_PROCESSES)
        .saturating_add(order.own_tasks());
    let written = tree::whole_proc().and_then(|proc| {
        let file = openat(
            proc,
            "sys/kernel/pid_max",
            OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(rustix::io::write(file, most.to_string().as_bytes())?)
    });
    if let Err(error) = written {
        // A container that covers parts of `/proc` refuses the mount.
        tracing::debug!(%error, "no pid_max for the jail");
    }
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

fn waited(
    result: rustix::io::Result<Option<(Pid, WaitStatus)>>,
) -> io::Result<Option<(Pid, WaitStatus)>> {
    match result {
        Err(Errno::CHILD) => Ok(None),
        result => Ok(result?),
    }
}

fn end_of(status: WaitStatus) -> Option<How> {
    let number = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    let exited = status
        .exit_status()
        .map(|status| How::Exited(number(status)));
    exited.or_else(|| {
        status
            .terminating_signal()
            .map(|signal| How::Signaled(number(signal)))
    })
}
