use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::sign;
use crate::report::Report;
use crate::root::{LOCK, LOCK_SIGNATURE};
use crate::testing::{ONE, Scratch, TWO};
use crate::update::UpdateError;
use hydrant_base::Digest;
use hydrant_trust::KeyError;

/// The key file of `testing::key`.
fn write_key(directory: &Path, name: &str, of: &str) {
    use base64::Engine as _;
    let seed: Vec<u8> = Digest::of(format!("pins test key of {of}").as_bytes())
        .hex()
        .bytes()
        .take(32)
        .collect();
    let text = base64::engine::general_purpose::STANDARD.encode(seed);
    fs::write(directory.join(format!("{name}.key")), text).unwrap();
}

fn keys() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write_key(directory.path(), ONE, ONE);
    write_key(directory.path(), TWO, TWO);
    directory
}

fn signed(scratch: &Scratch, signer: &str, keys: &TempDir) -> Result<Report, UpdateError> {
    sign(scratch.directory(), &scratch.anchor(), signer, keys.path())
}

fn lines(report: &Report) -> Vec<String> {
    report.lines().into_iter().map(|line| line.text).collect()
}

#[test]
fn two_signers_sign_one_after_the_other() {
    let scratch = Scratch::new();
    let together = scratch.read(LOCK_SIGNATURE);
    scratch.remove(LOCK_SIGNATURE);
    let keys = keys();
    let digest = Digest::of(&scratch.read(LOCK));
    for (signer, count) in [(TWO, 1), (ONE, 2), (ONE, 2)] {
        let report = signed(&scratch, signer, &keys).unwrap();
        let expected = format!("OK lock-sign signer={signer} digest={digest} signatures={count}");
        assert_eq!(lines(&report), [expected]);
    }
    assert_eq!(Digest::of(&scratch.read(LOCK)), digest);
    // The same bytes, whoever signed first.
    assert_eq!(scratch.read(LOCK_SIGNATURE), together);
    assert_eq!(scratch.rows(), [""; 0]);
}

#[test]
fn signatures_over_another_lock_and_a_broken_file_are_not_kept() {
    let keys = keys();
    let scratch = Scratch::new();
    scratch.edit(LOCK, "2026-01-01", "2026-01-02");
    let report = signed(&scratch, ONE, &keys).unwrap();
    assert!(lines(&report)[0].ends_with("signatures=1"));
    scratch.write(LOCK_SIGNATURE, b"not JSON");
    let report = signed(&scratch, ONE, &keys).unwrap();
    assert!(lines(&report)[0].ends_with("signatures=1"));
}

#[test]
fn signatures_that_cannot_be_read_are_not_replaced() {
    let scratch = Scratch::new();
    let keys = keys();
    scratch.remove(LOCK_SIGNATURE);
    std::os::unix::fs::symlink("elsewhere", scratch.path(LOCK_SIGNATURE)).unwrap();
    let report = signed(&scratch, ONE, &keys).unwrap();
    assert_eq!(report.exit_code(), 3);
    let expected = format!("error: lock TW-08 {LOCK_SIGNATURE} is a symbolic link");
    assert!(
        lines(&report)[0].starts_with(&expected),
        "{:?}",
        lines(&report)
    );

    fs::remove_file(scratch.path(LOCK_SIGNATURE)).unwrap();
    let many = vec![b' '; 65_537];
    scratch.write(LOCK_SIGNATURE, &many);
    assert_eq!(signed(&scratch, ONE, &keys).unwrap().exit_code(), 3);
    assert_eq!(scratch.read(LOCK_SIGNATURE), many);
}

#[test]
fn a_key_that_is_not_the_rings_does_not_sign() {
    let scratch = Scratch::new();
    let keys = keys();
    write_key(keys.path(), ONE, "another");
    write_key(keys.path(), "stranger", "stranger");
    let before = scratch.read(LOCK_SIGNATURE);
    for (signer, expected) in [
        (
            ONE,
            "error: lock TW-08 the signing key of test.one is not the key",
        ),
        ("stranger", "error: lock TW-08 stranger is not in the ring"),
        (
            "../stranger",
            "error: lock TW-08 ../stranger is not in the ring",
        ),
    ] {
        let report = signed(&scratch, signer, &keys).unwrap();
        assert_eq!(report.exit_code(), 3);
        assert!(
            lines(&report)[0].starts_with(expected),
            "{:?}",
            report.lines()
        );
        assert_eq!(scratch.read(LOCK_SIGNATURE), before);
    }
}

#[test]
fn a_missing_key_file_is_an_error() {
    let scratch = Scratch::new();
    let empty = tempfile::tempdir().unwrap();
    let error = signed(&scratch, ONE, &empty).unwrap_err();
    assert!(
        matches!(error, UpdateError::Key(KeyError::File(_))),
        "{error}"
    );
}

#[test]
fn a_lock_that_verify_could_not_read_is_not_signed() {
    let scratch = Scratch::new();
    scratch.edit(LOCK, "\"1.0.0\"", "\"9.0.0\"");
    let before = scratch.read(LOCK_SIGNATURE);
    let report = signed(&scratch, ONE, &keys()).unwrap();
    assert_eq!(report.exit_code(), 2);
    assert_eq!(scratch.read(LOCK_SIGNATURE), before);
}

#[test]
fn a_ring_that_is_not_the_anchors_signs_nothing() {
    let scratch = Scratch::new();
    let mut anchor = scratch.anchor();
    anchor.keys_digest = Digest::zero();
    let before = scratch.read(LOCK_SIGNATURE);
    let report = sign(scratch.directory(), &anchor, ONE, keys().path()).unwrap();
    assert_eq!(report.exit_code(), 3);
    assert_eq!(scratch.read(LOCK_SIGNATURE), before);
}

#[test]
fn keys_inside_the_root_sign_nothing() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("keys")).unwrap();
    write_key(&scratch.path("keys"), ONE, ONE);
    let refused = sign(
        scratch.directory(),
        &scratch.anchor(),
        ONE,
        &scratch.path("keys"),
    );
    let error = refused.unwrap_err();
    assert!(
        matches!(error, UpdateError::Key(KeyError::InsideRoot { .. })),
        "{error}"
    );
}
