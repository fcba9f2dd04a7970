//! A process that is killed at each of its steps, or at any time, or that finds the disk full.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::{Home, child, entry};
use crate::chain::{Entry, Event};
use crate::failure::{Code, Failure};
use crate::state::State;

/// Grants and revokes, each with a row, and calls; says what is done once it is.
#[test]
#[ignore = "is run by the other tests, as a process of its own"]
fn worker() {
    let Some(folder) = std::env::var_os("WORK_IN").map(PathBuf::from) else {
        return;
    };
    let said = |what: &str, number: i64| {
        let mut out = std::io::stdout();
        writeln!(out, "\ndone {what} {number}").unwrap();
        out.flush().unwrap();
    };
    let state = State::open(&folder).unwrap();
    assert_eq!(state.damage(), None);
    let rounds: i64 = std::env::var("ROUNDS").unwrap().parse().unwrap();
    for _ in 0..rounds {
        let Ok(number) = change(&state, true) else {
            continue;
        };
        said("grant", number);
        let Ok(begun) = state.append(vec![entry(Event::CapabilityCall, "a.b")]) else {
            continue;
        };
        let ended = Entry {
            call_seq: Some(begun.seq),
            ..entry(Event::CapabilityExecuted, "a.b")
        };
        let _ = state.append(vec![entry(Event::SecretInjected, "a.b"), ended]);
        if number % 3 == 0
            && let Ok(number) = change(&state, false)
        {
            said("revoke", number);
        }
    }
}

/// Grants the next number, or revokes the newest.
fn change(state: &State, grant: bool) -> Result<i64, Failure> {
    state.write(|change| {
        let failed =
            |error: rusqlite::Error| Failure::new(Code::StoreUnavailable, error.to_string());
        change
            .database
            .execute_batch("CREATE TABLE IF NOT EXISTS t (v INTEGER PRIMARY KEY, live INTEGER)")
            .map_err(failed)?;
        let newest: i64 = change
            .database
            .query_row("SELECT coalesce(max(v), 0) FROM t", [], |row| row.get(0))
            .map_err(failed)?;
        let number = if grant { newest + 1 } else { newest };
        change
            .database
            .execute(
                "INSERT INTO t VALUES (?1, ?2) ON CONFLICT (v) DO UPDATE SET live = ?2",
                rusqlite::params![number, grant],
            )
            .map_err(failed)?;
        // More than one record, so that an append can also be torn between them.
        change.record(entry(Event::ApprovalSuperseded, "other"));
        change.record(Entry {
            approval: Some(number.to_string()),
            ..entry(
                if grant {
                    Event::ApprovalGranted
                } else {
                    Event::CapabilityRemoved
                },
                "a.b",
            )
        });
        Ok(number)
    })
}

/// What is granted by the chain: each event counts that is not said to have failed.
fn by_the_chain(home: &Home) -> BTreeSet<i64> {
    let mut counts: BTreeMap<(i64, bool), i64> = BTreeMap::new();
    for record in home.records() {
        let grant = match record["event"].as_str().unwrap() {
            "approval-granted" => true,
            "capability-removed" => false,
            _ => continue,
        };
        let number = record["approval"].as_str().unwrap().parse().unwrap();
        let one = if record["outcome"] == "ok" { 1 } else { -1 };
        *counts.entry((number, grant)).or_default() += one;
    }
    let live = |number: &i64| {
        let revoked = counts.get(&(*number, false)).copied().unwrap_or(0);
        counts[&(*number, true)] - revoked == 1
    };
    counts
        .keys()
        .filter(|(_, grant)| *grant)
        .map(|(number, _)| *number)
        .filter(live)
        .collect()
}

fn by_the_database(state: &State) -> BTreeSet<i64> {
    state
        .read(|database| {
            let Ok(mut statement) = database.prepare("SELECT v FROM t WHERE live") else {
                return Ok(BTreeSet::new());
            };
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            Ok(rows.map(Result::unwrap).collect())
        })
        .unwrap()
}

/// Starts a worker, ends it, and answers what it said it had done.
fn work(
    home: &Home,
    mut command: std::process::Command,
    killed_after: Option<Duration>,
) -> (bool, Vec<(String, i64)>) {
    let mut worker = command
        .env("WORK_IN", home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = worker.stdout.take().unwrap();
    if let Some(after) = killed_after {
        std::thread::sleep(after);
        worker.kill().unwrap();
    }
    let said = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| {
            let (what, number) = line.strip_prefix("done ")?.split_once(' ')?;
            Some((what.to_owned(), number.parse().ok()?))
        })
        .collect();
    (worker.wait().unwrap().success(), said)
}

/// Verifies, and compares chain, database and what was said; at most one step more than that may have been done.
fn check(home: &Home, before: &BTreeSet<i64>, said: &[(String, i64)]) -> BTreeSet<i64> {
    let state = home.open();
    assert_eq!(state.damage(), None);
    let verdict = home.verify();
    assert!(verdict.ok, "{verdict:?}");
    let database = by_the_database(&state);
    assert_eq!(database, by_the_chain(home));
    let mut expected = before.clone();
    for (what, number) in said {
        if what == "grant" {
            expected.insert(*number);
        } else {
            expected.remove(number);
        }
    }
    let difference: Vec<_> = expected.symmetric_difference(&database).collect();
    assert!(difference.len() <= 1, "{difference:?} after {said:?}");
    let calls = |event: &str| {
        home.events()
            .iter()
            .filter(|found| found.starts_with(event))
            .count()
    };
    assert_eq!(calls("capability-call"), calls("capability-executed"));
    database
}

#[test]
fn killed_at_each_step_nothing_is_lost_and_nothing_gained() {
    let home = Home::new();
    let mut live = BTreeSet::new();
    let mut killed = 0;
    for at in 1..=130 {
        let mut command = child("kill::worker");
        // Few rounds: the points of a start and of each kind of step, met again and again.
        command
            .env("ROUNDS", "4")
            .env("KILL_AT", (at % 65 + 1).to_string());
        let (success, said) = work(&home, command, None);
        killed += u32::from(!success);
        live = check(&home, &live, &said);
    }
    assert!(killed >= 100, "{killed} were killed");
}

#[test]
fn killed_at_any_time() {
    let home = Home::new();
    let mut live = BTreeSet::new();
    let mut done = 0;
    for round in 0..30_u64 {
        let mut command = child("kill::worker");
        command.env("ROUNDS", "100000");
        let after = Duration::from_millis(20 + round * 7 % 53);
        let (success, said) = work(&home, command, Some(after));
        assert!(!success);
        done += said.len();
        live = check(&home, &live, &said);
    }
    assert!(done > 0);
}

/// Works with a limit on the size of files, which grows: every place where a write fails is met.
#[test]
#[ignore = "is run by the other tests, as a process of its own"]
fn cramped() {
    let Ok(limit) = std::env::var("LIMIT") else {
        return;
    };
    let limit = limit.parse().unwrap();
    rustix::process::setrlimit(
        rustix::process::Resource::Fsize,
        rustix::process::Rlimit {
            current: Some(limit),
            maximum: None,
        },
    )
    .unwrap();
    worker();
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let home = Home::new();
    let mut live = BTreeSet::new();
    let mut refused = 0;
    for step in 0..40_u64 {
        let inner = child("kill::cramped");
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
            .arg(inner.get_program())
            .args(inner.get_args())
            .env("ROUNDS", "6")
            .env("LIMIT", (2_000 + step * 1_711).to_string());
        let (success, said) = work(&home, command, None);
        refused += u32::from(!success || said.len() < 8);
        live = check(&home, &live, &said);
    }
    assert!(refused > 5, "{refused}");
    assert!(!live.is_empty());
}
