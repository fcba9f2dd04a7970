//! `audit verify`: the files are read, not what a running governor has in memory.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::entry::Event;
use super::head;
use super::key;
use super::record::{self, Record, Tail};
use super::scan::Unwitnessed;
use super::segment::Lines;
use super::show::{Stop, stopped};
use crate::failure::{Code, Failure};
use crate::state::{Folder, FolderError, Lock, witness_of};

/// What the subject of the first record begins with, where another chain was before this one.
pub(crate) const BEGUN_ANEW: &str = "begun anew; ";

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A line that is no canonical record.
    Malformed,
    /// Another number than the one after the last.
    Sequence,
    /// Not linked to the record before it, or changed.
    Hash,
    /// Not signed with `audit.pub`.
    Signature,
    /// Fewer records than `HEAD` or the anchor says.
    Truncated,
    /// `HEAD` is missing, not signed, or of another chain.
    Head,
    /// The pair in the database does not occur.
    Witness,
    /// The database is an earlier one: it lacks changes that were followed by others.
    OlderDatabase,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Sequence => "sequence",
            Self::Hash => "hash",
            Self::Signature => "signature",
            Self::Truncated => "truncated",
            Self::Head => "head",
            Self::Witness => "witness",
            Self::OlderDatabase => "older-database",
        })
    }
}

/// `SEQ:HASH`, kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// From 1.
    pub seq: u64,
    /// 64 hex digits.
    pub hash: String,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Anchor {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        text.split_once(':')
            .filter(|(_, hash)| {
                hash.len() == 64
                    && hash
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            })
            .and_then(|(seq, hash)| {
                Some(Self {
                    seq: seq.parse().ok().filter(|seq| *seq > 0)?,
                    hash: hash.to_owned(),
                })
            })
            .ok_or_else(|| {
                Failure::new(
                    Code::InvalidRequest,
                    "an anchor is SEQ:HASH, with a number from 1 and 64 lower-case hex digits",
                )
            })
    }
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verdict {
    /// Whether all is as it was written.
    pub ok: bool,
    /// How many records are good, from the first on.
    pub records: u64,
    /// What `HEAD` says; none where it says nothing that is signed.
    pub head_seq: Option<u64>,
    /// The first record that is not as it was written, or is not there.
    pub first_bad_seq: Option<u64>,
    /// What is wrong with it.
    pub reason: Option<Reason>,
    /// How many changes and uses of grants the database may lack, and gets with the next command: a crash left that, or the
    /// database is an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_lacks: Option<usize>,
    /// Of a chain that took the place of another one: where that one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_anew: Option<String>,
}

/// Verifies the chain of a state directory, which may be a copy; waits up to 5 s for a writer to finish.
///
/// # Errors
///
/// `audit-unavailable` where files cannot be read, `timeout` where it was stopped; what stands in the files is never an
/// error but a verdict.
pub fn verify(state: &Path, anchor: Option<&Anchor>, stop: Stop<'_>) -> Result<Verdict, Failure> {
    let unreadable =
        |error: FolderError| Failure::new(Code::AuditUnavailable, format!("chain: {error}"));
    let state = Folder::look(state).map_err(unreadable)?;
    let until = Instant::now() + Duration::from_secs(5);
    // Without the lock a writer could be seen half-way; a copy that cannot be locked has no writer.
    let lock = Lock::share(&state, until)?;
    let mut verdict = Verdict {
        ok: false,
        records: 0,
        head_seq: None,
        first_bad_seq: None,
        reason: None,
        database_lacks: None,
        begun_anew: None,
    };
    let bad = match walk(&state, lock, anchor, stop, &mut verdict) {
        Ok(()) => None,
        Err(Bad::Record(seq, reason)) => Some((seq, reason)),
        // A link, a pipe or a directory where a file of the chain should be.
        Err(Bad::Files(FolderError::Kind { .. })) => {
            Some((verdict.records.saturating_add(1), Reason::Malformed))
        }
        Err(Bad::Files(error)) => return Err(unreadable(error)),
        Err(Bad::Stopped) => return Err(stopped()),
    };
    verdict.ok = bad.is_none();
    verdict.first_bad_seq = bad.map(|(seq, _)| seq);
    verdict.reason = bad.map(|(_, reason)| reason);
    Ok(verdict)
}

enum Bad {
    Record(u64, Reason),
    Files(FolderError),
    /// Nothing is; nobody wants to know any more.
    Stopped,
}

impl From<FolderError> for Bad {
    fn from(error: FolderError) -> Self {
        Self::Files(error)
    }
}

fn walk(
    state: &Folder,
    lock: Option<Lock>,
    anchor: Option<&Anchor>,
    stop: Stop<'_>,
    verdict: &mut Verdict,
) -> Result<(), Bad> {
    // A database that cannot be read testifies to nothing, which is no more than what a pair does that does not occur.
    let witness = witness_of(state).map_err(|_| Bad::Record(1, Reason::Witness))?;
    let chain = state.child("chain")?;
    let key = key::verifying(state)?;
    let head = match (&chain, &key) {
        (Some(chain), Some(key)) => chain
            .read(head::NAME, head::LONGEST)?
            .map(|file| head::read(&file, key)),
        _ => None,
    };
    let lines = chain.as_ref().map(Lines::all).transpose()?;
    // What follows was there while the lock was held, and nothing of it changes any more.
    drop(lock);
    verdict.head_seq = head.as_ref().and_then(|head| Some(head.as_ref()?.seq));
    let none = Tail::none();
    let head_says = head.as_ref().map_or(Some(&none), Option::as_ref);

    let mut tail = none.clone();
    let mut head_met = head_says.is_some_and(|head| *head == none);
    let mut beyond: Option<Tail> = None;
    let mut unwitnessed = Unwitnessed::default();
    let mut witnessed = witness.as_ref().is_none_or(|witness| witness.seq == 0);
    if let Some(mut lines) = lines {
        while let Some(line) = lines.next()? {
            if stop() {
                return Err(Bad::Stopped);
            }
            let next = tail.seq.saturating_add(1);
            let Some(key) = &key else {
                return Err(Bad::Record(next, Reason::Signature));
            };
            let record = if line.whole {
                record::check(&line.bytes, &tail, Some(key))
            } else {
                Err(Reason::Malformed)
            };
            let record = record.map_err(|reason| Bad::Record(next, reason))?;
            if record.tail.seq == 1 {
                verdict.begun_anew = begun_anew(&record);
            }
            if witness
                .as_ref()
                .is_some_and(|witness| witness.seq < record.tail.seq)
            {
                unwitnessed.take(&record);
            }
            tail = record.tail;
            verdict.records = tail.seq;
            if let Some(anchor) = anchor.filter(|anchor| anchor.seq == tail.seq)
                && anchor.hash != tail.hash
            {
                return Err(Bad::Record(tail.seq, Reason::Hash));
            }
            if let Some(witness) = witness.as_ref().filter(|witness| witness.seq == tail.seq) {
                witnessed = witness.hash == tail.hash;
            }
            let Some(head) = head_says else {
                continue;
            };
            if head.seq == tail.seq {
                head_met = *head == tail;
            }
            // One append may be ahead of HEAD; its lines carry one time.
            if head.seq < tail.seq && beyond.get_or_insert_with(|| tail.clone()).ts != tail.ts {
                return Err(Bad::Record(tail.seq, Reason::Head));
            }
        }
    }
    let next = tail.seq.saturating_add(1);
    if head_says.is_some_and(|head| head.seq > tail.seq)
        || anchor.is_some_and(|anchor| anchor.seq > tail.seq)
    {
        return Err(Bad::Record(next, Reason::Truncated));
    }
    if !head_met {
        return Err(Bad::Record(tail.seq, Reason::Head));
    }
    if !witnessed {
        let seq = witness.map_or(next, |witness| witness.seq.min(next));
        return Err(Bad::Record(seq, Reason::Witness));
    }
    let lacks = unwitnessed
        .lost
        .len()
        .saturating_add(unwitnessed.used.len());
    verdict.database_lacks = (lacks > 0).then_some(lacks);
    if unwitnessed.is_of_older_database() {
        let first = unwitnessed.lost.first().map_or(next, |lost| lost.tail.seq);
        return Err(Bad::Record(first, Reason::OlderDatabase));
    }
    Ok(())
}

/// What the first record says of a chain before this one.
fn begun_anew(first: &Record) -> Option<String> {
    let subject = first.text("subject")?.strip_prefix(BEGUN_ANEW)?;
    (first.event() == Some(Event::ChainRecovered)).then(|| subject.to_owned())
}
