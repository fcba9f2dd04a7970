//! `archive`: the exact tar, the stream, and what is checked before writing.

use serde_json::json;

use crate::bundle::Bundle;
use crate::canonical::{digest, pretty, with};
use crate::keys;
use crate::program::{Folder, Run};
use crate::tarball::Tarball;

fn archive(folder: &Folder) -> Run {
    folder.run(&["archive", "--bundle", "b", "--output", "a.tar.zst"])
}

fn example() -> (Folder, Bundle) {
    let folder = Folder::new();
    let bundle = Bundle::example();
    bundle.write(&folder.path("b"));
    (folder, bundle)
}

#[test]
fn the_tar_has_exactly_these_bytes() {
    let (folder, bundle) = example();
    folder
        .write("b/sbom.spdx.json", "opaque")
        .write("b/sigstore.bundle.json", "");
    folder
        .write("b/provenance.json", "{}")
        .write("b/notes.txt", "x");
    // Raw bytes: the reformatted manifest goes in as it is.
    let manifest = format!("{}\n\n", bundle.manifest);
    folder.write("b/manifest.json", &manifest);
    archive(&folder).assert_line("OK archive bundle=b output=a.tar.zst");
    let tar = zstd::decode_all(folder.read("a.tar.zst").as_slice()).unwrap();
    let expected = Tarball::new()
        .file("manifest.json", manifest.as_bytes())
        .entry("skill.wasm", "0000755", 0, "", &bundle.wasm)
        .file("sbom.spdx.json", b"opaque")
        .file("sigstore.bundle.json", b"")
        .file("signatures.json", &pretty(&bundle.signatures))
        .end();
    assert!(
        tar == expected,
        "{} and {} bytes",
        tar.len(),
        expected.len()
    );
}

/// The checksum as computed elsewhere, for a manifest of 305 bytes.
#[test]
fn the_worked_checksum() {
    let (folder, bundle) = example();
    let mut manifest = bundle.manifest.to_string();
    assert!(manifest.len() <= 305);
    manifest.extend(std::iter::repeat_n(' ', 305 - manifest.len()));
    folder.write("b/manifest.json", manifest);
    archive(&folder);
    let tar = zstd::decode_all(folder.read("a.tar.zst").as_slice()).unwrap();
    assert_eq!(&tar[148..156], b"0010367\0");
}

/// The frame header states no size, checksum or dictionary and a window of 8 MiB; the last block
/// is empty and raw.
#[test]
fn the_form_of_the_stream() {
    let (folder, _) = example();
    archive(&folder);
    let stream = folder.read("a.tar.zst");
    assert_eq!(&stream[..4], b"\x28\xb5\x2f\xfd");
    assert_eq!(
        stream[4], 0,
        "no single segment, content size, checksum or dictionary"
    );
    // Window descriptor: exponent 13 over 2^10, mantissa 0.
    assert_eq!(stream[5], 13 << 3);
    assert!(stream.ends_with(&[1, 0, 0]));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (folder, _) = example();
    archive(&folder);
    let first = folder.read("a.tar.zst");
    folder.ok(&["archive", "--bundle", "b", "--output", "second"]);
    assert_eq!(folder.read("second"), first);
}

/// Signatures are optional here.
#[test]
fn an_unsigned_bundle_is_archived() {
    let (folder, bundle) = example();
    std::fs::remove_file(folder.path("b/signatures.json")).unwrap();
    assert_eq!(archive(&folder).status, 0);
    let tar = zstd::decode_all(folder.read("a.tar.zst").as_slice()).unwrap();
    let expected = Tarball::new()
        .file("manifest.json", &pretty(&bundle.manifest))
        .entry("skill.wasm", "0000755", 0, "", &bundle.wasm)
        .end();
    assert!(tar == expected);
}

#[test]
fn what_does_not_fit_together_is_not_archived() {
    let bundle = Bundle::example();
    let zeros = format!("sha256:{}", "0".repeat(64));
    let artifact = pretty(&with(&bundle.signatures, "/artifact", zeros.clone()));
    let hash = pretty(&with(&bundle.signatures, "/manifest_hash", zeros));
    #[rustfmt::skip]
    let rows = [
        ("skill.wasm", b"changed".to_vec(), "digest"),
        ("signatures.json", artifact, "manifest.artifact must equal signatures.artifact"),
        ("signatures.json", hash, "signatures.manifest_hash must equal canonical manifest hash"),
    ];
    for (file, bytes, message) in rows {
        let (folder, _) = example();
        folder.write(&format!("b/{file}"), bytes);
        archive(&folder).assert_failed(message);
        assert!(!folder.exists("a.tar.zst"));
    }
    // The signatures themselves are not checked.
    let (folder, bundle) = example();
    let wrong = keys::stranger().sign("x");
    let wrong = with(&bundle.signatures, "/signatures/0/signature", wrong);
    folder.write("b/signatures.json", pretty(&wrong));
    assert_eq!(archive(&folder).status, 0);
}

/// What was archived comes back byte for byte.
#[test]
fn an_archive_round_trips() {
    let (folder, bundle) = example();
    folder.write("b/sbom.spdx.json", b"\0\xff opaque");
    archive(&folder);
    let bytes = folder.read("a.tar.zst");
    let run = folder.run(&["install", "--artifact", "a.tar.zst"]);
    let skill = digest(&bytes);
    let store = folder.home().join("store/sha256").join(&skill[7..]);
    let store = store.to_str().unwrap();
    run.assert_line(&format!(
        "OK install skill={skill} store={store} source=a.tar.zst"
    ));
    let installed = |name: &str| std::fs::read(format!("{store}/{name}")).unwrap();
    for name in [
        "manifest.json",
        "skill.wasm",
        "sbom.spdx.json",
        "signatures.json",
    ] {
        assert_eq!(installed(name), folder.read(&format!("b/{name}")), "{name}");
    }
    // It is a bundle directory, so it can be archived again: to the same bytes.
    folder.ok(&["archive", "--bundle", store, "--output", "again"]);
    assert_eq!(folder.read("again"), bytes);
    folder.write("keys.json", &bundle.ring);
    let keys_digest = digest(&bundle.ring);
    let verified = folder.ok(&[
        "verify",
        "--bundle",
        store,
        "--keys",
        "keys.json",
        "--keys-digest",
        &keys_digest,
    ]);
    assert!(verified.stdout.ends_with("signers=2\n"));
    let meta = std::fs::read(format!("{store}/meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    assert_eq!(meta["schema_version"], json!("1.0.0"));
}
