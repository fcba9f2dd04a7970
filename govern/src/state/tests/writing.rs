//! Writing, and what of it stands on disk.

use super::{Home, entry, insert, rows};
use crate::chain::{Event, Verdict};
use crate::failure::{Code, Failure};

#[test]
fn k_359_a_change_and_its_record_are_there_after_a_restart() {
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
            reason: None
        }
    );
    assert_eq!(
        home.events(),
        ["approval-granted ok", "capability-denied ok"]
    );
}

#[test]
fn k_274_a_change_that_fails_leaves_neither_row_nor_record() {
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
