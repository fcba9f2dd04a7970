//! Launchers that wait for their plans, and the zygote that they come from.
//!
//! What waits knows the host's mounts as they were when it was asked for. The kernel tells when they have changed; then it
//! is let go. Files and directories that were replaced meanwhile the launcher's init notices itself.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::launched::Launched;
use super::outcome::Refused;
use super::weakening::Without;
use super::zygote::{Surroundings, Zygote};

/// What all clones of a launcher share.
#[derive(Debug)]
pub(super) struct Prepared {
    binary: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A zygote that is being started, and what waits then.
    starting: Option<JoinHandle<Result<Started, Refused>>>,
    zygote: Option<Arc<Zygote>>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Started {
    zygote: Arc<Zygote>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    launched: Launched,
    /// Says when the host's mounts have changed since before it was asked for.
    mounts: File,
}

impl Prepared {
    /// Nothing yet.
    pub(super) fn of(binary: PathBuf) -> Self {
        Self {
            binary,
            state: Mutex::default(),
        }
    }

    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Lets at least so many launchers wait for a plan. Where that is not possible the start itself will say why.
    pub(super) fn prepare(&self, count: usize) {
        let mut state = self.lock();
        if state.starting.is_some() {
            return;
        }
        if let Some(zygote) = state.zygote.clone()
            && zygote.is_of(&Surroundings::now())
        {
            while state.waiting.len() < count {
                let Ok(waiting) = Waiting::new(&zygote) else {
                    return;
                };
                state.waiting.push_back(waiting);
            }
            return;
        }
        let binary = self.binary.clone();
        let start = move || {
            let zygote = Arc::new(Zygote::start(&binary)?);
            let waiting = (0..count).map(|_| Waiting::new(&zygote));
            let waiting = waiting.collect::<Result<_, _>>()?;
            Ok(Started { zygote, waiting })
        };
        let thread = std::thread::Builder::new().name("hydrant-jail".to_owned());
        state.starting = thread.spawn(start).ok();
    }

    /// A launcher: one that waits, or else a new one.
    pub(super) fn launch(&self, without: &Without) -> Result<Launched, Refused> {
        let mut state = self.lock();
        state.finish_starting();
        let surroundings = Surroundings::now();
        if state
            .zygote
            .as_ref()
            .is_some_and(|zygote| !zygote.is_of(&surroundings))
        {
            *state = State::default();
        }
        while *without == Without::default()
            && let Some(waiting) = state.waiting.pop_front()
        {
            if let Some(launched) = waiting.take() {
                return Ok(launched);
            }
        }
        // A zygote that has ended is noticed here. Another one that cannot fork either says why.
        if let Some(zygote) = &state.zygote {
            let forked = fork(zygote, without);
            if forked.is_ok() {
                return forked;
            }
            *state = State::default();
        }
        let zygote = Arc::new(Zygote::start(&self.binary)?);
        state.zygote = Some(Arc::clone(&zygote));
        drop(state);
        fork(&zygote, without)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn finish_starting(&mut self) {
        if let Some(starting) = self.starting.take()
            && let Ok(Ok(started)) = starting.join()
        {
            self.zygote = Some(started.zygote);
            self.waiting = started.waiting;
        }
    }
}

impl Waiting {
    fn new(zygote: &Arc<Zygote>) -> Result<Self, Refused> {
        let mounts = mounts()?;
        Ok(Self {
            launched: zygote.fork(&Without::default())?,
            mounts,
        })
    }

    /// The launcher, if it is still there and nothing has changed.
    fn take(self) -> Option<Launched> {
        let mut launched = self.launched;
        launched.wait_for_birth().ok()?;
        (!launched.has_ended() && unchanged(&self.mounts)).then_some(launched)
    }
}

fn fork(zygote: &Arc<Zygote>, without: &Without) -> Result<Launched, Refused> {
    let mut launched = zygote.fork(without)?;
    launched.wait_for_birth()?;
    Ok(launched)
}

fn mounts() -> Result<File, Refused> {
    use super::outcome::{InStep, Step};

    File::open("/proc/self/mountinfo").step(Step::Mount, "watch the mounts of the host")
}

/// Whether nothing was mounted or unmounted since this was opened (`proc_pid_mounts(5)`).
fn unchanged(mounts: &File) -> bool {
    let mut watched = [PollFd::new(mounts, PollFlags::PRI)];
    matches!(poll(&mut watched, Some(&Timespec::default())), Ok(0))
}
