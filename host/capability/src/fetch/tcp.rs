//! TCP connections whose waits end with the call: it may be cancelled while a server is silent.
//!
//! Sockets never block. What cannot be done yet is waited for in slices, and between two of them the thread looks whether
//! its call was cancelled; that ends the request as if its time were up, and the meter of the call says which it was.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketType};
use ureq::Timeout;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, LazyBuffers, NextTimeout, Transport,
};

use super::connect::Obstacle;
use crate::Cancellation;
use hydrant_jail::LOOK;

/// One connection.
#[derive(Debug)]
pub(super) struct Tcp {
    stream: TcpStream,
    buffers: LazyBuffers,
}

impl Tcp {
    /// Connects to the first address that answers. One that does not leaves time for the others.
    ///
    /// # Errors
    /// `Timeout`, and [`Obstacle::Connect`] where every address refuses.
    pub(super) fn connect(details: &ConnectionDetails<'_>) -> Result<Self, ureq::Error> {
        let time = Waiting::new(details.timeout);
        let mut failure = ureq::Error::from(Obstacle::Connect);
        let mut untried = u32::try_from(details.addrs.len()).unwrap_or(u32::MAX);
        for address in details.addrs.iter() {
            let share = time.left()? / untried.max(1);
            let share = time.shortened_to(share);
            untried = untried.saturating_sub(1);
            let connected = connect(*address, |socket| {
                let connected = share.wait(socket, PollFlags::OUT);
                connected.map_err(ureq::Error::into_io)
            });
            match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
                Ok(stream) => {
                    return Ok(Self {
                        stream,
                        buffers: LazyBuffers::new(
                            details.config.input_buffer_size(),
                            details.config.output_buffer_size(),
                        ),
                    });
                }
                Err(error) => match ureq::Error::from(error) {
                    timeout @ ureq::Error::Timeout(_) => failure = timeout,
                    error => tracing::debug!(%error, "no connection"),
                },
            }
        }
        Err(failure)
    }
}

impl Transport for Tcp {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        let waiting = Waiting::new(timeout.for_write());
        let mut output = self.buffers.output().get(..amount).unwrap_or_default();
        while !output.is_empty() {
            match (&self.stream).write(output) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(written) => output = output.get(written..).unwrap_or_default(),
                Err(error) => waiting.wait_after(error, self.stream.as_fd(), PollFlags::OUT)?,
            }
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let waiting = Waiting::new(timeout.for_read());
        let input = self.buffers.input_append_buf();
        loop {
            // First, so that a sender of single bytes does not get around the time.
            waiting.left()?;
            match (&self.stream).read(input) {
                Ok(amount) => {
                    self.buffers.input_appended(amount);
                    return Ok(amount > 0);
                }
                Err(error) => waiting.wait_after(error, self.stream.as_fd(), PollFlags::IN)?,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        // What comes unasked belongs to no request.
        let unasked = (&self.stream).read(&mut [0]);
        unasked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Connects to one address, with `wait` for the moment until the socket can be written to.
///
/// # Errors
/// What `wait` or the system says.
pub(crate) fn connect(
    address: SocketAddr,
    wait: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<TcpStream> {
    let socket = socket(match address.ip() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    })?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(rustix::io::Errno::INPROGRESS | rustix::io::Errno::INTR) => {
            wait(socket.as_fd())?;
            rustix::net::sockopt::socket_error(&socket)??;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(TcpStream::from(socket))
}

#[cfg(target_os = "linux")]
fn socket(family: AddressFamily) -> rustix::io::Result<OwnedFd> {
    use rustix::net::SocketFlags;

    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(family, SocketType::STREAM, flags, None)
}

/// In steps, where the system does not take both at once.
#[cfg(not(target_os = "linux"))]
fn socket(family: AddressFamily) -> rustix::io::Result<OwnedFd> {
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// How long a socket may still be waited for.
struct Waiting {
    started: Instant,
    patience: Duration,
    reason: Timeout,
    cancellation: Cancellation,
}

impl Waiting {
    fn new(timeout: NextTimeout) -> Self {
        Self {
            started: Instant::now(),
            patience: *timeout.after,
            reason: timeout.reason,
            cancellation: Cancellation::current(),
        }
    }

    fn shortened_to(&self, patience: Duration) -> Self {
        Self {
            started: Instant::now(),
            patience,
            reason: self.reason,
            cancellation: self.cancellation.clone(),
        }
    }

    /// What is left of the time.
    fn left(&self) -> Result<Duration, ureq::Error> {
        let left = self.patience.saturating_sub(self.started.elapsed());
        if left.is_zero() || self.cancellation.is_cancelled() {
            return Err(ureq::Error::Timeout(self.reason));
        }
        Ok(left)
    }

    /// Waits until the socket can do what it is awaited for.
    fn wait(&self, socket: BorrowedFd<'_>, flags: PollFlags) -> Result<(), ureq::Error> {
        loop {
            let wait = Timespec::try_from(self.left()?.min(LOOK)).ok();
            let mut polled = [PollFd::from_borrowed_fd(socket, flags)];
            match poll(&mut polled, wait.as_ref()) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    /// Waits if `error` says that something cannot be done yet.
    fn wait_after(
        &self,
        error: io::Error,
        socket: BorrowedFd<'_>,
        flags: PollFlags,
    ) -> Result<(), ureq::Error> {
        match error.kind() {
            io::ErrorKind::WouldBlock => self.wait(socket, flags),
            io::ErrorKind::Interrupted => Ok(()),
            _ => Err(error.into()),
        }
    }
}
