//! The socket of a jailed agent: the protocol of `hydrant syscall` on every connection.
//!
//! All that a connection can take is bounded: there are at most 16, each with one request at a time, of the length that
//! the protocol allows. One that only waits takes a thread and nothing else.

use std::fs::Permissions;
use std::io::{self, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::reference;
use crate::host::{Host, HydrateRequest};
use crate::jail::Signals;
use crate::serve::syscall::{Frontend, SyscallServer, until_hang_up};
use crate::serve::tenants::Tenant;

/// Connections at a time.
const MAX_CONNECTIONS: usize = 16;

/// What one more is answered, in the dialect that holds before any good line.
const TOO_MANY: &str = r#"{"type":"error","name":"Validation.Failed","payload":{"message":"16 connections are open already","code":"limit"}}"#;

/// The name of the socket in its directory.
const NAME: &str = "hydrant.sock";

/// How long nobody is accepted where the system could not.
const PAUSE: Duration = Duration::from_millis(20);

/// A socket that is served.
pub(super) struct Served {
    path: PathBuf,
    connections: Arc<Connections>,
    /// Closed to end the accepting.
    open: io::PipeWriter,
    /// At its end when no thread is left.
    ended: io::PipeReader,
}

/// The open connections, to be closed at the end.
#[derive(Default)]
struct Connections(Mutex<Vec<Arc<UnixStream>>>);

impl Served {
    /// Listens in `directory`, which only this user can enter.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn start(
        host: Arc<Host>,
        options: HydrateRequest,
        tenant: Option<Arc<Tenant>>,
        directory: &Path,
    ) -> io::Result<Self> {
        let path = directory.join(NAME);
        let listener = bind(directory)?;
        // A umask may have taken away what a jail of this user needs to connect.
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (closing, open) = io::pipe()?;
        let (ended, living) = io::pipe()?;
        let connections = Arc::new(Connections::default());
        let server = Server {
            host,
            options,
            tenant,
            connections: Arc::clone(&connections),
            living,
        };
        let thread = thread::Builder::new().name("hydrant-jail-socket".to_owned());
        thread.spawn(move || while server.accept(&listener, &closing) {})?;
        Ok(Self {
            path,
            connections,
            open,
            ended,
        })
    }

    /// The socket, for the jail to mount.
    pub(super) fn reference(&self) -> io::Result<OwnedFd> {
        reference(&self.path)
    }

    /// Removes the name, once the jail has mounted the socket: nobody else finds it then, and nothing is left of it
    /// should this process be killed.
    pub(super) fn remove_name(&self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the socket of the jail is left behind");
        }
    }

    /// Closes every connection, which cancels the calls that are under way, and waits for their end unless it is `urgent`,
    /// until a signal comes.
    pub(super) fn end(self, signals: &Signals, urgent: bool) {
        let Self {
            connections,
            open,
            ended,
            ..
        } = self;
        drop(open);
        connections.close();
        if urgent {
            return;
        }
        let mut watched = [
            PollFd::new(&ended, PollFlags::IN),
            PollFd::new(signals, PollFlags::IN),
        ];
        while matches!(poll(&mut watched, None), Err(rustix::io::Errno::INTR)) {}
    }
}

/// By way of the directory's descriptor: the name of a socket has at most 107 bytes, and `TMPDIR` may have more.
fn bind(directory: &Path) -> io::Result<UnixListener> {
    use std::os::fd::AsRawFd;
    let directory = reference(directory)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{NAME}", directory.as_raw_fd()))
}

struct Server {
    host: Arc<Host>,
    options: HydrateRequest,
    tenant: Option<Arc<Tenant>>,
    connections: Arc<Connections>,
    living: io::PipeWriter,
}

impl Server {
    /// Takes one connection; false when the socket is not served any more.
    fn accept(&self, listener: &UnixListener, closing: &io::PipeReader) -> bool {
        if !wait(closing, Some(listener), None) {
            return false;
        }
        let served = match listener.accept() {
            Ok((stream, _)) => self.serve(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = served {
            // No descriptors or no threads: not at once again.
            tracing::debug!(%error, "the socket of the jail does not accept");
            return wait(closing, None::<&UnixListener>, Some(PAUSE));
        }
        true
    }

    fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let stream = Arc::new(stream);
        let Some(place) = Place::take(&self.connections, &stream) else {
            // It fits into an empty buffer, or nobody waits for it.
            stream.set_nonblocking(true)?;
            let _ = (&*stream).write_all(format!("{TOO_MANY}\n").as_bytes());
            return Ok(());
        };
        let (host, options) = (Arc::clone(&self.host), self.options.clone());
        let tenant = self.tenant.clone();
        let living = self.living.try_clone()?;
        let thread = thread::Builder::new().name("hydrant-jail-call".to_owned());
        let served = move || {
            let (_place, _living) = (place, living);
            let mut server = SyscallServer::new(&host, options).behind(Frontend::Jail);
            if let Some(tenant) = tenant {
                server = server.governed(tenant);
            }
            // That the other end is gone is its business.
            let _ = until_hang_up(stream.as_fd(), || {
                server.serve(BufReader::new(&*stream), &*stream)
            });
        };
        thread.spawn(served).map(drop)
    }
}

/// Waits until the listener has somebody, or for `time`; false once `closing` is at its end.
fn wait(closing: &io::PipeReader, listener: Option<&impl AsFd>, time: Option<Duration>) -> bool {
    let mut watched = vec![PollFd::new(closing, PollFlags::IN)];
    watched.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    // Whatever it answers, an interruption too, the caller looks for itself.
    let _ = poll(&mut watched, time.as_ref());
    watched
        .first()
        .is_some_and(|closing| closing.revents().is_empty())
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<UnixStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        for stream in self.lock().iter() {
            // It fails only if the other end is gone.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// A place among the connections, given back when the connection ends.
struct Place {
    connections: Arc<Connections>,
    stream: Arc<UnixStream>,
}

impl Place {
    fn take(connections: &Arc<Connections>, stream: &Arc<UnixStream>) -> Option<Self> {
        let mut open = connections.lock();
        if open.len() >= MAX_CONNECTIONS {
            return None;
        }
        open.push(Arc::clone(stream));
        drop(open);
        Some(Self {
            connections: Arc::clone(connections),
            stream: Arc::clone(stream),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections
            .lock()
            .retain(|open| !Arc::ptr_eq(open, &self.stream));
    }
}
