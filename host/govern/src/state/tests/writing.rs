//! Writing, and what of it stands on disk.

use super::{Home, entry, insert, rows};
use crate::chain::{Event, Verdict};
use crate::failure::{Code, Failure};

#[test]
fn a_change_and_its_record_are_there_after_a_restart() {
    let home = Home::new();
    let state = home.open();
    insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    let head = state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    assert_eq!(head.seq, 2);
    drop(state);
    let state = home.open();
    assert_eq!(state.damage(), None);
    assert_eq!(rows(&state), [1]);
    assert_eq!(state.head().unwrap(), head);
    assert_eq!(
        home.verify(),
        Verdict {
            ok: true,
            records: 2,
            head_seq: Some(2),
            first_bad_seq: None,
            reason: None,
            database_lacks: None,
            begun_anew: None,
        }
    );
    assert_eq!(
        home.events(),
        ["approval-granted ok", "capability-denied ok"]
    );
}

#[test]
fn a_change_that_fails_leaves_neither_row_nor_record() {
    let home = Home::new();
    let state = home.open();
    insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    let failed = state.write(|change| {
        change
            .database
            .execute("INSERT INTO t VALUES (2)", [])
            .unwrap();
        change.record(entry(Event::ApprovalRevoked, "a.b"));
        Err::<(), _>(Failure::new(Code::ApprovalStale, "no"))
    });
    assert_eq!(failed.unwrap_err().code, Code::ApprovalStale);
    assert_eq!(rows(&state), [1]);
    assert_eq!(home.verify().records, 1);
}

#[test]
fn of_a_large_change_that_fails_no_record_is_left_and_the_next_one_is_whole() {
    let home = Home::new();
    let state = home.open();
    // As many as are signed by two threads.
    let many = vec![entry(Event::CapabilityRegistered, "a.b"); 100];
    let failed = state.write(|change| {
        many.iter().for_each(|one| change.record(one.clone()));
        Err::<(), _>(Failure::new(Code::ApprovalStale, "no"))
    });
    assert_eq!(failed.unwrap_err().code, Code::ApprovalStale);
    assert_eq!(home.verify().records, 0);
    insert(&state, 1, &many).unwrap();
    let verdict = home.verify();
    assert_eq!((verdict.ok, verdict.records), (true, 100));
}

#[test]
fn a_record_that_is_too_long_is_written_with_nothing_of_its_change() {
    let home = Home::new();
    let state = home.open();
    let mut long = entry(Event::ApprovalGranted, "a.b");
    long.delegated_to = vec!["x".repeat(300 << 10)];
    let refused = insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b"), long]);
    assert_eq!(refused.unwrap_err().code, Code::AuditUnavailable);
    assert_eq!(home.verify().records, 0);
    insert(&state, 2, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    assert_eq!((rows(&state), home.verify().records), (vec![2], 1));
}
