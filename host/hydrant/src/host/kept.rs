//! Hydrations that are answered again from memory, for as long as nothing that they read has changed.
//!
//! A hydration whose answer depends on local files alone is kept with the stamps of what it read ([`Reads`]). Asked again,
//! every lookup is made anew; where each leads to the same file with the same stamp, the kept bytes are what the component
//! would answer, for a guest is deterministic. The call is recorded as any other. Nothing is shared between hosts: what one
//! tenant asked makes no answer of another one faster.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::hydrate::HYDRATE;
use super::pinned::PinnedSkill;
use super::record::write_down;
use super::{Host, HostError, HydrateRequest};
use crate::audit::Execution;
use crate::capability::fs::Reads;
use hydrant_base::Timestamp;

/// Bytes of the largest answer that is kept.
const MAX_ANSWER: usize = 1024 * 1024;
/// What an entry takes beside its request and answer, about.
const ENTRY: usize = 2048;

/// See the module.
pub(super) struct Kept {
    most: usize,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    known: BTreeMap<Vec<u8>, Arc<Known>>,
    /// The oldest first.
    order: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// A hydration that was done.
struct Known {
    skill: Arc<PinnedSkill>,
    reads: Reads,
    execution: Execution,
    denied: Vec<String>,
    answer: Bytes,
}

impl Kept {
    /// At most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: Mutex::default(),
        }
    }

    fn find(&self, request: &[u8]) -> Option<Arc<Known>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.known.get(request).cloned()
    }

    fn keep(&self, request: &[u8], known: Known) {
        let size = |request: &[u8], known: &Known| {
            request
                .len()
                .saturating_add(known.answer.len())
                .saturating_add(ENTRY)
        };
        let more = size(request, &known);
        if known.answer.len() > MAX_ANSWER || more > self.most {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = &mut *entries;
        match entries.known.insert(request.to_vec(), Arc::new(known)) {
            Some(before) => {
                entries.bytes = entries.bytes.saturating_sub(size(request, &before));
            }
            None => entries.order.push_back(request.to_vec()),
        }
        entries.bytes = entries.bytes.saturating_add(more);
        while entries.bytes > self.most {
            let Some(oldest) = entries.order.pop_front() else {
                break;
            };
            if let Some(gone) = entries.known.remove(&oldest) {
                entries.bytes = entries.bytes.saturating_sub(size(&oldest, &gone));
            }
        }
    }
}

impl Host {
    /// As [`hydrate`](Self::hydrate), from memory where that is sound and this host keeps hydrations; none where the
    /// component has to be asked. It looks at files, and waits for nothing else.
    ///
    /// # Errors
    ///
    /// As [`hydrate`](Self::hydrate).
    pub fn hydrate_again(&self, request: &HydrateRequest) -> Result<Option<Bytes>, HostError> {
        let Some(kept) = &self.kept else {
            return Ok(None);
        };
        let bytes = request.to_bytes()?;
        let Some(known) = kept.find(&bytes) else {
            return Ok(None);
        };
        let started = Timestamp::now();
        // A changed root is verified, and a failure of it recorded, where the component is asked.
        let Some(skill) = self.pins.current(HYDRATE, None) else {
            return Ok(None);
        };
        if !Arc::ptr_eq(&skill, &known.skill) || !known.reads.hold() {
            return Ok(None);
        }
        let execution = Execution {
            started_at: started,
            finished_at: Timestamp::now(),
            ..known.execution.clone()
        };
        if let Some(audited) = self.begin()? {
            let bundle = &skill.pinned.bundle;
            write_down(audited, &execution, bundle, &known.denied, None)?;
        }
        Ok(Some(known.answer.clone()))
    }

    /// As [`hydrate`](Self::hydrate), and kept where that is sound.
    ///
    /// # Errors
    ///
    /// As [`hydrate`](Self::hydrate).
    pub fn hydrate_keeping(&self, request: &HydrateRequest) -> Result<Bytes, HostError> {
        let Some(kept) = &self.kept else {
            return self.hydrate(request).map(Bytes::from);
        };
        let bytes = request.to_bytes()?;
        let executed = self.execute(request.to_call(&bytes))?;
        let skill = executed.skill.pinned().cloned();
        let (reads, denied) = (
            executed.journal.reads.clone(),
            executed.journal.denied.clone(),
        );
        let run = self.record(executed, &bytes, None)?;
        let answer = Bytes::from(run.result.map_err(HostError::of_failure)?);
        if let Some(skill) = skill
            && reads.are_all()
        {
            let known = Known {
                skill,
                reads,
                execution: run.execution,
                denied,
                answer: answer.clone(),
            };
            kept.keep(&bytes, known);
        }
        Ok(answer)
    }
}
