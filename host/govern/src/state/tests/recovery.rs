//! What a crash leaves, made by hand.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use super::{Home, entry, insert, rows, without_commit};
use crate::chain::{Entry, Event, Reason};

fn append_raw(home: &Home, bytes: &[u8]) {
    OpenOptions::new()
        .append(true)
        .open(home.path().join("chain/000001.jsonl"))
        .unwrap()
        .write_all(bytes)
        .unwrap();
}

fn call(capability: &str) -> Entry {
    entry(Event::CapabilityCall, capability)
}

#[test]
fn a_torn_last_line_is_moved_aside() {
    let home = Home::new();
    home.open()
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let path = home.path().join("chain/000001.jsonl");
    let line = fs::read(&path).unwrap();
    for torn in [
        &line[..line.len() / 2],
        &line[..],
        b"\0\0\0\0",
        b"{\"v\":1}\n",
        b"\n",
    ] {
        append_raw(&home, torn);
        assert!(home.verify().reason.is_some());
        let state = home.open();
        assert_eq!(state.damage(), None, "{torn:?}");
        assert!(home.verify().ok);
        assert_eq!(home.events().last().unwrap(), "chain-recovered ok");
        let aside = fs::read(home.path().join("chain/000001.jsonl.torn")).unwrap();
        assert!(aside.ends_with(torn));
    }
}

#[test]
fn two_torn_lines_are_damage() {
    let home = Home::new();
    home.open().append(vec![call("a.b")]).unwrap();
    append_raw(&home, b"x\ny\n");
    assert!(home.open().damage().is_some());
    assert_eq!(home.verify().reason, Some(Reason::Malformed));
    assert!(!home.path().join("chain/000001.jsonl.torn").exists());
}

#[test]
fn a_torn_line_that_head_knows_of_is_damage() {
    let home = Home::new();
    home.open().append(vec![call("a.b"), call("a.c")]).unwrap();
    let path = home.path().join("chain/000001.jsonl");
    let line = fs::read(&path).unwrap();
    fs::write(&path, &line[..line.len() - 9]).unwrap();
    let state = home.open();
    assert!(state.damage().is_some());
    // Read-only, not gone.
    assert!(state.read(|_| Ok(())).is_ok());
}

#[test]
fn the_lines_of_one_append_beyond_head_are_adopted_all() {
    for count in [1, 5] {
        let home = Home::new();
        let state = home.open();
        state.append(vec![call("a.b")]).unwrap();
        let head = fs::read(home.path().join("chain/HEAD")).unwrap();
        let entries = (0..count).map(|_| entry(Event::CapabilityDenied, "a.c"));
        state.append(entries.collect()).unwrap();
        drop(state);
        fs::write(home.path().join("chain/HEAD"), head).unwrap();
        assert!(home.verify().ok);
        let state = home.open();
        assert_eq!(state.damage(), None);
        assert_eq!(state.head().unwrap().seq, 1 + count + 1);
        assert_eq!(
            home.events().last().unwrap(),
            "capability-executed error",
            "the call has no end"
        );
        assert!(home.verify().ok);
    }
}

#[test]
fn a_call_without_an_end_gets_one_at_the_next_start() {
    let home = Home::new();
    let state = home.open();
    let begun = state
        .append(vec![Entry {
            operation: Some("search".to_owned()),
            delegated_to: vec!["one".to_owned(), "two".to_owned()],
            client: Some(crate::client::Client {
                frontend: crate::client::Frontend::Mcp,
                jailed: true,
            }),
            line: Some(7),
            ..call("a.b")
        }])
        .unwrap();
    let ended = state.append(vec![call("a.c")]).unwrap();
    state
        .append(vec![Entry {
            call_seq: Some(ended.seq),
            ..entry(Event::CapabilityExecuted, "a.c")
        }])
        .unwrap();
    // Another process that starts meanwhile ends nothing.
    drop(home.open());
    assert_eq!(home.records().len(), 3);
    drop(state);
    drop(home.open());
    let records = home.records();
    assert_eq!(records.len(), 4);
    let record = &records[3];
    assert_eq!(record["event"], "capability-executed");
    assert_eq!(record["call-seq"], begun.seq);
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&"error".into(), &"interrupted".into())
    );
    for member in ["capability", "operation", "delegated-to", "client", "line"] {
        assert_eq!(record[member], records[0][member], "{member}");
    }
    drop(home.open());
    assert_eq!(home.records().len(), 4);
    assert!(home.verify().ok);
}

#[test]
fn events_whose_commit_was_lost_are_followed_by_the_same_as_errors() {
    let home = Home::new();
    let state = home.open();
    insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    // What a crash between the chain and the commit leaves.
    without_commit(
        &state,
        &[
            Entry {
                approval: Some("ap-2".to_owned()),
                ..entry(Event::CapabilityUpdated, "a.b")
            },
            entry(Event::CapabilityRemoved, "a.b"),
        ],
    );
    drop(state);
    let state = home.open();
    assert_eq!(state.damage(), None);
    assert_eq!(rows(&state), [1]);
    let expected = [
        "approval-granted ok",
        "capability-updated ok",
        "capability-removed ok",
        "capability-updated error",
        "capability-removed error",
    ];
    assert_eq!(home.events(), expected);
    assert_eq!(home.records()[3]["approval"], "ap-2");
    drop(state);
    drop(home.open());
    assert_eq!(home.events(), expected);
    assert!(home.verify().ok);
}

#[test]
fn a_commit_that_fails_is_followed_by_the_same_event_as_error() {
    let home = Home::new();
    let state = home.open();
    state
        .write(|change| {
            change
                .database
                .execute_batch(
                    "CREATE TABLE p (v INTEGER PRIMARY KEY);
                     CREATE TABLE c (v INTEGER REFERENCES p (v) DEFERRABLE INITIALLY DEFERRED)",
                )
                .unwrap();
            Ok(())
        })
        .unwrap();
    let failed = state.write(|change| {
        change
            .database
            .execute("INSERT INTO c VALUES (9)", [])
            .unwrap();
        change.record(entry(Event::SkillLoaded, "a"));
        Ok(())
    });
    assert_eq!(
        failed.unwrap_err().code,
        crate::failure::Code::StoreUnavailable
    );
    let expected = ["skill-loaded ok", "skill-loaded error"];
    assert_eq!(home.events(), expected);
    drop(state);
    let state = home.open();
    assert_eq!(state.damage(), None);
    assert_eq!(home.events(), expected);
}

#[test]
fn what_a_killed_process_left_is_put_right_by_one_that_runs() {
    let home = Home::new();
    let running = home.open();
    let killed = home.open();
    insert(&killed, 1, &[]).unwrap();
    without_commit(&killed, &[entry(Event::ApprovalGranted, "a.b")]);
    append_raw(&home, b"{\"v\"");
    running
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    assert_eq!(
        home.events(),
        [
            "approval-granted ok",
            "chain-recovered ok",
            "approval-granted error",
            "capability-denied ok",
        ]
    );
    assert!(home.verify().ok);
}

#[test]
fn one_chain_over_many_starts_and_segments() {
    let home = Home::new();
    for number in 1..=20 {
        let state = home.open();
        insert(&state, number, &[entry(Event::SkillLoaded, "a")]).unwrap();
        state
            .append(vec![entry(Event::SkillRejected, "b")])
            .unwrap();
    }
    let verdict = home.verify();
    assert!(verdict.ok);
    assert_eq!(verdict.records, 40);
    let seqs: Vec<u64> = home
        .records()
        .iter()
        .map(|record| record["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=40).collect::<Vec<_>>());
}
