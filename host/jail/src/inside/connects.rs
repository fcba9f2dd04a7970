//! Connecting on behalf of a program that may make Unix sockets.
//!
//! A mounted directory of the host may hold sockets of the host, as Docker's, and neither mounts nor Landlock (before ABI
//! 9) know a rule for connecting to them. A filter cannot see which socket is meant either: the address lies in memory,
//! where another thread may change it between a look and the call. So the filter hands every `connect` over to this
//! process of the jail, which copies the address once, opens what it names, looks at what it has opened, and connects the
//! program's socket to exactly that. The program's own call is never carried out.
//!
//! | address | answer |
//! |---|---|
//! | a socket of the plan, or one that lies in memory of the jail (`scratch`) | connected |
//! | any other path | `EACCES`, as Landlock answers |
//! | an abstract name | connected: of this network namespace, which is the jail's own |
//! | the relay, where there is one | connected |
//! | any other address | `EACCES` |
//!
//! That the address is read and the socket is taken from the program needs `CAP_SYS_PTRACE`, in the jail's own user
//! namespace: it is all that this process has left.

use std::ffi::{OsStr, c_int};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2, stat};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::thread::CapabilitySet;

use super::privileges;
use super::system::{self, Notified};
use crate::order::{CONNECTING, Order};
use crate::outcome::{InStep, Refused, Step};
use crate::plan::EGRESS_PORT;
use crate::wire;

const STEP: Step = Step::Seccomp;

/// The longest address of any family (`struct sockaddr_storage`).
const ADDRESS_BYTES: u64 = 128;

/// Bytes of the family at the beginning of every address.
const FAMILY_BYTES: usize = 2;

/// Leaves a process behind that connects for the program until the jail ends, and answers where the program's listener
/// is to be handed over.
pub(super) fn start(order: &Order) -> Result<OwnedFd, Refused> {
    let rule = Rule::of(order).step(STEP, "look at the sockets")?;
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .step(STEP, "socket pair")?;
    if system::fork().step(STEP, "fork the supervisor")?.is_none() {
        let served = leave_init(&ours).and_then(|()| serve(&rule).step(STEP, "supervise"));
        std::process::exit(i32::from(served.is_err()));
    }
    Ok(theirs)
}

/// Gives the listener, which the program itself must not have, to the supervisor.
pub(super) fn hand_over(
    supervisor: Option<OwnedFd>,
    listener: Option<OwnedFd>,
) -> Result<(), Refused> {
    match (supervisor, listener) {
        (Some(supervisor), Some(listener)) => {
            wire::send_message(&supervisor, &(), &[listener.as_fd()])
                .step(STEP, "hand the listener over")
        }
        (None, None) => Ok(()),
        _ => Err(Refused::new(STEP, "a listener and nobody who listens")),
    }
}

/// Keeps nothing of what init has, the program's streams least of all: their end is waited for.
fn leave_init(socket: &OwnedFd) -> Result<(), Refused> {
    rustix::process::setsid().step(STEP, "make a session")?;
    dup2_stdin(socket).step(STEP, "take the socket")?;
    // Whatever owns them is in frames of init, to which this process never returns.
    system::close_from(3, system::Closing::Now).step(STEP, "close descriptors")?;
    privileges::drop_all_but(CapabilitySet::SYS_PTRACE)
}

fn serve(rule: &Rule) -> io::Result<()> {
    let ((), descriptors) = wire::receive_message::<()>(stdin(), None)?;
    let listener = descriptors.into_iter().next();
    let listener = listener.ok_or(io::ErrorKind::UnexpectedEof)?;
    // A connection may have to wait for its peer, and is not to keep others from theirs.
    std::thread::scope(|scope| {
        for _ in 1..CONNECTING {
            std::thread::Builder::new().spawn_scoped(scope, || answer_all(rule, &listener))?;
        }
        answer_all(rule, &listener);
        Ok(())
    })
}

/// Until nobody is left who could call.
fn answer_all(rule: &Rule, listener: &OwnedFd) {
    loop {
        match system::receive_call(listener) {
            Ok(call) => {
                let errno = match rule.connect(listener, &call) {
                    Ok(()) => 0,
                    Err(error) => error.raw_os_error().unwrap_or(libc::EPERM),
                };
                // Who does not wait any more needs no answer.
                let _ = system::answer_call(listener, &call, errno);
            }
            // The caller has ended meanwhile, or all of them have.
            Err(_) if nobody_is_left(listener) => return,
            Err(_) => {}
        }
    }
}

fn nobody_is_left(listener: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(listener, PollFlags::empty())];
    // A moment, so that an error that does not go away takes no processor.
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    };
    poll(&mut watched, Some(&pause)).is_ok_and(|count| count > 0)
}

/// What may be connected to.
struct Rule {
    /// Sockets of the plan, and where they are.
    sockets: Vec<(Identity, PathBuf)>,
    /// File systems of the jail's own, in which only its processes can make a socket.
    own: Vec<u64>,
    relay: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

impl Rule {
    fn of(order: &Order) -> io::Result<Self> {
        // Nothing is there where a test has taken the mounts away.
        let there = |path: &Path| match stat(path) {
            Ok(stat) => Ok(Some(stat)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        };
        let mut rule = Self {
            sockets: Vec::new(),
            own: Vec::new(),
            relay: order.relay,
        };
        for socket in &order.sockets {
            let at = socket.at.as_path();
            let found = there(at)?;
            rule.sockets
                .extend(found.map(|stat| (Identity::of(&stat), at.to_owned())));
        }
        for scratch in &order.scratch {
            rule.own
                .extend(there(scratch.at.as_path())?.map(|stat| stat.st_dev));
        }
        Ok(rule)
    }

    /// Carries out one call of `connect`.
    fn connect(&self, listener: &OwnedFd, call: &Notified) -> io::Result<()> {
        let [socket, address, length, ..] = call.arguments;
        // As the kernel: an int and a socklen_t.
        let length = length & u64::from(u32::MAX);
        if !(2..=ADDRESS_BYTES).contains(&length) {
            return Err(errno(libc::EINVAL));
        }
        let mut buffer = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        system::read_memory(call.thread, address, &mut buffer)?;
        let socket =
            c_int::try_from(socket & u64::from(u32::MAX)).map_err(|_| errno(libc::EBADF))?;
        let socket = pidfd_getfd(process(call.thread)?, socket, PidfdGetfdFlags::empty())?;
        // Else all of this was of another process that has got its number.
        if !system::still_waits(listener, call) {
            return Err(errno(libc::EINTR));
        }
        self.connect_to(&socket, &buffer, call.thread)
    }

    fn connect_to(&self, socket: &OwnedFd, address: &[u8], thread: u32) -> io::Result<()> {
        let (family, rest) = address
            .split_first_chunk::<FAMILY_BYTES>()
            .ok_or_else(|| errno(libc::EINVAL))?;
        match c_int::from(u16::from_ne_bytes(*family)) {
            // Takes a connection away.
            libc::AF_UNSPEC => system::connect(socket, address),
            libc::AF_UNIX => match rest.split(|byte| *byte == 0).next() {
                // An abstract name begins with a zero byte.
                None | Some([]) => system::connect(socket, address),
                Some(path) => self.connect_to_path(socket, OsStr::from_bytes(path), thread),
            },
            libc::AF_INET | libc::AF_INET6 if self.relay && is_relay(rest) => {
                system::connect(socket, address)
            }
            _ => Err(errno(libc::EACCES)),
        }
    }

    fn connect_to_path(&self, socket: &OwnedFd, path: &OsStr, thread: u32) -> io::Result<()> {
        let directory = if Path::new(path).is_absolute() {
            None
        } else {
            // The program's own, which may have changed since it was started.
            let link = format!("/proc/{thread}/cwd");
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Some(rustix::fs::open(link, flags, Mode::empty())?)
        };
        let found = openat2(
            directory.as_ref().map_or(CWD, AsFd::as_fd),
            path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            // `/proc/self` is this process here, and not the program.
            ResolveFlags::NO_MAGICLINKS,
        )?;
        let stat = fstat(&found)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
            return Err(errno(libc::ECONNREFUSED));
        }
        let planned = self
            .sockets
            .iter()
            .find(|(identity, _)| *identity == Identity::of(&stat));
        if planned.is_none() && !self.own.contains(&stat.st_dev) {
            return Err(errno(libc::EACCES));
        }
        // Through the descriptor, so that no other file can have got the name meanwhile.
        let exactly = format!("/proc/self/fd/{}", found.as_raw_fd());
        match (
            system::connect(socket, &unix_address(exactly.as_ref())),
            planned,
        ) {
            // There is no `/proc`: what the plan put there is where it was put.
            (Err(error), Some((_, at))) if error.raw_os_error() == Some(libc::ENOENT) => {
                system::connect(socket, &unix_address(at.as_os_str()))
            }
            (connected, _) => connected,
        }
    }
}

/// A descriptor for the process of a thread.
fn process(thread: u32) -> io::Result<OwnedFd> {
    /// Any thread, and not only the first one of its process (Linux 6.9).
    const PIDFD_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.unsigned_abs());
    let open = |number: u32, flags| {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
        Ok(pidfd_open(pid.ok_or_else(|| errno(libc::ESRCH))?, flags)?)
    };
    open(thread, PIDFD_THREAD).or_else(|_: io::Error| {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status"))?;
        let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let group = group.and_then(|number| number.trim().parse().ok());
        open(
            group.ok_or_else(|| errno(libc::ESRCH))?,
            PidfdFlags::empty(),
        )
    })
}

/// Whether an address of either family, behind its family, is the port of the relay on this jail's loopback.
fn is_relay(rest: &[u8]) -> bool {
    let Some((port, rest)) = rest.split_first_chunk::<2>() else {
        return false;
    };
    // IPv6 has four bytes more before the address, and this one as a v4 address in it.
    let mapped = rest
        .get(4..20)
        .is_some_and(|address| address == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]);
    u16::from_be_bytes(*port) == EGRESS_PORT && (rest.starts_with(&[127, 0, 0, 1]) || mapped)
}

fn unix_address(path: &OsStr) -> Vec<u8> {
    let family = u16::try_from(libc::AF_UNIX).unwrap_or_default();
    let mut address = family.to_ne_bytes().to_vec();
    address.extend(path.as_bytes());
    address.push(0);
    address
}

fn errno(number: c_int) -> io::Error {
    io::Error::from_raw_os_error(number)
}

#[cfg(test)]
mod tests {
    use super::is_relay;

    #[test]
    fn only_the_relay_is_reached_by_tcp() {
        let port = super::EGRESS_PORT.to_be_bytes();
        let v4 = |port: [u8; 2], address: [u8; 4]| [&port[..], &address, &[0; 8]].concat();
        assert!(is_relay(&v4(port, [127, 0, 0, 1])));
        assert!(!is_relay(&v4(port, [10, 0, 0, 1])));
        assert!(!is_relay(&v4([0, 80], [127, 0, 0, 1])));
        let v6 = |address: [u8; 16]| [&port[..], &[0; 4], &address, &[0; 4]].concat();
        let mut mapped = [0; 16];
        mapped[10..].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
        assert!(is_relay(&v6(mapped)));
        assert!(!is_relay(&v6([0; 16])));
        assert!(!is_relay(&port[..]) && !is_relay(&[]));
    }
}
