//! `lock --check`.

use super::{READS, has, lines, tree};
use crate::report::Report;
use crate::root::{LOCK, LOCK_SIGNATURE};
use crate::testing::{Scratch, component, content};
use crate::update::check;
use hydrant_base::Digest;

fn checked(scratch: &Scratch) -> Report {
    let before = tree(scratch.directory());
    let report = check(scratch.directory(), &scratch.anchor(), &content(), None);
    assert_eq!(tree(scratch.directory()), before);
    report.unwrap()
}

#[test]
fn check_is_content_with_the_lock_that_the_bundles_give_signed_or_not() {
    let scratch = Scratch::new();
    let digest = Digest::of(&scratch.read(LOCK));
    for unsigned in [false, true] {
        if unsigned {
            scratch.remove(LOCK_SIGNATURE);
        }
        let report = checked(&scratch);
        assert_eq!(report.exit_code(), 0, "{:?}", report.lines());
        assert_eq!(
            lines(&report).last().unwrap(),
            &format!("OK lock-check digest={digest}")
        );
    }
}

#[test]
fn check_finds_a_lock_that_the_bundles_do_not_give() {
    let spoils: [fn(&Scratch); 4] = [
        |scratch| scratch.write("skills/a.skill/SKILL.md", b"# Another text\n"),
        |scratch| scratch.alter_lock(|lock| lock.substrate_pin.commit = "0".repeat(40)),
        |scratch| scratch.alter_entry(|entry| entry.signers.truncate(1)),
        |scratch| scratch.bundle("a.skill", "0.2.0", &component(&[READS]), &["fs.read:/os"]),
    ];
    for spoil in spoils {
        let scratch = Scratch::new();
        spoil(&scratch);
        let report = checked(&scratch);
        assert_eq!(report.exit_code(), 2, "{:?}", report.lines());
        let lines = lines(&report);
        assert!(has(
            &lines,
            "error: lock TW-08 the lock is not what the bundles on disk give"
        ));
        assert_eq!(lines.last().unwrap(), "FAIL lock-check findings=1 exit=2");
    }
}

#[test]
fn check_names_the_first_line_that_differs() {
    let scratch = Scratch::new();
    scratch.alter_entry(|entry| entry.skill_md = Digest::zero());
    let lines = lines(&checked(&scratch));
    // The last member of the one entry.
    assert!(has(&lines, "first at line 21 "), "{lines:?}");
}

#[test]
fn check_without_a_lock_or_with_one_that_cannot_be_read_is_drift() {
    let scratch = Scratch::new();
    scratch.write(LOCK, b"{}");
    assert_eq!(checked(&scratch).exit_code(), 2);
    scratch.remove(LOCK);
    assert!(has(&lines(&checked(&scratch)), "error: lock TV-01"));
}
