//! Tests of the state and its chain.

mod hostile;
mod kill;
mod recovery;
mod sharing;
mod tampering;
mod writing;

use tempfile::TempDir;

use super::State;
use crate::chain::{Entry, Event, Verdict, verify};

/// A state of its own.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("state")
    }

    fn open(&self) -> State {
        State::open(&self.path()).unwrap()
    }

    fn verify(&self) -> Verdict {
        verify(&self.path(), None, &|| false).unwrap()
    }

    /// Every record.
    fn records(&self) -> Vec<serde_json::Value> {
        let mut records = Vec::new();
        crate::chain::show(
            &self.path(),
            &crate::chain::Filter::default(),
            &|| false,
            &mut |record| {
                records.push(record.clone());
                std::ops::ControlFlow::Continue(())
            },
        )
        .unwrap();
        records
    }

    fn events(&self) -> Vec<String> {
        self.records()
            .iter()
            .map(|record| {
                format!(
                    "{} {}",
                    record["event"].as_str().unwrap(),
                    record["outcome"].as_str().unwrap()
                )
            })
            .collect()
    }
}

/// An entry of a capability.
fn entry(event: Event, capability: &str) -> Entry {
    Entry {
        capability: Some(capability.to_owned()),
        ..Entry::new(event)
    }
}

/// A change that makes the table `t` where it is not there, and puts a row in.
fn insert(state: &State, value: i64, entries: &[Entry]) -> Result<(), crate::failure::Failure> {
    state.write(|change| {
        change
            .database
            .execute_batch("CREATE TABLE IF NOT EXISTS t (v INTEGER PRIMARY KEY)")
            .unwrap();
        change
            .database
            .execute("INSERT INTO t VALUES (?1)", [value])
            .unwrap();
        for entry in entries {
            change.record(entry.clone());
        }
        Ok(())
    })
}

/// The rows of `t`.
fn rows(state: &State) -> Vec<i64> {
    state
        .read(|database| {
            let mut statement = database.prepare("SELECT v FROM t ORDER BY v").unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            Ok(rows.map(Result::unwrap).collect())
        })
        .unwrap()
}

/// What a process leaves that is killed between the chain and the commit.
fn without_commit(state: &State, entries: &[Entry]) {
    state
        .with_writer(|writer| Ok(writer.log().append_all(entries)?))
        .unwrap();
}

/// Runs a test of this file's module that is made to be run so, as a process of its own.
fn child(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        &format!("state::tests::{name}"),
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
}
