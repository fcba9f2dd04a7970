//! Signatures take most of the time of a large append: they are made by a thread of their own while records come, and what
//! is left at the end by both.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::error::ChainError;
use super::key::ChainKey;
use super::record::signature;

use crate::locked;

/// As many records are worth a second thread: a signature takes about as long as starting one.
const SHARED: usize = 8;

/// Signs hashes in the order in which they come.
pub(super) struct Signer {
    key: Arc<ChainKey>,
    work: Arc<Work>,
    /// How many hashes came.
    asked: usize,
    other: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Work {
    queue: Mutex<Queue>,
    /// There is something in the queue, or it has ended.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Numbers of hashes, and the hashes.
    waiting: VecDeque<(usize, String)>,
    signed: Vec<(usize, String)>,
    ended: bool,
}

impl Work {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        locked(&self.queue)
    }

    /// Nothing more comes.
    fn end(&self) {
        self.queue().ended = true;
        self.changed.notify_all();
    }

    /// Signs what waits, until nothing does and nothing more comes.
    fn run(&self, key: &ChainKey) {
        loop {
            let waiting = |queue: &mut Queue| queue.waiting.is_empty() && !queue.ended;
            let mut queue = self
                .changed
                .wait_while(self.queue(), waiting)
                .unwrap_or_else(PoisonError::into_inner);
            let Some((number, hash)) = queue.waiting.pop_front() else {
                return;
            };
            drop(queue);
            let signed = signature(key, &hash);
            self.queue().signed.push((number, signed));
        }
    }
}

impl Signer {
    pub(super) fn new(key: Arc<ChainKey>) -> Self {
        Self {
            key,
            work: Arc::default(),
            asked: 0,
            other: None,
        }
    }

    /// One more hash to sign.
    pub(super) fn sign(&mut self, hash: &str) {
        let next = (self.asked, hash.to_owned());
        self.work.queue().waiting.push_back(next);
        self.asked = self.asked.saturating_add(1);
        if self.asked == SHARED {
            let (work, key) = (Arc::clone(&self.work), Arc::clone(&self.key));
            // Without a second thread all is signed at the end.
            self.other = std::thread::Builder::new()
                .name("chain-sign".to_owned())
                .spawn(move || work.run(&key))
                .ok();
        }
        if self.other.is_some() {
            self.work.changed.notify_one();
        }
    }

    /// The signatures of all that came, in order.
    pub(super) fn finish(mut self) -> Result<Vec<String>, ChainError> {
        self.work.end();
        self.work.run(&self.key);
        let ended = self.other.take().map(JoinHandle::join);
        let mut signed = std::mem::take(&mut self.work.queue().signed);
        if signed.len() != self.asked || matches!(ended, Some(Err(_))) {
            return Err(ChainError::Write {
                what: "signatures",
                source: std::io::Error::other("the signing thread ended"),
            });
        }
        signed.sort_unstable_by_key(|(number, _)| *number);
        Ok(signed.into_iter().map(|(_, signature)| signature).collect())
    }
}

impl Drop for Signer {
    /// What was not finished is not needed.
    fn drop(&mut self) {
        self.work.queue().waiting.clear();
        self.work.end();
    }
}
