//! Records that are not written yet: each is linked to the one before it when it comes, and signed while others come.
//!
//! A record's hash covers the one before it, but no signature. So what an append will say can be made while the change that
//! it tells of is being made.

use std::sync::Arc;
use std::time::Duration;

use super::entry::Entry;
use super::error::ChainError;
use super::key::ChainKey;
use super::record::{Tail, Unsigned};
use super::signer::Signer;
use crate::time::Time;

/// How far the chain's time may run ahead of the clock.
const AHEAD: Duration = Duration::from_secs(1);

/// What an append is to write. It holds for the chain that ends where [`super::Log::draft`] was asked, and so for no longer
/// than the lock is held.
pub(crate) struct Draft {
    key: Arc<ChainKey>,
    signer: Signer,
    /// Of all its records; none: there is no record yet.
    ts: Option<Time>,
    /// Where the chain ends with it.
    tail: Tail,
    records: Vec<Unsigned>,
    /// Why it cannot be written.
    failed: Option<ChainError>,
}

impl Draft {
    /// Nothing, after `tail`.
    pub(super) fn new(key: Arc<ChainKey>, tail: Tail) -> Self {
        Self {
            signer: Signer::new(Arc::clone(&key)),
            key,
            ts: None,
            tail,
            records: Vec::new(),
            failed: None,
        }
    }

    /// One more record. That it cannot be written is said when the draft is.
    pub(crate) fn push(&mut self, entry: &Entry) {
        if self.failed.is_some() {
            return;
        }
        let ts = *self.ts.get_or_insert_with(|| later(self.tail.ts));
        match Unsigned::new(entry, &self.tail, ts, &self.key) {
            Ok(record) => {
                self.signer.sign(&record.tail.hash);
                self.tail = record.tail.clone();
                self.records.push(record);
            }
            Err(error) => self.failed = Some(error),
        }
    }

    /// The records, each with its line.
    pub(super) fn lines(self) -> Result<Vec<(Unsigned, Vec<u8>)>, ChainError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.records
            .into_iter()
            .zip(self.signer.finish()?)
            .map(|(record, signature)| {
                let line = record.line(&signature)?;
                Ok((record, line))
            })
            .collect()
    }
}

/// Each append has a time of its own, so that recovery can tell one from two. Appends of the same millisecond let
/// the chain's time run ahead, but by no more than [`AHEAD`]: after that, and where the clock was set back, it runs no
/// faster than the clock does.
fn later(last: Time) -> Time {
    let now = Time::now();
    if now > last {
        return now;
    }
    let millisecond = Duration::from_millis(1);
    if last > now.after(AHEAD) {
        std::thread::sleep(millisecond);
    }
    last.after(millisecond)
}
