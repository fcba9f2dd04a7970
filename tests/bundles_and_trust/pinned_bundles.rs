//! `verify`: each pinned bundle on disk against the lock.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::canonical::{digest, pretty, with};
use crate::guests;
use crate::keys;
use crate::root::{ECHO, RING, Root, Verdict, echo};

const AT: &str = "skills/demo.echo/0.1.0";

/// The root with another bundle on disk than the lock says.
fn replaced(change: impl FnOnce(&mut Bundle)) -> Verdict {
    let root = Root::new();
    let mut bundle = echo("0.1.0");
    change(&mut bundle);
    bundle.write(&root.folder.path(AT));
    root.verify(&[])
}

/// The root with a lock that is signed but has another value there.
fn relocked(pointer: &str, value: impl Into<Value>) -> Verdict {
    let root = Root::new();
    root.write_lock(&with(&root.lock(), pointer, value));
    root.verify(&[])
}

/// A root whose only bundle is this one, pinned and signed as it is.
fn pinned(change: impl FnOnce(&mut Bundle)) -> Verdict {
    let mut bundle = echo("0.1.0");
    change(&mut bundle);
    Root::of(vec![bundle]).verify(&[])
}

fn zeros() -> String {
    format!("sha256:{}", "0".repeat(64))
}

#[test]
fn the_bundle_lies_in_the_root_without_a_symlink_on_the_way() {
    for linked in [AT, "skills/demo.echo", "skills"] {
        let root = Root::new();
        fs::rename(root.folder.path(linked), root.folder.path("../moved")).unwrap();
        symlink(root.folder.path("../moved"), root.folder.path(linked)).unwrap();
        let verdict = root.verify(&[]);
        verdict.assert(2, "TV-07", linked, "symbolic link");
    }
    let root = Root::new();
    fs::remove_dir_all(root.folder.path(AT)).unwrap();
    root.verify(&[]).assert(2, "TV-07", AT, "");
    root.folder.write(AT, "a file");
    root.verify(&[]).assert(2, "TV-07", AT, "");
}

#[test]
fn every_file_is_there_regular_and_within_its_limit() {
    for name in ["skill.wasm", "manifest.json", "signatures.json"] {
        let root = Root::new();
        let file = root.folder.path(AT).join(name);
        fs::rename(&file, root.folder.path("../moved")).unwrap();
        root.verify(&[]).assert(2, "TV-11", name, "");
        symlink(root.folder.path("../moved"), &file).unwrap();
        root.verify(&[]).assert(2, "TV-11", name, "");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        root.verify(&[]).assert(2, "TV-11", name, "");
        fs::remove_dir(&file).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(&file)
            .status()
            .unwrap();
        assert!(made.success());
        root.verify(&[]).assert(2, "TV-11", name, "");
    }
    let root = Root::new();
    root.folder
        .write(&format!("{AT}/manifest.json"), vec![b' '; 1_048_577]);
    root.verify(&[])
        .assert(2, "TV-11", "manifest.json", "exceeds maximum size");
}

#[test]
fn the_files_of_a_bundle_fit_together() {
    #[rustfmt::skip]
    let rows = [
        ("manifest.json", b"{".to_vec(), "invalid manifest JSON"),
        ("signatures.json", b"{".to_vec(), "invalid signatures JSON"),
        ("skill.wasm", guests::echo_variant(ECHO, "x"), "digest mismatch"),
        ("signatures.json", pretty(&with(&echo("0.1.0").signatures, "/manifest_hash", zeros())),
            "signatures.manifest_hash must equal canonical manifest hash"),
        ("signatures.json", pretty(&with(&echo("0.1.0").signatures, "/artifact", zeros())),
            "manifest.artifact must equal signatures.artifact"),
    ];
    for (file, bytes, message) in rows {
        let root = Root::new();
        root.folder.write(&format!("{AT}/{file}"), bytes);
        let verdict = root.verify(&[]);
        // Signatures are over manifest_hash, so another one fails `TV-17` as well.
        let signed = verdict.rows().contains(&"TV-17");
        let status = if signed { 3 } else { 2 };
        assert_eq!(signed, message.starts_with("signatures.manifest_hash"));
        verdict.assert(status, "TV-12", AT, message);
    }
}

#[test]
fn the_copy_of_the_ring_is_the_ring() {
    let root = Root::new();
    let copy = format!("{AT}/public-keys.json");
    root.folder
        .write(&copy, [root.folder.read(RING).as_slice(), b"\n"].concat());
    root.verify(&[]).assert(3, "TV-13", "public-keys.json", "");
    fs::remove_file(root.folder.path(&copy)).unwrap();
    let missing = root.verify(&[]);
    assert_ne!(missing.run.status, 0);
    assert!(
        missing
            .rows()
            .iter()
            .any(|row| ["TV-11", "TV-13"].contains(row)),
        "{:?}",
        missing.run
    );

    // A ring of its own, with the digest that the lock says: still not the root's ring.
    let root = Root::new();
    let own = keys::ring(&[keys::build(), keys::release(), keys::stranger()]);
    root.folder.write(&copy, &own);
    root.write_lock(&with(&root.lock(), "/skills/0/keys_digest", digest(&own)));
    root.verify(&[]).assert(3, "TV-13", "public-keys.json", "");
    relocked("/skills/0/keys_digest", zeros()).assert(3, "TV-13", "public-keys.json", "");
}

#[test]
fn the_bundle_is_the_one_that_was_pinned() {
    let other = |bundle: &mut Bundle| {
        let wasm = guests::echo_variant(ECHO, "other");
        *bundle = Bundle::new((ECHO, "0.1.0"), &wasm, &[], &keys::team());
    };
    let verdict = replaced(other);
    verdict.assert(2, "TV-14", "", "artifact mismatch");
    verdict.assert(2, "TV-15", "", "manifest_hash mismatch");
    relocked("/skills/0/artifact", zeros()).assert(2, "TV-14", "", "artifact mismatch");
    let verdict = relocked("/skills/0/manifest_hash", zeros());
    verdict.assert(2, "TV-15", "", "manifest_hash mismatch");
    let finding = verdict
        .findings()
        .iter()
        .find(|f| f["row"] == "TV-15")
        .unwrap();
    let values = [finding["expected"].as_str(), finding["actual"].as_str()];
    assert_eq!(
        values,
        [
            Some(zeros().as_str()),
            Some(echo("0.1.0").manifest_hash().as_str())
        ]
    );
}

/// A bundle moved to another id or version, with a lock that goes along.
#[test]
fn the_entry_is_bound_to_the_manifest() {
    for (from, to) in [("demo.echo", "demo.other"), ("0.1.0", "0.9.0")] {
        let root = Root::new();
        let lock = root.lock();
        let mut moved = lock.clone();
        for member in ["id", "version", "bundle_dir"] {
            let value = lock["skills"][0][member]
                .as_str()
                .unwrap()
                .replace(from, to);
            moved["skills"][0][member] = json!(value);
        }
        let target = moved["skills"][0]["bundle_dir"].as_str().unwrap();
        fs::create_dir_all(root.folder.path(target).parent().unwrap()).unwrap();
        fs::rename(root.folder.path(AT), root.folder.path(target)).unwrap();
        if from == "demo.echo" {
            let text = root.folder.path("skills/demo.echo/SKILL.md");
            fs::rename(text, root.folder.path("skills/demo.other/SKILL.md")).unwrap();
            fs::remove_dir(root.folder.path("skills/demo.echo")).unwrap();
        }
        root.write_lock(&moved);
        root.verify(&[])
            .assert(2, "TV-16", "", "id/version binding");
    }
}

#[test]
fn the_signers_are_those_of_the_lock_and_every_signature_verifies() {
    let verdict = relocked("/skills/0/signers", json!(["team.build", "team.zzz"]));
    verdict.assert(3, "TV-17", "", "signer set mismatch");
    let verdict = replaced(|bundle| {
        let hash = bundle.manifest_hash();
        bundle.signatures["signatures"][1]["signature"] = json!(keys::build().sign(hash));
    });
    verdict.assert(
        3,
        "TV-17",
        AT,
        "signature verification failed for signer: team.release",
    );
    // A lock signature is no bundle signature.
    let verdict = replaced(|bundle| {
        let message = keys::lock_message(bundle.manifest_hash().as_bytes());
        bundle.signatures["signatures"][1]["signature"] = json!(keys::release().sign(message));
    });
    verdict.assert(
        3,
        "TV-17",
        AT,
        "signature verification failed for signer: team.release",
    );
    let verdict = pinned(|bundle| {
        bundle.manifest["signers"] = json!(["team.build"]);
        bundle.sign(&keys::team());
    });
    let message = "signature signer is not declared in manifest.signers: team.release";
    verdict.assert(3, "TV-17", AT, message);
}

#[test]
fn two_signatures_are_needed() {
    let verdict = pinned(|bundle| bundle.sign(&[keys::build()]));
    verdict.assert(3, "TV-18", AT, "signer count");
}

/// Each is signed and pinned, so only the profile is wrong.
#[test]
fn a_pinned_manifest_obeys_the_profile() {
    let capability = |kind: &str, value: &str| json!({"kind": kind, "value": value});
    let (os, workspace) = (
        capability("fs.read", "/os"),
        capability("fs.read", "/workspace"),
    );
    #[rustfmt::skip]
    let rows = [
        ("/entrypoint", json!("main")),
        ("/signers", json!(["team.release", "team.build"])),
        ("/signers", json!(["team.build", "team.build", "team.release"])),
        ("/signers", json!(["team.build", "team.release", "team.zzz"])),
        ("/capabilities", json!([workspace, os])),
        ("/capabilities", json!([os, os])),
    ];
    for (pointer, value) in rows {
        let verdict = pinned(|bundle| {
            bundle.manifest = with(&bundle.manifest, pointer, value.clone());
            bundle.sign(&keys::team());
        });
        assert!(
            verdict.rows().contains(&"TV-19"),
            "{value}: {:?}",
            verdict.run
        );
        assert!([2, 3, 4].contains(&verdict.run.status));
    }
    let draft = pinned(|bundle| {
        bundle.manifest["schema_version"] = json!("1.0.0-draft");
        bundle.sign(&keys::team());
    });
    assert!(
        draft
            .rows()
            .iter()
            .any(|row| ["TV-12", "TV-19"].contains(row)),
        "{:?}",
        draft.run
    );
    // `1.0` is no SemVer, and fits the lock's pattern.
    let wasm = guests::echo(ECHO);
    let version = Root::of(vec![Bundle::new((ECHO, "1.0"), &wasm, &[], &keys::team())]);
    version
        .verify(&[])
        .assert(2, "TV-19", "skills/demo.echo/1.0", "");
}

#[test]
fn the_meta_file_is_exact() {
    let meta = echo("0.1.0").meta;
    let mut more = meta.clone();
    more["x"] = json!(1);
    let reordered = json!({
        "schema_version": "1.0.0", "artifact": meta["artifact"], "manifest_hash": meta["manifest_hash"],
    });
    let rows = [
        pretty(&with(&meta, "/artifact", zeros())),
        pretty(&with(&meta, "/manifest_hash", zeros())),
        pretty(&with(&meta, "/schema_version", "1.0.1")),
        pretty(&more),
        pretty(&reordered),
        meta.to_string().into_bytes(),
        [pretty(&meta).as_slice(), b"\n"].concat(),
        b"{".to_vec(),
    ];
    for bytes in rows {
        let root = Root::new();
        root.folder.write(&format!("{AT}/bundle-meta.json"), bytes);
        root.verify(&[]).assert(2, "TV-20", "bundle-meta.json", "");
    }
    let root = Root::new();
    fs::remove_file(root.folder.path(AT).join("bundle-meta.json")).unwrap();
    root.verify(&[]).assert(2, "TV-20", "bundle-meta.json", "");
}

#[test]
fn nothing_else_lies_in_a_bundle() {
    for name in ["provenance.json", ".hidden", "sub/x", "skill.wasm.bak"] {
        let root = Root::new();
        root.folder.write(&format!("{AT}/{name}"), "");
        let first = name.split('/').next().unwrap();
        root.verify(&[]).assert(2, "TV-21", first, "extra file");
    }
    let root = Root::new();
    root.folder.write(&format!("{AT}/sbom.spdx.json"), "{}");
    root.folder
        .write(&format!("{AT}/sigstore.bundle.json"), "{}");
    root.assert_verifies();
}

#[test]
fn everything_below_skills_is_pinned() {
    let root = Root::new();
    echo("0.2.0").write(&root.folder.path("skills/demo.echo/0.2.0"));
    let unpinned = root.verify(&[]);
    unpinned.assert(2, "TV-22", "skills/demo.echo/0.2.0", "unpinned bundle");
    for stray in [
        "skills/readme.txt",
        "skills/demo.echo/notes.md",
        "skills/demo.echo/.keep",
    ] {
        let root = Root::new();
        root.folder.write(stray, "");
        root.verify(&[]).assert(2, "TV-22", stray, "stray entry");
    }
    let root = Root::new();
    let text = "skills/demo.echo/SKILL.md";
    root.folder.write(text, "other");
    root.verify(&[])
        .assert(2, "TV-22", text, "SKILL.md mismatch");
    fs::remove_file(root.folder.path(text)).unwrap();
    root.verify(&[]).assert(2, "TV-22", text, "");
}

/// `TV-12` to `TV-22` all run: two bundles broken in different ways give both findings; 3 goes before 2.
#[test]
fn every_finding_is_reported_and_the_gravest_class_is_the_exit_code() {
    let root = Root::of(vec![echo("0.1.0"), echo("0.2.0")]);
    root.folder.write(&format!("{AT}/extra"), "");
    root.folder
        .write("skills/demo.echo/0.2.0/public-keys.json", "{}");
    let verdict = root.verify(&[]);
    verdict.assert(3, "TV-21", AT, "extra file");
    verdict.assert(3, "TV-13", "skills/demo.echo/0.2.0/public-keys.json", "");
    let skill = |row: &str| {
        let found = verdict.findings().iter().find(|f| f["row"] == row);
        found.unwrap()["skill"].clone()
    };
    assert_eq!(skill("TV-21"), json!("demo.echo@0.1.0"));
    assert_eq!(skill("TV-13"), json!("demo.echo@0.2.0"));
}
