//! Section 1: digests, rings, key files and the strictness of JSON, as commands show them.

use serde_json::json;

use crate::bundle::Bundle;
use crate::canonical::{digest, pretty};
use crate::keys::{self, Signer};
use crate::program::{Folder, Run};

/// `verify` of the example with this ring and the ring's right digest.
fn with_ring(ring: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    Bundle::example().write(&folder.path("b"));
    folder.write("keys.json", &ring);
    let digest = digest(&ring);
    folder.verify_bundle("b", "keys.json", &digest)
}

/// `verify` of the example with other bytes for one file.
fn with_file(name: &str, bytes: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    let example = Bundle::example();
    example.write(&folder.path("b"));
    folder.write(&format!("b/{name}"), bytes);
    folder.write("keys.json", &example.ring);
    let digest = digest(&example.ring);
    folder.verify_bundle("b", "keys.json", &digest)
}

#[test]
fn only_71_lower_case_characters_are_a_digest() {
    let folder = Folder::new();
    let hex = "a".repeat(64);
    let wrong = [
        hex.clone(),
        format!("sha256:{}", "A".repeat(64)),
        format!("sha256:{}", "a".repeat(63)),
        format!("sha256:{hex}a"),
        format!("SHA256:{hex}"),
        format!("sha256:{}g", "a".repeat(63)),
        String::new(),
    ];
    folder.write("f", "x");
    for sha256 in wrong {
        let md5 = "0".repeat(32);
        let run = folder.run(&[
            "verify-registry-entry",
            "--artifact",
            "f",
            "--sha256",
            &sha256,
            "--md5",
            &md5,
        ]);
        run.assert_failed(&format!("invalid digest format: {sha256}"));
    }
}

#[test]
fn every_entry_of_a_ring_must_decode() {
    let a = keys::example_a().public();
    let b = keys::example_b().public();
    // A point with this y does not exist on the curve.
    let no_point = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    #[rustfmt::skip]
    let rows = [
        (json!([]), "invalid keys JSON"),
        (json!({"example.a": a, "example.b": 1}), "invalid keys JSON"),
        (json!({"example.a": a, "example.b": {"key": b}}), "invalid keys JSON"),
        (json!({"example.a": a, "example.b": b, "x": "!"}), "invalid base64 key for signer: x"),
        (json!({"example.a": a, "example.b": b, "x": a.trim_end_matches('=')}), "invalid base64 key for signer: x"),
        (json!({"example.a": a, "example.b": b, "x": "AAAA"}), "invalid key length for signer: x"),
        (json!({"example.a": a, "example.b": b, "x": no_point}), "invalid key bytes for signer: x"),
    ];
    for (ring, message) in rows {
        with_ring(ring.to_string()).assert_failed(message);
    }
    // Names that are not needed are allowed.
    let everyone = [keys::example_a(), keys::example_b(), keys::stranger()];
    assert_eq!(with_ring(keys::ring(&everyone)).status, 0);
}

/// The limit holds before anything is parsed.
#[test]
fn a_ring_of_more_than_a_mebibyte_is_refused() {
    let run = with_ring(vec![b' '; 1_048_577]);
    run.assert_failed("public-keys.json exceeds maximum size (1048577 bytes > 1048576 bytes)");
}

#[test]
fn white_space_of_a_ring_counts() {
    let folder = Folder::new();
    let example = Bundle::example();
    example.write(&folder.path("b"));
    folder.write("keys.json", [example.ring.as_slice(), b"\n"].concat());
    let digest = digest(&example.ring);
    let run = folder.verify_bundle("b", "keys.json", &digest);
    run.assert_failed("public keys digest mismatch");
}

#[test]
fn json_is_read_strictly() {
    let manifest = String::from_utf8(pretty(&Bundle::example().manifest)).unwrap();
    let signatures = String::from_utf8(pretty(&Bundle::example().signatures)).unwrap();
    let twice = r#"{"name": "x", "name": "example.null","#;
    let nested = format!("{{\"extra\": {}1{},", "[".repeat(200), "]".repeat(200));
    #[rustfmt::skip]
    let rows = [
        ("a BOM", format!("\u{feff}{manifest}")),
        ("a duplicate name", manifest.replacen('{', twice, 1).replacen("\"name\": \"example.null\",\n", "", 1)),
        ("an unknown member", manifest.replacen('{', "{\"extra\": 1,", 1)),
        ("nesting", manifest.replacen('{', &nested, 1)),
        ("two values", format!("{manifest}{manifest}")),
        ("a comment", format!("{manifest}// x")),
        ("a trailing comma", manifest.replacen("\n}", ",\n}", 1)),
        ("a mistyped member", manifest.replacen("\"run\"", "1", 1)),
    ];
    for (case, text) in rows {
        assert_ne!(text, manifest, "{case}");
        let run = with_file("manifest.json", text);
        assert!(
            run.stderr.contains("invalid manifest JSON"),
            "{case}: {run:?}"
        );
        assert_eq!(run.status, 1, "{case}");
    }
    with_file("manifest.json", b"{\"name\": \"\xff\"}").assert_failed("invalid manifest JSON");
    let unknown = signatures.replacen("\"signer\"", "\"extra\": 1, \"signer\"", 1);
    with_file("signatures.json", unknown).assert_failed("invalid signatures JSON");
    let size = "manifest.json exceeds maximum size (1048577 bytes > 1048576 bytes)";
    with_file("manifest.json", vec![b' '; 1_048_577]).assert_failed(size);
}

#[test]
fn a_component_of_more_than_16_mebibytes_is_refused() {
    let run = with_file("skill.wasm", vec![0; 16_777_217]);
    run.assert_failed("exceeds maximum size (16777217 bytes > 16777216 bytes)");
}

/// A FIFO in place of a file must not block for ever.
#[test]
fn a_fifo_is_not_waited_for() {
    let folder = Folder::new();
    let example = Bundle::example();
    example.write(&folder.path("b"));
    folder.write("keys.json", &example.ring);
    std::fs::remove_file(folder.path("b/manifest.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path("b/manifest.json"))
        .status();
    assert!(made.unwrap().success());
    let digest = digest(&example.ring);
    let run = folder.verify_bundle("b", "keys.json", &digest);
    run.assert_failed("manifest.json");
}

#[test]
fn a_secret_key_is_base64_of_32_bytes() {
    let folder = Folder::new();
    let secret = keys::example_a().secret();
    #[rustfmt::skip]
    let rows = [
        ("?".to_owned(), "invalid base64 secret key"),
        (secret.trim_end_matches('=').to_owned(), "invalid base64 secret key"),
        ("AAAA".to_owned(), "invalid secret key length (expected 32 bytes)"),
        (String::new(), "invalid secret key length (expected 32 bytes)"),
        (" ".repeat(16_385), "exceeds maximum size (16385 bytes > 16384 bytes)"),
    ];
    for (key, message) in rows {
        Bundle::example().write(&folder.path("b"));
        folder.write("k", &key);
        let run = folder.run(&[
            "sign",
            "--bundle",
            "b",
            "--signer",
            "example.a",
            "--secret-key",
            "k",
        ]);
        run.assert_failed(message);
    }
    folder.write("k", format!("\r\n\t{secret} \n"));
    folder.ok(&[
        "sign",
        "--bundle",
        "b",
        "--signer",
        "example.a",
        "--secret-key",
        "k",
    ]);
}

/// The variable names the directory, and no key byte is shown, not even of a bad key.
#[test]
fn keys_come_from_the_directory_of_the_variable_and_are_never_shown() {
    let folder = Folder::new();
    let sign = |folder: &Folder, signer: &str| {
        let mut command = folder.command(&["sign", "--bundle", "b", "--signer", signer]);
        Run::of(command.env("HYDRANT_SIGNING_KEYS", folder.path("../keys")))
    };
    Bundle::example().write(&folder.path("b"));
    folder.write("../keys/example.a.key", keys::example_a().secret());
    sign(&folder, "example.a").assert_line("OK sign bundle=b signer=example.a signatures=2");
    let mut wrong = keys::example_b().secret();
    wrong.push_str("trailing-secret");
    folder.write("../keys/example.b.key", &wrong);
    let run = sign(&folder, "example.b");
    run.assert_failed("invalid base64 secret key");
    for text in [&run.stdout, &run.stderr] {
        assert!(
            !text.contains("trailing-secret") && !text.contains(&wrong[..8]),
            "{run:?}"
        );
    }
}

/// A signer name is no path.
#[test]
fn a_signer_name_cannot_leave_the_key_directory() {
    let folder = Folder::new();
    folder.write("../secret.key", keys::build().secret());
    let signer = Signer::new("../secret", "test key of team.build");
    Bundle::new(("x", "1"), b"x", &[], &[signer]).write(&folder.path("b"));
    std::fs::create_dir(folder.path("../keys")).unwrap();
    let mut command = folder.command(&["sign", "--bundle", "b", "--signer", "../secret"]);
    let run = Run::of(command.env("HYDRANT_SIGNING_KEYS", folder.path("../keys")));
    run.assert_failed("signer");
    assert_eq!(
        folder.json("b/signatures.json")["signatures"][0]["signer"],
        "../secret"
    );
}
