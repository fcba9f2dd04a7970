//! Connections: TCP to a checked address, TLS 1.2 or later over it for https.
//!
//! This is the whole connector of the HTTP client; no proxy stands in it, so none can be set from the
//! environment. The TLS configuration is made once, verifies certificate and name, and no
//! switch turns that off. The client's own TLS connector is not used, because it cannot add
//! roots to the built-in ones.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::unversioned::transport::time::{Duration as Wait, Instant as Moment};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

use super::tcp::Tcp;

/// What went wrong below HTTP, where the client's own errors do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Obstacle {
    /// An address of the host is not one that may be connected to.
    #[error("the host has an address that is refused")]
    AddressRefused,
    /// The name was not resolved in time.
    #[error("the name was not resolved in time")]
    Slow,
    /// No connection.
    #[error("no connection")]
    Connect,
    /// No TLS.
    #[error("the TLS handshake failed")]
    Tls,
    /// The connection was closed before the first byte of an answer.
    #[error("the connection was closed before any answer")]
    Unanswered,
}

impl From<Obstacle> for ureq::Error {
    fn from(obstacle: Obstacle) -> Self {
        ureq::Error::Other(Box::new(obstacle))
    }
}

/// Makes connections.
#[derive(Debug)]
pub(super) struct SecureConnector(Arc<ClientConfig>);

impl SecureConnector {
    pub(super) fn new(tls: Arc<ClientConfig>) -> SecureConnector {
        SecureConnector(tls)
    }
}

impl Connector for SecureConnector {
    type Out = Connection;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<Connection>, ureq::Error> {
        let tcp = Tcp::connect(details)?;
        let channel = if details.needs_tls() {
            Channel::Tls(Box::new(self.handshake(details, tcp)?))
        } else {
            Channel::Plain(tcp)
        };
        Ok(Some(Connection {
            channel,
            answered: false,
        }))
    }
}

impl SecureConnector {
    fn handshake(
        &self,
        details: &ConnectionDetails<'_>,
        tcp: Tcp,
    ) -> Result<TlsChannel, ureq::Error> {
        let host = details.uri.host().ok_or(Obstacle::Tls)?;
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Obstacle::Tls)?;
        let mut session =
            ClientConnection::new(Arc::clone(&self.0), name).map_err(|_| Obstacle::Tls)?;
        let mut socket = TransportAdapter::new(tcp, Arc::clone(&details.current_time));
        socket.set_timeout(left_of(details));
        session
            .complete_io(&mut socket)
            .map_err(|error| match ureq::Error::from(error) {
                timeout @ ureq::Error::Timeout(_) => timeout,
                error => {
                    tracing::debug!(%error, "the TLS handshake failed");
                    Obstacle::Tls.into()
                }
            })?;
        Ok(TlsChannel {
            stream: StreamOwned::new(session, socket),
            buffers: LazyBuffers::new(
                details.config.input_buffer_size(),
                details.config.output_buffer_size(),
            ),
        })
    }
}

/// What the TCP connection left of the time for connecting.
fn left_of(details: &ConnectionDetails<'_>) -> NextTimeout {
    let mut timeout = details.timeout;
    let elapsed = match details.now {
        Moment::Exact(started) => started.elapsed(),
        Moment::AlreadyHappened | Moment::NotHappening => Duration::ZERO,
    };
    if let Wait::Exact(after) = timeout.after {
        timeout.after = Wait::Exact(after.saturating_sub(elapsed));
    }
    timeout
}

/// One connection, which knows whether the request that was sent last has been answered at all.
#[derive(Debug)]
pub(super) struct Connection {
    channel: Channel,
    answered: bool,
}

#[derive(Debug)]
enum Channel {
    Plain(Tcp),
    Tls(Box<TlsChannel>),
}

struct TlsChannel {
    stream: StreamOwned<ClientConnection, TransportAdapter<Tcp>>,
    buffers: LazyBuffers,
}

impl std::fmt::Debug for TlsChannel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TlsChannel").finish_non_exhaustive()
    }
}

impl TlsChannel {
    fn send(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let output = self.buffers.output().get(..amount).unwrap_or_default();
        Ok(self.stream.write_all(output)?)
    }

    fn receive(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }
}

impl Connection {
    /// An end of the connection before the first answer byte is an obstacle of its own.
    fn unless_unanswered(&self, error: ureq::Error) -> ureq::Error {
        match &error {
            ureq::Error::Io(cause) if !self.answered && is_closed(cause.kind()) => {
                Obstacle::Unanswered.into()
            }
            _ => error,
        }
    }
}

fn is_closed(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    )
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        match &mut self.channel {
            Channel::Plain(tcp) => tcp.buffers(),
            Channel::Tls(tls) => &mut tls.buffers,
        }
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.answered = false;
        match &mut self.channel {
            Channel::Plain(tcp) => tcp.transmit_output(amount, timeout),
            Channel::Tls(tls) => tls.send(amount, timeout),
        }
        .map_err(|error| self.unless_unanswered(error))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let progress = match &mut self.channel {
            Channel::Plain(tcp) => tcp.await_input(timeout),
            Channel::Tls(tls) => tls.receive(timeout),
        };
        match progress {
            Ok(false) if !self.answered => Err(Obstacle::Unanswered.into()),
            Ok(progress) => {
                self.answered |= progress;
                Ok(progress)
            }
            Err(error) => Err(self.unless_unanswered(error)),
        }
    }

    fn is_open(&mut self) -> bool {
        match &mut self.channel {
            Channel::Plain(tcp) => tcp.is_open(),
            Channel::Tls(tls) => tls.stream.get_mut().get_mut().is_open(),
        }
    }

    fn is_tls(&self) -> bool {
        matches!(self.channel, Channel::Tls(_))
    }
}
