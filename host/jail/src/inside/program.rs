//! From init's child, which has no privileges any more, to the program. The rest is given up here in a fixed order:
//! Landlock, resource limits, seccomp last, then exec.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Mode, OFlags};
use rustix::process::ioctl_tiocsctty;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use rustix::termios::isatty;

use super::filter::{Filter, Usual};
use super::landlock::Domain;
use super::{connects, limits, privileges, system, unless_removed};
use crate::bytes::Bytes;
use crate::order::{Answer, Order, TurnOrder};
use crate::outcome::{InStep, Refused, Step};
use crate::path::InsidePath;
use crate::weakening::Removed;

/// What init works out once, and each program enters.
pub(super) struct Restrictions {
    domain: Option<Domain>,
    filter: Option<Filter>,
}

impl Restrictions {
    /// Of all programs of this jail, whose root stands.
    pub(super) fn new(order: &Order, usual: Option<Usual>) -> Result<Self, Refused> {
        let domain = domain(order, &order.program)?;
        let filter = order
            .keeps(Removed::Seccomp)
            .then(|| Filter::new(order, usual))
            .transpose()?;
        Ok(Self { domain, filter })
    }

    /// Of a program that follows another one: what the rules name may have been made anew, or is another program.
    pub(super) fn renew(&mut self, order: &Order, turn: &TurnOrder) -> Result<(), Refused> {
        if order.renewed || turn.program.is_some() {
            self.domain = domain(order, turn.program.as_ref().unwrap_or(&order.program))?;
        }
        Ok(())
    }
}

fn domain(order: &Order, program: &InsidePath) -> Result<Option<Domain>, Refused> {
    order
        .keeps(Removed::Landlock)
        .then(|| Domain::new(order, program))
        .transpose()
}

/// Does not return if the program has been executed.
pub(super) fn become_program(
    order: &Order,
    turn: &TurnOrder,
    streams: [Option<OwnedFd>; 3],
    supervisor: Option<OwnedFd>,
    restrictions: &Restrictions,
) -> Answer {
    match prepare(order, turn, streams, supervisor, restrictions) {
        Ok((program, arguments, environment)) => {
            let error = system::execute(&program, &arguments, &environment);
            Answer::NotExecutable {
                errno: error.raw_os_error().unwrap_or(libc::EINVAL),
            }
        }
        Err(refused) => Answer::Refused(refused),
    }
}

type Execution = (CString, Vec<CString>, Vec<CString>);

fn prepare(
    order: &Order,
    turn: &TurnOrder,
    streams: [Option<OwnedFd>; 3],
    supervisor: Option<OwnedFd>,
    restrictions: &Restrictions,
) -> Result<Execution, Refused> {
    let program = turn.program.as_ref().unwrap_or(&order.program);
    let program = CString::new(program.as_path().as_os_str().as_bytes())
        .step(Step::Exec, "the program's path")?;
    let arguments = strings(&turn.arguments).step(Step::Exec, "the arguments")?;
    let environment = strings(&turn.environment).step(Step::Exec, "the environment")?;
    // A group of its own: signals to a group reach its members in outer pid namespaces, too, and the launcher is there.
    rustix::process::setsid().step(Step::Exec, "make a session")?;
    connect(streams).step(Step::Exec, "connect the standard streams")?;
    if order.terminal {
        control_terminal();
    }
    rustix::process::chdir(order.directory.as_path())
        .step(Step::Plan, format_args!("enter {}", order.directory))?;
    system::reset_signals().step(Step::Exec, "reset signals")?;
    unless_removed(order, Removed::Descriptors, || {
        system::close_from(3, system::Closing::AtExec).step(Step::Exec, "close descriptors")
    })?;
    if order.renewed {
        // What init makes mounts anew with.
        unless_removed(order, Removed::Privileges, privileges::drop_rest)?;
    }
    if let Some(domain) = &restrictions.domain {
        domain.enter()?;
    }
    unless_removed(order, Removed::Rlimits, || limits::set(order))?;
    let listener = match &restrictions.filter {
        Some(filter) => filter.install()?,
        None => None,
    };
    connects::hand_over(supervisor, listener)?;
    Ok((program, arguments, environment))
}

/// The null device that is used for a stream that nobody gave is the jail's own (see `Streams`).
fn connect(streams: [Option<OwnedFd>; 3]) -> io::Result<()> {
    let [stdin, stdout, stderr] = streams;
    let given = |stream: Option<OwnedFd>, flags| match stream {
        Some(stream) => Ok(stream),
        None => rustix::fs::open("/dev/null", flags | OFlags::CLOEXEC, Mode::empty()),
    };
    // The socket to the parent is replaced here.
    dup2_stdin(given(stdin, OFlags::RDONLY)?)?;
    dup2_stdout(given(stdout, OFlags::WRONLY)?)?;
    dup2_stderr(given(stderr, OFlags::WRONLY)?)?;
    Ok(())
}

/// Makes the terminal that the host gave the one of the program's session, so that its keys and its end are signals. One
/// that belongs to another session already stays there.
fn control_terminal() {
    let streams = [stdin(), stdout(), stderr()];
    let terminal = streams.iter().find(|stream| isatty(stream));
    let _ = terminal.map(ioctl_tiocsctty);
}

fn strings(list: &[Bytes]) -> Result<Vec<CString>, std::ffi::NulError> {
    list.iter()
        .map(|bytes| CString::new(bytes.as_slice()))
        .collect()
}
