use super::*;
use crate::BundleMeta;
use crate::vectors::{self, ARTIFACT, MANIFEST, MANIFEST_HASH};
use hydrant_base::Digest;
use hydrant_base::pretty_json;

fn bundle(manifest: &str, meta: Option<&[u8]>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes).unwrap();
    write("manifest.json", manifest.as_bytes());
    write("signatures.json", vectors::signatures_json().as_bytes());
    if let Some(meta) = meta {
        write("bundle-meta.json", meta);
    }
    directory
}

fn lines(manifest: &str, meta: Option<&[u8]>) -> Vec<String> {
    inspect(bundle(manifest, meta).path(), Experimental::Refused).unwrap()
}

#[test]
fn a_bundle_is_described_line_by_line() {
    let meta = pretty_json(&BundleMeta::for_manifest(&vectors::manifest()));
    let expected = format!(
        "name=example.null
version=0.1.0
entrypoint=run
manifest_artifact={ARTIFACT}
signatures_artifact={ARTIFACT}
signatures_manifest_hash={MANIFEST_HASH}
bundle_meta_present=true
bundle_meta_schema_version=1.0.0
bundle_meta_artifact={ARTIFACT}
bundle_meta_manifest_hash={MANIFEST_HASH}
capabilities=1
capability[0]=fs.read:/workspace
signers=2
signer[0]=example.a
signer[1]=example.b
signature_count=2
signature_signer[0]=example.a
signature_signer[1]=example.b"
    );
    assert_eq!(lines(MANIFEST, Some(&meta)).join("\n"), expected);
    let without: Vec<_> = expected
        .lines()
        .filter(|line| !line.contains("meta_"))
        .collect();
    let actual = lines(MANIFEST, None);
    assert_eq!(actual[6], "bundle_meta_present=false");
    assert_eq!([&actual[..6], &actual[7..]].concat(), without);
}

#[test]
fn nothing_is_verified() {
    let other = Digest::of(b"other");
    let shown = lines(
        &MANIFEST.replace(ARTIFACT, other.as_str()),
        Some(b"{\"artifact\": 1}"),
    );
    assert_eq!(shown[3], format!("manifest_artifact={other}"));
    assert_eq!(
        shown[7..10],
        [
            "bundle_meta_schema_version=",
            "bundle_meta_artifact=",
            "bundle_meta_manifest_hash="
        ]
    );
}

#[test]
fn lists_are_sorted() {
    let manifest = MANIFEST
        .replace(
            r#"[{"kind":"fs.read","value":"/workspace"}]"#,
            r#"[{"kind":"net.http","value":"*"},{"kind":"fs.read","value":"/b"},{"kind":"fs.read","value":"/a"}]"#,
        )
        .replace(r#""example.a","example.b""#, r#""z","a""#);
    let shown = lines(&manifest, None);
    assert_eq!(
        shown[7..14],
        [
            "capabilities=3",
            "capability[0]=fs.read:/a",
            "capability[1]=fs.read:/b",
            "capability[2]=net.http:*",
            "signers=2",
            "signer[0]=a",
            "signer[1]=z"
        ]
    );
}

#[test]
fn a_value_cannot_add_a_line_or_move_the_cursor() {
    let shown = lines(
        &MANIFEST.replace("example.null", "a\\nsigners=9\\u001b[2J\u{e9}"),
        None,
    );
    assert_eq!(shown[0], r"name=a\u{a}signers=9\u{1b}[2J\u{e9}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let message = |manifest: &str| {
        let refused = inspect(bundle(manifest, None).path(), Experimental::Refused);
        refused.unwrap_err().to_string()
    };
    assert!(message("{").starts_with("invalid manifest JSON"));
    let draft = MANIFEST.replacen('{', r#"{"schema_version":"1.0.0-draft","#, 1);
    assert!(message(&draft).contains("requires --allow-experimental"));
    assert!(inspect(bundle(&draft, None).path(), Experimental::Allowed).is_ok());
    let directory = bundle(MANIFEST, None);
    std::fs::remove_file(directory.path().join("signatures.json")).unwrap();
    let error = inspect(directory.path(), Experimental::Refused).unwrap_err();
    assert!(error.to_string().contains("signatures.json: "), "{error}");
}
