//! The host end of a jail's egress: a proxy on a Unix socket, for the pairs of host and port that a policy names.
//!
//! A jail has no network. With egress, the socket made here is mounted into it, and what connects there
//! may ask for a tunnel (`CONNECT host:port`) or for one plain request (`GET http://host/…`).
//! The text of the request only ever selects a pair of the list: the name that is looked up, once, and the host
//! that a server is told are the list's. The addresses pass the same check as those of `fetch`,
//! every byte counts against the budget of the call before it goes on, and nothing of the environment takes part.
//!
//! It does not look into a tunnel beyond the first message of TLS on port 443: which host a client names
//! inside TLS, or what it speaks on another port, stays between it and the allowed server.

mod client_hello;
mod connection;
mod pair;
mod refusal;
mod relay;
mod request;
mod socket;
#[cfg(test)]
mod tests;

use std::fs::Permissions;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use self::socket::{later, wait};
use super::fetch::Fetcher;
use super::fs::descriptor_path;
use super::process::Scratch;
use super::{BudgetExceeded, Call, Cancellation};

pub use self::pair::{Pair, PairError, PlainHttp};

/// Connections at once; further ones wait until one has ended.
const MAX_CONNECTIONS: usize = 64;

/// The name of the socket in its directory.
const SOCKET: &str = "egress.sock";

/// How long nobody is accepted where there is no place, or the system could not.
const PAUSE: Duration = Duration::from_millis(20);

/// What egress counts against, and who hears of what was refused.
pub trait Account: Sync {
    /// Counts bytes, in either direction, before they go on.
    ///
    /// # Errors
    /// The budget that is used up: the bytes do not go on, and their connection ends.
    fn count(&self, bytes: u64) -> Result<(), BudgetExceeded>;

    /// The time that is left; a lookup and a connection attempt take no longer.
    ///
    /// # Errors
    /// There is none.
    fn remaining(&self) -> Result<Duration, BudgetExceeded>;

    /// Hears that a request was refused: event `egress-denied`. `asked` is `host:port`, of harmless characters and
    /// at most 259 bytes; none if the request names nothing readable. `reason` is one line.
    fn denied(&self, asked: Option<&str>, reason: &str);
}

impl Account for Call {
    fn count(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        self.meter.egress(bytes)
    }

    fn remaining(&self) -> Result<Duration, BudgetExceeded> {
        self.meter.remaining()
    }

    fn denied(&self, asked: Option<&str>, _: &str) {
        let asked = asked.unwrap_or("unreadable");
        self.journal.denied_capability(format!("egress:{asked}"));
    }
}

/// The times of a connection, and which port must speak TLS. Tests have their own.
#[derive(Debug, Clone, Copy)]
struct Terms {
    /// From the connection to the end of the request's head; again for the first message of a tunnel.
    head: Duration,
    /// For the lookup and all connection attempts together, as for every request.
    dial: Duration,
    /// How long a connection may carry nothing in either direction.
    idle: Duration,
    /// The port on which a tunnel must begin with TLS, and name the host that was asked for.
    tls_port: u16,
}

const TERMS: Terms = Terms {
    head: Duration::from_secs(10),
    dial: Duration::from_secs(5),
    idle: Duration::from_secs(120),
    tls_port: 443,
};

/// A proxy at work. Dropping it ends every connection and lookup, waits for its threads and removes the socket.
#[derive(Debug)]
pub struct Egress<'scope> {
    socket: PathBuf,
    exceeded: Arc<OnceLock<BudgetExceeded>>,
    /// Everybody polls the other end, which becomes readable when this one is closed.
    open: Option<UnixStream>,
    /// The same for lookups, which cannot poll.
    ending: Cancellation,
    thread: Option<ScopedJoinHandle<'scope, ()>>,
    /// Removed last, unless it was before.
    directory: Option<Scratch>,
}

/// What all connections share.
struct Proxy<'scope> {
    account: &'scope dyn Account,
    fetcher: &'scope Fetcher,
    pairs: Vec<Pair>,
    terms: Terms,
    exceeded: Arc<OnceLock<BudgetExceeded>>,
    closing: UnixStream,
    ending: Cancellation,
    connections: AtomicUsize,
}

/// Listens on the socket in `directory`. Its address has 107 bytes of room, and a directory for temporary files may have
/// a longer path: what stands in the address leads there through the open directory.
fn bind(directory: &Scratch) -> io::Result<UnixListener> {
    UnixListener::bind(Path::new(&descriptor_path(directory.directory())).join(SOCKET))
}

impl<'scope> Egress<'scope> {
    /// Starts a proxy for these pairs and no others, on a socket in a directory that only this user can enter.
    ///
    /// # Errors
    /// What the system says; there is no proxy then.
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        account: &'scope dyn Account,
        fetcher: &'scope Fetcher,
        pairs: Vec<Pair>,
    ) -> io::Result<Egress<'scope>> {
        Egress::start_with(scope, account, fetcher, pairs, TERMS)
    }

    fn start_with(
        scope: &'scope Scope<'scope, '_>,
        account: &'scope dyn Account,
        fetcher: &'scope Fetcher,
        pairs: Vec<Pair>,
        terms: Terms,
    ) -> io::Result<Egress<'scope>> {
        let directory = Scratch::create()?;
        let socket = directory.real().join(SOCKET);
        let listener = bind(&directory)?;
        // A umask may have taken away what a jail of this user needs to connect.
        std::fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (open, closing) = UnixStream::pair()?;
        let ending = Cancellation::new();
        let exceeded = Arc::default();
        let proxy = Proxy {
            account,
            fetcher,
            pairs,
            terms,
            exceeded: Arc::clone(&exceeded),
            closing,
            ending: ending.clone(),
            connections: AtomicUsize::new(0),
        };
        let thread = thread::Builder::new()
            .name("hydrant-egress".to_owned())
            .spawn_scoped(scope, move || proxy.accept(&listener))?;
        Ok(Egress {
            socket,
            exceeded,
            open: Some(open),
            ending,
            thread: Some(thread),
            directory: Some(directory),
        })
    }

    /// Removes the socket's name, once the jail has mounted it: a host that is killed leaves nothing behind then.
    pub fn remove_name(&mut self) {
        self.directory = None;
    }

    /// The real path of the socket, for the jail to mount; never shown inside.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The budget that ended a connection, if one did: the call is over then.
    pub fn exceeded(&self) -> Option<BudgetExceeded> {
        self.exceeded.get().copied()
    }
}

impl Drop for Egress<'_> {
    fn drop(&mut self) {
        self.open = None;
        self.ending.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a thread of the egress proxy has panicked");
        }
    }
}

impl Proxy<'_> {
    /// Accepts until the proxy is dropped, and then waits for the connections.
    fn accept(&self, listener: &UnixListener) {
        thread::scope(|scope| while self.accept_one(scope, listener).is_ok() {});
    }

    /// Takes one connection, or waits a moment where none can be taken.
    ///
    /// # Errors
    /// The proxy is dropped.
    fn accept_one<'a>(
        &'a self,
        scope: &'a Scope<'a, '_>,
        listener: &UnixListener,
    ) -> io::Result<()> {
        // Without a place, the connection waits in the queue of the system.
        let Some(place) = Place::take(&self.connections) else {
            return self.pause();
        };
        wait(&self.closing, &[(listener.as_fd(), PollFlags::IN)], None)?;
        let served = later(listener.accept()).and_then(|accepted| {
            let Some((client, _)) = accepted else {
                return Ok(());
            };
            client.set_nonblocking(true)?;
            let serve = move || {
                let _place = place;
                self.ending.during(|| connection::serve(self, &client));
            };
            let thread = thread::Builder::new().name("hydrant-egress".to_owned());
            thread.spawn_scoped(scope, serve).map(drop)
        });
        match served {
            Ok(()) => Ok(()),
            Err(error) => {
                // No descriptors or no threads: not at once again.
                tracing::debug!(%error, "the egress proxy does not accept");
                self.pause()
            }
        }
    }

    /// Waits a moment.
    ///
    /// # Errors
    /// The proxy is dropped.
    fn pause(&self) -> io::Result<()> {
        match wait(&self.closing, &[], Instant::now().checked_add(PAUSE)) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
            outcome => outcome,
        }
    }

    /// Counts bytes that are about to go on.
    ///
    /// # Errors
    /// The budget is used up; the bytes must not go on.
    fn count(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.account.count(bytes).inspect_err(|exceeded| {
            let _ = self.exceeded.set(*exceeded);
        })
    }
}

/// One of the places for connections, given back when the connection ends.
struct Place<'proxy>(&'proxy AtomicUsize);

impl<'proxy> Place<'proxy> {
    fn take(connections: &'proxy AtomicUsize) -> Option<Place<'proxy>> {
        connections
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count < MAX_CONNECTIONS).then_some(count.saturating_add(1))
            })
            .is_ok()
            .then(|| Place(connections))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
