use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Baseline, BaselineError, Command, OsStr, first_program, manifest};
use crate::Finding;
use crate::root::{LOCK, RING};
use crate::testing::{ONE, Scratch, TWO, component, key, ring};
use hydrant_trust::{Capability, KeyRing, LockEntry};

const MANIFEST: &str = "skills/a.skill/0.1.0/manifest.json";
const READS: &str = "hydrant:host/fs-read@0.1.0";

/// Commits all of the root; the repository may begin above it.
fn commit(scratch: &Scratch, repository: &str) {
    let run = |arguments: &[&str]| {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(scratch.path(repository))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    run(&["init", "--quiet"]);
    run(&["add", "--all", "--force"]);
    run(&["commit", "--quiet", "--message=x", "--no-gpg-sign"]);
}

fn found(scratch: &Scratch, entry: &LockEntry) -> bool {
    manifest(scratch.directory(), &entry.bundle_dir, &entry.manifest_hash).is_some()
}

#[test]
fn a_manifest_on_disk_counts_only_with_the_pinned_hash() {
    let scratch = Scratch::new();
    let entry = scratch.lock().skills[0].clone();
    assert!(found(&scratch, &entry));
    scratch.edit(MANIFEST, "/os", "/workspace");
    assert!(!found(&scratch, &entry));
    scratch.remove(MANIFEST);
    assert!(!found(&scratch, &entry));
}

#[test]
fn a_manifest_that_is_gone_from_the_disk_is_read_from_the_last_commit() {
    let scratch = Scratch::new();
    let entry = scratch.lock().skills[0].clone();
    commit(&scratch, "");
    scratch.edit(MANIFEST, "/os", "/workspace");
    assert!(found(&scratch, &entry));
    // Only the last commit is asked, and only what has the hash counts.
    commit(&scratch, "");
    assert!(!found(&scratch, &entry));
}

#[test]
fn the_root_may_lie_below_the_top_of_the_repository() {
    let above = tempfile::tempdir().unwrap();
    let scratch = Scratch::new();
    let entry = scratch.lock().skills[0].clone();
    let root = above.path().join("below");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(scratch.directory())
        .arg(&root)
        .status();
    assert!(copied.unwrap().success());
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@e.org",
            "commit",
            "--quiet",
            "--message=x",
        ],
    ] {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(above.path())
            .status();
        assert!(status.unwrap().success());
    }
    fs::remove_file(root.join(MANIFEST)).unwrap();
    assert!(manifest(&root, &entry.bundle_dir, &entry.manifest_hash).is_some());
}

#[test]
fn what_git_says_is_bounded() {
    let scratch = Scratch::new();
    let entry = scratch.lock().skills[0].clone();
    let mut padded = scratch.read(MANIFEST);
    padded.resize(1_048_577, b' ');
    scratch.write(MANIFEST, &padded);
    commit(&scratch, "");
    scratch.remove(MANIFEST);
    assert!(!found(&scratch, &entry));
    padded.truncate(1_048_576);
    scratch.write(MANIFEST, &padded);
    commit(&scratch, "");
    scratch.remove(MANIFEST);
    assert!(found(&scratch, &entry));
}

/// Nothing that the repository configures is run.
#[test]
fn a_hostile_repository_starts_nothing() {
    let scratch = Scratch::new();
    let entry = scratch.lock().skills[0].clone();
    commit(&scratch, "");
    let canary = scratch.path("canary");
    let program = scratch.path("program");
    let script = format!("#!/bin/sh\ntouch {}\n", canary.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    let config = format!(
        "[core]\nfsmonitor = {program}\npager = {program}\neditor = {program}\nsshCommand = {program}\n\
         alternateRefsCommand = {program}\n[extensions]\npartialClone = evil\n\
         [remote \"evil\"]\nurl = ext::{program}\npromisor = true\n[filter \"x\"]\nsmudge = {program}\n\
         [diff \"x\"]\ntextconv = {program}\n[protocol \"ext\"]\nallow = always\n"
    );
    let configured = scratch.path(".git/config");
    fs::write(
        &configured,
        fs::read_to_string(&configured).unwrap() + &config,
    )
    .unwrap();
    scratch.write(".gitattributes", b"* filter=x diff=x\n");
    scratch.remove(MANIFEST);
    assert!(found(&scratch, &entry));
    // An object that is gone would have to be fetched.
    fs::remove_dir_all(scratch.path(".git/objects")).unwrap();
    fs::create_dir(scratch.path(".git/objects")).unwrap();
    assert!(!found(&scratch, &entry));
    assert!(!canary.exists());
}

#[test]
fn a_git_that_lies_in_the_root_is_not_started() {
    let scratch = Scratch::new();
    scratch.write("bin/git", b"#!/bin/sh\n");
    let outside = tempfile::tempdir().unwrap();
    let search = std::env::join_paths([scratch.path("bin"), "bin".into(), outside.path().into()]);
    let search = search.unwrap();
    let git = || first_program(OsStr::new("git"), &search, scratch.directory());
    assert_eq!(git(), None);
    fs::write(outside.path().join("git"), "").unwrap();
    assert_eq!(
        git(),
        Some(outside.path().canonicalize().unwrap().join("git"))
    );
}

/// The findings of this root against that one.
fn against(new: &Scratch, old: &Scratch) -> Vec<Finding> {
    let baseline = Baseline::open(old.directory()).unwrap();
    let lock = new.lock();
    let ring = KeyRing::parse(&new.read(RING)).unwrap();
    let capabilities = |entry: &LockEntry| -> Option<Vec<Capability>> {
        manifest(new.directory(), &entry.bundle_dir, &entry.manifest_hash)
            .map(|manifest| manifest.capabilities)
    };
    baseline.check(&lock, &ring, &capabilities)
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_root_is_no_widening_of_itself() {
    let scratch = Scratch::new();
    assert_eq!(against(&scratch, &scratch), []);
}

#[test]
fn a_capability_that_the_baseline_did_not_declare_is_found() {
    let (old, new) = (Scratch::new(), Scratch::new());
    let wasm = component(&[READS]);
    new.bundle(
        "a.skill",
        "0.2.0",
        &wasm,
        &["fs.read:/os", "fs.read:/workspace"],
    );
    new.pin(&[("a.skill", "0.1.0"), ("a.skill", "0.2.0")]);
    let findings = shown(&against(&new, &old));
    assert_eq!(findings.len(), 1, "{findings:?}");
    let expected = "a.skill@0.2.0 TV-32 widening: id=a.skill kind=fs.read value=/workspace: ";
    assert!(findings[0].starts_with(expected), "{findings:?}");
    // The other direction takes a bundle away, which widens nothing.
    assert_eq!(against(&old, &new), []);
}

#[test]
fn another_key_in_the_ring_is_found_also_of_one_who_signed_nothing() {
    let (old, new) = (Scratch::new(), Scratch::new());
    old.write(RING, &ring(&[ONE, "test.three", TWO]));
    new.edit(
        RING,
        &key(TWO).public().to_base64(),
        &key("x").public().to_base64(),
    );
    let findings = shown(&against(&new, &old));
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].starts_with("lock TV-33 signer change: the key of test.three is none"));
    assert!(findings[1].starts_with("lock TV-33 signer change: the key of test.two is "));
}

#[test]
fn other_signers_of_an_entry_are_found() {
    let (old, new) = (Scratch::new(), Scratch::new());
    old.alter_entry(|entry| entry.signers = vec![ONE.to_owned()]);
    let findings = shown(&against(&new, &old));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("a.skill@0.1.0 TV-33 signer change: "));
}

/// A manifest that was altered where the baseline lies does not count.
#[test]
fn a_baseline_manifest_without_its_hash_covers_nothing() {
    let (old, new) = (Scratch::new(), Scratch::new());
    new.bundle("a.skill", "0.2.0", &component(&[READS]), &["fs.read:/os"]);
    new.pin(&[("a.skill", "0.2.0")]);
    assert_eq!(against(&new, &old), []);
    old.edit(MANIFEST, "0.1.0", "0.1.1");
    assert_eq!(against(&new, &old).len(), 1);
}

#[test]
fn a_baseline_without_lock_or_ring_is_an_error() {
    let open = |scratch: &Scratch| Baseline::open(scratch.directory()).unwrap_err();
    let scratch = Scratch::new();
    scratch.write(RING, b"[]");
    assert!(matches!(open(&scratch), BaselineError::Ring(_)));
    scratch.write(LOCK, b"[]");
    assert!(matches!(open(&scratch), BaselineError::Lock(_)));
    scratch.remove(LOCK);
    assert!(matches!(open(&scratch), BaselineError::File(_)));
}
