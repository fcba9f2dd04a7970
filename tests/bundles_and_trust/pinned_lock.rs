//! `verify`: the anchor, the ring, the lock and its signature.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::canonical::{digest, pretty, pretty_line, with};
use crate::keys::{self, Signer, example_a};
use crate::program::Run;
use crate::root::{LOCK, RING, Root, SIGNATURE, Verdict, echo, reader};

/// Text, from a directory below the root.
#[test]
fn a_good_root_verifies() {
    let root = Root::of(vec![
        echo("0.1.0"),
        echo("0.2.0"),
        reader("demo.reader", "0.1.0"),
    ]);
    let mut command = root.command(&["verify"]);
    let run = Run::of(command.current_dir(root.folder.path("skills/demo.echo")));
    assert_eq!(run.status, 0, "{run:?}");
    for entry in ["demo.echo@0.1.0", "demo.echo@0.2.0", "demo.reader@0.1.0"] {
        assert!(
            run.stdout.contains(&format!("verifying {entry}\n")),
            "{run:?}"
        );
    }
    assert!(run.stdout.ends_with("OK verify-pins count=3\n"), "{run:?}");
}

#[test]
fn a_failure_says_how_many_and_why() {
    let root = Root::new();
    root.folder
        .write("skills/demo.echo/SKILL.md", "changed")
        .write("skills/stray", "");
    let run = root.run(&["verify"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(!run.stdout.contains("OK "), "{run:?}");
    assert!(
        run.stderr.ends_with("FAIL verify-pins findings=2 exit=2\n"),
        "{run:?}"
    );
    assert!(run.stderr.contains(" TV-22 SKILL.md mismatch"), "{run:?}");
}

/// No root above the working directory.
#[test]
fn without_a_root_exit_1() {
    let folder = crate::program::Folder::new();
    assert_eq!(folder.run(&["verify"]).status, 1);
}

#[test]
fn the_lock_is_a_regular_file_of_at_most_a_mebibyte() {
    let lockless = |make: &dyn Fn(&Root)| {
        let root = Root::new();
        std::fs::remove_file(root.folder.path(LOCK)).unwrap();
        make(&root);
        let verdict = root.verify(&["--root", "."]);
        verdict.assert(2, "TV-01", LOCK, "");
        assert_eq!(verdict.rows(), ["TV-01"], "nothing in the lock is believed");
    };
    lockless(&|_| ());
    lockless(&|root| root.folder.put(&format!("{LOCK}/x"), ""));
    lockless(&|root| root.folder.put(LOCK, vec![b' '; 1_048_577]));
    lockless(&|root| {
        root.folder.write("elsewhere", "{}");
        symlink(root.folder.path("elsewhere"), root.folder.path(LOCK)).unwrap();
    });
}

#[test]
fn the_ring_must_be_the_anchor() {
    let root = Root::new();
    let other = digest("other");
    let verdict = root.verify(&["--keys-digest", &other]);
    verdict.assert(3, "TV-02", RING, "");
    assert_eq!(verdict.rows(), ["TV-02"]);
    root.folder
        .write(RING, [keys::ring(&keys::team()).as_slice(), b"\n"].concat());
    root.verify(&[]).assert(3, "TV-02", RING, "");
    std::fs::remove_file(root.folder.path(RING)).unwrap();
    root.verify(&[]).assert(3, "TV-02", RING, "");
}

/// The flag goes before the variable, the variable before the compiled-in ring; nothing of the
/// root is the anchor.
#[test]
fn where_the_anchor_comes_from() {
    let root = Root::new();
    let verify = |variable: Option<&str>, flag: Option<&str>| {
        let mut command = root.folder.command(&["verify", "--format", "json"]);
        if let Some(digest) = variable {
            command.env("HYDRANT_KEYS_DIGEST", digest);
        }
        if let Some(digest) = flag {
            command.args(["--keys-digest", digest]);
        }
        Verdict::of(Run::of(&mut command))
    };
    let (right, wrong) = (root.keys_digest(), digest("other"));
    assert_eq!(verify(Some(&wrong), Some(&right)).run.status, 0);
    assert_eq!(verify(Some(&right), None).run.status, 0);
    verify(Some(&right), Some(&wrong)).assert(3, "TV-02", RING, "");
    verify(None, None).assert(3, "TV-02", RING, "");
}

/// The root with this ring, whose digest is passed, and a lock signed by all of `signers`.
fn with_ring(ring: &[u8], signers: &[Signer]) -> Verdict {
    let root = Root::new();
    root.folder.write(RING, ring);
    let lock = root.folder.read(LOCK);
    root.folder
        .write(SIGNATURE, keys::lock_signature(&lock, signers));
    root.verify(&["--keys-digest", &digest(ring)])
}

#[test]
fn the_ring_of_a_root_has_one_form() {
    let team = keys::team();
    let good: Value = serde_json::from_slice(&keys::ring(&team)).unwrap();
    let (build, release) = (&good["team.build"], &good["team.release"]);
    #[rustfmt::skip]
    let rings = [
        ("no JSON", b"{".to_vec()),
        ("one key only", pretty_line(&json!({"team.build": build}))),
        ("not sorted", pretty_line(&json!({"team.release": release, "team.build": build}))),
        ("compact", good.to_string().into_bytes()),
        ("no final line feed", pretty(&good)),
        ("an upper-case name", pretty_line(&json!({"Team": release, "team.build": build}))),
        ("one key under two names", pretty_line(&json!({"team.build": build, "team.release": build}))),
        ("a bad key", pretty_line(&json!({"a": "AAAA", "team.build": build, "team.release": release}))),
    ];
    for (case, ring) in rings {
        let verdict = with_ring(&ring, &team);
        assert_eq!(verdict.rows(), ["TV-03"], "{case}: {:?}", verdict.run);
        verdict.assert(3, "TV-03", RING, "");
    }
}

/// Keys that everybody can sign with.
#[test]
fn a_ring_with_a_publicly_known_key_is_refused() {
    let known = [
        "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=".to_owned(),
        example_a().public(),
        keys::example_b().public(),
        // RFC 8032, section 7.1, tests 1 to 3 and "1024" by their seeds.
        rfc_8032("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
        rfc_8032("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"),
        rfc_8032("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"),
        rfc_8032("f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5"),
        rfc_8032("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42"),
    ];
    for key in known {
        let mut ring: Value = serde_json::from_slice(&keys::ring(&keys::team())).unwrap();
        ring["zzz"] = json!(key);
        let verdict = with_ring(&pretty_line(&ring), &keys::team());
        assert_eq!(verdict.rows(), ["TV-03"], "{key}: {:?}", verdict.run);
        verdict.assert(3, "TV-03", RING, "");
    }
}

fn rfc_8032(seed: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&seed[at..at + 2], 16).unwrap();
    let seed: Vec<u8> = (0..64).step_by(2).map(byte).collect();
    Signer::from_seed("rfc", seed.try_into().unwrap()).public()
}

/// A root whose lock signature is these bytes.
fn with_signature(signature: &[u8]) -> Verdict {
    let root = Root::new();
    root.folder.write(SIGNATURE, signature);
    root.verify(&[])
}

#[test]
fn the_lock_signature_has_one_form_and_every_entry_verifies() {
    let root = Root::new();
    let lock = root.folder.read(LOCK);
    let message = keys::lock_message(&lock);
    let good: Value = serde_json::from_slice(&root.folder.read(SIGNATURE)).unwrap();
    let (build, release) = (good[0].clone(), good[1].clone());
    let plain =
        |message: &[u8]| json!([keys::build().entry(message), keys::release().entry(message)]);
    let with_release = |entry: Value| pretty_line(&json!([build.clone(), entry]));
    #[rustfmt::skip]
    let rows = [
        ("empty", pretty_line(&json!([]))),
        ("one signer", pretty_line(&json!([build]))),
        ("one signer twice", pretty_line(&json!([build, build]))),
        ("not sorted", pretty_line(&json!([release, build]))),
        ("compact", format!("{good}\n").into_bytes()),
        ("no final line feed", pretty(&good)),
        ("another algorithm", with_release(with(&release, "/algorithm", "Ed25519"))),
        ("another signer's signature", with_release(with(&release, "/signature", build["signature"].clone()))),
        ("an unknown member", pretty_line(&with(&good, "/1", {let mut r = release.clone(); r["x"] = json!(1); r}))),
        ("a stranger besides", pretty_line(&json!([keys::stranger().entry(&message), build, release]))),
        ("over the lock's bytes", pretty_line(&plain(&lock))),
        ("over the digest alone", pretty_line(&plain(digest(&lock).as_bytes()))),
        ("with a final line feed", pretty_line(&plain(format!("{message}\n").as_bytes()))),
        ("too large", [pretty_line(&good), vec![b' '; 65_536]].concat()),
        ("no JSON", b"[".to_vec()),
    ];
    for (case, signature) in rows {
        let verdict = with_signature(&signature);
        assert_eq!(verdict.rows(), ["TV-04"], "{case}: {:?}", verdict.run);
        verdict.assert(3, "TV-04", SIGNATURE, "");
    }
    std::fs::remove_file(root.folder.path(SIGNATURE)).unwrap();
    root.verify(&[]).assert(3, "TV-04", SIGNATURE, "");
}

/// A lock changed without its signatures, whatever was changed.
#[test]
fn a_changed_lock_is_a_signature_failure() {
    let root = Root::new();
    root.folder
        .write(LOCK, [root.folder.read(LOCK).as_slice(), b" "].concat());
    let verdict = root.verify(&[]);
    assert_eq!(
        (verdict.run.status, verdict.rows()),
        (3, vec!["TV-04"]),
        "{:?}",
        verdict.run
    );
}

#[test]
fn the_lock_has_exactly_its_members() {
    let root = Root::new();
    let lock = root.lock();
    let text = String::from_utf8(root.folder.read(LOCK)).unwrap();
    let without = |pointer: &str, name: &str| {
        let mut lock = lock.clone();
        let object = lock.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.shift_remove(name).unwrap();
        pretty_line(&lock)
    };
    let and = |pointer: &str| {
        let mut lock = lock.clone();
        lock.pointer_mut(pointer).unwrap()["extra"] = json!("x");
        pretty_line(&lock)
    };
    let changed = |pointer: &str, value: Value| pretty_line(&with(&lock, pointer, value));
    let mut rows = vec![
        b"{".to_vec(),
        changed("/schema_version", json!("99")),
        changed("/schema_version", json!(1)),
        changed("/skills", json!({})),
        changed("/skills/0/signers", json!("team.build")),
        changed("/skills/0/artifact", json!("sha256:short")),
        and(""),
        and("/substrate_pin"),
        and("/skills/0"),
        text.replacen("\"id\"", "\"id\": \"demo.echo\",\n      \"id\"", 1)
            .into_bytes(),
    ];
    for member in ["schema_version", "generated_at", "substrate_pin", "skills"] {
        rows.push(without("", member));
    }
    let members = [
        "id",
        "version",
        "bundle_dir",
        "artifact",
        "manifest_hash",
        "keys_file",
        "keys_digest",
        "signers",
        "skill_md",
    ];
    for member in members {
        rows.push(without("/skills/0", member));
    }
    for bytes in rows {
        root.write_lock_bytes(&bytes);
        let verdict = root.verify(&[]);
        let context = String::from_utf8_lossy(&bytes);
        assert_eq!(verdict.run.status, 2, "{context}: {:?}", verdict.run);
        let rows = verdict.rows();
        assert!(
            rows.iter().any(|row| ["TV-05", "TV-06"].contains(row)),
            "{context}: {rows:?}"
        );
    }
}

#[test]
fn the_lock_has_one_form() {
    let root = Root::of(vec![echo("0.1.0"), echo("0.2.0")]);
    let lock = root.lock();
    let (first, second) = (lock["skills"][0].clone(), lock["skills"][1].clone());
    let text = String::from_utf8(root.folder.read(LOCK)).unwrap();
    let changed = |pointer: &str, value: Value| pretty_line(&with(&lock, pointer, value));
    #[rustfmt::skip]
    let rows = [
        ("four spaces", text.replace("  ", "    ").into_bytes()),
        ("no line feed", text.trim_end().as_bytes().to_vec()),
        ("escaped", text.replacen("demo", "\\u0064emo", 1).into_bytes()),
        ("order of members", text.replacen("{\n  \"schema_version\": \"1.0.0\",", "{", 1)
            .replacen("\n}", ",\n  \"schema_version\": \"1.0.0\"\n}", 1).into_bytes()),
        ("no skill", changed("/skills", json!([]))),
        ("order of skills", changed("/skills", json!([second, first]))),
        ("skill twice", changed("/skills", json!([first, first, second]))),
        ("id", changed("/skills/0/id", json!("Demo"))),
        ("empty version", changed("/skills/0/version", json!(""))),
        ("keys_file", changed("/skills/0/keys_file", json!("keys.json"))),
        ("bundle_dir", changed("/skills/0/bundle_dir", json!("skills/demo.echo/../demo.echo/0.1.0"))),
        ("bundle_dir elsewhere", changed("/skills/0/bundle_dir", json!("../skills/demo.echo/0.1.0"))),
        ("another version", changed("/skills/0/version", json!("0.1.1"))),
        ("order of signers", changed("/skills/0/signers", json!(["team.release", "team.build"]))),
        ("signer twice", changed("/skills/0/signers", json!(["team.build", "team.build"]))),
        ("no milliseconds", changed("/generated_at", json!("2026-01-01T00:00:00Z"))),
        ("no date", changed("/generated_at", json!("2026-02-30T00:00:00.000Z"))),
        ("offset for Z", changed("/generated_at", json!("2026-01-01T00:00:00.000+00:00"))),
    ];
    for (case, bytes) in rows {
        root.write_lock_bytes(&bytes);
        let verdict = root.verify(&[]);
        assert!(
            verdict.rows().contains(&"TV-06"),
            "{case}: {:?}",
            verdict.run
        );
        let status = verdict.run.status;
        assert!(
            status == 2
                || (status == 3
                    && verdict
                        .rows()
                        .iter()
                        .any(|row| ["TV-13", "TV-17"].contains(row))),
            "{case}: {:?}",
            verdict.run
        );
    }
}

#[test]
fn the_substrate_is_this_binarys_world() {
    for (member, value) in [("commit", "0".repeat(40)), ("repo", "provenact".to_owned())] {
        let root = Root::new();
        root.write_lock(&with(
            &root.lock(),
            &format!("/substrate_pin/{member}"),
            value,
        ));
        root.verify(&[]).assert(2, "TV-08", LOCK, "");
    }
}

/// As a CI system passes a variable that nobody set.
#[test]
fn an_empty_digest_of_the_ring_is_told_apart_from_a_wrong_one() {
    let root = Root::new();
    let mut by_variable = root.command(&["verify"]);
    let runs = [
        Run::of(by_variable.env("HYDRANT_KEYS_DIGEST", "")),
        root.run(&["verify", "--keys-digest", ""]),
        Run::of(
            root.command(&["skills", "--root", "."])
                .env("HYDRANT_KEYS_DIGEST", ""),
        ),
    ];
    for (run, place) in runs.iter().zip([
        "HYDRANT_KEYS_DIGEST",
        "--keys-digest",
        "HYDRANT_KEYS_DIGEST",
    ]) {
        assert_eq!(run.status, 1, "{run:?}");
        let empty = format!("{place} is empty: give it the digest of the key ring");
        assert!(run.stderr.contains(&empty), "{run:?}");
        assert!(!run.stderr.contains("invalid digest format"), "{run:?}");
    }
}
