//! What is asked before a skill starts.

use std::time::{Duration, Instant};

use super::*;
use crate::testing::{ONE, Scratch, component};
use crate::{LOCK, RING, stamp};

/// The row that `a.skill` fails with, and its class.
fn failure(scratch: &Scratch) -> (&'static str, Class) {
    let error = verify_entry(&scratch.root(), &scratch.anchor(), "a.skill", None).unwrap_err();
    (error.row().unwrap().id(), error.class().unwrap())
}

#[test]
fn a_pinned_skill_is_answered_with_its_bundle_entry_and_stamp() {
    let scratch = Scratch::new();
    let root = scratch.root();
    for version in [None, Some("0.1.0")] {
        let pinned = verify_entry(&root, &scratch.anchor(), "a.skill", version).unwrap();
        assert_eq!(pinned.entry, scratch.lock().skills[0]);
        assert_eq!(*pinned.bundle.artifact(), pinned.entry.artifact);
        assert_eq!(
            pinned.bundle.wasm().bytes(),
            scratch.read("skills/a.skill/0.1.0/skill.wasm")
        );
        assert_eq!(pinned.stamp, stamp(&root, &pinned.entry));
    }
}

/// The highest SemVer version, which is not the last in the lock.
#[test]
fn without_a_version_the_highest_is_taken() {
    let scratch = Scratch::new();
    let wasm = component(&["hydrant:host/fs-read@0.1.0"]);
    for version in ["0.10.0", "0.9.0"] {
        scratch.bundle("a.skill", version, &wasm, &["fs.read:/os"]);
    }
    scratch.pin(&[
        ("a.skill", "0.1.0"),
        ("a.skill", "0.10.0"),
        ("a.skill", "0.9.0"),
    ]);
    let pinned = verify_entry(&scratch.root(), &scratch.anchor(), "a.skill", None).unwrap();
    assert_eq!(pinned.entry.version, "0.10.0");
}

#[test]
fn what_is_not_pinned_is_refused_with_what_is() {
    let scratch = Scratch::new();
    let ask = |id, version| {
        let error = verify_entry(&scratch.root(), &scratch.anchor(), id, version).unwrap_err();
        assert_eq!((error.row(), error.class()), (None, None));
        error.to_string()
    };
    let expected = "skill b\\u{1b} is not pinned; pinned are: a.skill@0.1.0";
    assert_eq!(ask("b\u{1b}", None), expected);
    let expected = "skill a.skill@9.9.9 is not pinned; pinned are: a.skill@0.1.0";
    assert_eq!(ask("a.skill", Some("9.9.9")), expected);
}

#[test]
fn each_failure_names_its_row_and_class() {
    type Breakage = fn(&Scratch);
    let breakages: [(&str, Class, Breakage); 12] = [
        ("TV-01", Class::Drift, |scratch| scratch.remove(LOCK)),
        ("TV-03", Class::Trust, |scratch| scratch.write(RING, b"{}")),
        ("TV-04", Class::Trust, |scratch| scratch.sign_lock(&[ONE])),
        ("TV-05", Class::Drift, |scratch| {
            scratch.write_lock_bytes(b"{}");
        }),
        ("TV-06", Class::Drift, |scratch| {
            scratch.alter_lock(|lock| lock.generated_at.clear());
        }),
        ("TV-07", Class::Drift, |scratch| {
            std::fs::remove_dir_all(scratch.path("skills")).unwrap();
        }),
        ("TV-08", Class::Drift, |scratch| {
            scratch.alter_lock(|lock| lock.substrate_pin.commit.clear());
        }),
        ("TV-11", Class::Drift, |scratch| {
            scratch.remove("skills/a.skill/0.1.0/skill.wasm");
        }),
        ("TV-13", Class::Trust, |scratch| {
            scratch.remove("skills/a.skill/0.1.0/public-keys.json");
        }),
        ("TV-20", Class::Drift, |scratch| {
            scratch.remove("skills/a.skill/0.1.0/bundle-meta.json");
        }),
        ("TV-21", Class::Drift, |scratch| {
            scratch.write("skills/a.skill/0.1.0/extra", b"");
        }),
        ("TV-25", Class::Policy, |scratch| {
            scratch.bundle(
                "a.skill",
                "0.1.0",
                &component(&["hydrant:host/fetch@0.1.0"]),
                &[],
            );
            scratch.pin(&[("a.skill", "0.1.0")]);
        }),
    ];
    for (row, class, breakage) in breakages {
        let scratch = Scratch::new();
        breakage(&scratch);
        assert_eq!(failure(&scratch), (row, class));
    }
}

/// Of several failures the class that decides is reported.
#[test]
fn the_deciding_failure_is_the_one_that_is_named() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/0.1.0/extra", b"");
    assert_eq!(failure(&scratch), ("TV-21", Class::Drift));
    scratch.write("skills/a.skill/0.1.0/public-keys.json", b"{}");
    assert_eq!(failure(&scratch), ("TV-13", Class::Trust));
}

/// `TV-22` and other entries are not asked before one skill starts.
#[test]
fn faults_of_other_entries_do_not_stop_a_skill() {
    let scratch = Scratch::new();
    scratch.bundle("b.skill", "0.1.0", &component(&[]), &[]);
    scratch.pin(&[("a.skill", "0.1.0"), ("b.skill", "0.1.0")]);
    scratch.remove("skills/b.skill/0.1.0/skill.wasm");
    scratch.remove("skills/a.skill/SKILL.md");
    scratch.write("skills/stray", b"");
    verify_entry(&scratch.root(), &scratch.anchor(), "a.skill", None).unwrap();
}

/// The same bundle from a tree in the binary.
#[test]
fn an_embedded_root_is_verified_like_a_directory() {
    let scratch = Scratch::new();
    let mut files: Vec<(&'static str, &'static [u8])> = Vec::new();
    let bundle = "skills/a.skill/0.1.0";
    for name in [
        "skill.wasm",
        "manifest.json",
        "signatures.json",
        "bundle-meta.json",
        "public-keys.json",
    ] {
        let path = format!("{bundle}/{name}");
        files.push((path.clone().leak(), scratch.read(&path).leak()));
    }
    for path in [LOCK, RING, "pins/skills.lock.json.sig"] {
        files.push((path, scratch.read(path).leak()));
    }
    let anchor = scratch.anchor();
    let root = Root::embedded(files.clone().leak());
    let pinned = verify_entry(&root, &anchor, "a.skill", None).unwrap();
    assert_eq!(pinned.stamp, stamp(&root, &pinned.entry));
    files[0].1 = b"other";
    let error = verify_entry(&Root::embedded(files.leak()), &anchor, "a.skill", None).unwrap_err();
    assert_eq!(error.row(), Some(Row::TV_12));
}

/// It is on the way of every start; the bound is loose because tests run unoptimised and side by side.
#[test]
fn verifying_an_entry_is_quick() {
    let scratch = Scratch::new();
    let (root, anchor) = (scratch.root(), scratch.anchor());
    let best = (0..20).map(|_| {
        let started = Instant::now();
        verify_entry(&root, &anchor, "a.skill", None).unwrap();
        started.elapsed()
    });
    let best = best.min().unwrap();
    assert!(best < Duration::from_millis(50), "{best:?}");
}
