//! What is asked of the files of a bundle.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::testing::{ONE, Scratch, TWO, component, key};
use crate::{Class, Finding};
use hydrant_base::Digest;
use hydrant_trust::{Experimental, sign};

const BUNDLE: &str = "skills/a.skill/0.1.0";
const SKILL: &str = "a.skill@0.1.0";

fn file(name: &str) -> String {
    format!("{BUNDLE}/{name}")
}

/// The findings of one row.
fn of_row(scratch: &Scratch, row: &str) -> Vec<Finding> {
    let verification = scratch.verify();
    let found = verification.findings.found().iter();
    found
        .filter(|finding| finding.row.id() == row)
        .cloned()
        .collect()
}

/// One finding of this row, of this class and file, which says this.
fn assert_found(scratch: &Scratch, row: &str, class: Class, name: &str, said: &str) {
    let found = of_row(scratch, row);
    let [finding] = &found[..] else {
        panic!("{row}: {:?}", scratch.verify().findings);
    };
    assert!(finding.message.contains(said), "{finding} without {said}");
    assert!(finding.message.contains(name), "{finding} without {name}");
    assert_eq!(finding.class(), class);
    assert_eq!(finding.skill.as_deref(), Some(SKILL));
    assert_eq!(finding.path, Some(file(name)));
}

/// The rows without the skill.
fn row_ids(scratch: &Scratch) -> Vec<String> {
    scratch
        .rows()
        .iter()
        .map(|row| row.rsplit(' ').next().unwrap().to_owned())
        .collect()
}

/// Removes one signature, or replaces it by another's.
fn sign_only(scratch: &Scratch, signers: &[&str]) {
    let path = file("signatures.json");
    let text = scratch.read(&path);
    let mut document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    document["signatures"] = json!([]);
    scratch.write(&path, &serde_json::to_vec(&document).unwrap());
    for signer in signers {
        sign(
            &scratch.path(BUNDLE),
            signer,
            &key(signer),
            Experimental::Allowed,
        )
        .unwrap();
    }
}

#[test]
fn each_required_file_must_be_there() {
    for name in ["skill.wasm", "manifest.json", "signatures.json"] {
        let scratch = Scratch::new();
        scratch.remove(&file(name));
        assert_found(&scratch, "TV-11", Class::Drift, name, "does not exist");
        // What needs the file is not asked, so it is not reported twice.
        assert_eq!(row_ids(&scratch), ["TV-11"]);
    }
}

#[test]
fn files_are_regular_and_never_links() {
    for name in [
        "skill.wasm",
        "manifest.json",
        "signatures.json",
        "sbom.spdx.json",
    ] {
        let scratch = Scratch::new();
        if name != "sbom.spdx.json" {
            fs::rename(scratch.path(&file(name)), scratch.path("elsewhere")).unwrap();
        }
        symlink("../../../elsewhere", scratch.path(&file(name))).unwrap();
        assert_found(&scratch, "TV-11", Class::Drift, name, "is a symbolic link");
        scratch.remove(&file(name));
        fs::create_dir(scratch.path(&file(name))).unwrap();
        assert_found(
            &scratch,
            "TV-11",
            Class::Drift,
            name,
            "is not a regular file",
        );
    }
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let scratch = Scratch::new();
    scratch.remove(&file("manifest.json"));
    let path = scratch.path(&file("manifest.json"));
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_found(
        &scratch,
        "TV-11",
        Class::Drift,
        "manifest.json",
        "is not a regular file",
    );
}

#[test]
fn files_keep_to_their_limits() {
    for (name, limit) in [("skill.wasm", 16_777_216), ("manifest.json", 1_048_576)] {
        let scratch = Scratch::new();
        let oversized = fs::File::create(scratch.path(&file(name))).unwrap();
        oversized.set_len(limit + 1).unwrap();
        let said = format!("exceeds maximum size ({} bytes > {limit} bytes)", limit + 1);
        assert_found(&scratch, "TV-11", Class::Drift, name, &said);
    }
}

#[test]
fn a_changed_component_is_found() {
    let scratch = Scratch::new();
    scratch.write(&file("skill.wasm"), &component(&[]));
    assert_found(
        &scratch,
        "TV-12",
        Class::Drift,
        "skill.wasm",
        "digest mismatch: expected sha256:",
    );
    assert_eq!(row_ids(&scratch), ["TV-12"]);
}

#[test]
fn files_that_do_not_parse_are_found() {
    for (name, said) in [
        ("manifest.json", "invalid manifest JSON"),
        ("signatures.json", "invalid signatures JSON"),
    ] {
        let scratch = Scratch::new();
        scratch.edit(&file(name), "{", "{\"extra\": 1,");
        assert_found(&scratch, "TV-12", Class::Drift, name, said);
        assert_eq!(row_ids(&scratch), ["TV-12"]);
    }
}

#[test]
fn a_manifest_that_asks_for_more_than_was_signed_is_found() {
    let scratch = Scratch::new();
    scratch.edit(&file("manifest.json"), "/os", "/workspace");
    let said = "signatures.manifest_hash must equal canonical manifest hash";
    assert_found(&scratch, "TV-12", Class::Drift, "signatures.json", said);
}

#[test]
fn each_bundle_carries_the_one_ring() {
    let scratch = Scratch::new();
    scratch.edit(&file("public-keys.json"), ": ", ":  ");
    let found = of_row(&scratch, "TV-13");
    let said: Vec<_> = found
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert!(
        said.iter()
            .any(|said| said.contains("keys_digest mismatch")),
        "{said:?}"
    );
    let identical = "public-keys.json: is not byte-identical to pins/public-keys.json";
    assert!(said.iter().any(|said| said.contains(identical)), "{said:?}");
    assert_eq!(scratch.verify().findings.exit_code(), 3);
    assert_eq!(row_ids(&scratch), ["TV-13"]);
}

#[test]
fn a_ring_of_the_bundle_s_own_is_refused_even_when_the_lock_pins_it() {
    let scratch = Scratch::new();
    let ring = b"{}";
    scratch.write(&file("public-keys.json"), ring);
    scratch.alter_entry(|entry| entry.keys_digest = Digest::of(ring));
    assert_found(
        &scratch,
        "TV-13",
        Class::Trust,
        "public-keys.json",
        "is not byte-identical",
    );
}

#[test]
fn a_missing_ring_copy_is_found() {
    let scratch = Scratch::new();
    scratch.remove(&file("public-keys.json"));
    assert_found(
        &scratch,
        "TV-13",
        Class::Trust,
        "public-keys.json",
        "does not exist",
    );
}

#[test]
fn a_bundle_with_another_artifact_than_the_pinned_one_is_found() {
    let scratch = Scratch::new();
    let other = Digest::of(b"other");
    scratch.alter_entry(|entry| entry.artifact = other.clone());
    assert_found(
        &scratch,
        "TV-14",
        Class::Drift,
        "manifest.json",
        "artifact mismatch",
    );
    let finding = &of_row(&scratch, "TV-14")[0];
    assert_eq!(finding.expected.as_deref(), Some(other.as_str()));
    // The summary agrees with the bundle, not with the lock.
    assert_eq!(row_ids(&scratch), ["TV-14", "TV-20"]);
}

#[test]
fn a_bundle_with_another_manifest_than_the_pinned_one_is_found() {
    let scratch = Scratch::new();
    scratch.alter_entry(|entry| entry.manifest_hash = Digest::of(b"other"));
    assert_found(
        &scratch,
        "TV-15",
        Class::Drift,
        "signatures.json",
        "manifest_hash mismatch",
    );
    assert_eq!(row_ids(&scratch), ["TV-15", "TV-20"]);
}

#[test]
fn an_entry_under_another_name_or_version_is_found() {
    for (id, version) in [("b.skill", "0.1.0"), ("a.skill", "0.2.0")] {
        let scratch = Scratch::new();
        let moved = format!("skills/{id}/{version}");
        fs::create_dir_all(scratch.path(&format!("skills/{id}"))).unwrap();
        fs::rename(scratch.path(BUNDLE), scratch.path(&moved)).unwrap();
        if id != "a.skill" {
            let text = format!("skills/{id}/SKILL.md");
            fs::rename(scratch.path("skills/a.skill/SKILL.md"), scratch.path(&text)).unwrap();
            fs::remove_dir(scratch.path("skills/a.skill")).unwrap();
        }
        scratch.alter_entry(|entry| {
            entry.id = id.to_owned();
            entry.version = version.to_owned();
            entry.bundle_dir = moved;
        });
        let finding = scratch
            .verify()
            .findings
            .found()
            .iter()
            .find(|finding| finding.row.id() == "TV-16")
            .cloned()
            .unwrap();
        assert!(finding.message.contains("id/version binding"), "{finding}");
        assert_eq!(finding.actual.as_deref(), Some(SKILL));
        assert_eq!(finding.expected, Some(format!("{id}@{version}")));
    }
}

#[test]
fn the_signers_are_the_pinned_ones() {
    let scratch = Scratch::new();
    scratch.alter_entry(|entry| entry.signers = vec![ONE.to_owned(), "test.zero".to_owned()]);
    assert_found(
        &scratch,
        "TV-17",
        Class::Trust,
        "signatures.json",
        "signer set mismatch",
    );
    let finding = &of_row(&scratch, "TV-17")[0];
    assert_eq!(finding.expected.as_deref(), Some("test.one, test.zero"));
    assert_eq!(finding.actual.as_deref(), Some("test.one, test.two"));
}

#[test]
fn every_signature_verifies() {
    let scratch = Scratch::new();
    let text = String::from_utf8(scratch.read(&file("signatures.json"))).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = |index: usize| {
        value["signatures"][index]["signature"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    scratch.write(
        &file("signatures.json"),
        text.replace(&of(1), &of(0)).as_bytes(),
    );
    let said = "signature verification failed for signer: test.two";
    assert_found(&scratch, "TV-17", Class::Trust, "signatures.json", said);
    assert_eq!(row_ids(&scratch), ["TV-17"]);
}

/// Whether signatures are genuine is said even when the bundle is not whole.
#[test]
fn is_asked_of_a_bundle_that_is_not_whole() {
    let scratch = Scratch::new();
    scratch.write(&file("skill.wasm"), b"");
    let text = String::from_utf8(scratch.read(&file("signatures.json"))).unwrap();
    scratch.write(
        &file("signatures.json"),
        text.replace("ed25519", "ed448").as_bytes(),
    );
    assert_eq!(row_ids(&scratch), ["TV-12", "TV-17"]);
    assert_eq!(of_row(&scratch, "TV-17").len(), 2);
}

#[test]
fn only_declared_signers_sign() {
    let scratch = Scratch::new();
    let manifest = scratch.manifest_with(&[("signers", json!([ONE, TWO]))]);
    let wasm = scratch.read(&file("skill.wasm"));
    scratch.bundle_of(BUNDLE, &wasm, &manifest);
    // Signed by both, then declared by one.
    let manifest = scratch.manifest_with(&[("signers", json!([ONE]))]);
    let parsed = hydrant_trust::Manifest::parse(&serde_json::to_vec(&manifest).unwrap()).unwrap();
    let hash = parsed.hash();
    let entries = [ONE, TWO].map(|signer| {
        let signature = key(signer).sign(hash.as_str().as_bytes());
        json!({"signer": signer, "algorithm": "ed25519", "signature": signature})
    });
    let artifact = parsed.artifact;
    let signatures = json!({"artifact": artifact, "manifest_hash": hash, "signatures": entries});
    scratch.write(
        &file("manifest.json"),
        &serde_json::to_vec(&manifest).unwrap(),
    );
    scratch.write(
        &file("signatures.json"),
        &serde_json::to_vec(&signatures).unwrap(),
    );
    let said = "signature signer is not declared in manifest.signers: test.two";
    assert_found(&scratch, "TV-17", Class::Trust, "signatures.json", said);
}

#[test]
fn one_signature_is_not_enough() {
    let scratch = Scratch::new();
    sign_only(&scratch, &[ONE]);
    scratch.alter_entry(|entry| entry.signers = vec![ONE.to_owned()]);
    let found = of_row(&scratch, "TV-18");
    let said: Vec<_> = found
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let expected = [
        "signatures.json: signer count: at least 2, got 1",
        "signatures.json: unique signer keys: at least 2, got 1",
    ];
    assert_eq!(said, expected);
    assert_eq!(row_ids(&scratch), ["TV-18"]);
    assert_eq!(scratch.verify().findings.exit_code(), 3);
}

#[test]
fn a_bundle_without_signatures_is_refused() {
    let scratch = Scratch::new();
    sign_only(&scratch, &[]);
    assert_eq!(row_ids(&scratch), ["TV-17", "TV-18"]);
    let empty = of_row(&scratch, "TV-17")
        .iter()
        .any(|finding| finding.message == "signatures.json: signature set is empty");
    assert!(empty);
}

#[test]
fn a_manifest_keeps_to_the_project_profile() {
    for change in [
        ("schema_version", json!("1.0.0-draft")),
        ("schema_version", json!("2")),
        ("entrypoint", json!("main")),
        ("signers", json!([TWO, ONE])),
        ("signers", json!([ONE, TWO, "test.zero"])),
        (
            "capabilities",
            json!([{"kind": "fs.read", "value": "/os"}, {"kind": "fs.read", "value": "/os"}]),
        ),
    ] {
        let scratch = Scratch::new();
        let wasm = scratch.read(&file("skill.wasm"));
        let manifest = scratch.manifest_with(std::slice::from_ref(&change));
        if change.1 == json!("2") {
            // Nobody packs such a bundle: only its manifest is written.
            scratch.write(
                &file("manifest.json"),
                &serde_json::to_vec(&manifest).unwrap(),
            );
        } else {
            scratch.bundle_of(BUNDLE, &wasm, &manifest);
            scratch.pin(&[("a.skill", "0.1.0")]);
            assert_eq!(row_ids(&scratch), ["TV-19"], "{change:?}");
        }
        let found = of_row(&scratch, "TV-19");
        assert_eq!(found.len(), 1, "{change:?}");
        assert_eq!(found[0].class(), Class::Drift);
        assert_eq!(found[0].path, Some(file("manifest.json")));
    }
}

#[test]
fn a_changed_summary_is_found() {
    let scratch = Scratch::new();
    let name = "bundle-meta.json";
    let good = scratch.read(&file(name));
    let artifact = Digest::of(&scratch.read(&file("skill.wasm"))).to_string();
    scratch.edit(&file(name), &artifact, Digest::of(b"other").as_str());
    assert_found(&scratch, "TV-20", Class::Drift, name, "artifact mismatch");
    scratch.write(&file(name), &good);
    let hash = scratch.lock().skills[0].manifest_hash.to_string();
    scratch.edit(&file(name), &hash, Digest::of(b"other").as_str());
    assert_found(
        &scratch,
        "TV-20",
        Class::Drift,
        name,
        "manifest_hash mismatch",
    );
    scratch.write(&file(name), &[&good[..], b"\n"].concat());
    assert_found(&scratch, "TV-20", Class::Drift, name, "written form");
    scratch.write(&file(name), b"{}");
    assert_found(
        &scratch,
        "TV-20",
        Class::Drift,
        name,
        "invalid bundle-meta JSON",
    );
    scratch.remove(&file(name));
    assert_found(&scratch, "TV-20", Class::Drift, name, "does not exist");
    assert_eq!(row_ids(&scratch), ["TV-20"]);
}

#[test]
fn an_extra_file_or_directory_is_found() {
    let scratch = Scratch::new();
    for name in [".hidden", "provenance.json", "skill.wasm~", "Manifest.json"] {
        scratch.write(&file(name), b"");
        assert_found(&scratch, "TV-21", Class::Drift, name, "extra file");
        scratch.remove(&file(name));
    }
    fs::create_dir(scratch.path(&file("sub"))).unwrap();
    assert_found(
        &scratch,
        "TV-21",
        Class::Drift,
        "sub",
        "extra file (a directory)",
    );
    fs::remove_dir(scratch.path(&file("sub"))).unwrap();
    symlink("skill.wasm", scratch.path(&file("link"))).unwrap();
    assert_found(&scratch, "TV-21", Class::Drift, "link", "extra file");
    assert_eq!(row_ids(&scratch), ["TV-21"]);
}

#[test]
fn passengers_are_allowed_in_a_pinned_bundle() {
    let scratch = Scratch::new();
    for name in ["sbom.spdx.json", "sigstore.bundle.json"] {
        scratch.write(&file(name), b"anything");
    }
    assert_eq!(scratch.rows(), [""; 0]);
}

/// A name that is hostile to terminals stands escaped in the finding.
#[test]
fn names_of_files_are_escaped() {
    let scratch = Scratch::new();
    scratch.write(&file("\u{1b}[2J"), b"");
    let finding = scratch.only();
    assert!(!finding.to_string().contains('\u{1b}'));
    assert_eq!(finding.path, Some(file("\\u{1b}[2J")));
}
