//! One connection of a jail: read what it asks for, decide, connect, and copy.
//!
//! Nothing is sent anywhere before the whole head is read and a pair of the list is selected by it, and nothing of a
//! tunnel to port 443 before its ClientHello names the host.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::Proxy;
use super::client_hello::{self, Hello};
use super::pair::{Pair, PlainHttp};
use super::refusal::Refusal;
use super::relay::{Upwards, relay};
use super::request::{END, Plain, Request};
use super::socket::{Socket, receive_more, send_all, wait};
use crate::fetch::{FetchError, tcp};

/// Bytes of the head of a request, with the empty line at its end.
const MAX_HEAD: usize = 16 * 1024;

/// The port of plain http, to which no tunnel leads where plain http is refused.
const PLAIN_PORT: u16 = 80;

/// What a client that is refused still sends is read for this long, and so much of it, so that it sees the answer.
const LINGER: Duration = Duration::from_secs(1);
const MAX_LINGER: usize = 64 * 1024;

/// Serves a connection to its end.
pub(super) fn serve(proxy: &Proxy<'_>, client: &UnixStream) {
    let connection = Connection { proxy, client };
    if let Err(error) = connection.run() {
        tracing::debug!(%error, "a connection of the egress proxy has ended early");
    }
}

struct Connection<'a> {
    proxy: &'a Proxy<'a>,
    client: &'a UnixStream,
}

impl Connection<'_> {
    fn run(&self) -> io::Result<()> {
        let Some((head, rest)) = self.head()? else {
            return self.refuse(&Refusal::Unreadable("its head is over 16384 bytes"));
        };
        let (request, pair) = match self.decide(&head, &rest) {
            Ok(decided) => decided,
            Err(refusal) => return self.refuse(&refusal),
        };
        let server = match self.dial(pair)? {
            Ok(server) => server,
            Err(refusal) => return self.refuse(&refusal),
        };
        match request {
            Request::Tunnel(_) => self.tunnel(pair, &server, rest),
            Request::Plain(plain) => self.plain(&server, plain, &rest),
        }
    }

    /// The head and what came with it; none if it is too long.
    fn head(&self) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let until = within(self.proxy.terms.head);
        let mut head = Vec::new();
        loop {
            let searched = head.len().saturating_sub(END.len());
            if receive_more(self.proxy, self.client, &mut head, until)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let new = head.get(searched..).unwrap_or_default();
            let end = memchr::memmem::find(new, END)
                .map(|at| at.saturating_add(searched).saturating_add(END.len()));
            match end {
                Some(end) if end <= MAX_HEAD => {
                    let rest = head.split_off(end);
                    return Ok(Some((head, rest)));
                }
                None if head.len() < MAX_HEAD => {}
                Some(_) | None => return Ok(None),
            }
        }
    }

    /// What is asked for, and the pair that allows it.
    fn decide(&self, head: &[u8], rest: &[u8]) -> Result<(Request, &Pair), Refusal> {
        // Nobody is asked anything any more once the budget is used up.
        self.proxy.count(0)?;
        let request = Request::parse(head).map_err(Refusal::Unreadable)?;
        let asked = request.authority();
        let pair = self.proxy.pairs.iter().find(|pair| pair.is(asked));
        let pair = pair.ok_or_else(|| Refusal::NotNamed(asked.to_string()))?;
        let is_plain = match &request {
            Request::Tunnel(_) => pair.port() == PLAIN_PORT,
            Request::Plain(plain) => {
                plain.left_after(rest).map_err(Refusal::Unreadable)?;
                true
            }
        };
        if is_plain && pair.plain_http() == PlainHttp::Refused {
            return Err(Refusal::PlainHttp(pair.to_string()));
        }
        Ok((request, pair))
    }

    /// Looks the host of the pair up, once, and connects to one of the addresses that were checked.
    fn dial(&self, pair: &Pair) -> io::Result<Result<TcpStream, Refusal>> {
        let time = match self.proxy.account.remaining() {
            Ok(left) => left.min(self.proxy.terms.dial),
            Err(exceeded) => return Ok(Err(exceeded.into())),
        };
        let until = within(time);
        let found = self
            .proxy
            .fetcher
            .addresses(pair.host(), pair.reach(), time);
        let addresses = match found {
            Ok(addresses) => addresses,
            Err(FetchError::Denied) => return Ok(Err(Refusal::Address(pair.to_string()))),
            Err(error) => return Ok(Err(Refusal::NoConnection(pair.to_string(), error))),
        };
        let mut failure = FetchError::Connect;
        let mut untried = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        for address in addresses {
            let left = until.map_or(time, |until| {
                until.saturating_duration_since(Instant::now())
            });
            // One that never answers leaves time for the others.
            let share = within(left / untried.max(1));
            untried = untried.saturating_sub(1);
            let connected = tcp::connect(SocketAddr::new(address, pair.port()), |socket| {
                wait(&self.proxy.closing, &[(socket, PollFlags::OUT)], share)
            });
            match connected.and_then(|server| server.set_nodelay(true).map(|()| server)) {
                Ok(server) => return Ok(Ok(server)),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
                    return Err(error);
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    failure = FetchError::Timeout;
                }
                Err(error) => tracing::debug!(%error, "no connection"),
            }
        }
        Ok(Err(Refusal::NoConnection(pair.to_string(), failure)))
    }

    fn tunnel(&self, pair: &Pair, server: &TcpStream, mut first: Vec<u8>) -> io::Result<()> {
        let until = within(self.proxy.terms.head);
        let answer = b"HTTP/1.1 200 Connection established\r\n\r\n";
        send_all(self.proxy, self.client, answer, until)?;
        if pair.port() == self.proxy.terms.tls_port
            && let Some(refusal) = self.hello(pair, &mut first, until)?
        {
            self.record(&refusal);
            send_all(self.proxy, self.client, &client_hello::ALERT, until)?;
            return self.linger();
        }
        relay(self.proxy, self.client, server, first, Upwards::Everything)
    }

    /// Reads the first message of TLS; the refusal, if it is none or names somebody else.
    fn hello(
        &self,
        pair: &Pair,
        first: &mut Vec<u8>,
        until: Option<Instant>,
    ) -> io::Result<Option<Refusal>> {
        loop {
            match client_hello::read(first) {
                Ok(Hello::Complete(name)) => return Ok(other_name(pair, name.as_deref())),
                Ok(Hello::Incomplete) => {}
                Err(fault) => {
                    return Ok(Some(Refusal::Hello(pair.to_string(), fault.to_owned())));
                }
            }
            if receive_more(self.proxy, self.client, first, until)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Sends the one request on; what came with its head is the beginning of its body.
    fn plain(&self, server: &TcpStream, plain: Plain, rest: &[u8]) -> io::Result<()> {
        let to_come = plain.left_after(rest).map_err(io::Error::other)?;
        let mut first = plain.head;
        first.extend_from_slice(rest);
        let upwards = Upwards::Exactly(to_come);
        relay(self.proxy, self.client, server, first, upwards)
    }

    /// Answers why, in one line.
    fn refuse(&self, refusal: &Refusal) -> io::Result<()> {
        self.record(refusal);
        let (status, why) = (refusal.status(), refusal.to_string());
        let length = why.len().saturating_add(1);
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{why}\n"
        );
        let until = within(self.proxy.terms.head);
        send_all(self.proxy, self.client, answer.as_bytes(), until)?;
        self.linger()
    }

    fn record(&self, refusal: &Refusal) {
        tracing::debug!(%refusal, "egress refused");
        if let Some(asked) = refusal.denied() {
            self.proxy.account.denied(asked, &refusal.to_string());
        }
    }

    /// Ends our direction, and reads what is still sent for a moment.
    fn linger(&self) -> io::Result<()> {
        self.client.end()?;
        let until = within(LINGER);
        let mut dropped = Vec::new();
        while dropped.len() < MAX_LINGER
            && receive_more(self.proxy, self.client, &mut dropped, until)? > 0
        {}
        Ok(())
    }
}

/// The instant after so much time.
fn within(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Whether TLS is spoken with another host than that of the pair. Where the pair is an address, no name is needed.
fn other_name(pair: &Pair, named: Option<&str>) -> Option<Refusal> {
    let is_address = pair.host().parse::<IpAddr>().is_ok() || pair.host().starts_with('[');
    let why = match named {
        Some(name) if name.eq_ignore_ascii_case(pair.host()) => return None,
        None if is_address => return None,
        Some(name) => format!("its ClientHello names {}", shown(name)),
        None => "its ClientHello names no server".to_owned(),
    };
    Some(Refusal::Hello(pair.to_string(), why))
}

/// The name for a message: what a client sends may be anything.
fn shown(name: &str) -> String {
    name.escape_default().take(256).collect()
}
