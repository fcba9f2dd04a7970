//! The process that all launchers of a host are forked from.
//!
//! To start an image takes as long as to make a jail. So it is started once, before anything is known of any plan: with
//! an empty environment, no descriptor but its socket, and one thread. Forking it costs a tenth of that, and a host with
//! many threads and much memory cannot be forked at all. It ends with the host, however that ends, and every jail that
//! was forked from it ends with it. No jail can name it: it is in none of their pid namespaces.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use super::jailed::BUILD;
use super::launched::{GRACE, Launched};
use super::outcome::{InStep, Refused, Step};
use super::weakening::Without;
use super::wire;

/// `argv[0]` of it.
pub(super) const NAME: &str = "hydrant-jail";

/// Host to zygote, with the socket of the new launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// Layers that are left away, in tests.
    pub(super) without: Vec<String>,
}

/// Launcher to host, before anything else, with a descriptor of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Born {
    pub(super) process: u32,
}

/// Dropping it ends it, and all launchers that are forked from it.
#[derive(Debug)]
pub(super) struct Zygote {
    child: Child,
    socket: Mutex<OwnedFd>,
    surroundings: Surroundings,
}

/// What a process inherits from its parent for good: a host that has changed one of these needs another zygote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Surroundings {
    user: u32,
    group: u32,
    places: Vec<Option<(u64, u64)>>,
}

impl Surroundings {
    pub(super) fn now() -> Self {
        let identity = |path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        // The root, and the namespaces.
        let places = [
            "/",
            "/proc/self/ns/mnt",
            "/proc/self/ns/user",
            "/proc/self/ns/pid",
        ];
        Self {
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            places: places.into_iter().map(identity).collect(),
        }
    }
}

impl Zygote {
    /// Starts `binary`, whose `main` begins with [`super::enter_if_asked`].
    pub(super) fn start(binary: &Path) -> Result<Self, Refused> {
        let surroundings = Surroundings::now();
        let (ours, theirs) = pair()?;
        let child = Command::new(binary)
            .arg0(NAME)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .step(
                Step::Protocol,
                format_args!("start the launcher {}", binary.display()),
            )?;
        Ok(Self {
            child,
            socket: Mutex::new(ours),
            surroundings,
        })
    }

    /// Whether it was started by what this process is now.
    pub(super) fn is_of(&self, surroundings: &Surroundings) -> bool {
        self.surroundings == *surroundings
    }

    /// Asks for a launcher, which makes namespaces at once and then waits for its plan.
    pub(super) fn fork(self: &Arc<Self>, without: &Without) -> Result<Launched, Refused> {
        let (ours, theirs) = pair()?;
        let request = Request {
            without: without.arguments().map(Into::into).into(),
        };
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        wire::send_message(&*socket, &request, &[theirs.as_fd()])
            .step(Step::Protocol, "ask for a launcher")?;
        Ok(Launched::new(ours, Arc::clone(self)))
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        let socket = self
            .socket
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // It collects its launchers and ends; one that is killed before leaves them to process 1 of the host, and in a
        // container that may be this process.
        let _ = rustix::net::shutdown(&*socket, Shutdown::Write);
        let process = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(Ok(process)) = process.map(|process| pidfd_open(process, PidfdFlags::empty())) {
            let _ = wire::readable(&process, Some(Instant::now() + GRACE));
        }
        // Late or not. Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A pair of sockets. A process that is another program, and reads nothing, is noticed all the same.
fn pair() -> Result<(OwnedFd, OwnedFd), Refused> {
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .step(Step::Protocol, "make a socket pair")?;
    set_socket_timeout(&ours, Timeout::Send, Some(BUILD))
        .step(Step::Protocol, "limit the time for sending")?;
    Ok((ours, theirs))
}
