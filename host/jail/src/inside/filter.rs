//! The system call filter: an allow-list; what is not on it answers `EPERM`.
//!
//! It is one program of four parts, each of which answers or goes on to the next: what comes by another way than this
//! architecture's own is killed; some calls answer an error on which libraries do the same by other calls; calls that
//! are allowed whatever their arguments are follow as ranges of numbers, because the kernel runs through the program
//! for every number when it is installed; and last, by `seccompiler`, calls with rules for their arguments. Arguments
//! that the kernel reads as 32 bits are compared as 32 bits, or a value with something in the upper half would pass.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_long};
use std::os::fd::OwnedFd;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::syscalls::{
    ARCHITECTURE, ARCHITECTURE_MODES, ARCHITECTURE_OPENS, MODES, OPENS, PLAIN, SCHEDULING,
};
use super::system;
use crate::order::Order;
use crate::outcome::{InStep, Refused, Step};

const STEP: Step = Step::Seccomp;

#[cfg(target_arch = "x86_64")]
const ARCH: (TargetArch, u32) = (TargetArch::x86_64, 0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCH: (TargetArch, u32) = (TargetArch::aarch64, 0xC000_00B7);

/// System calls of the x32 ABI, which x86-64 kernels may have besides their own, are the usual numbers with this bit:
/// a list that compares numbers would not see `ptrace` in them. Other architectures have no such numbers at all.
const X32: u32 = 0x4000_0000;

/// Namespaces that `clone` could make. `CLONE_NEWTIME` shares its bit with the exit signal and is for `clone3` only.
const NEW_NAMESPACES: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// The type of a socket without its flags (`SOCK_TYPE_MASK` of the kernel).
const SOCKET_TYPE: u64 = 0xf;

/// Calls that answer another error than the rest. What `clone3` and `openat2` are to do lies in memory, where no filter
/// sees it: as on older kernels, libraries use `clone` and `openat` then. `sendfile` leaves pages in a pipe that no
/// process shows: as for files that cannot do it, they read and write then.
const INSTEAD: [(c_long, c_int); 3] = [
    (libc::SYS_clone3, libc::ENOSYS),
    (libc::SYS_openat2, libc::ENOSYS),
    (libc::SYS_sendfile, libc::EINVAL),
];

/// Set-user-id and set-group-id. In a directory of the host a program could leave a file that is owned by hydrant's
/// user, and so a way to that user for everybody on the host.
const SET_ID: u64 = 0o6000;

/// Flags of `open` with which a file is made: `O_CREAT`, and what `O_TMPFILE` has besides `O_DIRECTORY`.
const CREATES: u64 = 0o100 | 0o20_000_000;

/// `ioctl` requests that reach past the descriptor: making a terminal the controlling one (`TIOCSCTTY`; the one that the
/// host gave is it before the filter is entered), typing into a terminal that an operator reads
/// (`TIOCSTI`, `TIOCLINUX`), taking over a console's output (`TIOCCONS`), loading line disciplines (`TIOCSETD`).
const NO_IOCTL: [u64; 5] = [0x540E, 0x5412, 0x541C, 0x541D, 0x5423];

/// The filter of a jail.
pub(super) struct Filter {
    program: BpfProgram,
    /// Whether calls of `connect` arrive at a listener.
    supervised: bool,
}

/// What of a plan decides which arguments calls may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    unix_sockets: bool,
    relay: bool,
    limited_memory: bool,
}

impl Kind {
    fn of(order: &Order) -> Self {
        Self {
            unix_sockets: order.unix_sockets,
            relay: order.relay,
            limited_memory: order.limits.memory_bytes.is_some(),
        }
    }
}

/// The part of a filter that takes long to make, for plans as most are.
pub(super) struct Usual(BpfProgram);

impl Usual {
    const KIND: Kind = Kind {
        unix_sockets: false,
        relay: false,
        limited_memory: true,
    };

    pub(super) fn new() -> Result<Self, Refused> {
        let program = conditional(Self::KIND).step(STEP, "make the filter")?;
        Ok(Self(program))
    }
}

impl Filter {
    pub(super) fn new(order: &Order, usual: Option<Usual>) -> Result<Self, Refused> {
        Ok(Self {
            program: program(order, usual).step(STEP, "make the filter")?,
            supervised: order.unix_sockets,
        })
    }

    /// Installs it. After this, only what it allows. Where the program may make Unix sockets, answers the descriptor on
    /// which its calls of `connect` arrive: see [`super::connects`].
    pub(super) fn install(&self) -> Result<Option<OwnedFd>, Refused> {
        if self.supervised {
            let notified = system::listen_to_filter(&self.program);
            return notified
                .map(Some)
                .step(STEP, "install the filter with a listener");
        }
        apply_filter(&self.program).step(STEP, "install the filter")?;
        Ok(None)
    }
}

fn program(order: &Order, usual: Option<Usual>) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut program = guard().to_vec();
    program.extend(instead());
    if order.unix_sockets {
        program.extend(supervised());
    }
    program.extend(unconditional(order.several));
    let kind = Kind::of(order);
    program.extend(match usual {
        Some(Usual(usual)) if kind == Usual::KIND => usual,
        _ => conditional(kind)?,
    });
    Ok(program)
}

// Instructions: `jt` and `jf` are how many to skip when the comparison holds and when it does not.
const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const ABOVE: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// Kills what comes by another way, and leaves the number of the call loaded.
const fn guard() -> [sock_filter; 6] {
    const NUMBER_OFFSET: u32 = 0;
    const ARCHITECTURE_OFFSET: u32 = 4;
    [
        instruction(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        instruction(EQUAL, 1, 0, ARCH.1),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(LOAD, 0, 0, NUMBER_OFFSET),
        instruction(AT_LEAST, 0, 1, X32),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
    ]
}

/// Refuses the calls of `INSTEAD`.
fn instead() -> Vec<sock_filter> {
    let answer = |(number, errno): &(c_long, c_int)| {
        let answer = libc::SECCOMP_RET_ERRNO | errno.unsigned_abs();
        let number = u32::try_from(*number).ok()?;
        Some([
            instruction(EQUAL, 0, 1, number),
            instruction(RETURN, 0, 0, answer),
        ])
    };
    INSTEAD.iter().filter_map(answer).flatten().collect()
}

/// Hands `connect` over to [`super::connects`]: which socket is meant lies in memory, where no filter sees it.
fn supervised() -> Vec<sock_filter> {
    let number = u32::try_from(libc::SYS_connect).ok();
    let hand_over = |number| {
        [
            instruction(EQUAL, 0, 1, number),
            instruction(RETURN, 0, 0, libc::SECCOMP_RET_USER_NOTIF),
        ]
    };
    number.map(hand_over).into_iter().flatten().collect()
}

/// Allows the calls of the lists. A program that others follow cannot change how init is scheduled, from which they
/// inherit that.
fn unconditional(several: bool) -> Vec<sock_filter> {
    let scheduling = if several { SCHEDULING } else { &[] };
    let ranges = ranges(
        PLAIN
            .iter()
            .chain(ARCHITECTURE)
            .filter(|number| !scheduling.contains(number))
            .filter_map(|number| u32::try_from(*number).ok())
            .collect(),
    );
    let allow = |(first, last)| {
        [
            instruction(AT_LEAST, 0, 2, first),
            instruction(ABOVE, 1, 0, last),
            instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ]
    };
    ranges.into_iter().flat_map(allow).collect()
}

/// The smallest number of ranges with exactly these numbers.
fn ranges(numbers: BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Calls that depend on their arguments; and the end: everything else is refused.
fn conditional(kind: Kind) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let no_namespaces = bits(0, u64::from(NEW_NAMESPACES.unsigned_abs()), 0)?;
    rules.insert(libc::SYS_clone, vec![all([no_namespaces])?]);
    let requests = NO_IOCTL
        .into_iter()
        .map(|request| not(1, request))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(requests)?]);
    // A lease on a file, or a delegation (Linux 6.19), makes the host wait that opens it.
    let (lease, delegation) = (libc::F_SETLEASE, libc::F_SETLEASE + 16);
    rules.insert(
        libc::SYS_fcntl,
        vec![all([not(1, number(lease))?, not(1, number(delegation))?])?],
    );
    // Out-of-band data on Unix sockets, which nobody uses, has been a way into the kernel (CVE-2025-38236).
    for (call, flags) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        rules.insert(call, vec![all([bits(flags, number(libc::MSG_OOB), 0)?])?]);
    }
    rules.insert(libc::SYS_mmap, mappings(kind.limited_memory)?);
    // 0 is what every program has; the other value asks.
    rules.insert(
        libc::SYS_personality,
        vec![all([is(0, 0)?])?, all([is(0, 0xffff_ffff)?])?],
    );
    // Of oneself only: init and the relay have the same user, and are not to be starved by a limit.
    rules.insert(libc::SYS_prlimit64, vec![all([is(0, 0)?])?]);
    rules.insert(libc::SYS_socket, sockets(kind.unix_sockets, kind.relay)?);
    rules.insert(libc::SYS_socketpair, pairs()?);
    for (call, mode) in MODES.iter().chain(ARCHITECTURE_MODES) {
        rules.insert(*call, vec![all([bits(*mode, SET_ID, 0)?])?]);
    }
    for (call, flags) in OPENS.iter().chain(ARCHITECTURE_OPENS) {
        // Without these flags no file is made, and the register of the mode may hold anything.
        let nothing_made = bits(*flags, CREATES, 0)?;
        rules.insert(
            *call,
            vec![
                all([nothing_made])?,
                all([bits(flags.saturating_add(1), SET_ID, 0)?])?,
            ],
        );
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, ARCH.0)?.try_into()
}

/// Which mappings. Shared memory without a file belongs to nobody: a program can touch all of it in turn and never have
/// more than a little of it in a place where it is counted. (`/dev/zero` would be such memory, too: see `layout`.)
fn mappings(limited: bool) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    if !limited {
        return Ok(Vec::new());
    }
    const TYPE: u64 = 0xf; // MAP_TYPE of the kernel
    const DROPPABLE: u64 = 0x8; // MAP_DROPPABLE, which the kernel takes back when it needs it
    Ok(vec![
        all([bits(3, number(libc::MAP_ANONYMOUS), 0)?])?,
        all([bits(3, TYPE, number(libc::MAP_PRIVATE))?])?,
        all([bits(3, TYPE, DROPPABLE)?])?,
    ])
}

/// Which sockets can be made. A Unix socket could be connected to any socket of the host that lies in a mounted
/// directory, for which neither mounts nor Landlock (before ABI 9) know a rule: there are none, unless the plan has
/// some to connect to, and then `connect` is supervised. No datagram sockets: they need no `connect` to reach a name.
/// With egress TCP, and neither UDP nor the MPTCP that Landlock does not see.
fn sockets(unix_sockets: bool, relay: bool) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut rules = Vec::new();
    if unix_sockets {
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            rules.push(all([
                is(0, number(libc::AF_UNIX))?,
                bits(1, SOCKET_TYPE, number(kind))?,
            ])?);
        }
    }
    if relay {
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in [0, libc::IPPROTO_TCP] {
                rules.push(all([
                    is(0, number(family))?,
                    bits(1, SOCKET_TYPE, number(libc::SOCK_STREAM))?,
                    is(2, number(protocol))?,
                ])?);
            }
        }
    }
    if rules.is_empty() {
        // An empty list would allow everything: no family has this number.
        rules.push(all([is(0, 0xffff_ffff)?])?);
    }
    Ok(rules)
}

/// Pairs are connected to each other. A datagram socket can still send to any name, the others cannot.
fn pairs() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    [libc::SOCK_STREAM, libc::SOCK_SEQPACKET]
        .into_iter()
        .map(|kind| {
            all([
                is(0, number(libc::AF_UNIX))?,
                bits(1, SOCKET_TYPE, number(kind))?,
            ])
        })
        .collect()
}

fn number(constant: c_int) -> u64 {
    u64::from(constant.unsigned_abs())
}

fn all<const N: usize>(
    conditions: [SeccompCondition; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into())
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn bits(
    argument: u8,
    mask: u64,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(mask),
        value,
    )
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn ranges_hold_exactly_the_numbers() {
        assert_eq!(ranges([5, 1, 2, 3, 7].into()), [(1, 3), (5, 5), (7, 7)]);
        assert_eq!(ranges([].into()), []);
    }
}
