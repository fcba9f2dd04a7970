//! Starting a jail from a large process with many threads.
//!
//! The parent never forks itself: it spawns a fresh image of its own binary (`posix_spawn`, so that no page table of
//! the large process is copied), which becomes the zygote in [`super::enter_if_asked`]. Each *launcher* is forked from
//! that, and its child gets the plan over a socket. What comes before the plan can be begun before there is one (module
//! `prepared`). Whatever must be checked about files has been checked by then: the plan holds open descriptors.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::jailed::Jailed;
use super::layers;
use super::order::Order;
use super::outcome::{Refused, StartError};
use super::path::InsidePath;
use super::plan::{Pin, Plan, Streams};
use super::prepared::Prepared;
use super::weakening::{Removed, Without};

/// Starts jails. Clones share what has been prepared.
#[derive(Clone, Debug)]
pub struct Launcher {
    prepared: Arc<Prepared>,
    /// Whether there is always a launcher that waits for a plan.
    is_ready: bool,
    /// What came of the self-test, if there is to be one.
    tested: Option<Arc<OnceLock<Result<(), Refused>>>>,
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
            prepared: Arc::new(Prepared::of(binary.into())),
            is_ready: false,
            tested: None,
        }
    }

    /// Lets the first start be preceded by a self-test, once for all clones: a jail whose program tries what it
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

    /// Prepares the next jail when a program has ended, or has run for a while: for programs that run long and start jails
    /// now and then. A jail that has been prepared starts in a fraction of the time. It costs a process of a few megabytes
    /// that waits.
    #[must_use]
    pub fn ready(self) -> Self {
        Self {
            is_ready: true,
            ..self
        }
    }

    /// The binary that becomes the launcher.
    pub fn binary(&self) -> &Path {
        self.prepared.binary()
    }

    /// Says that a jail will be needed soon: what does not depend on its plan, which is most of it, begins meanwhile. The
    /// next start uses it, unless something was mounted or unmounted on the host by then.
    pub fn prepare(&self) {
        // The self-test takes a jail of its own.
        let is_tested = self
            .tested
            .as_ref()
            .is_none_or(|tested| tested.get().is_some());
        self.prepared.prepare(if is_tested { 1 } else { 2 });
    }

    /// Builds a jail and starts the program in it. Returns when the program has been executed.
    ///
    /// # Errors
    /// [`StartError::Refused`] if any layer could not be made: nothing has been executed then.
    /// [`StartError::NotExecutable`] if the system refused the program itself.
    pub fn start(&self, plan: Plan, streams: Streams) -> Result<Jailed, StartError> {
        let (order, descriptors) = Order::new(plan, Vec::new(), streams)?;
        self.begin(&order, descriptors)
    }

    /// As [`Launcher::start`], for a program that runs several times in turn: [`Jailed::finish`] keeps the jail, and
    /// [`Idle::start`](super::Idle::start) uses it again. It costs a fraction of another jail.
    ///
    /// All of them have the one plan, and each its own words and `pins`. The plan names nothing of the host that can be
    /// written and no socket, so that none can leave anything to the next; its scratch directories are other ones, and
    /// empty, for each. Of a program that has ended no process is left when the next one starts. They can have no
    /// influence on how much processor time the next one gets either: they may not change any scheduling. Nor does the
    /// next one see how many there were before: where there is something to renew, processes are counted from the start
    /// again, and `/proc` shows a program itself and what it has started, but not init.
    ///
    /// # Errors
    /// As [`Launcher::start`]; [`StartError::Refused`] also if the plan has a mount that can be written, a socket or a
    /// network, or puts something into a scratch directory.
    pub fn start_several(
        &self,
        plan: Plan,
        pins: Vec<Pin>,
        streams: Streams,
    ) -> Result<Jailed, StartError> {
        let (order, descriptors) = Order::new(plan, pins, streams)?;
        self.begin(&order.for_several()?, descriptors)
    }

    /// As [`Launcher::start`], for a program that leaves files: [`Jailed::finish`] gives this scratch directory of
    /// the plan, open, when nobody is left in the jail.
    ///
    /// # Errors
    /// As [`Launcher::start`]; [`StartError::Refused`] also if it is no scratch directory of the plan.
    pub fn start_returning(
        &self,
        plan: Plan,
        streams: Streams,
        directory: InsidePath,
    ) -> Result<Jailed, StartError> {
        let (order, descriptors) = Order::new(plan, Vec::new(), streams)?;
        self.begin(&order.returning(directory)?, descriptors)
    }

    fn begin(&self, order: &Order, descriptors: Vec<OwnedFd>) -> Result<Jailed, StartError> {
        if let Some(tested) = &self.tested {
            let unchecked = Self {
                tested: None,
                is_ready: false,
                ..self.clone()
            };
            let result = tested.get_or_init(|| layers::required(&unchecked));
            result.clone()?;
        }
        let launched = self.prepared.launch(&Without::of(order))?;
        // From here on dropping `jailed` ends the launcher.
        let sampled = order.keeps(Removed::Sampling);
        let limits = order.limits.clone();
        let next = self.is_ready.then(|| Arc::clone(&self.prepared));
        let mut jailed = Jailed::new(launched, limits, order.own_tasks(), sampled, order.several);
        jailed.prepare_next(next);
        jailed.begin(order, descriptors)?;
        Ok(jailed)
    }
}
