//! The widening gate and the signer gate of `lock --update`.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::bundle::Bundle;
use crate::canonical::{digest, pretty_line};
use crate::guests;
use crate::keys::{self, Signer};
use crate::program::Run;
use crate::root::{ECHO, LOCK, RING, Root, SIGNATURE, echo, reader};

fn update(root: &Root, arguments: &[&str]) -> Run {
    let keys = root.key_files(&keys::team());
    let mut command = root.command(&["lock", "--update"]);
    Run::of(command.args(arguments).env("HYDRANT_SIGNING_KEYS", keys))
}

/// `demo.echo` reading a file, with these capabilities.
fn reading(version: &str, values: &[&str]) -> Bundle {
    let wasm = guests::reading(ECHO, "/workspace/note.txt", 1);
    let capabilities: Vec<(&str, &str)> = values.iter().map(|value| ("fs.read", *value)).collect();
    Bundle::new((ECHO, version), &wasm, &capabilities, &keys::team())
}

/// The exit code of pinning `new` over `old`, which stays on disk or is replaced.
fn over(old: Bundle, new: &Bundle) -> Run {
    let root = Root::of(vec![old]);
    let before = (root.folder.read(LOCK), root.folder.read(SIGNATURE));
    root.put(new);
    let run = update(&root, &[]);
    let after = (root.folder.read(LOCK), root.folder.read(SIGNATURE));
    assert_eq!(run.status == 0, after != before, "{run:?}");
    run
}

#[test]
fn a_widening_is_listed_and_nothing_is_written() {
    let run = over(echo("0.1.0"), &reading("0.2.0", &["/os", "/workspace"]));
    assert_eq!(run.status, 4, "{run:?}");
    let output = run.stdout + &run.stderr;
    for value in ["fs.read:/os", "fs.read:/workspace"] {
        let mut lines = output.lines();
        assert!(
            lines.any(|line| line.contains(ECHO) && line.contains(value)),
            "{output}"
        );
    }
}

#[test]
fn the_flag_lets_it_through_and_no_other_does() {
    let root = Root::new();
    root.put(&reading("0.2.0", &["/workspace"]));
    assert_eq!(update(&root, &["--allow-signer-change"]).status, 4);
    let run = update(&root, &["--allow-widen"]);
    assert_eq!(run.status, 0, "{run:?}");
    root.assert_verifies();
}

/// What the old capability covers is no widening.
#[test]
fn narrower_is_not_wider() {
    let both = reading("0.1.0", &["/os", "/workspace"]);
    assert_eq!(
        over(both.clone(), &reading("0.2.0", &["/workspace"])).status,
        0
    );
    assert_eq!(
        over(both, &reading("0.2.0", &["/workspace/notes"])).status,
        0
    );
    let narrow = reading("0.1.0", &["/workspace/notes"]);
    assert_eq!(
        over(narrow.clone(), &reading("0.2.0", &["/workspace"])).status,
        4
    );
    assert_eq!(
        over(narrow, &reading("0.2.0", &["/workspace/notes2"])).status,
        4
    );
}

/// A new skill with any capability is a widening; one without is none.
#[test]
fn a_new_skill_starts_from_nothing() {
    let root = Root::new();
    root.put(&reader("demo.reader", "0.1.0"));
    assert_eq!(update(&root, &[]).status, 4);
    let root = Root::unpinned(vec![reader("demo.reader", "0.1.0")]);
    assert_eq!(update(&root, &["--init"]).status, 4);
    assert!(!root.folder.exists(LOCK));
    let root = Root::new();
    let wasm = guests::echo("demo.more");
    root.put(&Bundle::new(
        ("demo.more", "0.1.0"),
        &wasm,
        &[],
        &keys::team(),
    ));
    assert_eq!(update(&root, &[]).status, 0);
}

/// The highest version that was pinned, in SemVer order and not in byte order.
#[test]
fn the_baseline_is_the_highest_pinned_version() {
    let root = Root::of(vec![reading("0.9.0", &["/workspace"]), echo("0.10.0")]);
    root.put(&reading("0.11.0", &["/workspace"]));
    assert_eq!(update(&root, &[]).status, 4);
    let root = Root::of(vec![echo("0.9.0"), reading("0.10.0", &["/workspace"])]);
    root.put(&reading("0.11.0", &["/workspace"]));
    assert_eq!(update(&root, &[]).status, 0);
}

/// The same version again, its old manifest gone from the disk. In git it is found; without
/// git the baseline is empty.
#[test]
fn the_old_manifest_is_found_by_its_hash() {
    let repinned = |committed: bool| {
        let root = Root::of(vec![reading("0.1.0", &["/workspace"])]);
        if committed {
            for arguments in [
                &["init", "-q"][..],
                &["add", "."],
                &[
                    "-c",
                    "user.name=t",
                    "-c",
                    "user.email=t@t",
                    "commit",
                    "-q",
                    "-m",
                    "t",
                ],
            ] {
                let mut git = Command::new("git");
                git.args(arguments).current_dir(root.folder.path(""));
                git.env("HOME", root.folder.path("../home"))
                    .env("GIT_CONFIG_NOSYSTEM", "1");
                assert!(git.status().unwrap().success());
            }
        }
        let mut bundle = reading("0.1.0", &["/workspace"]);
        bundle.manifest["capabilities"] = json!([{"kind": "fs.read", "value": "/workspace/notes"}]);
        bundle.sign(&keys::team());
        root.put(&bundle);
        let keys = root.key_files(&keys::team());
        let mut command = root.command(&["lock", "--update"]);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        Run::of(command.env("HYDRANT_SIGNING_KEYS", keys))
    };
    let run = repinned(true);
    assert_eq!(run.status, 0, "{run:?}");
    let run = repinned(false);
    assert_eq!(run.status, 4, "not found: {run:?}");
}

/// A manifest on disk with another hash than the old lock's is no baseline.
#[test]
fn a_manifest_put_in_the_place_of_the_old_one_does_not_count() {
    let root = Root::of(vec![echo("0.1.0")]);
    // 0.1.0 on disk now claims the capability, and 0.2.0 uses it.
    root.put(&reading("0.1.0", &["/workspace"]));
    root.put(&reading("0.2.0", &["/workspace"]));
    assert_eq!(update(&root, &[]).status, 4);
}

#[test]
fn other_signers_of_an_entry_are_a_signer_change() {
    let team = [
        keys::build(),
        keys::release(),
        Signer::new("team.third", "third"),
    ];
    // All three are in the ring from the start; the entry changes hands.
    let ring = keys::ring(&team);
    let of = |version: &str, signers: &[Signer]| {
        let mut bundle = Bundle::new((ECHO, version), &guests::echo(ECHO), &[], signers);
        bundle.ring.clone_from(&ring);
        bundle
    };
    let root = Root::unpinned(vec![of("0.1.0", &team[..2])]);
    root.folder.write(RING, &ring);
    root.pin();
    root.put(&of("0.2.0", &team[1..]));
    let anchor = digest(&ring);
    let before = root.folder.read(LOCK);
    let run = update(&root, &["--keys-digest", &anchor]);
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(
        update(&root, &["--keys-digest", &anchor, "--allow-widen"]).status,
        3
    );
    assert_eq!(root.folder.read(LOCK), before);
    let run = update(&root, &["--keys-digest", &anchor, "--allow-signer-change"]);
    assert_eq!(run.status, 0, "{run:?}");
}

/// A new key for `team.release`; the old lock is checked with the old ring.
#[test]
fn a_new_key_needs_the_old_ring_and_the_flag() {
    let root = Root::new();
    let (old, old_digest) = (root.folder.read(RING), root.keys_digest());
    root.folder.write("../old-keys.json", &old);
    let team = [keys::build(), Signer::new("team.release", "a new key")];
    let ring = keys::ring(&team);
    root.folder.write(RING, &ring);
    let bundle = Bundle::new((ECHO, "0.1.0"), &guests::echo(ECHO), &[], &team);
    root.put(&bundle);
    let signing = root.key_files(&team);
    let run = |more: &[&str]| {
        let mut command = root.command(&["lock", "--update", "--keys-digest", &digest(&ring)]);
        Run::of(command.args(more).env("HYDRANT_SIGNING_KEYS", &signing))
    };
    let before = root.folder.read(LOCK);
    let refused = run(&["--allow-signer-change"]);
    assert_eq!(
        refused.status, 3,
        "the old lock is not signed by the new ring"
    );
    assert!(
        refused
            .stdout
            .contains("--old-keys FILE and --old-keys-digest DIGEST"),
        "{refused:?}"
    );
    // Before anybody names the new ring, it could be a stranger's.
    let unnamed = Run::of(&mut root.command(&["lock", "--update"]));
    assert_eq!(unnamed.status, 3, "{unnamed:?}");
    assert!(
        unnamed
            .stdout
            .contains("a ring of your own is named with --keys-digest"),
        "{unnamed:?}"
    );
    assert!(unnamed.stdout.contains("--old-keys FILE"), "{unnamed:?}");
    let verified = root.verify(&[]);
    assert!(
        !verified.run.stderr.contains("a ring of your own"),
        "{:?}",
        verified.run
    );
    let old = [
        "--old-keys",
        "../old-keys.json",
        "--old-keys-digest",
        &old_digest,
    ];
    assert_eq!(run(&old).status, 3);
    assert_eq!(run(&[&old[..], &["--allow-widen"]].concat()).status, 3);
    let wrong = [
        "--old-keys",
        "../old-keys.json",
        "--old-keys-digest",
        &digest("x"),
        "--allow-signer-change",
    ];
    assert_eq!(run(&wrong).status, 3);
    assert_eq!(root.folder.read(LOCK), before);
    let done = run(&[&old[..], &["--allow-signer-change"]].concat());
    assert_eq!(done.status, 0, "{done:?}");
    let lock = root.folder.read(LOCK);
    assert_eq!(
        root.folder.read(SIGNATURE),
        keys::lock_signature(&lock, &team)
    );
    let verified = root.verify(&["--keys-digest", &digest(&ring)]);
    assert_eq!(verified.run.status, 0, "{:?}", verified.run);
}

/// Nothing is written, also not the copies of the ring.
#[test]
fn a_refused_update_leaves_every_file_as_it_was() {
    let root = Root::new();
    root.put(&reading("0.2.0", &["/workspace"]));
    let copy = root.folder.path("skills/demo.echo/0.2.0/public-keys.json");
    fs::remove_file(&copy).unwrap();
    let names = crate::program::listing(&root.folder.path(""));
    let lock = pretty_line(&root.lock());
    assert_eq!(update(&root, &[]).status, 4);
    assert_eq!(crate::program::listing(&root.folder.path("")), names);
    assert_eq!(root.folder.read(LOCK), lock);
}
