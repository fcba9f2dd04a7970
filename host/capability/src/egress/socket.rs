//! Sockets that never block, and waiting for them.
//!
//! Every wait is a poll of what is waited for and of the proxy's own end, until an instant that no peer can move.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Proxy;

/// A socket that does not block.
pub(super) trait Socket: AsFd {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn send(&self, bytes: &[u8]) -> io::Result<usize>;
    fn end(&self) -> io::Result<()>;
}

impl Socket for UnixStream {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Socket for TcpStream {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

/// None for what cannot be done yet.
///
/// # Errors
/// Every other error.
pub(super) fn later<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Sends all of `bytes`.
///
/// # Errors
/// As [`wait`], and what the socket says.
pub(super) fn send_all(
    proxy: &Proxy<'_>,
    to: &dyn Socket,
    mut bytes: &[u8],
    until: Option<Instant>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match later(to.send(bytes))? {
            Some(amount) => bytes = bytes.get(amount..).unwrap_or_default(),
            None => wait(&proxy.closing, &[(to.as_fd(), PollFlags::OUT)], until)?,
        }
    }
    Ok(())
}

/// Adds what comes next to `bytes`; nothing at the end.
///
/// # Errors
/// As [`wait`], and what the socket says.
pub(super) fn receive_more(
    proxy: &Proxy<'_>,
    from: &dyn Socket,
    bytes: &mut Vec<u8>,
    until: Option<Instant>,
) -> io::Result<usize> {
    let mut buffer = [0; 4096];
    loop {
        // First, so that a sender of single bytes does not get around the time.
        wait(&proxy.closing, &[(from.as_fd(), PollFlags::IN)], until)?;
        if let Some(amount) = later(from.receive(&mut buffer))? {
            bytes.extend(buffer.iter().take(amount));
            return Ok(amount);
        }
    }
}

/// Waits until one of the sockets can do what it is awaited for.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] once it is `until`; [`io::ErrorKind::ConnectionAborted`] once `closing` is readable.
pub(super) fn wait(
    closing: &UnixStream,
    awaited: &[(BorrowedFd<'_>, PollFlags)],
    until: Option<Instant>,
) -> io::Result<()> {
    let mut polled = vec![PollFd::new(closing, PollFlags::IN)];
    polled.extend(
        awaited
            .iter()
            .map(|(socket, flags)| PollFd::from_borrowed_fd(*socket, *flags)),
    );
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.map(timespec);
        let ready = match poll(&mut polled, timeout.as_ref()) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if polled
            .first()
            .is_some_and(|closing| !closing.revents().is_empty())
        {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if ready == 0 || left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        return Ok(());
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
