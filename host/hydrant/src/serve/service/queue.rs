//! The fair queue: who calls next, where more want to than there are workers.
//!
//! Each tenant has a lane of its own, with a bound on what runs and on what waits. Lanes take turns, so that a tenant
//! that calls a thousand times waits behind itself and delays another by one call of each worker at most. A place is
//! given back when its holder is dropped; who stops waiting leaves the line at once.
//!
//! Some places are spare: only a tenant of which nothing runs gets one. So the first call of each begins at once, however
//! long the calls take that another one has filled the workers with.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What one tenant may have at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Calls that run, at least 1.
    pub running: usize,
    /// Calls that wait.
    pub waiting: usize,
}

/// Why a call may not even wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// As many of the tenant's calls wait as may.
    #[error("too many calls of this tenant wait")]
    Lane,
    /// As many calls wait as the server lets wait.
    #[error("too many calls wait")]
    Server,
}

/// See the module. Clones are the same queue.
#[derive(Debug, Clone)]
pub struct Queue(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    workers: usize,
    spare: usize,
    bound: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: usize,
    next: u64,
    lanes: BTreeMap<String, Lane>,
    /// Lanes in which somebody waits, in the order of their turns.
    turns: VecDeque<String>,
}

#[derive(Debug, Default)]
struct Lane {
    running: usize,
    limit: usize,
    line: VecDeque<(u64, oneshot::Sender<Place>)>,
}

/// How full the queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Calls that run.
    pub running: usize,
    /// Calls that wait.
    pub waiting: usize,
}

/// A place at work, until it is dropped.
#[derive(Debug)]
pub struct Place {
    queue: Arc<Inner>,
    lane: String,
}

impl Queue {
    /// A queue before so many workers and spare ones, in which so many calls may wait.
    #[must_use]
    pub fn new(workers: usize, spare: usize, bound: usize) -> Self {
        Self(Arc::new(Inner {
            workers: workers.max(1),
            spare,
            bound,
            state: Mutex::default(),
        }))
    }

    /// Waits for a place in this lane. Dropping the future leaves the line.
    ///
    /// # Errors
    ///
    /// [`Full`], at once.
    pub async fn place(&self, lane: &str, share: Share) -> Result<Place, Full> {
        let waiting = {
            let mut state = self.0.state();
            let number = state.next;
            state.next = number.wrapping_add(1);
            let lanes = state.lanes.len().max(1);
            let (running, all_waiting) = (state.running, state.waiting);
            let own = state.lanes.entry(lane.to_owned()).or_default();
            own.limit = share.running.max(1);
            if own.line.is_empty() && own.running < own.limit && self.0.is_free(running, own) {
                own.running = own.running.saturating_add(1);
                state.running = running.saturating_add(1);
                drop(state);
                return Ok(self.0.place_in(lane));
            }
            if own.line.len() >= share.waiting {
                return Err(Full::Lane);
            }
            // Whoever has no more than his part of the line is not turned away because others fill it.
            if all_waiting >= self.0.bound && own.line.len() >= self.0.bound / lanes {
                return Err(Full::Server);
            }
            let (sender, receiver) = oneshot::channel();
            let first = own.line.is_empty();
            own.line.push_back((number, sender));
            state.waiting = all_waiting.saturating_add(1);
            if first {
                state.turns.push_back(lane.to_owned());
            }
            Waiting {
                queue: &self.0,
                lane,
                number,
                receiver,
            }
        };
        waiting.wait().await
    }

    /// How full it is.
    #[must_use]
    pub fn load(&self) -> Load {
        let state = self.0.state();
        Load {
            running: state.running,
            waiting: state.waiting,
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a lane may have one more place where so many are taken.
    fn is_free(&self, running: usize, lane: &Lane) -> bool {
        let spare = if lane.running == 0 { self.spare } else { 0 };
        running < self.workers.saturating_add(spare)
    }

    fn place_in(self: &Arc<Self>, lane: &str) -> Place {
        Place {
            queue: Arc::clone(self),
            lane: lane.to_owned(),
        }
    }

    /// Gives free places to those whose turn it is.
    fn hand_out(self: &Arc<Self>) {
        let mut unwanted = Vec::new();
        let mut state = self.state();
        let mut looked_at = 0;
        let most = self.workers.saturating_add(self.spare);
        while state.running < most && looked_at < state.turns.len() {
            let Some(name) = state.turns.pop_front() else {
                break;
            };
            let running = state.running;
            let Some(lane) = state.lanes.get_mut(&name) else {
                continue;
            };
            if lane.running >= lane.limit || !self.is_free(running, lane) {
                looked_at = looked_at.saturating_add(1);
                state.turns.push_back(name);
                continue;
            }
            let Some((_, sender)) = lane.line.pop_front() else {
                continue;
            };
            lane.running = lane.running.saturating_add(1);
            let more = !lane.line.is_empty();
            state.running = state.running.saturating_add(1);
            state.waiting = state.waiting.saturating_sub(1);
            looked_at = 0;
            let place = self.place_in(&name);
            if more {
                state.turns.push_back(name);
            }
            if let Err(place) = sender.send(place) {
                unwanted.push(place);
            }
        }
        drop(state);
        // Each gives its place back in turn.
        drop(unwanted);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.running = state.running.saturating_sub(1);
        if let Some(lane) = state.lanes.get_mut(&self.lane) {
            lane.running = lane.running.saturating_sub(1);
            if lane.running == 0 && lane.line.is_empty() {
                state.lanes.remove(&self.lane);
            }
        }
        let wanted = state.waiting > 0;
        drop(state);
        if wanted {
            self.queue.hand_out();
        }
    }
}

/// Somebody in the line.
struct Waiting<'a> {
    queue: &'a Arc<Inner>,
    lane: &'a str,
    number: u64,
    receiver: oneshot::Receiver<Place>,
}

impl Waiting<'_> {
    async fn wait(mut self) -> Result<Place, Full> {
        // The sender is only dropped with this one's entry in the line.
        (&mut self.receiver).await.map_err(|_| Full::Server)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        let Some(lane) = state.lanes.get_mut(self.lane) else {
            return;
        };
        let before = lane.line.len();
        lane.line.retain(|(number, _)| *number != self.number);
        let left = before.saturating_sub(lane.line.len());
        let (empty, idle) = (lane.line.is_empty(), lane.running == 0);
        state.waiting = state.waiting.saturating_sub(left);
        if empty {
            state.turns.retain(|name| name != self.lane);
            if idle {
                state.lanes.remove(self.lane);
            }
        }
    }
}

#[cfg(test)]
mod tests;
