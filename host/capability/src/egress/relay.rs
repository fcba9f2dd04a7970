//! Bytes between a client and a server, without blocking on either: one thread for both directions.
//!
//! Every byte is counted before it goes on, so that what is over a budget reaches nobody. A side that ends its
//! direction has that passed on, and the other direction goes on.

use std::io;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::PollFlags;

use super::Proxy;
use super::socket::{Socket, later, wait};

/// Bytes under way in one direction of a connection.
const CHUNK: usize = 32 * 1024;

/// What a client may send to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upwards {
    /// Whatever it likes: a tunnel.
    Everything,
    /// The rest of a body; anything more ends the connection, as does the end of the answer.
    Exactly(u64),
}

/// Copies in both directions until both have ended, or one of them must. `first` goes to the server before anything
/// that the client sends from now on.
///
/// # Errors
/// Why the connection ends early: a socket, the budget, the idle time, or the end of the proxy.
pub(super) fn relay(
    proxy: &Proxy<'_>,
    client: &UnixStream,
    server: &TcpStream,
    first: Vec<u8>,
    upwards: Upwards,
) -> io::Result<()> {
    proxy.count(first.len()).map_err(io::Error::other)?;
    let mut up = Flow {
        pending: first,
        ..Flow::new(client, server)
    };
    if let Upwards::Exactly(rest) = upwards {
        up.rest = Some(rest);
    }
    let mut down = Flow::new(server, client);
    let mut idle_at = Instant::now().checked_add(proxy.terms.idle);
    loop {
        // What a server said before it went away is passed on first.
        let moved = [down.step(proxy)?, up.step(proxy)?];
        let over = match upwards {
            Upwards::Everything => up.is_over() && down.is_over(),
            Upwards::Exactly(_) => down.is_over(),
        };
        if over {
            return Ok(());
        }
        if moved.contains(&true) {
            idle_at = Instant::now().checked_add(proxy.terms.idle);
        }
        let awaited: Vec<_> = [up.awaited(), down.awaited()]
            .into_iter()
            .flatten()
            .collect();
        wait(&proxy.closing, &awaited, idle_at)?;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more comes; what came is not all written yet.
    Draining,
    Over,
}

/// One direction.
struct Flow<'a> {
    from: &'a dyn Socket,
    to: &'a dyn Socket,
    pending: Vec<u8>,
    /// How much of `pending` is written.
    written: usize,
    /// How much may still come; none for no limit.
    rest: Option<u64>,
    state: State,
}

impl<'a> Flow<'a> {
    fn new(from: &'a dyn Socket, to: &'a dyn Socket) -> Self {
        Flow {
            from,
            to,
            pending: Vec::new(),
            written: 0,
            rest: None,
            state: State::Open,
        }
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// What this direction waits for. A socket that nobody waits for is not polled: that it has hung up would wake
    /// the thread again and again.
    fn awaited(&self) -> Option<(BorrowedFd<'a>, PollFlags)> {
        if !self.pending.is_empty() {
            Some((self.to.as_fd(), PollFlags::OUT))
        } else if self.state == State::Open {
            Some((self.from.as_fd(), PollFlags::IN))
        } else {
            None
        }
    }

    /// Does what can be done now, and answers whether anything could.
    fn step(&mut self, proxy: &Proxy<'_>) -> io::Result<bool> {
        let mut moved = false;
        if self.pending.is_empty() && self.state == State::Open {
            moved |= self.receive(proxy)?;
        }
        if let Some(unwritten) = self.pending.get(self.written..)
            && !unwritten.is_empty()
            && let Some(amount) = later(self.to.send(unwritten))?
        {
            self.written = self.written.saturating_add(amount);
            moved |= amount > 0;
        }
        if self.written >= self.pending.len() {
            self.pending.clear();
            self.written = 0;
            if self.state == State::Draining {
                self.state = State::Over;
                // A server that has all of a body answers; to end the direction too would look like going away.
                if self.rest.is_none() {
                    self.to.end()?;
                }
            }
        }
        Ok(moved)
    }

    fn receive(&mut self, proxy: &Proxy<'_>) -> io::Result<bool> {
        let mut buffer = vec![0; CHUNK];
        let Some(amount) = later(self.from.receive(&mut buffer))? else {
            return Ok(false);
        };
        if amount == 0 {
            if self.rest.is_some_and(|rest| rest > 0) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.state = State::Draining;
            return Ok(true);
        }
        if let Some(rest) = &mut self.rest {
            let left = u64::try_from(amount)
                .ok()
                .and_then(|amount| rest.checked_sub(amount));
            *rest = left.ok_or_else(|| io::Error::other("something follows the request"))?;
        }
        proxy.count(amount).map_err(io::Error::other)?;
        buffer.truncate(amount);
        self.pending = buffer;
        Ok(true)
    }
}
