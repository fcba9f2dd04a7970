//! Which keys sign an updated lock.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Runner, both_keys, has, keys, lines, seed, tree};
use crate::root::{LOCK, LOCK_SIGNATURE};
use crate::testing::{ONE, Scratch, TWO, content};
use crate::update::UpdateError;
use hydrant_base::Digest;
use hydrant_trust::KeyError;

#[test]
fn without_keys_a_changed_lock_loses_its_signatures_and_the_last_line_says_so() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/SKILL.md", b"# Another text\n");
    let report = Runner::of(&scratch).run();
    let digest = Digest::of(&scratch.read(LOCK));
    let lines = lines(&report);
    let [.., ok, last] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(*ok, format!("OK lock count=1 digest={digest} signatures=0"));
    assert_eq!(*last, format!("UNSIGNED lock={digest}"));
    assert!(!scratch.path(LOCK_SIGNATURE).exists());
}

#[test]
fn every_ring_signer_whose_key_file_exists_signs() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/SKILL.md", b"# Another text\n");
    let keys = keys(&[(TWO, TWO), ("stranger", "stranger")]);
    let mut runner = Runner::of(&scratch);
    runner.keys = Some(keys.path());
    let report = runner.run();
    assert!(has(&lines(&report), "signatures=1"));
    assert!(!has(&lines(&report), "UNSIGNED"));
    let signatures = String::from_utf8(scratch.read(LOCK_SIGNATURE)).unwrap();
    assert!(
        signatures.contains(TWO) && !signatures.contains(ONE),
        "{signatures}"
    );
}

#[test]
fn a_key_that_is_not_the_rings_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/SKILL.md", b"# Another text\n");
    let keys = keys(&[(ONE, ONE), (TWO, "another")]);
    let mut runner = Runner::of(&scratch);
    runner.keys = Some(keys.path());
    let lines = runner.refused(3);
    assert!(
        has(&lines, "error: lock TW-07 the signing key of test.two"),
        "{lines:?}"
    );
    // And no byte of it is shown.
    assert!(!has(&lines, seed("another").trim_end_matches('=')));
}

#[test]
fn a_key_directory_inside_the_root_is_refused_also_through_a_link() {
    let scratch = Scratch::new();
    scratch.write("keys/test.one.key", seed(ONE).as_bytes());
    let outside = tempfile::tempdir().unwrap();
    let link = outside.path().join("keys");
    symlink(scratch.path("keys"), &link).unwrap();
    for keys in [scratch.path("keys"), link] {
        let mut runner = Runner::of(&scratch);
        runner.keys = Some(&keys);
        let before = tree(scratch.directory());
        let refused = runner.try_run(&content());
        assert!(matches!(
            refused,
            Err(UpdateError::Key(KeyError::InsideRoot { .. }))
        ));
        assert_eq!(tree(scratch.directory()), before);
    }
}

#[test]
fn a_key_file_that_is_no_key_is_an_error_and_nothing_is_written() {
    let scratch = Scratch::new();
    let keys = both_keys();
    fs::write(keys.path().join(format!("{ONE}.key")), "c2hvcnQ=").unwrap();
    let mut runner = Runner::of(&scratch);
    runner.keys = Some(keys.path());
    let before = tree(scratch.directory());
    assert!(matches!(
        runner.try_run(&content()),
        Err(UpdateError::Key(_))
    ));
    assert_eq!(tree(scratch.directory()), before);
}
