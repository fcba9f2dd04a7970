//! Process 1 of a jail. It builds the root and starts the program, and when it ends, everything in the jail ends. Then it
//! ends itself, or starts the next program if there may be one.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use rustix::stdio::stdin;
use rustix::thread::CapabilitySet;

use super::numbers::Numbers;
use super::program::{self, Restrictions};
use super::renewal;
use super::root::{self, Base};
use super::{connects, filter, grace, privileges, relay, system, unless_removed};
use crate::order::{Answer, Order, TurnOrder};
use crate::outcome::{How, InStep, Refused, Step, Usage};
use crate::path::InsidePath;
use crate::weakening::{Removed, Without};
use crate::wire;

/// Processes of the jail, or of the same user in its user namespace, that are not the program's: launcher and init.
pub(super) const OWN_PROCESSES: u64 = 2;

/// Builds the jail, runs the program in it, and reports.
pub(super) fn run(without: &Without) -> Result<(), Refused> {
    // With the launcher this process dies, and with it the pid namespace, whatever it may be doing.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .step(Step::Pid, "die with the launcher")?;
    // What most plans have alike, while there is none. What goes wrong with it does so again with the plan.
    let ahead = without.keeps(Removed::Mount)
        && !wire::readable(stdin(), Some(Instant::now())).unwrap_or(true);
    let base = ahead.then(Base::usual).and_then(Result::ok);
    let usual = ahead.then(filter::Usual::new).and_then(Result::ok);
    let numbers = (ahead && without.keeps(Removed::Pid)).then(Numbers::open);
    let (order, descriptors) =
        wire::receive_message::<Order>(stdin(), None).step(Step::Protocol, "receive the plan")?;
    unless_removed(&order, Removed::Mount, || {
        root::build(&order, &descriptors, base)
    })?;
    let returned = order.returned.as_ref().map(open_returned).transpose()?;
    // For process 1 of a jail's own pid namespace alone: for any other they would be those of the host.
    let numbers = match numbers {
        None if order.keeps(Removed::Pid) => Some(Numbers::open()),
        numbers => numbers,
    };
    if let Some(numbers) = &numbers {
        numbers.limit(&order);
    }
    let ended = system::child_descriptor().step(Step::Pid, "watch for children")?;
    if order.relay {
        relay::start()?;
    }
    let supervisor = if order.unix_sockets && order.keeps(Removed::Seccomp) {
        Some(connects::start(&order)?)
    } else {
        None
    };
    // Init's own, and so all programs': none is given to them that they would have to drop, but for what mounts are made
    // anew with, between them.
    unless_removed(&order, Removed::Privileges, || {
        privileges::drop_all_but(if order.renewed {
            CapabilitySet::SYS_ADMIN
        } else {
            CapabilitySet::empty()
        })
    })?;
    renewal::make(&order, &order.turn, &descriptors)?;
    let mut restrictions = Restrictions::new(&order, usual)?;
    let held = Held {
        ended,
        numbers,
        returned,
    };
    let run = |turn: &TurnOrder, descriptors, supervisor, restrictions: &Restrictions| {
        run_one(&order, turn, descriptors, supervisor, restrictions, &held)
    };
    let mut kept = run(&order.turn, descriptors, supervisor, &restrictions)?;
    while kept {
        let received = wire::receive_message::<TurnOrder>(stdin(), None);
        let (turn, descriptors) = match received {
            Ok(received) => received,
            // The parent wants no other, or is gone.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(Refused::new(Step::Protocol, error)),
        };
        renewal::make(&order, &turn, &descriptors)?;
        restrictions.renew(&order, &turn)?;
        kept = run(&turn, descriptors, None, &restrictions)?;
    }
    Ok(())
}

/// What init has for all programs.
struct Held {
    /// Readable when a child has ended.
    ended: OwnedFd,
    numbers: Option<Numbers>,
    /// The directory that goes back to the parent.
    returned: Option<OwnedFd>,
}

/// The directory that goes back to the parent, opened while nobody can have changed its mode. It is closed on `execve`.
fn open_returned(directory: &InsidePath) -> Result<OwnedFd, Refused> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(directory.as_path(), flags, Mode::empty())
        .step(Step::Mount, format_args!("open {directory}"))
}

/// Runs one program to its end and reports; `false` if none can follow, as the parent knows then.
fn run_one(
    order: &Order,
    turn: &TurnOrder,
    descriptors: Vec<OwnedFd>,
    supervisor: Option<OwnedFd>,
    restrictions: &Restrictions,
    held: &Held,
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
            let how = supervise(order, turn.wall, program, &held.ended)
                .step(Step::Pid, "supervise the program")?;
            let mut kept = order.several;
            if kept {
                require_nobody(order).step(Step::Pid, "end the program")?;
            }
            if kept && order.renewed {
                let numbers = held.numbers.as_ref();
                kept = numbers.is_some_and(|numbers| renewal::clear(order, turn, numbers));
            }
            let (cpu, peak_memory_bytes) = system::children_usage();
            let ended = Answer::Ended {
                how,
                usage: Usage {
                    cpu: cpu.saturating_sub(cpu_before),
                    peak_memory_bytes,
                },
                kept,
            };
            // Nobody is left who could change anything in it.
            let directory: Vec<_> = held.returned.iter().map(AsFd::as_fd).collect();
            let _ = wire::send_message(stdin(), &ended, &directory);
            Ok(kept)
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
