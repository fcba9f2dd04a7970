//! What a long-lived host notices.

use std::fs;

use super::*;
use crate::testing::Scratch;

#[test]
fn a_change_of_any_pinned_file_changes_the_stamp() {
    let scratch = Scratch::new();
    let root = scratch.root();
    let entry = scratch.lock().skills.remove(0);
    let now = || stamp(&root, &entry);
    assert_eq!(now(), now());
    let files = [LOCK, LOCK_SIGNATURE, RING].map(str::to_owned);
    let of_bundle = BUNDLE_FILES.map(|name| format!("{}/{name}", entry.bundle_dir));
    for path in files.iter().chain(&of_bundle) {
        let before = now();
        // One more byte; those that were not there appear.
        let mut bytes = fs::read(scratch.path(path)).unwrap_or_default();
        bytes.push(b' ');
        scratch.write(path, &bytes);
        assert_ne!(now(), before, "{path} written");
        let before = now();
        scratch.write("elsewhere", &bytes);
        fs::rename(scratch.path("elsewhere"), scratch.path(path)).unwrap();
        assert_ne!(now(), before, "{path} replaced");
    }
    let before = now();
    scratch.write(&format!("{}/extra", entry.bundle_dir), b"");
    assert_ne!(now(), before, "a file was added");
}

#[test]
fn an_embedded_root_has_one_stamp() {
    let entry = Scratch::new().lock().skills.remove(0);
    let root = Root::embedded(&[("pins/skills.lock.json", b"")]);
    assert_eq!(stamp(&root, &entry), stamp(&root, &entry));
}
