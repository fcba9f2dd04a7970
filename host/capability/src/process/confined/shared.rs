//! Jails that tools of one list are asked in, one after the other in each: making a jail costs more than to ask a tool.
//!
//! All of a list are of one call, and so of one tenant. None finds anything of those before it: what it may write is made
//! anew, and the rest is read-only ([`hydrant_jail::Launcher::start_several`]). There are as many jails as processors; one
//! more each time when nobody has ended for a while, since tools may well wait for something themselves.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Confined;
use hydrant_jail::{Access, Idle};

/// How long nobody may have ended before there is another jail: some times what a jail takes.
const PATIENCE: Duration = Duration::from_millis(10);

/// The jails of one list.
#[derive(Debug)]
pub(in super::super) struct Shared {
    /// Jails that are always worth their cost.
    lanes: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    idle: Vec<(Key, Box<Idle>)>,
    running: usize,
    /// When the last jail began or the last tool ended.
    moved: Instant,
}

/// What is the same for all that share a jail: where which files and directories of the host are shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key(Vec<(PathBuf, Access, bool, u64, u64)>);

/// Leave to run one tool, in a jail that is idle or in another one.
pub(super) struct Turn<'s> {
    shared: &'s Shared,
    key: Option<Key>,
    idle: Option<Box<Idle>>,
}

impl Shared {
    /// None yet.
    pub(in super::super) fn new() -> Self {
        let processors = std::thread::available_parallelism();
        Self {
            lanes: processors.map_or(1, NonZeroUsize::get),
            state: Mutex::new(State {
                idle: Vec::new(),
                running: 0,
                moved: Instant::now(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits until there is a jail for this one, or until it is time for another.
    pub(super) fn turn(&self, key: Key) -> Turn<'_> {
        let mut state = self.lock();
        loop {
            let found = state.idle.iter().position(|(other, _)| *other == key);
            let waited = state.moved.elapsed();
            if found.is_some() || state.running < self.lanes || waited >= PATIENCE {
                let idle = found.map(|found| state.idle.swap_remove(found).1);
                state.running = state.running.saturating_add(1);
                state.moved = Instant::now();
                return Turn {
                    shared: self,
                    key: Some(key),
                    idle,
                };
            }
            let left = PATIENCE.saturating_sub(waited);
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// The jail, unless there has to be another one.
    pub(super) fn take(&mut self) -> Option<Idle> {
        self.idle.take().map(|idle| *idle)
    }

    /// The jail can be used by others.
    pub(super) fn give_back(mut self, idle: Option<Idle>) {
        self.idle = idle.map(Box::new);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.running = state.running.saturating_sub(1);
        state.moved = Instant::now();
        if let (Some(key), Some(idle)) = (self.key.take(), self.idle.take()) {
            state.idle.push((key, idle));
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Confined<'_> {
    /// What it shares a jail by.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn key(&self) -> io::Result<Key> {
        let shown = self.mounts.iter().map(|shown| {
            let stat = rustix::fs::fstat(&shown.source)?;
            Ok((
                shown.at.as_path().to_owned(),
                shown.access,
                shown.executable,
                stat.st_dev,
                stat.st_ino,
            ))
        });
        shown.collect::<io::Result<_>>().map(Key)
    }
}
