//! `lock --sign`.

use std::fs;

use crate::canonical::{digest, pretty_line, with};
use crate::keys::{self, Signer};
use crate::program::Run;
use crate::root::{LOCK, Root, SIGNATURE};

/// `lock --sign` with the key files of these signers.
fn sign(root: &Root, signer: &str, keys: &[Signer]) -> Run {
    let keys = root.key_files(keys);
    let mut command = root.command(&["lock", "--sign", "--signer", signer]);
    Run::of(command.env("HYDRANT_SIGNING_KEYS", keys))
}

fn line(root: &Root, signer: &str, count: usize) -> String {
    let digest = digest(root.folder.read(LOCK));
    format!("OK lock-sign signer={signer} digest={digest} signatures={count}")
}

#[test]
fn signatures_are_added_one_by_one_and_sorted() {
    let root = Root::new();
    let expected = root.folder.read(SIGNATURE);
    fs::remove_file(root.folder.path(SIGNATURE)).unwrap();
    let lock = root.folder.read(LOCK);
    let run = sign(&root, "team.release", &keys::team());
    run.assert_line(&line(&root, "team.release", 1));
    assert_eq!(root.run(&["verify"]).status, 3, "one is not enough");
    let run = sign(&root, "team.build", &keys::team());
    run.assert_line(&line(&root, "team.build", 2));
    assert_eq!(root.folder.read(SIGNATURE), expected);
    assert_eq!(root.folder.read(LOCK), lock);
    root.assert_verifies();
    // Again: the entry is replaced, by the same bytes.
    sign(&root, "team.build", &keys::team()).assert_line(&line(&root, "team.build", 2));
    assert_eq!(root.folder.read(SIGNATURE), expected);
}

/// Entries over other bytes go.
#[test]
fn old_signatures_do_not_stay() {
    let root = Root::new();
    let lock = with(&root.lock(), "/generated_at", "2026-01-02T00:00:00.000Z");
    root.folder.write(LOCK, pretty_line(&lock));
    let run = sign(&root, "team.build", &keys::team());
    run.assert_line(&line(&root, "team.build", 1));
    let expected = keys::lock_signature(&root.folder.read(LOCK), &[keys::build()]);
    assert_eq!(root.folder.read(SIGNATURE), expected);
}

/// The key must be the ring's.
#[test]
fn another_key_than_the_rings_is_refused() {
    let root = Root::new();
    let before = root.folder.read(SIGNATURE);
    let impostor = Signer::new("team.build", "another key");
    let run = sign(&root, "team.build", &[impostor]);
    assert_eq!(run.status, 3, "{run:?}");
    let run = sign(&root, "stranger", &[keys::stranger()]);
    assert_ne!(run.status, 0, "{run:?}");
    assert_eq!(root.folder.read(SIGNATURE), before);
}

#[test]
fn without_a_key_nothing_is_signed() {
    let root = Root::new();
    fs::remove_file(root.folder.path(SIGNATURE)).unwrap();
    assert_ne!(sign(&root, "team.release", &[keys::build()]).status, 0);
    let none = root.run(&["lock", "--sign", "--signer", "team.build"]);
    assert_ne!(none.status, 0, "{none:?}");
    assert_ne!(root.run(&["lock", "--sign"]).status, 0);
    assert!(!root.folder.exists(SIGNATURE));
    assert_eq!(sign(&root, "team.build", &[keys::build()]).status, 0);
}

/// One of the three, and no two.
#[test]
fn lock_needs_one_action() {
    let root = Root::new();
    for arguments in [
        &["lock"][..],
        &["lock", "--update", "--check"],
        &["lock", "--sign", "--check"],
    ] {
        let run = root.run(arguments);
        assert_eq!(run.status, 1, "{arguments:?}: {run:?}");
    }
    assert_eq!(root.run(&["lock", "--check"]).status, 0);
}
