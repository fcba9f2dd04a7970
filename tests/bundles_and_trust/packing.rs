//! `pack`, `sign` and `inspect`.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::bundle::{Bundle, PREAMBLE};
use crate::canonical::{digest, pretty, with};
use crate::guests;
use crate::keys;
use crate::program::{Folder, Run, listing};
use crate::root::ECHO;

fn pack(folder: &Folder, manifest: &Value) -> Run {
    pack_wasm(folder, PREAMBLE, manifest)
}

fn pack_wasm(folder: &Folder, wasm: &[u8], manifest: &Value) -> Run {
    folder
        .write("in.wasm", wasm)
        .write("in.json", manifest.to_string());
    folder.run(&[
        "pack",
        "--bundle",
        "out",
        "--wasm",
        "in.wasm",
        "--manifest",
        "in.json",
    ])
}

fn sign(folder: &Folder, signer: &str) -> Run {
    folder.write("key", keys::example_a().secret());
    folder.run(&[
        "sign",
        "--bundle",
        "b",
        "--signer",
        signer,
        "--secret-key",
        "key",
    ])
}

fn example() -> Folder {
    let folder = Folder::new();
    Bundle::example().write(&folder.path("b"));
    folder
}

#[test]
fn the_artifact_must_be_that_of_the_wasm_and_nothing_is_written_otherwise() {
    let folder = Folder::new();
    let manifest = with(&Bundle::example().manifest, "/artifact", digest("x"));
    pack(&folder, &manifest).assert_failed("manifest.artifact must match skill.wasm digest");
    assert!(!folder.exists("out"));
}

#[test]
fn pack_refuses_names_that_would_not_stay_on_their_line() {
    let long = "a".repeat(129);
    #[rustfmt::skip]
    let rows = [
        ("/name", "a\nb", "invalid manifest name"), ("/name", "", "invalid manifest name"),
        ("/name", "../a", "invalid manifest name"), ("/name", long.as_str(), "invalid manifest name"),
        ("/version", "1 0", "invalid manifest version"), ("/version", "-1", "invalid manifest version"),
        ("/signers/0", "a/b", "invalid manifest signer"), ("/signers/1", "\u{e9}", "invalid manifest signer"),
    ];
    for (member, value, message) in rows {
        let folder = Folder::new();
        pack(&folder, &with(&Bundle::example().manifest, member, value)).assert_failed(message);
        assert!(!folder.exists("out"), "{value:?}");
    }
    let folder = Folder::new();
    let longest = with(&Bundle::example().manifest, "/name", "a".repeat(128));
    assert_eq!(pack(&folder, &longest).status, 0);
}

/// A manifest of the v1 draft is refused.
#[test]
fn pack_has_the_schema_gate() {
    let folder = Folder::new();
    let mut manifest = Bundle::example().manifest;
    manifest["schema_version"] = json!("1.0.0-draft");
    pack(&folder, &manifest).assert_failed("requires --allow-experimental");
    let arguments = [
        "pack",
        "--bundle",
        "out",
        "--wasm",
        "in.wasm",
        "--manifest",
        "in.json",
    ];
    folder.ok(&[arguments.as_slice(), &["--allow-experimental"]].concat());
    let written = folder.text("out/manifest.json");
    let first = "{\n  \"schema_version\": \"1.0.0-draft\",\n  \"name\"";
    assert!(written.starts_with(first), "{written}");
    manifest["schema_version"] = json!("9");
    pack(&folder, &manifest).assert_failed("unsupported manifest schema version: 9");
}

#[test]
fn nothing_is_written_through_a_symlink() {
    for name in [
        "skill.wasm",
        "manifest.json",
        "signatures.json",
        "bundle-meta.json",
    ] {
        let folder = Folder::new();
        folder.write("victim", "mine").write("out/x", "");
        symlink(folder.path("victim"), folder.path("out").join(name)).unwrap();
        let run = pack(&folder, &Bundle::example().manifest);
        run.assert_failed("refusing to write through symlink");
        assert_eq!(folder.text("victim"), "mine", "{name}");
    }
    let folder = example();
    std::fs::rename(folder.path("b/signatures.json"), folder.path("victim")).unwrap();
    let before = folder.read("victim");
    symlink(folder.path("victim"), folder.path("b/signatures.json")).unwrap();
    assert_eq!(sign(&folder, "example.a").status, 1);
    assert_eq!(folder.read("victim"), before);
}

#[test]
fn only_a_declared_signer_signs() {
    let folder = example();
    let before = folder.read("b/signatures.json");
    let run = sign(&folder, "other");
    run.assert_failed("signer is not declared in manifest.signers: other");
    assert_eq!(folder.read("b/signatures.json"), before);
}

#[test]
fn signing_again_replaces_the_entry_and_keeps_the_others() {
    let folder = example();
    let example = Bundle::example();
    let spoiled = with(&example.signatures, "/signatures/0/signature", "old");
    folder.write("b/signatures.json", pretty(&spoiled));
    sign(&folder, "example.a").assert_line("OK sign bundle=b signer=example.a signatures=2");
    assert_eq!(
        folder.read("b/signatures.json"),
        pretty(&example.signatures)
    );
}

#[test]
fn what_does_not_fit_together_is_not_signed() {
    let zeros = format!("sha256:{}", "0".repeat(64));
    for (member, message) in [
        (
            "/artifact",
            "manifest.artifact must equal signatures.artifact",
        ),
        (
            "/manifest_hash",
            "signatures.manifest_hash must equal canonical manifest hash",
        ),
    ] {
        let folder = example();
        let wrong = with(&Bundle::example().signatures, member, zeros.clone());
        folder.write("b/signatures.json", pretty(&wrong));
        sign(&folder, "example.a").assert_failed(message);
        assert_eq!(folder.read("b/signatures.json"), pretty(&wrong));
    }
}

/// Here by `sign`.
#[test]
fn a_file_with_a_signer_twice_is_refused() {
    let folder = example();
    let entry = Bundle::example().signatures["signatures"][1].clone();
    let twice = with(
        &Bundle::example().signatures,
        "/signatures",
        json!([entry, entry]),
    );
    folder.write("b/signatures.json", pretty(&twice));
    sign(&folder, "example.a").assert_failed("duplicate signature entry for signer: example.b");
}

#[test]
fn without_a_key_sign_shows_its_usage() {
    example()
        .run(&["sign", "--bundle", "b", "--signer", "example.a"])
        .assert_usage();
}

/// Exactly these lines, lists sorted, without any verification.
#[test]
fn inspect_prints_its_lines() {
    let folder = Folder::new();
    let signers = [keys::example_b(), keys::example_a()];
    let capabilities = [("net.http", "*"), ("fs.read", "/workspace")];
    let mut bundle = Bundle::new(("example.null", "0.1.0"), PREAMBLE, &capabilities, &signers);
    bundle.wasm = b"changed".to_vec();
    bundle.write(&folder.path("b"));
    let (artifact, hash) = (bundle.artifact(), bundle.manifest_hash());
    let head = format!(
        "name=example.null\nversion=0.1.0\nentrypoint=run\nmanifest_artifact={artifact}\n\
         signatures_artifact={artifact}\nsignatures_manifest_hash={hash}\n"
    );
    let meta = format!(
        "bundle_meta_present=true\nbundle_meta_schema_version=1.0.0\n\
         bundle_meta_artifact={artifact}\nbundle_meta_manifest_hash={hash}\n"
    );
    let tail = "capabilities=2\ncapability[0]=fs.read:/workspace\ncapability[1]=net.http:*\n\
                signers=2\nsigner[0]=example.a\nsigner[1]=example.b\n\
                signature_count=2\nsignature_signer[0]=example.a\nsignature_signer[1]=example.b\n";
    let run = folder.ok(&["inspect", "--bundle", "b"]);
    assert_eq!(run.stdout, format!("{head}{meta}{tail}"));
    std::fs::remove_file(folder.path("b/bundle-meta.json")).unwrap();
    let run = folder.ok(&["inspect", "--bundle", "b"]);
    assert_eq!(
        run.stdout,
        format!("{head}bundle_meta_present=false\n{tail}")
    );
}

#[test]
fn inspect_escapes_what_is_not_printable_ascii() {
    let folder = Folder::new();
    let manifest = with(&Bundle::example().manifest, "/name", "a\n\u{1b}[1mé");
    Bundle::of(PREAMBLE, manifest, &[keys::example_a()]).write(&folder.path("b"));
    let run = folder.ok(&["inspect", "--bundle", "b"]);
    let first = run.stdout.lines().next().unwrap();
    assert_eq!(first, r"name=a\u{a}\u{1b}[1m\u{e9}");
    assert!(run.stdout.is_ascii());
}

/// Paths are echoed as given; pack writes these four files and no others.
#[test]
fn a_path_is_echoed_as_given() {
    let folder = Folder::new();
    folder
        .write("in.wasm", PREAMBLE)
        .write("in.json", Bundle::example().manifest.to_string());
    let run = folder.run(&[
        "pack",
        "--bundle",
        "./out",
        "--wasm",
        "./in.wasm",
        "--manifest",
        "in.json",
    ]);
    run.assert_line("OK pack bundle=./out");
    let names = [
        "bundle-meta.json",
        "manifest.json",
        "signatures.json",
        "skill.wasm",
    ];
    assert_eq!(listing(&folder.path("out")), names);
}

/// `pack` of this component as `demo.echo`.
fn pack_component(folder: &Folder, wasm: &[u8], capabilities: &[(&str, &str)]) -> Run {
    let bundle = Bundle::new((ECHO, "0.1.0"), wasm, capabilities, &keys::team());
    pack_wasm(folder, wasm, &bundle.manifest)
}

#[test]
fn pack_says_what_verify_would_find_wrong_before_anything_is_compiled() {
    let reading = guests::reading(ECHO, "/workspace/note.txt", 1);
    let tcp = guests::importing(ECHO, "wasi:sockets/tcp@0.2.0");
    let described = |from: &str, to: &str| {
        let text = guests::description(ECHO).replace(from, to);
        guests::describing("", &text)
    };
    let open = described(
        "\"additionalProperties\":false",
        "\"additionalProperties\":true",
    );
    let spaced = described("\"name\":", "\"name\": ");
    let unbounded = described(
        "\"properties\":{}",
        "\"properties\":{\"n\":{\"type\":\"integer\"}}",
    );
    let read = [("fs.read", "/workspace")];
    type Row<'a> = (&'a [u8], &'a [(&'a str, &'a str)], &'a str);
    let rows: [Row<'_>; 7] = [
        (
            &reading,
            &[],
            "import not declared: fs-read needs a capability fs.read",
        ),
        (&tcp, &[], "import not allowed: wasi:sockets/tcp@0.2.0"),
        (&guests::echo(ECHO), &read, "capability not used: fs.read"),
        (
            &open,
            &[],
            "input_schema: additionalProperties is not false (the text at byte ",
        ),
        (&spaced, &[], "is not compact"),
        (&unbounded, &[], "the integer \"n\" has no minimum"),
        (b"(component)", &[], "skill.wasm is not a component"),
    ];
    for (wasm, capabilities, message) in rows {
        let folder = Folder::new();
        pack_component(&folder, wasm, capabilities).assert_failed(message);
        assert!(!folder.exists("out"), "{message}");
    }
    let folder = Folder::new();
    pack_component(&folder, &reading, &read).assert_line("OK pack bundle=out");
    pack_component(&folder, &guests::echo(ECHO), &[]).assert_line("OK pack bundle=out");
    // A core module has no imports of the world.
    pack_component(&folder, &guests::bare("(result i32) (i32.const 0)"), &read)
        .assert_line("OK pack bundle=out");
}
