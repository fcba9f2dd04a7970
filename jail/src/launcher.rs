//! Starting a jail from a large process with many threads.
//!
//! The parent never forks itself: it spawns a fresh image of its own binary (`posix_spawn`, so that no page table of
//! the large process is copied), which becomes the *launcher* in [`super::enter_if_asked`] and gets the plan over a
//! socket. Whatever must be checked about files has been checked by then: the plan holds open descriptors.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::jailed::Jailed;
use super::order::{Answer, Order};
use super::outcome::{InStep, Refused, StartError, Step};
use super::plan::{Plan, Streams};
use super::wire;

/// `argv[0]` of the launcher.
pub(super) const NAME: &str = "hydrant-jail";

/// How long building a jail may take before it counts as failed. It takes milliseconds; a mount whose server is gone
/// takes for ever.
const BUILD: Duration = Duration::from_secs(10);

/// Starts jails.
#[derive(Clone, Debug)]
pub struct Launcher {
    binary: PathBuf,
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
        }
    }

    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Builds a jail and starts the program in it. Returns when the program has been executed.
    ///
    /// # Errors
    /// [`StartError::Refused`] if any layer could not be made: nothing has been executed then.
    /// [`StartError::NotExecutable`] if the system refused the program itself.
    pub fn start(&self, plan: Plan, streams: Streams) -> Result<Jailed, StartError> {
        let limits = plan.limits.clone();
        let (order, descriptors) = Order::new(plan, streams)?;
        let sampled = order.keeps(super::weakening::Removed::Sampling);
        let relay = order.relay;
        let (socket, child) = self.spawn()?;
        // From here on dropping `jailed` ends the launcher.
        let mut jailed = Jailed::new(child, socket, limits, relay, sampled);
        // A launcher that is another program, and reads nothing, is noticed all the same.
        set_socket_timeout(jailed.descriptor(), Timeout::Send, Some(BUILD))
            .step(Step::Protocol, "limit the time for sending")?;
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let sent = wire::send_message(jailed.descriptor(), &order, &borrowed);
        drop(descriptors);
        // A launcher that refuses at once may be gone before it has read everything: its answer says more.
        match wire::receive_message(jailed.descriptor(), Some(Instant::now() + BUILD)) {
            Ok((Answer::Started, _)) => {
                jailed.started()?;
                Ok(jailed)
            }
            Ok((Answer::Refused(refused), _)) => Err(refused.into()),
            Ok((Answer::NotExecutable { errno }, _)) => Err(StartError::NotExecutable { errno }),
            Ok((Answer::Ended { .. }, _)) => {
                Err(Refused::new(Step::Protocol, "the end came before the start").into())
            }
            Err(error) => {
                sent.step(Step::Protocol, "send the plan")?;
                Err(Refused::new(
                    Step::Protocol,
                    format_args!("the launcher did not answer: {error}"),
                )
                .into())
            }
        }
    }

    fn spawn(&self) -> Result<(OwnedFd, std::process::Child), Refused> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .step(Step::Protocol, "make a socket pair")?;
        let child = Command::new(&self.binary)
            .arg0(NAME)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .step(
                Step::Protocol,
                format_args!("start the launcher {}", self.binary.display()),
            )?;
        Ok((ours, child))
    }
}
