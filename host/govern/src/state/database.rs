//! The database: opening it, its schema, and what it witnesses of the chain.

use std::collections::BTreeMap;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use rustix::fs::OFlags;

use super::folder::{Folder, FolderError};
use crate::chain::{BEGUN_ANEW, Closed, Place, Scan, Seen, Tail, Unwitnessed, Witness};
use crate::failure::{Code, Failure};
use crate::registry;
use crate::registry::sql::Json;
use crate::time::Time;

const NAME: &str = "govern.sqlite";

/// `hydr`: another program's database is never changed.
const APPLICATION: i64 = 0x6879_6472;

const OWN: &str = "
    CREATE TABLE IF NOT EXISTS chain_head (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        ts INTEGER NOT NULL,
        open TEXT NOT NULL,
        note TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS chain_segment (
        number INTEGER PRIMARY KEY,
        inode INTEGER NOT NULL,
        size INTEGER NOT NULL,
        changed_s INTEGER NOT NULL,
        changed_ns INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        ts INTEGER NOT NULL
    ) STRICT;
";

pub(super) fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::StoreUnavailable, format!("state: {error}"))
}

/// Opened, checked and migrated, or not used. Called with the lock held.
pub(super) fn open(folder: &Folder) -> Result<Connection, Failure> {
    present(folder).map_err(failed)?;
    let mut database = connect(folder)?;
    let mode: String = database
        .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
        .map_err(failed)?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(failed(format!(
            "the database cannot keep a write-ahead log, but has {mode}"
        )));
    }
    migrate(&mut database)?;
    let found: String = database
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(failed)?;
    if found != "ok" {
        return Err(failed(format!("the database is damaged: {found}")));
    }
    Ok(database)
}

/// A connection that only reads.
pub(super) fn reader(folder: &Folder) -> Result<Connection, Failure> {
    present(folder).map_err(failed)?;
    let database = connect(folder)?;
    database
        .pragma_update(None, "query_only", true)
        .map_err(failed)?;
    Ok(database)
}

/// A connection that only reads, to a database that is there; it waits for nobody.
pub(super) fn glance(folder: &Folder) -> Result<Option<Connection>, Failure> {
    if !folder.inspect(NAME).map_err(failed)? {
        return Ok(None);
    }
    let database = reader(folder)?;
    database
        .busy_timeout(std::time::Duration::ZERO)
        .map_err(failed)?;
    Ok(Some(database))
}

fn connect(folder: &Folder) -> Result<Connection, Failure> {
    // The folder's path has no link in it, and what has these names was looked at: nobody else can change the folder.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let database = Connection::open_with_flags(folder.path().join(NAME), flags).map_err(failed)?;
    database
        .busy_timeout(std::time::Duration::from_secs(5))
        .map_err(failed)?;
    // Values that are bound do not choose the plan: with SQLITE_ENABLE_STAT4, which the bundled library is compiled with,
    // every statement would be prepared again each time that other values are bound.
    database
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(failed)?;
    for (name, value) in [
        ("synchronous", "FULL"),
        ("foreign_keys", "ON"),
        ("trusted_schema", "OFF"),
        ("cell_size_check", "ON"),
    ] {
        database.pragma_update(None, name, value).map_err(failed)?;
    }
    Ok(database)
}

fn present(folder: &Folder) -> Result<(), FolderError> {
    for beside in ["-wal", "-shm", "-journal"] {
        folder.inspect(&format!("{NAME}{beside}"))?;
    }
    if !folder.inspect(NAME)? {
        // Made here for its mode, which the files beside it inherit.
        match folder.create(NAME, OFlags::RDWR) {
            Err(FolderError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => drop(made?),
        }
    }
    Ok(())
}

fn migrate(database: &mut Connection) -> Result<(), Failure> {
    let pragma = |database: &Connection, name: &str| -> Result<i64, Failure> {
        database
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(failed)
    };
    let transaction = database
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    match pragma(&transaction, "application_id")? {
        APPLICATION => {}
        0 if pragma(&transaction, "schema_version")? == 0 => {
            transaction
                .pragma_update(None, "application_id", APPLICATION)
                .map_err(failed)?;
        }
        _ => return Err(failed("the database is another program's")),
    }
    transaction.execute_batch(OWN).map_err(failed)?;
    let done = usize::try_from(pragma(&transaction, "user_version")?).map_err(failed)?;
    let steps = registry::MIGRATIONS;
    let left = steps
        .get(done..)
        .ok_or_else(|| failed("the database was made by a newer hydrant"))?;
    for step in left {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if !left.is_empty() {
        transaction
            .pragma_update(
                None,
                "user_version",
                i64::try_from(steps.len()).map_err(failed)?,
            )
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// What it says of the chain.
pub(super) struct Known {
    pub(super) witness: Witness,
    /// What the first record of a new chain is to say of the one before.
    pub(super) note: Option<String>,
    open: BTreeMap<u64, Place>,
    /// Of each segment from 1: how it looked, and where the chain ended in it.
    segments: Vec<(Seen, Tail)>,
}

impl Known {
    pub(super) fn read(database: &Connection) -> Result<Self, Failure> {
        let tail = |row: &Row<'_>| -> rusqlite::Result<Tail> {
            Ok(Tail {
                seq: row.get("seq")?,
                hash: row.get("hash")?,
                ts: row.get("ts")?,
            })
        };
        let head = database
            .prepare_cached("SELECT seq, hash, ts, open, note FROM chain_head")
            .and_then(|mut query| {
                let read = |row: &Row<'_>| Ok((tail(row)?, row.get("open")?, row.get("note")?));
                query.query_row([], read).optional()
            })
            .map_err(failed)?;
        let (tail_found, Json(open), note) =
            head.unwrap_or_else(|| (Tail::none(), Json(Vec::new()), None));
        let open: Vec<(u64, u64, u64)> = open;
        let segments: Vec<(u64, (Seen, Tail))> = database
            .prepare_cached(
                "SELECT inode, size, changed_s, changed_ns, seq, hash, ts, number FROM chain_segment ORDER BY number",
            )
            .and_then(|mut query| {
                let read = |row: &Row<'_>| {
                    let seen = Seen {
                        // An inode may have the highest bit.
                        inode: row.get::<_, i64>("inode")?.cast_unsigned(),
                        size: row.get("size")?,
                        changed_s: row.get("changed_s")?,
                        changed_ns: row.get("changed_ns")?,
                    };
                    Ok((row.get("number")?, (seen, tail(row)?)))
                };
                query.query_map([], read)?.collect()
            })
            .map_err(failed)?;
        // Up to the first that is not there.
        let segments = (1..)
            .zip(segments)
            .take_while(|(wanted, (number, _))| wanted == number)
            .map(|(_, (_, segment))| segment)
            .collect();
        Ok(Self {
            witness: Witness {
                seq: tail_found.seq,
                hash: tail_found.hash,
            },
            note,
            open: open
                .into_iter()
                .map(|(seq, segment, offset)| (seq, Place { segment, offset }))
                .collect(),
            segments,
        })
    }

    /// From where the chain has to be read: what nobody has touched since is not read again.
    pub(super) fn start(self, mut seen: impl FnMut(u64) -> Option<Seen>) -> Scan {
        let Scan {
            mut at, mut tail, ..
        } = Scan::default();
        let count = self.segments.len();
        for (index, (before, end)) in self.segments.into_iter().enumerate() {
            if seen(at.segment) != Some(before) {
                break;
            }
            tail = end;
            if index.saturating_add(1) == count {
                // The last of them: the rest of it may follow.
                at.offset = before.size;
                break;
            }
            at.segment = at.segment.saturating_add(1);
        }
        let mut open = self.open;
        open.retain(|_, place| *place < at);
        Scan::from(at, tail, open)
    }
}

/// Has the database witness where the chain ends, and how its segments look.
pub(super) fn testify(
    database: &Connection,
    known: &Scan,
    closed: &[Closed],
    segment: Option<(u64, Seen)>,
) -> rusqlite::Result<()> {
    let open: Vec<(u64, u64, u64)> = known
        .open
        .iter()
        .map(|(seq, place)| (*seq, place.segment, place.offset))
        .collect();
    let tail = &known.tail;
    database
        .prepare_cached(
            "INSERT INTO chain_head (one, seq, hash, ts, open) VALUES (1, ?1, ?2, ?3, ?4)
             ON CONFLICT (one) DO UPDATE SET seq = ?1, hash = ?2, ts = ?3, open = ?4, note = NULL",
        )?
        .execute(params![tail.seq, tail.hash, tail.ts, Json(&open)])?;
    let left = closed
        .iter()
        .map(|closed| (closed.number, closed.seen, &closed.tail));
    let last = segment.map(|(number, seen)| (number, seen, tail));
    for (number, seen, tail) in left.chain(last) {
        database
            .prepare_cached(
                "INSERT OR REPLACE INTO chain_segment (number, inode, size, changed_s, changed_ns, seq, hash, ts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                number,
                seen.inode.cast_signed(),
                seen.size,
                seen.changed_s,
                seen.changed_ns,
                tail.seq,
                tail.hash,
                tail.ts
            ])?;
    }
    Ok(())
}

/// Forgets what it knew of a chain that is not there any more, but for a note: what that chain vouched for ends with it.
pub(super) fn forget(database: &mut Connection, witness: &Witness) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    registry::approvals::end_all(&transaction)?;
    let note = format!(
        "{BEGUN_ANEW}the chain before ended at {}:{}, and all approvals with it",
        witness.seq, witness.hash
    );
    transaction.execute_batch("DELETE FROM chain_segment; DELETE FROM chain_head;")?;
    transaction.execute(
        "INSERT INTO chain_head (one, seq, hash, ts, open, note) VALUES (1, 0, ?1, 0, '[]', ?2)",
        params![Tail::none().hash, note],
    )?;
    transaction.commit()
}

/// Has the database follow what the chain says of approvals that it does not know.
pub(super) fn follow(database: &mut Connection, unwitnessed: &Unwitnessed) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    for lost in &unwitnessed.lost {
        if let (Some(event), Some(id)) = (lost.event(), lost.text("approval")) {
            registry::approvals::follow(&transaction, event, id)?;
        }
    }
    for (id, session) in &unwitnessed.used {
        registry::approvals::follow_call(&transaction, id, session.as_deref())?;
    }
    transaction.commit()
}

/// Returns the time of the last record that the database witnesses, if it witnesses one.
pub(super) fn witnessed_time(database: &Connection) -> rusqlite::Result<Option<Time>> {
    database
        .prepare_cached("SELECT ts FROM chain_head")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Refuses a database that took the place of the one that witnessed this record, and knows less.
pub(super) fn is_no_older(database: &Connection, witnessed: u64) -> Result<(), Failure> {
    let seq: Option<u64> = database
        .prepare_cached("SELECT seq FROM chain_head")
        .and_then(|mut query| query.query_row([], |row| row.get(0)).optional())
        .map_err(failed)?;
    if seq.unwrap_or_default() < witnessed {
        return Err(failed("the database is an older one than it was before"));
    }
    Ok(())
}

/// The witness of a state directory, which may be a copy; none where there is no database.
pub(crate) fn witness_of(folder: &Folder) -> Result<Option<Witness>, String> {
    if !folder.inspect(NAME).map_err(|error| error.to_string())? {
        return Ok(None);
    }
    look_in(folder)
        .and_then(|database| look(&database).map_err(failed))
        .map(Some)
        .map_err(|failure| failure.message)
}

/// A connection that only reads, to a database that may be a copy or lie where nothing can be written.
pub(super) fn look_in(folder: &Folder) -> Result<Connection, Failure> {
    if !folder.inspect(NAME).map_err(failed)? {
        // Nothing was ever loaded.
        let mut database = Connection::open_in_memory().map_err(failed)?;
        migrate(&mut database)?;
        return Ok(database);
    }
    let path = folder.path().join(NAME);
    // The third is for read-only media, where what is in the log beside the database cannot be had: an older pair then.
    let immutable = url::Url::from_file_path(&path)
        .map(|mut url| {
            url.set_query(Some("immutable=1"));
            url.to_string()
        })
        .unwrap_or_default();
    let read = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let write = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let open = |path: &std::path::Path, flags| {
        let database = Connection::open_with_flags(path, flags)?;
        database.busy_timeout(std::time::Duration::from_secs(5))?;
        database.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        Ok(database)
    };
    open(&path, read)
        .or_else(|_: rusqlite::Error| open(&path, write))
        .or_else(|_| open(immutable.as_ref(), read | OpenFlags::SQLITE_OPEN_URI))
        .map_err(failed)
}

fn look(database: &Connection) -> rusqlite::Result<Witness> {
    database
        .query_row("SELECT seq, hash FROM chain_head", [], |row| {
            Ok(Witness {
                seq: row.get(0)?,
                hash: row.get(1)?,
            })
        })
        .optional()
        .map(|found| {
            found.unwrap_or_else(|| Witness {
                seq: 0,
                hash: Tail::none().hash,
            })
        })
}
