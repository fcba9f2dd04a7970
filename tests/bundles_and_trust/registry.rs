//! `verify-registry-entry` and the manifest of the v1 draft.

use serde_json::{Value, json};

use crate::canonical::{digest, with};
use crate::program::{Folder, Run};

/// Of the three bytes `abc`.
const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

fn entry(sha256: &str, md5: &str) -> Run {
    let folder = Folder::new();
    folder.write("abc", "abc");
    folder.run(&[
        "verify-registry-entry",
        "--artifact",
        "abc",
        "--sha256",
        sha256,
        "--md5",
        md5,
    ])
}

#[test]
fn a_registry_entry() {
    let sha256 = digest("abc");
    let line = format!("OK verify-registry-entry sha256={sha256} md5={MD5} artifact=abc");
    entry(&sha256, MD5).assert_line(&line);
}

#[test]
fn both_digests_count_md5_first() {
    let (sha256, zeros) = (digest("abc"), "0".repeat(32));
    let run = entry(&digest("x"), &zeros);
    run.assert_failed("digest mismatch");
    assert!(run.stderr.contains(MD5), "md5 is compared first: {run:?}");
    entry(&digest("x"), MD5).assert_failed("digest mismatch");
    entry(&sha256, &zeros).assert_failed("digest mismatch");
    for md5 in [
        MD5.to_uppercase(),
        format!("md5:{MD5}"),
        MD5[1..].to_owned(),
    ] {
        entry(&sha256, &md5).assert_failed("invalid digest format: ");
    }
}

fn draft() -> Value {
    json!({
        "schema_version": "1.0.0-draft", "id": "demo", "version": "1.0.0", "entrypoint": "run",
        "artifact": digest("x"), "inputs_schema": {}, "outputs_schema": {"type": "object"},
        "capabilities": [{"kind": "fs.read", "value": "/x"}], "signers": ["a"],
    })
}

fn validate(manifest: &str) -> Run {
    let folder = Folder::new();
    folder.write("m.json", manifest);
    folder.run(&["experimental-validate-manifest-v1", "--manifest", "m.json"])
}

#[test]
fn a_manifest_of_the_draft() {
    let line = "OK experimental-validate-manifest-v1 id=demo version=1.0.0";
    validate(&draft().to_string()).assert_line(line);
    let mut whole = draft();
    whole["name"] = json!("Demo");
    whole["entrypoint"] = json!({"kind": "wasi-command", "path": "_start"});
    whole["provenance"] = json!([1, {"any": "value"}]);
    whole["compatibility"] = json!({"runtime_profiles": ["a"], "adapter_profiles": ["b"]});
    validate(&whole.to_string()).assert_line(line);
}

#[test]
fn schemas_may_be_uris() {
    let mut manifest = draft();
    manifest["inputs_schema"] = json!("https://example.org/in.json");
    manifest["outputs_schema"] = json!("urn:example:out");
    let line = "OK experimental-validate-manifest-v1 id=demo version=1.0.0";
    validate(&manifest.to_string()).assert_line(line);
}

#[test]
fn what_the_draft_does_not_allow() {
    validate("{").assert_failed("invalid manifest v1 draft JSON");
    let mut more = draft();
    more["extra"] = json!(1);
    validate(&more.to_string()).assert_failed("invalid manifest v1 draft JSON");
    #[rustfmt::skip]
    let rows = [
        ("/id", json!("")), ("/version", json!("")), ("/entrypoint", json!("")),
        ("/schema_version", json!("1.0.0")), ("/inputs_schema", json!("relative/uri")),
    ];
    for (pointer, value) in rows {
        let run = validate(&with(&draft(), pointer, value).to_string());
        run.assert_failed("invalid draft field: ");
    }
    #[rustfmt::skip]
    let rows = [
        ("/artifact", json!("sha256:x")), ("/signers", json!([""])),
        ("/entrypoint", json!({"kind": "other", "path": "x"})), ("/inputs_schema", json!(1)),
    ];
    for (pointer, value) in rows {
        validate(&with(&draft(), pointer, value).to_string()).assert_failed("");
    }
}

/// Validation only.
#[test]
fn pack_refuses_a_manifest_of_the_draft() {
    let folder = Folder::new();
    folder.write("m.json", draft().to_string()).write("w", "x");
    let pack = [
        "pack",
        "--bundle",
        "b",
        "--wasm",
        "w",
        "--manifest",
        "m.json",
        "--allow-experimental",
    ];
    folder.run(&pack).assert_failed("invalid manifest JSON");
    assert!(!folder.exists("b"));
}
