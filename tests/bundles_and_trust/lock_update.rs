//! `lock --update` and `lock --check`: what they write, what they refuse, idempotence.

use std::fs;

use serde_json::json;

use crate::bundle::Bundle;
use crate::canonical::{digest, pretty_line, with};
use crate::guests;
use crate::keys;
use crate::program::{Run, mode};
use crate::root::{ECHO, LOCK, RING, Root, SIGNATURE, echo, reader};

/// `lock` at 2026-01-01T00:00:00Z with both signing keys.
fn signing(root: &Root, arguments: &[&str]) -> Run {
    let keys = root.key_files(&keys::team());
    let mut command = root.command(&["lock"]);
    command
        .args(arguments)
        .env("SOURCE_DATE_EPOCH", "1767225600");
    Run::of(command.env("HYDRANT_SIGNING_KEYS", keys))
}

/// The same without keys.
fn unsigned(root: &Root, arguments: &[&str]) -> Run {
    let mut command = root.command(&["lock"]);
    Run::of(
        command
            .args(arguments)
            .env("SOURCE_DATE_EPOCH", "1767225600"),
    )
}

/// Lock and signature, or none: to see that nothing was written.
fn pins(root: &Root) -> Vec<Option<Vec<u8>>> {
    let files = [LOCK, SIGNATURE];
    files
        .iter()
        .map(|file| fs::read(root.folder.path(file)).ok())
        .collect()
}

/// Puts another `demo.echo@0.1.0` on disk.
fn change(root: &Root) -> Bundle {
    let wasm = guests::echo_variant(ECHO, "changed");
    let bundle = Bundle::new((ECHO, "0.1.0"), &wasm, &[], &keys::team());
    root.put(&bundle);
    bundle
}

#[test]
fn init_writes_the_lock_and_its_signature_byte_for_byte() {
    let root = Root::unpinned(vec![echo("0.1.0"), echo("0.10.0"), echo("0.9.0")]);
    let run = signing(&root, &["--update", "--init"]);
    let lock = pretty_line(&root.lock_of(&root.bundles));
    assert_eq!(
        root.folder.text(LOCK),
        String::from_utf8(lock.clone()).unwrap(),
        "{run:?}"
    );
    assert_eq!(
        root.folder.read(SIGNATURE),
        keys::lock_signature(&lock, &keys::team())
    );
    let line = format!("OK lock count=3 digest={} signatures=2\n", digest(&lock));
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.ends_with(&line), "{run:?}");
    assert_eq!(mode(&root.folder.path(LOCK)), 0o644);
    assert_eq!(mode(&root.folder.path(SIGNATURE)), 0o644);
    root.assert_verifies();
}

/// A second run changes nothing, not even the time.
#[test]
fn an_update_without_a_change_writes_the_same_bytes() {
    let root = Root::new();
    let before = pins(&root);
    let keys = root.key_files(&keys::team());
    let mut command = root.command(&["lock", "--update"]);
    let run = Run::of(command.env("HYDRANT_SIGNING_KEYS", keys));
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(pins(&root), before);
}

#[test]
fn the_time_moves_with_a_change() {
    let root = Root::new();
    change(&root);
    let keys = root.key_files(&keys::team());
    let mut command = root.command(&["lock", "--update"]);
    command.env("SOURCE_DATE_EPOCH", "1800000000");
    let run = Run::of(command.env("HYDRANT_SIGNING_KEYS", keys));
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(root.lock()["generated_at"], "2027-01-15T08:00:00.000Z");
}

#[test]
fn init_and_an_existing_lock_exclude_each_other() {
    let root = Root::new();
    let before = pins(&root);
    assert_ne!(signing(&root, &["--update", "--init"]).status, 0);
    assert_eq!(pins(&root), before);
    let root = Root::unpinned(vec![echo("0.1.0")]);
    assert_ne!(signing(&root, &["--update"]).status, 0);
    assert_eq!(pins(&root), [None, None]);
    assert_eq!(signing(&root, &["--update", "--init"]).status, 0);
}

/// Nothing of an unsigned lock is believed, so it is not replaced either.
#[test]
fn a_lock_without_valid_signatures_blocks_the_update() {
    for spoil in [0, 1] {
        let root = Root::new();
        if spoil == 0 {
            fs::remove_file(root.folder.path(SIGNATURE)).unwrap();
        } else {
            let lock = with(&root.lock(), "/generated_at", "2026-01-02T00:00:00.000Z");
            root.folder.write(LOCK, pretty_line(&lock));
        }
        let before = pins(&root);
        let run = signing(&root, &["--update"]);
        assert_eq!(run.status, 3, "{run:?}");
        assert_eq!(pins(&root), before);
    }
    let root = Root::new();
    let run = signing(&root, &["--update", "--keys-digest", &digest("other")]);
    assert_eq!(run.status, 3, "{run:?}");
}

/// A bundle that does not verify is not pinned; there is no skipping.
#[test]
fn everything_is_pinned_or_nothing() {
    type Spoil = fn(&Root);
    #[rustfmt::skip]
    let rows: [(&str, Spoil, i32, &str); 7] = [
        ("unsigned", |root| root.folder.put("skills/demo.echo/0.1.0/signatures.json", "{}"), 2, "TV-12"),
        ("no skill text", |root| fs::remove_file(root.folder.path("skills/demo.echo/SKILL.md")).unwrap(), 2, ""),
        ("extra file", |root| root.folder.put("skills/demo.echo/0.1.0/x", ""), 2, "TV-21"),
        ("meta", |root| root.folder.put("skills/demo.echo/0.1.0/bundle-meta.json", "{}"), 2, "TV-20"),
        ("one signature", |root| {
            let mut bundle = echo("0.1.0");
            bundle.sign(&[keys::build()]);
            root.put(&bundle);
        }, 3, "TV-18"),
        ("not described", |root| {
            let wasm = guests::describing("", "{}");
            root.put(&Bundle::new((ECHO, "0.1.0"), &wasm, &[], &keys::team()));
        }, 2, "TV-28"),
        ("undeclared import", |root| {
            let wasm = guests::reading(ECHO, "/workspace/x", 1);
            root.put(&Bundle::new((ECHO, "0.1.0"), &wasm, &[], &keys::team()));
        }, 4, "TV-25"),
    ];
    for (case, spoil, status, row) in rows {
        let root = Root::unpinned(vec![echo("0.1.0"), reader("demo.reader", "0.1.0")]);
        spoil(&root);
        let run = signing(&root, &["--update", "--init", "--allow-widen"]);
        assert_eq!(run.status, status, "{case}: {run:?}");
        assert!(run.stderr.contains(row), "{case}: {run:?}");
        assert_eq!(pins(&root), [None, None], "{case}");
    }
}

#[test]
fn changes_are_reported() {
    let root = Root::of(vec![echo("0.1.0"), echo("0.2.0")]);
    let changed = change(&root);
    fs::remove_dir_all(root.folder.path("skills/demo.echo/0.2.0")).unwrap();
    let run = signing(&root, &["--update"]);
    assert_eq!(run.status, 0, "{run:?}");
    let output = format!("{}{}", run.stdout, run.stderr);
    let line = |word: &str, entry: &str| {
        output
            .lines()
            .any(|line| line.contains(word) && line.contains(entry))
    };
    assert!(line("repinned", "demo.echo@0.1.0"), "{output}");
    assert!(line("unpinned", "demo.echo@0.2.0"), "{output}");
    assert_eq!(
        root.folder.read(LOCK),
        pretty_line(&root.lock_of(&[changed]))
    );
    root.assert_verifies();
}

#[test]
fn without_keys_the_lock_stays_unsigned_and_says_so() {
    let root = Root::new();
    change(&root);
    let run = unsigned(&root, &["--update"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(!root.folder.exists(SIGNATURE));
    let last = format!("UNSIGNED lock={}\n", digest(root.folder.read(LOCK)));
    assert!(run.stdout.ends_with(&last), "{run:?}");
    assert!(run.stdout.contains("OK lock count=1 "), "{run:?}");
    assert_eq!(root.run(&["verify"]).status, 3);
}

/// The keys that are there.
#[test]
fn every_signer_with_a_key_file_signs() {
    let root = Root::new();
    change(&root);
    root.key_files(&[keys::release(), keys::stranger()]);
    let mut command = root.command(&["lock", "--update"]);
    let run = Run::of(command.env("HYDRANT_SIGNING_KEYS", root.folder.path("../keys")));
    assert_eq!(run.status, 0, "{run:?}");
    let lock = root.folder.read(LOCK);
    assert_eq!(
        root.folder.read(SIGNATURE),
        keys::lock_signature(&lock, &[keys::release()])
    );
    assert!(run.stdout.contains("signatures=1\n"), "{run:?}");
}

#[test]
fn the_ring_is_copied_into_every_bundle_and_nothing_else_changes() {
    let root = Root::unpinned(vec![echo("0.1.0"), echo("0.2.0")]);
    root.folder
        .write("skills/demo.echo/0.1.0/public-keys.json", "{}");
    fs::remove_file(root.folder.path("skills/demo.echo/0.2.0/public-keys.json")).unwrap();
    let run = signing(&root, &["--update", "--init"]);
    assert_eq!(run.status, 0, "{run:?}");
    for bundle in &root.bundles {
        for (name, bytes) in bundle.files() {
            let file = format!("{}/{name}", bundle.directory());
            assert_eq!(root.folder.read(&file), bytes, "{file}");
        }
    }
    root.assert_verifies();
}

/// Keys inside the root would end up in a repository.
#[test]
fn signing_keys_inside_the_root_are_refused() {
    let root = Root::new();
    let before = pins(&root);
    root.folder
        .write("keys/team.build.key", keys::build().secret());
    std::os::unix::fs::symlink(root.folder.path("keys"), root.folder.path("../linked")).unwrap();
    for directory in ["keys", "../linked"] {
        let mut command = root.command(&["lock", "--update"]);
        let run = Run::of(command.env("HYDRANT_SIGNING_KEYS", root.folder.path(directory)));
        assert_eq!(run.status, 1, "{run:?}");
        assert!(!run.stderr.contains(&keys::build().secret()));
    }
    assert_eq!(pins(&root), before);
    assert_eq!(signing(&root, &["--update"]).status, 0, "outside the root");
}

#[test]
fn check_rebuilds_the_lock_and_changes_nothing() {
    let root = Root::new();
    let line = format!("OK lock-check digest={}", digest(root.folder.read(LOCK)));
    let run = unsigned(&root, &["--check"]);
    assert_eq!(
        (run.status, run.stdout.lines().last()),
        (0, Some(line.as_str())),
        "{run:?}"
    );
    let before = pins(&root);
    change(&root);
    assert_eq!(unsigned(&root, &["--check"]).status, 2);
    assert_eq!(pins(&root), before);
    let root = Root::new();
    root.put(&echo("0.2.0"));
    assert_eq!(unsigned(&root, &["--check"]).status, 2);
    let root = Root::new();
    root.folder.write("skills/demo.echo/SKILL.md", "other");
    assert_eq!(unsigned(&root, &["--check"]).status, 2);
}

#[test]
fn lock_has_formats_too() {
    let root = Root::new();
    let run = unsigned(&root, &["--check", "--format", "json"]);
    let report = run.json();
    assert_eq!(
        (&report["exit_code"], &report["findings"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(report["entries"], 1);
    assert!(report["command"].as_str().unwrap().contains("lock"));
    assert!(run.stderr.contains("OK lock-check"), "{run:?}");
    change(&root);
    let run = unsigned(&root, &["--check", "--format", "json"]);
    assert_eq!((run.status, &run.json()["exit_code"]), (2, &json!(2)));
}

/// The lock of another team's root names that team, and its ring is what was signed with.
#[test]
fn a_root_belongs_to_its_own_team() {
    let root = Root::new();
    assert_eq!(
        root.lock()["skills"][0]["signers"],
        json!(["team.build", "team.release"])
    );
    assert_eq!(
        root.lock()["skills"][0]["keys_digest"],
        digest(root.folder.read(RING))
    );
    root.assert_verifies();
    assert_eq!(crate::run_pinned::run(&root, &[ECHO]).status, 0);
}

#[test]
fn a_check_names_the_skills_that_differ_and_the_command_that_pins_them() {
    let root = Root::of(vec![echo("0.1.0"), reader("demo.read", "0.1.0")]);
    root.folder
        .write("skills/demo.read/SKILL.md", "another text");
    let run = unsigned(&root, &["--check"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("(demo.read@0.1.0: skill_md); `hydrant lock --update`"),
        "{run:?}"
    );
    root.put(&echo("0.2.0"));
    let run = unsigned(&root, &["--check"]);
    assert!(
        run.stderr
            .contains("demo.echo@0.2.0 is not pinned; demo.read@0.1.0: skill_md"),
        "{run:?}"
    );
    root.folder
        .write("skills/demo.read/0.1.0/skill.wasm", guests::echo(ECHO));
    let run = unsigned(&root, &["--check"]);
    assert!(run.stderr.contains("error: demo.read@0.1.0 "), "{run:?}");
    assert!(
        run.stdout
            .contains("`hydrant pack`, signed with `hydrant sign`"),
        "{run:?}"
    );
}
