//! The bytes of records.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::draft::Draft;
use super::record::{Tail, check};
use super::{ChainKey, Entry, Event, Filter, Log, Outcome, Scan, Used, segment, show};
use crate::client::{Client, Frontend};
use crate::failure::Code;
use crate::state::Folder;

/// Texts that JSON escapes, or could escape in more than one way.
const ODD: &str = "\u{0}\u{8}\t\n\u{c}\r\u{1b}\u{1f}\"\\/\u{7f}\u{80}\u{2028}\u{fffd}\u{1f600}é";

fn text() -> Option<String> {
    Some(ODD.to_owned())
}

fn full() -> Entry {
    Entry {
        session: text(),
        run: text(),
        client: Some(Client {
            frontend: Frontend::Mcp,
            jailed: true,
        }),
        capability: text(),
        operation: text(),
        derived_from: text(),
        line: Some(u32::MAX),
        skill_digest: text(),
        op_digest: text(),
        policy_digest: text(),
        delegated_to: vec![ODD.to_owned(), String::new()],
        approval: text(),
        call_seq: Some(7),
        inputs: Some(b"in".to_vec()),
        outputs: Some(Vec::new()),
        resources_consumed: Some(Used {
            cpu_ms: u64::MAX,
            network_bytes: 0,
            storage_bytes: 1 << 40,
            wall_clock_ms: 3,
        }),
        outcome: Outcome::Error,
        code: Some(Code::TooLarge),
        subject: text(),
        ..Entry::new(Event::CapabilityExecuted)
    }
}

/// What is written is the canonical JSON of what it says, with every member and without any.
#[test]
fn a_record_is_written_in_its_canonical_form() {
    let folder = tempfile::tempdir().unwrap();
    let key = ChainKey::load(&Folder::make(folder.path()).unwrap(), true).unwrap();
    let mut tail = Tail::none();
    // Enough for two threads.
    let entries: Vec<Entry> = (0..10)
        .flat_map(|_| [full(), Entry::new(Event::SkillRejected)])
        .collect();
    let key = Arc::new(key);
    let mut draft = Draft::new(Arc::clone(&key), tail.clone());
    entries.iter().for_each(|entry| draft.push(entry));
    let lines = draft.lines().unwrap();
    assert_eq!(lines.len(), entries.len());
    for (record, mut written) in lines {
        assert_eq!(written.pop(), Some(b'\n'));
        let value: Value = serde_json::from_slice(&written).unwrap();
        let canonical = serde_json_canonicalizer::to_string(&value).unwrap();
        assert_eq!(String::from_utf8(written.clone()).unwrap(), canonical);
        let read = check(&written, &tail, Some(&key.verifying())).unwrap();
        assert_eq!(read.tail, record.tail);
        tail = read.tail;
    }
}

/// A chain of so many records, in segments of this size.
fn chain(state: &Path, records: u64, largest: u64) {
    let folder = Folder::make(state).unwrap();
    let key = Arc::new(ChainKey::load(&folder, true).unwrap());
    let mut log = Log::new(folder.make_child("chain").unwrap(), key, Scan::default());
    log.largest = largest;
    let entries: Vec<Entry> = (0..records)
        .map(|record| Entry {
            // Lines of many lengths.
            subject: Some("x".repeat(usize::try_from(record % 251).unwrap())),
            ..Entry::new(Event::EgressDenied)
        })
        .collect();
    // As chains begin; the rest may fill many segments.
    let (first, rest) = entries.split_at(1);
    log.append_all(first).unwrap();
    log.append_all(rest).unwrap();
}

/// At most so many numbers after `since`, where the chain is said to end, and how many records were read for that.
fn page(state: &Path, since: u64, most: usize) -> (Vec<u64>, Option<u64>, usize) {
    let read = Cell::new(0);
    let stop = || {
        read.set(read.get() + 1);
        false
    };
    let filter = Filter {
        since,
        ..Filter::default()
    };
    let mut found = Vec::new();
    let anchor = show(state, &filter, &stop, &mut |record| {
        found.push(record["seq"].as_u64().unwrap());
        if found.len() < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let anchor = anchor.unwrap().map(|anchor| anchor.seq);
    (found, anchor, read.get())
}

#[test]
fn a_part_of_a_long_chain_is_found_without_reading_what_is_before_and_after_it() {
    const RECORDS: u64 = 4_000;
    for largest in [7_000, 300_000, segment::LARGEST] {
        let state = tempfile::tempdir().unwrap();
        chain(state.path(), RECORDS, largest);
        for since in (0..RECORDS).step_by(97).chain([1, RECORDS - 1]) {
            let (found, anchor, read) = page(state.path(), since, 5);
            let expected: Vec<u64> = (since + 1..=RECORDS).take(5).collect();
            assert_eq!((found, anchor), (expected, Some(RECORDS)), "{since}");
            // Halving, and the few beside the place; a record has 600 bytes or more.
            assert!(
                read < 60,
                "{read} records were read for those after {since}"
            );
        }
        for beyond in [RECORDS, RECORDS + 1, u64::MAX] {
            let (found, anchor, _) = page(state.path(), beyond, 5);
            assert_eq!((found, anchor), (Vec::new(), Some(RECORDS)));
        }
        let (all, ..) = page(state.path(), 0, usize::MAX);
        assert_eq!(all, (1..=RECORDS).collect::<Vec<_>>());
    }
}

#[test]
fn the_end_is_found_before_a_segment_that_was_only_begun() {
    let state = tempfile::tempdir().unwrap();
    chain(state.path(), 40, 7_000);
    let folder = Folder::look(state.path()).unwrap();
    let folder = folder.child("chain").unwrap().unwrap();
    let next = segment::last(&folder).unwrap().unwrap() + 1;
    std::fs::write(state.path().join("chain").join(segment::name(next)), "").unwrap();
    assert_eq!(page(state.path(), 3, 1).1, Some(40));
    let (found, anchor, _) = page(state.path(), 40, 1);
    assert_eq!((found, anchor), (Vec::new(), Some(40)));
}

#[test]
fn where_a_line_is_no_record_the_chain_is_not_shown() {
    use std::io::Write as _;

    let state = tempfile::tempdir().unwrap();
    chain(state.path(), 40, segment::LARGEST);
    let file = state.path().join("chain/000001.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(b"{\"seq\":41").unwrap();
    for most in [1, usize::MAX] {
        let mut left = most;
        let shown = show(state.path(), &Filter::default(), &|| false, &mut |_| {
            left -= 1;
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(shown.unwrap_err().code, Code::AuditUnavailable);
    }
}
