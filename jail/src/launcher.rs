//! Starting a jail from a large process with many threads.
//!
//! The parent never forks itself: it spawns a fresh image of its own binary (`posix_spawn`, so that no page table of
//! the large process is copied), which becomes the *launcher* in [`super::enter_if_asked`]; its child gets the plan over
//! a socket. What comes before the plan can be begun before there is one. Whatever must be checked about files has been
//! checked by then: the plan holds open descriptors.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::jailed::{BUILD, Jailed};
use super::launched::Launched;
use super::layers;
use super::order::Order;
use super::outcome::{InStep, Refused, StartError, Step};
use super::plan::{Plan, Streams};
use super::weakening::{Removed, Without};

/// `argv[0]` of the launcher.
pub(super) const NAME: &str = "hydrant-jail";

/// How long a launcher that has been prepared is good for: it knows the host's mounts as they were when it was started.
const FRESH: Duration = Duration::from_secs(5);

/// Starts jails. Clones share what has been prepared.
#[derive(Clone, Debug)]
pub struct Launcher {
    binary: PathBuf,
    prepared: Arc<Mutex<Option<Prepared>>>,
    /// What came of the self-test, if there is to be one.
    tested: Option<Arc<OnceLock<Result<(), Refused>>>>,
}

/// A launcher that waits for its plan, or is just being started.
#[derive(Debug)]
struct Prepared {
    since: Instant,
    launched: JoinHandle<Result<Launched, Refused>>,
}

impl Launcher {
    /// The running binary is the launcher: its `main` begins with [`super::enter_if_asked`].
    pub fn this_binary() -> Self {
        // The link leads to the file that is running even if another has its name by now.
        Self::at("/proc/self/exe")
    }

    /// A hydrant binary, for programs that embed this library and have another `main`.
    pub fn at(binary: impl Into<PathBuf>) -> Self {
        Self {
            binary: binary.into(),
            prepared: Arc::default(),
            tested: None,
        }
    }

    /// Lets the first start be preceded by a self-test, once for all clones (K-349): a jail whose program tries what it
    /// must not be able to do. If it can, this launcher starts nothing any more. It takes as long as a jail, some 10 ms:
    /// for programs that run long, where the machine may have been changed since somebody ran `hydrant doctor`. What a
    /// jail is made of is checked at each start anyway; this tells of a kernel that says that it does and does not.
    #[must_use]
    pub fn checked(self) -> Self {
        Self {
            tested: Some(Arc::default()),
            ..self
        }
    }

    /// The binary that becomes the launcher.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Says that a jail will be needed soon: what does not depend on its plan, which is half of it, begins on another
    /// thread. The next start within five seconds uses it.
    pub fn prepare(&self) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.as_ref().is_some_and(Prepared::is_fresh) {
            return;
        }
        let binary = self.binary.clone();
        let started = std::thread::Builder::new()
            .name("hydrant-jail".to_owned())
            .spawn(move || spawn(&binary, &Without::default()));
        // Where there is no thread to be had, the start itself will say what is wrong.
        *prepared = started.ok().map(|launched| Prepared {
            since: Instant::now(),
            launched,
        });
    }

    /// Builds a jail and starts the program in it. Returns when the program has been executed.
    ///
    /// # Errors
    /// [`StartError::Refused`] if any layer could not be made: nothing has been executed then.
    /// [`StartError::NotExecutable`] if the system refused the program itself.
    pub fn start(&self, plan: Plan, streams: Streams) -> Result<Jailed, StartError> {
        let (order, descriptors) = Order::new(plan, streams)?;
        self.begin(&order, descriptors)
    }

    /// As [`Launcher::start`], for a program that runs several times in turn: [`Jailed::finish`] keeps the jail, and
    /// [`Idle::start`](super::Idle::start) uses it again. It costs a fraction of another jail.
    ///
    /// All of them have the one plan. It names nothing that can be written and no socket, so that none can leave
    /// anything to the next; of a program that has ended no process is left when the next one starts. They can have
    /// no influence on how much processor time the next one gets either: they may not change any scheduling.
    ///
    /// # Errors
    /// As [`Launcher::start`]; [`StartError::Refused`] also if the plan has a scratch directory, a mount that can be
    /// written, a socket or a network.
    pub fn start_several(&self, plan: Plan, streams: Streams) -> Result<Jailed, StartError> {
        let (order, descriptors) = Order::new(plan, streams)?;
        self.begin(&order.for_several()?, descriptors)
    }

    fn begin(&self, order: &Order, descriptors: Vec<OwnedFd>) -> Result<Jailed, StartError> {
        if let Some(tested) = &self.tested {
            let unchecked = Self::at(&self.binary);
            let result = tested.get_or_init(|| layers::required(&unchecked));
            result.clone()?;
        }
        let without = Without::of(order);
        let launched = match self.take_prepared(&without) {
            Some(launched) => launched,
            None => spawn(&self.binary, &without)?,
        };
        // From here on dropping `jailed` ends the launcher.
        let sampled = order.keeps(Removed::Sampling);
        let limits = order.limits.clone();
        let mut jailed = Jailed::new(launched, limits, order.own_tasks(), sampled, order.several);
        jailed.begin(order, descriptors)?;
        Ok(jailed)
    }

    /// What has been prepared, if it can be used. What went wrong with it will again, or has passed.
    fn take_prepared(&self, without: &Without) -> Option<Launched> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = prepared.take()?;
        let fresh = prepared.is_fresh() && *without == Without::default();
        let launched = prepared.launched.join().ok()?.ok()?;
        fresh.then_some(launched)
    }
}

impl Prepared {
    fn is_fresh(&self) -> bool {
        self.since.elapsed() < FRESH
    }
}

fn spawn(binary: &Path, without: &Without) -> Result<Launched, Refused> {
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .step(Step::Protocol, "make a socket pair")?;
    let child = Command::new(binary)
        .arg0(NAME)
        .args(without.arguments())
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .step(
            Step::Protocol,
            format_args!("start the launcher {}", binary.display()),
        )?;
    let launched = Launched::new(child, ours);
    // A launcher that is another program, and reads nothing, is noticed all the same.
    set_socket_timeout(launched.socket(), Timeout::Send, Some(BUILD))
        .step(Step::Protocol, "limit the time for sending")?;
    Ok(launched)
}
