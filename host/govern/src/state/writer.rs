//! Whoever holds the lock: changes, appends, and what a crash left to put right.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::database::{self, Known, failed};
use super::folder::Folder;
use super::kill::kill_point;
use super::running::Running;
use super::{Change, Head};
use crate::chain::{
    ChainError, ChainKey, Draft, Entry, Event, Log, Outcome, Seen, Witness, is_empty, record_at,
    segment,
};
use crate::failure::{Code, Failure};
use crate::time::{DRIFT, Time};

const CHAIN: &str = "chain";

pub(super) struct Writer {
    database: Database,
    running: Running,
    chain: Chain,
    /// Entries that say that a commit failed, and could not be written yet.
    owed: Vec<Entry>,
}

/// The database, and how durable a commit of it is.
struct Database {
    connection: Connection,
    /// What `PRAGMA synchronous` was set to; asking for the same again costs as much as a small query.
    synchronous: Option<&'static str>,
    /// The record that it witnessed last: what knows less is an older one.
    witnessed: u64,
}

impl Database {
    fn synchronous(&mut self, level: &'static str) -> rusqlite::Result<()> {
        if self.synchronous != Some(level) {
            self.connection.pragma_update(None, "synchronous", level)?;
            self.synchronous = Some(level);
        }
        Ok(())
    }

    fn testify(&mut self, log: &mut Log) -> rusqlite::Result<()> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        database::testify(&transaction, &log.known, log.closed(), seen(log))?;
        transaction.commit()?;
        log.forget_closed();
        self.witnessed = log.known.tail.seq;
        Ok(())
    }
}

enum Chain {
    Good(Box<Log>),
    /// Only reading until the operator has moved it away.
    Damaged(Failure),
}

impl Writer {
    /// Called with the lock held.
    pub(super) fn open(folder: &Folder) -> Result<Self, Failure> {
        let mut database = Database {
            connection: database::open(folder)?,
            synchronous: None,
            witnessed: 0,
        };
        let (running, others) = Running::start(folder).map_err(failed)?;
        let chain = match recover(folder, &mut database, &others) {
            Ok(log) => {
                tell_of_clock(log.known.tail.ts);
                Chain::Good(Box::new(log))
            }
            Err(Trouble::Chain(error)) => Chain::Damaged(error.into()),
            Err(Trouble::Database(error)) => return Err(failed(error)),
        };
        Ok(Self {
            database,
            running,
            chain,
            owed: Vec::new(),
        })
    }

    pub(super) fn damage(&self) -> Option<Failure> {
        match &self.chain {
            Chain::Good(_) => None,
            Chain::Damaged(failure) => Some(failure.clone()),
        }
    }

    pub(super) fn newest(&self) -> Time {
        match &self.chain {
            Chain::Good(log) => log.known.tail.ts,
            Chain::Damaged(_) => Time::default(),
        }
    }

    /// The record that the database witnesses at least.
    pub(super) fn witnessed(&self) -> u64 {
        self.database.witnessed
    }

    pub(super) fn head(&self) -> Head {
        match &self.chain {
            Chain::Good(log) => head(log),
            Chain::Damaged(_) => Head {
                seq: 0,
                hash: String::new(),
            },
        }
    }

    /// Reads what another process has written since, and puts right what it left if it was killed.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        let Chain::Good(log) = &mut self.chain else {
            return Ok(());
        };
        let caught = if log.stale()? {
            // Whoever has written in the meantime has written that too.
            self.owed.clear();
            let known = Known::read(&self.database.connection)?;
            let before = log.known.clone();
            let caught = log
                .catch_up(&known.witness)
                .map_err(Trouble::Chain)
                .and_then(|()| settle(log, &mut self.database, &[], None));
            if caught.is_err() {
                // All of it once more, when the disk is not full any more.
                log.forget(before);
            }
            caught
        } else {
            Ok(())
        };
        match caught {
            Ok(()) => {}
            Err(Trouble::Database(error)) => return Err(failed(error)),
            Err(Trouble::Chain(error)) => {
                let lasting = error.is_lasting();
                let failure = Failure::from(error);
                if lasting {
                    self.chain = Chain::Damaged(failure.clone());
                }
                return Err(failure);
            }
        }
        if !self.owed.is_empty() {
            log.append_all(&self.owed)?;
            self.owed.clear();
        }
        Ok(())
    }

    pub(super) fn write<T>(
        &mut self,
        make: impl FnOnce(&mut Change<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let log = match &mut self.chain {
            Chain::Good(log) => log,
            Chain::Damaged(failure) => return Err(failure.clone()),
        };
        self.database.synchronous("FULL").map_err(failed)?;
        let transaction = self
            .database
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        database::is_no_older(&transaction, self.database.witnessed)?;
        let mut change = Change {
            database: &transaction,
            now: Time::now().max(log.known.tail.ts),
            entries: Vec::new(),
            draft: log.draft(),
        };
        let made = make(&mut change)?;
        let Change { entries, draft, .. } = change;
        kill_point();
        if !entries.is_empty() {
            append(log, &mut self.running, &entries, draft, || {
                // To the log beside the database, and not as committed: there is less left to write then. Where it cannot
                // be, the commit says so.
                let _ = transaction.cache_flush();
            })?;
        }
        let committed = if entries.is_empty() {
            transaction.commit()
        } else {
            database::testify(&transaction, &log.known, log.closed(), seen(log)).and_then(|()| {
                kill_point();
                transaction.commit()
            })
        };
        kill_point();
        if let Err(error) = committed {
            // What the chain says did not come about, and the chain says that too.
            self.owed = entries.into_iter().filter_map(not_done).collect();
            if !self.owed.is_empty() && log.append_all(&self.owed).is_ok() {
                self.owed.clear();
            }
            return Err(failed(error));
        }
        if !entries.is_empty() {
            log.forget_closed();
            self.database.witnessed = log.known.tail.seq;
        }
        Ok(made)
    }

    pub(super) fn append(&mut self, entries: &[Entry]) -> Result<Head, Failure> {
        if entries.iter().any(|entry| entry.event.changes_state()) {
            // Its place is in a transaction, for what is in the chain without one counts as lost.
            self.write(|change| {
                entries
                    .iter()
                    .for_each(|entry| change.record(entry.clone()));
                Ok(())
            })?;
            return Ok(self.head());
        }
        let log = match &mut self.chain {
            Chain::Good(log) => log,
            Chain::Damaged(failure) => return Err(failure.clone()),
        };
        if !entries.is_empty() {
            let mut draft = log.draft();
            entries.iter().for_each(|entry| draft.push(entry));
            append(log, &mut self.running, entries, draft, || ())?;
            // The witness may be behind, so that this needs no sync, and no failure of it is one of the append.
            let database = &mut self.database;
            let witnessed = database
                .synchronous("NORMAL")
                .and_then(|()| database.testify(log));
            if let Err(error) = witnessed {
                tracing::warn!(%error, "the database does not witness the chain");
            }
            kill_point();
        }
        Ok(head(log))
    }
}

#[cfg(test)]
impl Writer {
    pub(super) fn log(&mut self) -> &mut Log {
        match &mut self.chain {
            Chain::Good(log) => log,
            Chain::Damaged(failure) => panic!("{failure}"),
        }
    }
}

/// Why the state cannot be used, or only be read.
enum Trouble {
    Chain(ChainError),
    Database(String),
}

impl<E: Into<ChainError>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Chain(error.into())
    }
}

fn of_database(error: impl std::fmt::Display) -> Trouble {
    Trouble::Database(error.to_string())
}

/// Time that went backward is said.
fn tell_of_clock(newest: Time) {
    let behind = newest.since(Time::now());
    if behind > DRIFT {
        let behind = humantime::format_duration(Duration::from_secs(behind.as_secs()));
        tracing::warn!(
            "the clock is {behind} behind the newest record of the causal chain: it was wrong before, or was set back since"
        );
    }
}

/// Recovers what a crash left, at the start: a torn last line is moved away, a valid one beyond the head is adopted.
fn recover(
    folder: &Folder,
    database: &mut Database,
    others: &BTreeSet<u64>,
) -> Result<Log, Trouble> {
    let mut known = Known::read(&database.connection).map_err(of_database)?;
    let fresh = match folder.child(CHAIN)? {
        None => true,
        Some(chain) => is_empty(&chain)?,
    };
    let key = Arc::new(ChainKey::load(folder, fresh)?);
    if fresh && known.witness.seq > 0 {
        // The operator has moved the chain away, or somebody else has: the new one begins with where the old one ended.
        database::forget(&mut database.connection, &known.witness).map_err(of_database)?;
        kill_point();
        known = Known::read(&database.connection).map_err(of_database)?;
    }
    let mut notes = Vec::new();
    if let Some(note) = known.note.take().filter(|_| fresh) {
        tracing::warn!("the causal chain is {note}");
        notes.push(note);
    }
    let chain = folder.make_child(CHAIN)?;
    let witness: Witness = known.witness.clone();
    let scan = known.start(|number| {
        let file = chain
            .open(&segment::name(number), rustix::fs::OFlags::RDONLY)
            .ok()??;
        Seen::of(&file).ok()
    });
    let mut log = Log::new(chain, key, scan);
    log.catch_up(&witness)?;
    settle(&mut log, database, &notes, Some(others))?;
    Ok(log)
}

/// Says in the chain what was put right, and has the database witness it. `others`: the calls of other processes, none
/// where this is not the start and calls may be running.
fn settle(
    log: &mut Log,
    database: &mut Database,
    notes: &[String],
    others: Option<&BTreeSet<u64>>,
) -> Result<(), Trouble> {
    let mut entries = Vec::new();
    let mended = log.mend()?;
    log.adopt()?;
    for note in notes.iter().cloned().chain(mended) {
        entries.push(Entry {
            subject: Some(note),
            ..Entry::new(Event::ChainRecovered)
        });
    }
    let unwitnessed = std::mem::take(&mut log.known.unwitnessed);
    database::follow(&mut database.connection, &unwitnessed).map_err(of_database)?;
    for lost in unwitnessed.lost {
        if let Some(event) = lost.event().filter(|event| !event.ends_approval()) {
            entries.push(lost.failed(event, Code::StoreUnavailable));
        }
    }
    if let Some(others) = others {
        let left: Vec<_> = log
            .known
            .open
            .iter()
            .filter(|(call, _)| !others.contains(call))
            .map(|(call, place)| (*call, *place))
            .collect();
        for (call, place) in left {
            let found = record_at(log.folder(), place)?.filter(|record| record.tail.seq == call);
            let mut entry = found.map_or_else(
                || Entry {
                    outcome: Outcome::Error,
                    code: Some(Code::Interrupted),
                    ..Entry::new(Event::CapabilityExecuted)
                },
                |record| record.failed(Event::CapabilityExecuted, Code::Interrupted),
            );
            entry.call_seq = Some(call);
            entries.push(entry);
        }
    }
    if !entries.is_empty() {
        log.append_all(&entries)?;
        kill_point();
    }
    let level = if entries.is_empty() { "NORMAL" } else { "FULL" };
    database
        .synchronous(level)
        .and_then(|()| database.testify(log))
        .map_err(of_database)
}

/// Appends `draft`, which is what `entries` say.
fn append(
    log: &mut Log,
    running: &mut Running,
    entries: &[Entry],
    draft: Draft,
    meanwhile: impl FnOnce(),
) -> Result<(), ChainError> {
    let calls: Vec<u64> = (log.known.tail.seq.saturating_add(1)..)
        .zip(entries)
        .filter(|(_, entry)| entry.event == Event::CapabilityCall)
        .map(|(seq, _)| seq)
        .collect();
    for call in &calls {
        running.begin(*call)?;
    }
    if let Err(error) = log.append(draft, meanwhile) {
        for call in calls {
            // The list is longer than it has to be at worst.
            let _ = running.end(call);
        }
        return Err(error);
    }
    for entry in entries {
        if let (Event::CapabilityExecuted, Some(call)) = (entry.event, entry.call_seq) {
            let _ = running.end(call);
        }
    }
    Ok(())
}

/// The same as of something that was not done; none where it says that already.
fn not_done(entry: Entry) -> Option<Entry> {
    (entry.outcome == Outcome::Ok).then_some(Entry {
        outcome: Outcome::Error,
        code: Some(Code::StoreUnavailable),
        ..entry
    })
}

fn head(log: &Log) -> Head {
    Head {
        seq: log.known.tail.seq,
        hash: log.known.tail.hash.clone(),
    }
}

fn seen(log: &Log) -> Option<(u64, Seen)> {
    // Without it the segment is read once more at the next start.
    log.seen().unwrap_or_default()
}
