//! `install`: every archive that it refuses. After each one nothing is in the store.

use serde_json::{Value, json};

use crate::bundle::{Bundle, PREAMBLE};
use crate::canonical::{digest, pretty, with};
use crate::keys;
use crate::loopback::Loopback;
use crate::program::{Folder, Run, listing};
use crate::tarball::{Tarball, compressed};

fn manifest() -> Vec<u8> {
    pretty(&Bundle::example().manifest)
}

/// The two entries that every archive needs.
fn good() -> Tarball {
    Tarball::new()
        .file("manifest.json", &manifest())
        .file("skill.wasm", PREAMBLE)
}

fn signed(signatures: &Value) -> Vec<u8> {
    compressed(&good().file("signatures.json", &pretty(signatures)).end())
}

/// The ring of the example and its digest.
fn ring(folder: &Folder) -> String {
    let ring = Bundle::example().ring;
    folder.write("keys.json", &ring);
    digest(ring)
}

fn install(archive: &[u8], more: &[&str]) -> (Folder, Run) {
    let folder = Folder::new();
    let keys_digest = ring(&folder);
    folder.write("a.tar.zst", archive);
    let mut arguments = vec!["install", "--artifact", "a.tar.zst"];
    for argument in more {
        arguments.push(if *argument == "DIGEST" {
            &keys_digest
        } else {
            argument
        });
    }
    let run = folder.run(&arguments);
    (folder, run)
}

const KEYS: [&str; 4] = ["--keys", "keys.json", "--keys-digest", "DIGEST"];

fn assert_refused(archive: &[u8], more: &[&str], message: &str) {
    let (folder, run) = install(archive, more);
    run.assert_failed(message);
    let mut written = listing(&folder.home());
    written.retain(|name| name.starts_with("store/sha256/") || name == "index.json");
    assert!(written.is_empty(), "{message}: {written:?}");
    assert!(!folder.exists("../escaped"));
}

#[test]
fn entries_come_in_any_order_and_with_a_leading_dot() {
    let tar = Tarball::new()
        .file("signatures.json", &pretty(&Bundle::example().signatures))
        .file("./skill.wasm", PREAMBLE)
        .entry("./manifest.json", "0000600", b'0', "", &manifest())
        .end();
    let (_, run) = install(&compressed(&tar), &KEYS);
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in [
        "../escaped",
        "/etc/passwd",
        "a/manifest.json",
        "a\\b",
        "./",
        "./../x",
        "..\\x",
    ] {
        let tar = good().file(name, b"x").end();
        assert_refused(&compressed(&tar), &[], "invalid archive path");
    }
}

#[test]
fn other_names_are_refused() {
    for name in [
        "extra",
        "provenance.json",
        "bundle-meta.json",
        "MANIFEST.json",
        "meta.json",
        ".",
        "..",
    ] {
        let tar = good().file(name, b"x").end();
        let message = if name.starts_with('.') {
            "archive"
        } else {
            "unexpected archive entry"
        };
        assert_refused(&compressed(&tar), &[], message);
    }
}

#[test]
fn only_regular_entries_are_accepted() {
    for kind in [b'1', b'2', b'3', b'4', b'5', b'6', b'7', b'S', b'V'] {
        let link = if kind < b'3' { "/etc/passwd" } else { "" };
        for name in ["signatures.json", "sbom.spdx.json"] {
            let tar = good().entry(name, "0000644", kind, link, b"").end();
            assert_refused(&compressed(&tar), &[], "unsupported archive entry type");
        }
    }
    let tar = Tarball::new()
        .entry("manifest.json", "0000644", b'2', "/etc/passwd", b"")
        .file("skill.wasm", PREAMBLE)
        .end();
    assert_refused(&compressed(&tar), &[], "unsupported archive entry type");
}

/// A PAX header may not turn a good entry into a refused one.
#[test]
fn pax_headers_do_not_smuggle_a_name() {
    for (record, message) in [
        ("path=../escaped", "invalid archive path"),
        ("path=extra", "unexpected archive entry"),
        ("path=manifest.json", "duplicate archive entry"),
    ] {
        // "<length> <record>\n", the length counting itself.
        let record = format!("{} {record}\n", record.len() + 4);
        assert!(record.len() > 9 && record.len() < 100);
        let tar = good()
            .entry("PaxHeaders/x", "0000644", b'x', "", record.as_bytes())
            .file("signatures.json", b"{}")
            .end();
        assert_refused(&compressed(&tar), &[], message);
    }
}

#[test]
fn a_name_that_occurs_twice_is_refused() {
    for name in ["manifest.json", "./manifest.json", "skill.wasm"] {
        let tar = good().file(name, b"{}").end();
        assert_refused(&compressed(&tar), &[], "duplicate archive entry");
    }
}

#[test]
fn data_behind_the_end_is_refused() {
    let mut tar = good().end();
    tar.extend([0; 2048]);
    let (_, run) = install(&compressed(&tar), &[]);
    assert_eq!(run.status, 0, "zeros are harmless: {run:?}");
    tar.push(1);
    assert_refused(&compressed(&tar), &[], "trailing data in archive");
    let mut hidden = good().end();
    hidden.extend(Tarball::new().file("signatures.json", b"{}").end());
    assert_refused(&compressed(&hidden), &[], "trailing data in archive");
}

#[test]
fn both_files_are_needed_and_not_empty() {
    let wasm = Tarball::new().file("skill.wasm", PREAMBLE);
    let empty = Tarball::new()
        .file("manifest.json", b"")
        .file("skill.wasm", PREAMBLE);
    for tar in [wasm, empty, Tarball::new()] {
        let message = "artifact missing required file manifest.json";
        assert_refused(&compressed(&tar.end()), &[], message);
    }
    let manifest_only = Tarball::new().file("manifest.json", &manifest());
    let empty = Tarball::new()
        .file("manifest.json", &manifest())
        .file("skill.wasm", b"");
    for tar in [manifest_only, empty] {
        let message = "artifact missing required file skill.wasm";
        assert_refused(&compressed(&tar.end()), &[], message);
    }
}

/// Bombs. Each is a few kilobytes when compressed.
#[test]
fn limits_hold_while_reading() {
    let json = Tarball::new().file("manifest.json", &vec![b' '; 1_048_577]);
    assert_refused(&compressed(&json.end()), &[], "exceeds maximum size");
    let sbom = good().file("sbom.spdx.json", &vec![0; 1_048_577]);
    assert_refused(&compressed(&sbom.end()), &[], "exceeds maximum size");
    let wasm = Tarball::new().file("skill.wasm", &vec![0; 16_777_217]);
    assert_refused(&compressed(&wasm.end()), &[], "exceeds maximum size");
    // A size that no memory could hold, and no such bytes.
    let huge = Tarball::new()
        .lying("skill.wasm", 8_589_934_591, b"x")
        .unfinished();
    let (_, run) = install(&compressed(&huge), &[]);
    run.assert_failed("");
}

#[test]
fn an_archive_of_more_than_128_mebibytes_is_refused_unread() {
    let folder = Folder::new();
    let file = std::fs::File::create(folder.path("a.tar.zst")).unwrap();
    file.set_len(134_217_729).unwrap();
    let run = folder.run(&["install", "--artifact", "a.tar.zst"]);
    run.assert_failed("exceeds maximum size (134217729 bytes > 134217728 bytes)");
}

#[test]
fn what_is_no_archive_is_refused() {
    let tar = good().end();
    let whole = compressed(&tar);
    for bytes in [&b""[..], b"not zstd", &tar, &whole[..whole.len() / 2]] {
        let (folder, run) = install(bytes, &[]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stderr.contains("command failed: "));
        assert!(!folder.home().join("index.json").exists());
    }
    assert_eq!(install(&whole, &[]).1.status, 0);
}

/// The checks after reading.
#[test]
fn the_contents_are_checked_before_anything_is_written() {
    let archive = |manifest: &Value, wasm: &[u8]| {
        let tar = Tarball::new()
            .file("manifest.json", &pretty(manifest))
            .file("skill.wasm", wasm);
        compressed(&tar.end())
    };
    let manifest = Bundle::example().manifest;
    let message = "manifest.artifact must match bundled skill.wasm digest";
    assert_refused(&archive(&manifest, b"other"), &[], message);
    assert_refused(&archive(&json!({}), PREAMBLE), &[], "invalid manifest JSON");
    let name = with(&manifest, "/name", "x\ny: z");
    assert_refused(&archive(&name, PREAMBLE), &[], "invalid manifest name");
    let mut draft = manifest;
    draft["schema_version"] = json!("1.0.0-draft");
    assert_refused(
        &archive(&draft, PREAMBLE),
        &[],
        "requires --allow-experimental",
    );
    let (_, run) = install(&archive(&draft, PREAMBLE), &["--allow-experimental"]);
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn signatures_are_checked_as_far_as_the_flags_ask() {
    let example = Bundle::example();
    let unsigned = compressed(&good().end());
    let message = "signatures.json is required for this install mode";
    assert_refused(&unsigned, &KEYS, message);
    let required = [&["--require-signatures"], KEYS.as_slice()].concat();
    assert_refused(&unsigned, &required, message);
    let without = "--keys and --keys-digest are required when --require-signatures is set";
    assert_refused(&unsigned, &["--require-signatures"], without);

    let zeros = format!("sha256:{}", "0".repeat(64));
    let wrong = with(&example.signatures, "/manifest_hash", zeros);
    let message = "signatures.manifest_hash must equal canonical manifest hash";
    assert_refused(&signed(&wrong), &[], message);

    let forged = with(
        &example.signatures,
        "/signatures/0/signature",
        keys::stranger().sign("x"),
    );
    let message = "signature verification failed for signer: example.a";
    assert_refused(&signed(&forged), &KEYS, message);
    let (_, run) = install(&signed(&forged), &[]);
    assert_eq!(run.status, 0, "no keys, no signature check: {run:?}");
    let empty = with(&example.signatures, "/signatures", json!([]));
    assert_refused(&signed(&empty), &KEYS, "signature set is empty");
}

#[test]
fn keys_and_their_digest_come_together() {
    let message = "--keys and --keys-digest must be provided together";
    let archive = compressed(&good().end());
    assert_refused(&archive, &["--keys", "keys.json"], message);
    assert_refused(&archive, &["--keys-digest", "DIGEST"], message);
    let other = digest("other");
    let wrong = ["--keys", "keys.json", "--keys-digest", &other];
    assert_refused(
        &signed(&Bundle::example().signatures),
        &wrong,
        "public keys digest mismatch",
    );
}

#[test]
fn the_policy_of_an_install_needs_keys_and_counts_signers_too() {
    let archive = signed(&Bundle::example().signatures);
    let policy = |trusted: &str, ceiling: Value| {
        json!({"version": 1, "trusted_signers": [trusted], "capability_ceiling": ceiling})
            .to_string()
    };
    let with_policy = |policy: &str, keys: bool| {
        let folder = Folder::new();
        let keys_digest = ring(&folder);
        folder.write("a", &archive).write("p.json", policy);
        let mut arguments = vec!["install", "--artifact", "a", "--policy", "p.json"];
        if keys {
            arguments.extend(["--keys", "keys.json", "--keys-digest", &keys_digest]);
        }
        let run = folder.run(&arguments);
        assert_eq!(folder.home().join("index.json").exists(), run.status == 0);
        run
    };
    let open = json!({"fs": {"read": ["/workspace"]}});
    let good = policy("example.a", open.clone());
    with_policy(&good, false).assert_failed("--policy requires --keys and --keys-digest");
    assert_eq!(with_policy(&good, true).status, 0);
    let stranger = policy("somebody", open);
    let message = "no trusted signer declared in manifest.signers";
    with_policy(&stranger, true).assert_failed(message);
    let closed = policy("example.a", json!({}));
    with_policy(&closed, true).assert_failed("capability denied: fs.read:/workspace");
}

#[test]
fn sources() {
    let archive = signed(&Bundle::example().signatures);
    let folder = Folder::new();
    let keys_digest = ring(&folder);
    folder.write("a", &archive);
    folder.ok(&[
        "install",
        "--artifact",
        &format!("file://{}", folder.argument("a")),
    ]);
    let oci = folder.run(&["install", "--artifact", "oci://registry/x"]);
    oci.assert_failed("OCI refs are not supported");

    let server = Loopback::new("200 OK", "", &archive);
    let url = server.url("/a.tar.zst");
    let keys = ["--keys", "keys.json", "--keys-digest", &keys_digest];
    let plain = ["install", "--artifact", &url, "--allow-insecure-http"];
    let refused = folder.run(&[&plain[..3], keys.as_slice()].concat());
    refused.assert_failed("http:// artifacts are disabled by default");
    folder
        .run(&plain)
        .assert_failed("remote artifacts require --keys and --keys-digest");
    assert_eq!(server.connections(), 0);
    let secret = url.replace("http://", "http://user:secret@");
    let with_user = ["install", "--artifact", &secret, "--allow-insecure-http"];
    let run = folder.run(&[&with_user[..], keys.as_slice()].concat());
    if run.status == 0 {
        let index = std::fs::read_to_string(folder.home().join("index.json")).unwrap();
        assert!(
            !index.contains("secret") && index.contains("***"),
            "{index}"
        );
    }
    assert!(!run.stderr.contains("secret"), "{run:?}");
    let run = folder.run(&[&plain[..], keys.as_slice()].concat());
    assert_eq!(run.status, 0, "{run:?}");
    assert!(server.connections() > 0);

    let unsigned = Loopback::new("200 OK", "", &compressed(&good().end()));
    let source = unsigned.url("/a");
    let get = |url: &str| {
        let get = ["install", "--artifact", url, "--allow-insecure-http"];
        folder.run(&[&get[..], keys.as_slice()].concat())
    };
    get(&source).assert_failed("signatures.json is required for this install mode");
    let redirect = Loopback::new("302 Found", &format!("location: {url}\r\n"), b"");
    let before = server.connections();
    let message = "artifact fetch redirects are not allowed for security reasons";
    get(&redirect.url("/r")).assert_failed(message);
    assert_eq!(server.connections(), before);
}
