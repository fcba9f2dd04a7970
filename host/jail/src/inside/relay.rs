//! The way out of a jail with egress: a process of the jail that listens on its loopback and copies bytes
//! between that and the host's proxy. It reads nothing of what passes; the proxy decides.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};

use super::{privileges, system};
use crate::outcome::{InStep, Refused, Step};
use crate::plan::{EGRESS_PORT, EGRESS_SOCKET};

/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 64;

/// Bytes that are under way in one direction of a connection.
const BUFFER: usize = 32 * 1024;

/// Sets loopback up, listens, and leaves a process behind that serves until the jail ends.
pub(super) fn start() -> Result<(), Refused> {
    let control = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
        .step(Step::Net, "open a socket")?;
    system::loopback_up(&control).step(Step::Net, "set loopback up")?;
    drop(control);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, EGRESS_PORT))
        .step(Step::Net, "listen on loopback")?;
    listener
        .set_nonblocking(true)
        .step(Step::Net, "listen on loopback")?;
    if system::fork().step(Step::Net, "fork the relay")?.is_none() {
        let served = leave_init().and_then(|()| serve(&listener).step(Step::Net, "serve"));
        std::process::exit(i32::from(served.is_err()));
    }
    Ok(())
}

/// Keeps nothing of what init has: not the socket to the parent, whose end the parent waits for, and no privileges.
fn leave_init() -> Result<(), Refused> {
    rustix::process::setsid().step(Step::Net, "make a session")?;
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    null.and_then(rustix::stdio::dup2_stdin)
        .step(Step::Net, "leave the parent's socket")?;
    privileges::drop_all()
}

fn serve(listener: &TcpListener) -> io::Result<()> {
    let mut connections: Vec<Connection> = Vec::new();
    loop {
        let mut watched: Vec<PollFd<'_>> =
            connections.iter().flat_map(Connection::watched).collect();
        if connections.len() < CONNECTIONS {
            watched.push(PollFd::new(listener, PollFlags::IN));
        }
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(watched);
        connections.retain_mut(|connection| connection.copy().is_ok_and(|open| open));
        while connections.len() < CONNECTIONS {
            match listener.accept() {
                // A proxy that is gone closes the connection, as one that refuses.
                Ok((inner, _)) => connections.extend(Connection::new(inner).ok()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The connection was reset before it was accepted, or there are no descriptors: not at once again.
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(10));
                    break;
                }
            }
        }
    }
}

/// A connection of the program and its counterpart to the proxy.
struct Connection {
    inner: TcpStream,
    outer: UnixStream,
    outwards: Flow,
    inwards: Flow,
}

impl Connection {
    fn new(inner: TcpStream) -> io::Result<Self> {
        inner.set_nonblocking(true)?;
        let outer = UnixStream::connect(EGRESS_SOCKET)?;
        outer.set_nonblocking(true)?;
        Ok(Self {
            inner,
            outer,
            outwards: Flow::default(),
            inwards: Flow::default(),
        })
    }

    fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        let inner = watch(&self.inner, &self.outwards, &self.inwards);
        inner
            .into_iter()
            .chain(watch(&self.outer, &self.inwards, &self.outwards))
    }

    /// Copies what can be copied now; `false` when both directions have ended.
    fn copy(&mut self) -> io::Result<bool> {
        if self.outwards.copy(&mut self.inner, &mut self.outer)? {
            self.outer.shutdown(Shutdown::Write)?;
        }
        if self.inwards.copy(&mut self.outer, &mut self.inner)? {
            self.inner.shutdown(Shutdown::Write)?;
        }
        Ok(!(self.outwards.ended() && self.inwards.ended()))
    }
}

/// What a socket is watched for: reading where `from` it has room, writing where something is left `to` it. `None` for
/// nothing: its hanging up would wake the loop again and again while the other side is slow.
fn watch<'a>(socket: &'a impl AsFd, from: &Flow, to: &Flow) -> Option<PollFd<'a>> {
    let mut flags = PollFlags::empty();
    flags.set(
        PollFlags::IN,
        from.state == State::Open && from.pending.is_empty(),
    );
    flags.set(PollFlags::OUT, !to.pending.is_empty());
    (!flags.is_empty()).then(|| PollFd::new(socket, flags))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Nothing more comes, and what came may not be written yet.
    Draining,
    Ended,
}

/// One direction.
#[derive(Default)]
struct Flow {
    pending: Vec<u8>,
    state: State,
}

impl Flow {
    fn ended(&self) -> bool {
        self.state == State::Ended
    }

    /// `true` once, when everything has been copied.
    fn copy(&mut self, from: &mut impl Read, to: &mut impl Write) -> io::Result<bool> {
        if self.pending.is_empty() && self.state == State::Open {
            let mut buffer = [0; BUFFER];
            match from.read(&mut buffer) {
                Ok(0) => self.state = State::Draining,
                Ok(count) => self.pending.extend(buffer.iter().take(count)),
                Err(error) if later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if !self.pending.is_empty() {
            match to.write(&self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if self.state == State::Draining && self.pending.is_empty() {
            self.state = State::Ended;
            return Ok(true);
        }
        Ok(false)
    }
}

fn later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::Flow;

    #[test]
    fn a_flow_copies_all_and_ends_once() {
        let (mut flow, mut to) = (Flow::default(), Vec::new());
        let mut from: &[u8] = &[7; 100_000];
        let mut ends = 0;
        for _ in 0..10 {
            ends += usize::from(flow.copy(&mut from, &mut to).unwrap());
        }
        assert_eq!((to.len(), ends, flow.ended()), (100_000, 1, true));
    }
}
