use super::*;
use crate::vectors::{self, ARTIFACT, MANIFEST, MANIFEST_HASH, SIGNATURE_A, SIGNATURE_B, WASM};
use crate::{Bundle, BundleFiles};
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn packed() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    pack(
        directory.path(),
        &WASM,
        MANIFEST.as_bytes(),
        Experimental::Refused,
    )
    .unwrap();
    directory
}

fn text(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap()
}

fn sign_as(directory: &Path, letter: char) -> Result<usize, PackError> {
    let signer = format!("example.{}", letter.to_ascii_lowercase());
    sign(
        directory,
        &signer,
        &vectors::secret(letter),
        Experimental::Refused,
    )
}

#[test]
fn pack_writes_four_files() {
    let outer = tempfile::tempdir().unwrap();
    let directory = outer.path().join("new/bundle");
    pack(
        &directory,
        &WASM,
        MANIFEST.as_bytes(),
        Experimental::Refused,
    )
    .unwrap();
    assert_eq!(std::fs::read(directory.join("skill.wasm")).unwrap(), WASM);
    assert_eq!(
        text(&directory, "manifest.json"),
        format!(
            r#"{{
  "name": "example.null",
  "version": "0.1.0",
  "entrypoint": "run",
  "artifact": "{ARTIFACT}",
  "capabilities": [
    {{
      "kind": "fs.read",
      "value": "/workspace"
    }}
  ],
  "signers": [
    "example.a",
    "example.b"
  ]
}}"#
        )
    );
    assert_eq!(
        text(&directory, "signatures.json"),
        format!(
            "{{\n  \"artifact\": \"{ARTIFACT}\",\n  \"manifest_hash\": \"{MANIFEST_HASH}\",\n  \"signatures\": []\n}}"
        )
    );
    let meta = BundleMeta::parse(text(&directory, "bundle-meta.json").as_bytes()).unwrap();
    assert_eq!(meta, BundleMeta::for_manifest(&vectors::manifest()));
    let files: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(files.len(), 4);
    for file in files {
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o7777,
            0o600
        );
    }
}

#[test]
fn a_refused_manifest_writes_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let directory = outer.path().join("bundle");
    let other = Digest::of(b"other");
    for (wasm, manifest, expected) in [
        (&WASM[..], "{}".to_owned(), "invalid manifest JSON"),
        (
            b"other",
            MANIFEST.to_owned(),
            "manifest.artifact must match skill.wasm digest",
        ),
        (
            &WASM,
            MANIFEST.replace(ARTIFACT, other.as_str()),
            "manifest.artifact must match skill.wasm digest",
        ),
        (
            &WASM,
            MANIFEST.replacen('{', r#"{"schema_version":"1.0.0-draft","#, 1),
            "manifest schema_version 1.0.0-draft requires --allow-experimental",
        ),
        (
            &WASM,
            MANIFEST.replacen('{', r#"{"schema_version":"1","#, 1),
            "unsupported manifest schema version: 1",
        ),
        (
            &WASM,
            MANIFEST.replace("example.null", "a\\nb"),
            r"invalid manifest name: a\u{a}b",
        ),
        (
            &WASM,
            MANIFEST.replace("0.1.0", ""),
            "invalid manifest version: ",
        ),
        (
            &WASM,
            MANIFEST.replace("example.b", "../b"),
            "invalid manifest signer: ../b",
        ),
    ] {
        let refused = pack(&directory, wasm, manifest.as_bytes(), Experimental::Refused);
        let message = refused.unwrap_err().to_string();
        assert!(
            message.starts_with(expected),
            "{message} without {expected}"
        );
        assert!(!directory.exists(), "{expected}");
    }
    let draft = MANIFEST.replacen('{', r#"{"schema_version":"1.0.0-draft","#, 1);
    pack(&directory, &WASM, draft.as_bytes(), Experimental::Allowed).unwrap();
    assert!(
        text(&directory, "manifest.json")
            .starts_with("{\n  \"schema_version\": \"1.0.0-draft\",\n")
    );
}

#[test]
fn packing_and_signing_twice_gives_the_same_bytes() {
    let directory = packed();
    let path = directory.path();
    // In the other order than they are sorted in.
    assert_eq!(sign_as(path, 'B').unwrap(), 1);
    assert_eq!(sign_as(path, 'A').unwrap(), 2);
    let first = text(path, "signatures.json");
    assert_eq!(sign_as(path, 'A').unwrap(), 2);
    assert_eq!(text(path, "signatures.json"), first);
    let signatures = Signatures::parse(first.as_bytes()).unwrap();
    let made: Vec<_> = signatures
        .signatures
        .iter()
        .map(|entry| entry.signature.as_str())
        .collect();
    assert_eq!(made, [SIGNATURE_A, SIGNATURE_B]);
    assert_eq!(first.as_bytes(), pretty_json(&signatures));
    let again = packed();
    sign_as(again.path(), 'A').unwrap();
    sign_as(again.path(), 'B').unwrap();
    assert_eq!(text(again.path(), "signatures.json"), first);
    let bundle = Bundle::open(BundleFiles::read(path).unwrap(), Experimental::Refused).unwrap();
    assert!(bundle.verify(&vectors::ring()).is_ok());
}

#[test]
fn an_entry_that_is_no_signature_is_replaced_by_one() {
    let directory = packed();
    let path = directory.path();
    sign_as(path, 'A').unwrap();
    let file = path.join("signatures.json");
    let broken = text(path, "signatures.json")
        .replace("ed25519", "rsa")
        .replace(SIGNATURE_A, "");
    std::fs::write(&file, broken).unwrap();
    assert_eq!(sign_as(path, 'A').unwrap(), 1);
    let signatures = Signatures::parse(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(signatures.signatures[0].algorithm, "ed25519");
    assert_eq!(signatures.signatures[0].signature, SIGNATURE_A);
}

#[test]
fn what_does_not_fit_together_is_not_signed() {
    let other = Digest::of(b"other").to_string();
    for (name, from, to, expected) in [
        (
            "manifest.json",
            "example.a",
            "example.c",
            "signatures.manifest_hash must equal canonical manifest hash",
        ),
        (
            "signatures.json",
            ARTIFACT,
            other.as_str(),
            "manifest.artifact must equal signatures.artifact",
        ),
        (
            "signatures.json",
            MANIFEST_HASH,
            &other,
            "signatures.manifest_hash must equal canonical manifest hash",
        ),
        ("signatures.json", "{", "", "invalid signatures JSON"),
        ("manifest.json", "{", "{{", "invalid manifest JSON"),
        (
            "manifest.json",
            "{",
            "{\"schema_version\":\"1.0.0-draft\",",
            "manifest schema_version 1.0.0-draft requires",
        ),
        (
            "signatures.json",
            "example.a",
            "example.b",
            "duplicate signature entry for signer: example.b",
        ),
    ] {
        let directory = packed();
        let path = directory.path();
        sign_as(path, 'A').unwrap();
        sign_as(path, 'B').unwrap();
        let changed = text(path, name).replacen(from, to, 1);
        assert_ne!(changed, text(path, name));
        std::fs::write(path.join(name), &changed).unwrap();
        let before = text(path, "signatures.json");
        let message = sign_as(path, 'A').unwrap_err().to_string();
        assert!(
            message.starts_with(expected),
            "{message} without {expected}"
        );
        assert_eq!(text(path, "signatures.json"), before);
    }
}

#[test]
fn only_declared_signers_sign() {
    let directory = packed();
    let refused = sign(
        directory.path(),
        "x\n",
        &vectors::secret('A'),
        Experimental::Refused,
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        r"signer is not declared in manifest.signers: x\u{a}"
    );
}

#[test]
fn neither_pack_nor_sign_writes_through_a_symlink() {
    let outer = tempfile::tempdir().unwrap();
    let target = outer.path().join("target");
    for name in [
        "skill.wasm",
        "manifest.json",
        "signatures.json",
        "bundle-meta.json",
    ] {
        let directory = packed();
        std::fs::write(&target, "old").unwrap();
        std::fs::remove_file(directory.path().join(name)).unwrap();
        symlink(&target, directory.path().join(name)).unwrap();
        let refused = pack(
            directory.path(),
            &WASM,
            MANIFEST.as_bytes(),
            Experimental::Refused,
        );
        let message = refused.unwrap_err().to_string();
        assert!(
            message.starts_with("refusing to write through symlink: "),
            "{message}"
        );
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
    }
    let directory = packed();
    let path = directory.path().join("signatures.json");
    std::fs::rename(&path, &target).unwrap();
    symlink(&target, &path).unwrap();
    let before = std::fs::read(&target).unwrap();
    let message = sign_as(directory.path(), 'A').unwrap_err().to_string();
    assert!(
        message.starts_with("refusing to write through symlink: "),
        "{message}"
    );
    assert_eq!(std::fs::read(&target).unwrap(), before);
}
