//! The state directory: the database, the chain, and the lock that keeps both together.
//!
//! Whoever changes state goes through [`State::write`]: lock, database transaction, chain, commit. What only happened and
//! changes nothing (a call, its end, a denial) is [`State::append`]ed to the chain.
//!
//! Two processes may share the directory. Whoever writes holds one lock for as long as that takes, and reads first what
//! the other has written. What a crash left is put right by whoever comes next (`writer`).

mod database;
mod folder;
mod kill;
mod lock;
mod running;
mod turn;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::chain::{Draft, Entry};
use crate::failure::{Code, Failure};
use crate::locked;
use crate::time::Time;

pub(crate) use database::witness_of;
pub(crate) use folder::{Folder, FolderError};
pub(crate) use kill::kill_point;
pub(crate) use lock::Lock;

use turn::Turn;
use writer::Writer;

/// How long a change waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// As many readers at once keep their connection.
const READERS: usize = 8;

/// State of one home.
pub struct State {
    folder: Folder,
    readers: Mutex<Vec<rusqlite::Connection>>,
    /// None of a directory that can only be read, and why.
    writer: Result<Turn<Writer>, Failure>,
    known: Mutex<Known>,
}

/// What this process knows of chain and database.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The newest chain time.
    newest: Time,
    /// The record that the database witnesses at least.
    witnessed: u64,
}

impl Known {
    fn of(writer: &Writer) -> Self {
        Self {
            newest: writer.newest(),
            witnessed: writer.witnessed(),
        }
    }
}

/// Where the chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Of the last record; 0 where there is none.
    pub seq: u64,
    /// 64 hex digits.
    pub hash: String,
}

/// A change that is being made: what the closure of [`State::write`] gets.
pub struct Change<'a> {
    /// Everything in it is committed or nothing.
    pub database: &'a rusqlite::Transaction<'a>,
    /// The later of the system clock and the newest chain time.
    pub now: Time,
    entries: Vec<Entry>,
    /// What the chain will say of them.
    draft: Draft,
}

impl Change<'_> {
    /// Has an entry written to the chain before the commit.
    pub fn record(&mut self, entry: Entry) {
        self.draft.push(&entry);
        self.entries.push(entry);
    }
}

/// What the database of a directory says, for a prompt that completes a word: nothing is made or recovered, and whoever
/// writes is not waited for. None where there is no database.
///
/// # Errors
///
/// What [`State::open`] would refuse, and a database that is busy.
pub fn glance<T>(
    folder: &Path,
    look: impl FnOnce(&rusqlite::Connection) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    let folder = Folder::look(folder).map_err(database::failed)?;
    match database::glance(&folder)? {
        Some(database) => look(&database).map(Some),
        None => Ok(None),
    }
}

impl State {
    /// Opens the state in this directory (0700, made if it is not there), recovers what a crash left.
    ///
    /// A chain that is not as it was left does not fail here: the state can be read then, and every change is
    /// `audit-unavailable` ([`Self::damage`]). Neither does a directory that can only be read.
    ///
    /// # Errors
    ///
    /// `store-unavailable` where the database cannot be opened, migrated or checked, or where the directory or a
    /// file in it is a link, another user's, or writable for others; `audit-unavailable` where another process has been
    /// writing for 5 s.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let folder = Folder::make(folder).map_err(|error| {
            let failure = database::failed(&error);
            match &error {
                FolderError::Writable { path, .. } => {
                    failure.with_hint(format!("`chmod go-w {}`", path.display()))
                }
                _ => failure,
            }
        })?;
        if !folder.is_writable() {
            let what = format!("{} can only be read", folder.path().display());
            return Ok(Self {
                folder,
                readers: Mutex::default(),
                writer: Err(database::failed(what)),
                known: Mutex::default(),
            });
        }
        let until = Instant::now() + PATIENCE;
        let _lock = Lock::take(&folder, until)?;
        let writer = Writer::open(&folder)?;
        let known = Known::of(&writer);
        Ok(Self {
            folder,
            readers: Mutex::default(),
            writer: Ok(Turn::new(writer)),
            known: Mutex::new(known),
        })
    }

    /// The directory.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Why nothing can be changed; none while all is well.
    #[must_use]
    pub fn damage(&self) -> Option<Failure> {
        match &self.writer {
            Ok(writer) => writer
                .take(Instant::now() + PATIENCE)
                .and_then(|writer| writer.damage()),
            Err(only_read) => Some(only_read.clone()),
        }
    }

    /// Returns the later of the system clock and the newest known chain time, for reading.
    ///
    /// What another process has written since counts too. Where the chain's head cannot be read, time does not go backward:
    /// what the database witnesses of it counts. Nothing of it is kept, for a head is not verified here.
    #[must_use]
    pub fn now(&self) -> Time {
        let head = crate::chain::newest(&self.folder).or_else(|| {
            let reader = self.reader().ok()?;
            let witnessed = database::witnessed_time(&reader).ok()?;
            self.keep_reader(reader);
            witnessed
        });
        Time::now()
            .max(self.known().newest)
            .max(head.unwrap_or_default())
    }

    /// Reads; never waits for a writer. All of it sees one state of the database, that of its beginning.
    ///
    /// # Errors
    ///
    /// What `look` gives; `store-unavailable` where the database cannot be read.
    pub fn read<T>(
        &self,
        look: impl FnOnce(&rusqlite::Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut reader = self.reader()?;
        // Asked before the reading begins, which sees all that was committed by then.
        let witnessed = self.known().witnessed;
        let transaction = reader.transaction().map_err(database::failed)?;
        database::is_no_older(&transaction, witnessed)?;
        let found = look(&transaction);
        transaction.finish().map_err(database::failed)?;
        self.keep_reader(reader);
        found
    }

    /// Returns a connection to read with: one that was kept, or a new one.
    fn reader(&self) -> Result<rusqlite::Connection, Failure> {
        let kept = locked(&self.readers).pop();
        match kept {
            Some(reader) => Ok(reader),
            None if self.writer.is_err() => database::look_in(&self.folder),
            None => database::reader(&self.folder),
        }
    }

    fn keep_reader(&self, reader: rusqlite::Connection) {
        let mut readers = locked(&self.readers);
        if readers.len() < READERS {
            readers.push(reader);
        }
    }

    /// Changes state: all of it or nothing. Entries are on disk in the chain before the commit.
    ///
    /// Inside of `make` neither this nor [`Self::append`] can be called: they would wait for `make` to end.
    ///
    /// # Errors
    ///
    /// What `make` gives; then nothing is changed and nothing recorded. `audit-unavailable` where the chain cannot be
    /// written or is locked for more than 5 s; `store-unavailable` where the database fails.
    pub fn write<T>(
        &self,
        make: impl FnOnce(&mut Change<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.with_writer(|writer| writer.write(make))
    }

    /// Writes entries to the chain, synced to disk, in this order; answers where it ends then.
    ///
    /// # Errors
    ///
    /// `audit-unavailable`; then nothing of them is there.
    pub fn append(&self, entries: Vec<Entry>) -> Result<Head, Failure> {
        self.with_writer(|writer| writer.append(&entries))
    }

    /// Where the chain ends: what `audit show` prints as anchor.
    ///
    /// # Errors
    ///
    /// `audit-unavailable`.
    pub fn head(&self) -> Result<Head, Failure> {
        self.with_writer(|writer| Ok(writer.head()))
    }

    /// Held by whoever makes the onboarding of a skill (folded) go on: no step is done by two at the same time, of this
    /// process or another. Few files for however many skills: some share one.
    ///
    /// # Errors
    ///
    /// `limit` where somebody else holds it for longer than that.
    pub(crate) fn onboarding(&self, skill: &str, patience: Duration) -> Result<Lock, Failure> {
        let until = Instant::now() + patience;
        let digest = crate::digest::of_bytes(skill.as_bytes());
        let share: String = digest.chars().rev().take(2).collect();
        let name = format!("onboarding-{share}.lock");
        Lock::named(&self.folder, &name, until).map_err(|error| match error {
            lock::LockError::Busy => Failure::new(
                Code::Limit,
                "another call makes this onboarding go on; try again when it has ended",
            ),
            error => database::failed(error),
        })
    }

    fn with_writer<T>(
        &self,
        act: impl FnOnce(&mut Writer) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let until = Instant::now() + PATIENCE;
        let mut turn = self
            .writer
            .as_ref()
            .map_err(Clone::clone)?
            .take(until)
            .ok_or(lock::LockError::Busy)?;
        let writer = &mut *turn;
        if let Some(damage) = writer.damage() {
            return Err(damage);
        }
        let _lock = Lock::take(&self.folder, until)?;
        writer.refresh()?;
        let done = act(writer);
        *locked(&self.known) = Known::of(writer);
        done
    }

    fn known(&self) -> Known {
        *locked(&self.known)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("folder", &self.folder.path())
            .finish_non_exhaustive()
    }
}
