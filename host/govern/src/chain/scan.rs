//! What stands in the chain beyond what is already known: at the start, and when another process has written.

use std::collections::BTreeMap;

use ed25519_dalek::VerifyingKey;

use super::entry::Event;
use super::error::ChainError;
use super::record::{self, Record, Tail};
use super::segment::{self, Line, Lines, Place};
use super::verify::Reason;
use crate::state::Folder;

/// The pair in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Witness {
    /// 0: none.
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

/// How far the chain has been read, and what was found.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    /// Where the next line begins.
    pub(crate) at: Place,
    pub(crate) tail: Tail,
    /// Calls without an end.
    pub(crate) open: BTreeMap<u64, Place>,
    /// What follows the record that the database witnesses.
    pub(crate) unwitnessed: Unwitnessed,
    /// A last line that is none, beyond `HEAD`: from where to where.
    pub(crate) torn: Option<(Place, u64)>,
    /// Segments that were read to their end and are not the last, and where the chain ended in each.
    pub(crate) passed: Vec<(u64, Tail)>,
    /// Seqs and hashes that have to be met.
    expected: Vec<(u64, String, Reason)>,
}

/// What the chain says and the database does not know: what a crash left, or an older database in the place of the present
/// one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unwitnessed {
    /// Changes of state that are not said to have failed: their commit was lost.
    pub(crate) lost: Vec<Record>,
    /// Grants under which something was called, and the session of the first call.
    pub(crate) used: BTreeMap<String, Option<String>>,
    /// Whether a record of something else follows on `lost`.
    followed: bool,
}

impl Unwitnessed {
    /// Whether the database is an older one: nothing is written after a lost commit but what recovery says of it.
    pub(crate) fn is_of_older_database(&self) -> bool {
        self.followed && !self.lost.is_empty()
    }

    pub(crate) fn take(&mut self, record: &Record) {
        let event = record.event();
        let failed = record.text("outcome") == Some("error");
        if event.is_some_and(Event::changes_state) && failed {
            if let Some(twin) = self.lost.iter().position(|lost| lost.same_as(record)) {
                self.lost.remove(twin);
            }
            return;
        }
        let recovery = event == Some(Event::ChainRecovered)
            || (event == Some(Event::CapabilityExecuted)
                && record.text("code") == Some("interrupted"));
        self.followed |= !recovery
            && self
                .lost
                .first()
                .is_some_and(|first| first.tail.ts != record.tail.ts);
        if event.is_some_and(Event::changes_state) {
            self.lost.push(record.clone());
        } else if let (Some(Event::CapabilityCall), Some(grant)) = (event, record.text("approval"))
        {
            self.used
                .entry(grant.to_owned())
                .or_insert_with(|| record.text("session").map(str::to_owned));
        }
    }
}

impl Default for Scan {
    /// From the beginning on.
    fn default() -> Self {
        let first = Place {
            segment: 1,
            offset: 0,
        };
        Self::from(first, Tail::none(), BTreeMap::new())
    }
}

impl Scan {
    /// From a place on that is known to be good.
    pub(crate) fn from(at: Place, tail: Tail, open: BTreeMap<u64, Place>) -> Self {
        Self {
            at,
            tail,
            open,
            unwitnessed: Unwitnessed::default(),
            torn: None,
            passed: Vec::new(),
            expected: Vec::new(),
        }
    }

    /// Reads to the end. `head` is what `HEAD` says (seq 0 where there is none); `before` is a record that was there.
    ///
    /// Signatures are looked at beyond `HEAD` only: what it links to is as good as signed by it.
    pub(crate) fn run(
        &mut self,
        folder: &Folder,
        head: &Tail,
        witness: &Witness,
        before: &Tail,
        key: &VerifyingKey,
    ) -> Result<(), ChainError> {
        self.expected.clear();
        self.unwitnessed = Unwitnessed::default();
        self.torn = None;
        self.passed.clear();
        let last = segment::last(folder)?.map_err(|number| {
            ChainError::Broken(format!("{} is missing", segment::name(number)))
        })?;
        self.expect(head.seq, &head.hash, Reason::Head)?;
        self.expect(witness.seq, &witness.hash, Reason::Witness)?;
        self.expect(before.seq, &before.hash, Reason::Truncated)?;
        let mut lines = Lines::from(folder, self.at);
        let mut beyond: Option<Tail> = None;
        while let Some(line) = lines.next()? {
            let signed = (self.tail.seq >= head.seq).then_some(key);
            let record = match checked(&line, &self.tail, signed) {
                Ok(record) => record,
                Err(_) if self.tail.seq >= head.seq && line.last && line.at.segment == last => {
                    self.torn = Some((line.at, line.end));
                    break;
                }
                Err(reason) => return Err(self.damaged(reason)),
            };
            if record.tail.seq > head.seq {
                // One append was lost on its way to HEAD, not two: its lines carry one time, and no other append's do.
                if beyond
                    .as_ref()
                    .is_some_and(|first| first.ts != record.tail.ts)
                {
                    return Err(self.damaged(Reason::Head));
                }
                beyond.get_or_insert_with(|| record.tail.clone());
            }
            if line.at.segment > self.at.segment {
                self.passed.push((self.at.segment, self.tail.clone()));
            }
            self.at = Place {
                segment: line.at.segment,
                offset: line.end,
            };
            self.take(record, line.at, witness)?;
        }
        // An empty segment was begun before a crash.
        if last > self.at.segment {
            self.passed.push((self.at.segment, self.tail.clone()));
            self.at = Place {
                segment: last,
                offset: 0,
            };
        }
        if let Some((seq, _, reason)) = self.expected.first() {
            let reason = match reason {
                Reason::Head => Reason::Truncated,
                other => *other,
            };
            return Err(ChainError::Damaged { seq: *seq, reason });
        }
        if self.unwitnessed.is_of_older_database() {
            return Err(ChainError::OlderDatabase { seq: witness.seq });
        }
        Ok(())
    }

    fn expect(&mut self, seq: u64, hash: &str, reason: Reason) -> Result<(), ChainError> {
        if seq > self.tail.seq {
            self.expected.push((seq, hash.to_owned(), reason));
        } else if seq == self.tail.seq && hash != self.tail.hash {
            return Err(ChainError::Damaged { seq, reason });
        }
        Ok(())
    }

    fn damaged(&self, reason: Reason) -> ChainError {
        ChainError::Damaged {
            seq: self.tail.seq.saturating_add(1),
            reason,
        }
    }

    fn take(&mut self, record: Record, at: Place, witness: &Witness) -> Result<(), ChainError> {
        let seq = record.tail.seq;
        if let Some((_, _, reason)) = self
            .expected
            .iter()
            .find(|(wanted, hash, _)| *wanted == seq && *hash != record.tail.hash)
        {
            return Err(ChainError::Damaged {
                seq,
                reason: *reason,
            });
        }
        self.expected.retain(|(wanted, ..)| *wanted != seq);
        self.tail = record.tail.clone();
        self.follow(&record, at);
        if seq > witness.seq {
            self.unwitnessed.take(&record);
        }
        Ok(())
    }

    /// Keeps the calls that have no end.
    pub(crate) fn follow(&mut self, record: &Record, at: Place) {
        match record.event() {
            Some(Event::CapabilityCall) => {
                self.open.insert(record.tail.seq, at);
            }
            Some(Event::CapabilityExecuted) => {
                if let Some(call) = record.number("call-seq") {
                    self.open.remove(&call);
                }
            }
            _ => {}
        }
    }
}

fn checked(line: &Line, tail: &Tail, key: Option<&VerifyingKey>) -> Result<Record, Reason> {
    if line.whole {
        record::check(&line.bytes, tail, key)
    } else {
        Err(Reason::Malformed)
    }
}

/// The record of one line that was read before.
pub(crate) fn at(folder: &Folder, place: Place) -> Result<Option<Record>, ChainError> {
    let Some(line) = Lines::from(folder, place).next()? else {
        return Ok(None);
    };
    Ok(Record::unchecked(&line.bytes))
}
