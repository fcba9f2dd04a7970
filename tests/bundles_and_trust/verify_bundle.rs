//! `verify --bundle`: what it accepts, the order of its checks, and the message of each.

use serde_json::{Value, json};

use crate::bundle::{Bundle, PREAMBLE};
use crate::canonical::{canonical_digest, digest, pretty, with};
use crate::keys::{self, Signer};
use crate::program::{Folder, Run};

/// A bundle `b` and the ring `keys.json` in a folder.
struct Case {
    folder: Folder,
    ring: Vec<u8>,
}

impl Case {
    fn of(bundle: &Bundle) -> Self {
        let folder = Folder::new();
        bundle.write(&folder.path("b"));
        let case = Self {
            folder,
            ring: bundle.ring.clone(),
        };
        case.folder.write("keys.json", &case.ring);
        case
    }

    fn example() -> Self {
        Self::of(&Bundle::example())
    }

    /// Replaces a file of the bundle.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.folder.write(&format!("b/{name}"), bytes);
        self
    }

    fn verify(&self) -> Run {
        self.verify_with(&digest(&self.ring), &[])
    }

    fn verify_with(&self, digest: &str, more: &[&str]) -> Run {
        let mut arguments = vec!["verify", "--bundle", "b", "--keys", "keys.json"];
        arguments.extend(["--keys-digest", digest]);
        arguments.extend(more);
        self.folder.run(&arguments)
    }
}

/// `signatures.json` of the example with this `signatures`.
fn signatures(entries: &Value) -> Vec<u8> {
    pretty(&with(
        &Bundle::example().signatures,
        "/signatures",
        entries.clone(),
    ))
}

fn entry(signer: &Signer) -> Value {
    signer.entry(Bundle::example().manifest_hash())
}

/// Compatible commands accept the example keys.
#[test]
fn a_good_bundle_gives_one_line() {
    let bundle = Bundle::example();
    let run = Case::of(&bundle).verify();
    run.assert_line(&format!(
        "OK verify artifact={} signers=2",
        bundle.artifact()
    ));
}

#[test]
fn one_signature_of_a_declared_signer_is_enough() {
    let case = Case::example();
    case.put(
        "signatures.json",
        signatures(&json!([entry(&keys::example_b())])),
    );
    let line = format!("OK verify artifact={} signers=1", digest(PREAMBLE));
    case.verify().assert_line(&line);
}

/// The form of a file on disk is not part of its hash. Trailing white space is allowed.
#[test]
fn a_reformatted_file_still_verifies() {
    let case = Case::example();
    let bundle = Bundle::example();
    let reordered: Value = json!({
        "version": "0.1.0", "signers": bundle.manifest["signers"], "name": "example.null",
        "entrypoint": "run", "capabilities": bundle.manifest["capabilities"],
        "artifact": bundle.artifact(),
    });
    case.put("manifest.json", format!("\n\t {reordered} \r\n"));
    case.put("signatures.json", bundle.signatures.to_string());
    assert_eq!(case.verify().status, 0);
}

#[test]
fn other_files_do_not_matter_and_need_not_exist() {
    let case = Case::example();
    case.put("provenance.json", "{")
        .put("notes.txt", "x")
        .put("sbom.spdx.json", "?");
    assert_eq!(case.verify().status, 0);
    for name in ["public-keys.json", "bundle-meta.json", "provenance.json"] {
        std::fs::remove_file(case.folder.path("b").join(name)).unwrap();
    }
    assert_eq!(case.verify().status, 0);
}

#[test]
fn a_missing_required_file_is_named() {
    for name in ["skill.wasm", "manifest.json", "signatures.json"] {
        let case = Case::example();
        std::fs::remove_file(case.folder.path("b").join(name)).unwrap();
        case.verify().assert_failed(name);
    }
}

/// Every case breaks only this step.
#[test]
fn each_step_has_its_message() {
    let bundle = Bundle::example();
    let (a, b) = (keys::example_a(), keys::example_b());
    let zeros = format!("sha256:{}", "0".repeat(64));
    let manifest = |value: &Value| pretty(value);
    let twice = json!([entry(&a), entry(&a)]);
    let other = |pointer, value: &str| pretty(&with(&bundle.signatures, pointer, value));
    let foreign = keys::stranger();
    let short = with(&json!([entry(&a)]), "/0/signature", "AAAA");
    let spaced = with(
        &json!([entry(&a)]),
        "/0/signature",
        format!("{} ", a.sign("x")),
    );
    let swapped = with(
        &json!([entry(&a)]),
        "/0/signature",
        b.sign(bundle.manifest_hash()),
    );
    let algorithm = with(&json!([entry(&a)]), "/0/algorithm", "Ed25519");
    #[rustfmt::skip]
    let rows = [
        ("manifest.json", b"{".to_vec(), "invalid manifest JSON"),
        ("manifest.json", manifest(&json!({"name": "x"})), "invalid manifest JSON"),
        ("signatures.json", b"[]".to_vec(), "invalid signatures JSON"),
        ("signatures.json", other("/artifact", &zeros), "manifest.artifact must equal signatures.artifact"),
        ("signatures.json", other("/manifest_hash", &zeros), "signatures.manifest_hash must equal canonical manifest hash"),
        ("skill.wasm", b"\0asm\x01\0\0\0".to_vec(), "digest mismatch: expected sha256:24eaf343"),
        ("signatures.json", signatures(&json!([])), "signature set is empty"),
        ("signatures.json", signatures(&algorithm), "unsupported signature algorithm: Ed25519"),
        ("signatures.json", signatures(&json!([entry(&foreign)])), "missing public key for signer: stranger"),
        ("signatures.json", signatures(&spaced), "base64 decode failed"),
        ("signatures.json", signatures(&short), "invalid signature bytes"),
        ("signatures.json", signatures(&swapped), "signature verification failed for signer: example.a"),
        ("signatures.json", signatures(&twice), "duplicate signature entry for signer: example.a"),
    ];
    for (file, bytes, message) in rows {
        let case = Case::example();
        case.put(file, bytes);
        let run = case.verify();
        assert!(run.stdout.is_empty(), "{message:?}: {run:?}");
        assert!(run.stderr.contains(message), "{message:?}: {run:?}");
        run.assert_failed(message);
    }
}

/// What is checked first is reported when two things are wrong.
#[test]
fn the_first_failure_in_the_order_of_the_row_is_reported() {
    let bundle = Bundle::example();
    let zeros = format!("sha256:{}", "0".repeat(64));
    let mut steps: Vec<(&str, Vec<u8>, &str)> = vec![
        ("manifest.json", b"{".to_vec(), "invalid manifest JSON"),
        ("signatures.json", b"{".to_vec(), "invalid signatures JSON"),
    ];
    let both = with(&bundle.signatures, "/artifact", zeros.clone());
    let both = with(&both, "/manifest_hash", zeros.clone());
    steps.push((
        "signatures.json",
        pretty(&both),
        "must equal signatures.artifact",
    ));
    let hash = with(&bundle.signatures, "/manifest_hash", zeros);
    steps.push((
        "signatures.json",
        pretty(&hash),
        "must equal canonical manifest hash",
    ));
    let empty = signatures(&json!([]));
    steps.push(("signatures.json", empty, "digest mismatch: expected"));
    for (file, bytes, message) in steps {
        let case = Case::example();
        // Later steps are broken as well: the wasm, the ring's digest and the ring itself.
        case.put("skill.wasm", "x").put(file, bytes);
        case.folder.write("keys.json", "{");
        case.verify_with(&digest("another"), &[])
            .assert_failed(message);
    }
    let case = Case::example();
    case.folder.write("keys.json", "{");
    case.verify_with("sha256:X", &[])
        .assert_failed("invalid --keys-digest format");
    case.verify_with(&digest("another"), &[])
        .assert_failed("public keys digest mismatch");
    case.put("signatures.json", signatures(&json!([])));
    case.verify_with(&digest("{"), &[])
        .assert_failed("invalid keys JSON");
}

#[test]
fn a_signer_that_the_manifest_does_not_name_is_refused() {
    let everyone = [keys::example_a(), keys::example_b(), keys::stranger()];
    let mut bundle = Bundle::example();
    bundle.ring = keys::ring(&everyone);
    bundle.sign(&everyone);
    let run = Case::of(&bundle).verify();
    run.assert_failed("signature signer is not declared in manifest.signers: stranger");
}

/// The schema gate, and that the hash holds `schema_version` only when it is there.
#[test]
fn the_schema_gate() {
    let signers = [keys::example_a(), keys::example_b()];
    let manifest = |version: Value| {
        let mut manifest = json!({ "schema_version": version });
        let members = Bundle::example().manifest;
        let members = members.as_object().unwrap().clone();
        manifest.as_object_mut().unwrap().extend(members);
        manifest
    };
    let draft = Case::of(&Bundle::of(
        PREAMBLE,
        manifest(json!("1.0.0-draft")),
        &signers,
    ));
    draft
        .verify()
        .assert_failed("requires --allow-experimental");
    let digest = digest(&draft.ring);
    let allowed = draft.verify_with(&digest, &["--allow-experimental"]);
    assert_eq!(allowed.status, 0, "{allowed:?}");

    let other = Case::of(&Bundle::of(PREAMBLE, manifest(json!("2")), &signers));
    let message = "unsupported manifest schema version: 2";
    other.verify().assert_failed(message);
    other
        .verify_with(&digest, &["--allow-experimental"])
        .assert_failed(message);

    // null counts as absent, so the hash is that of the manifest without the member.
    let null = Case::example();
    null.put("manifest.json", pretty(&manifest(Value::Null)));
    assert_eq!(null.verify().status, 0);
    assert_ne!(
        canonical_digest(&manifest(Value::Null)),
        Bundle::example().manifest_hash()
    );
}

/// The strings of a foreign bundle are free, also empty; names are checked by those who write them elsewhere.
#[test]
fn a_foreign_manifest_may_hold_any_text() {
    let signers = [
        Signer::new("", "nameless"),
        Signer::new("a\n\u{2028}\u{1f600}", "odd"),
    ];
    let manifest = json!({
        "name": "", "version": "\u{7f}/", "entrypoint": "", "artifact": digest(PREAMBLE),
        "capabilities": [{"kind": "", "value": "\u{1}\"\\"}], "signers": [signers[0].name, signers[1].name],
    });
    // The signature is over the hash of the right escapes.
    let run = Case::of(&Bundle::of(PREAMBLE, manifest, &signers)).verify();
    assert_eq!(run.status, 0, "{run:?}");
}

/// The name of a signer says nothing; the key that the caller's ring has for it does.
#[test]
fn trust_comes_from_the_ring_that_was_named() {
    let case = Case::example();
    let impostors = keys::ring(&[
        Signer::new("example.a", "another key"),
        Signer::new("example.b", "a third key"),
    ]);
    case.folder.write("keys.json", &impostors);
    let run = case.verify_with(&digest(&impostors), &[]);
    run.assert_failed("signature verification failed for signer: example.a");
}

/// S + L is the same signature for a lenient verifier.
#[test]
fn a_non_canonical_signature_is_refused() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let a = keys::example_a();
    let mut bytes = STANDARD
        .decode(a.sign(Bundle::example().manifest_hash()))
        .unwrap();
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut carry = 0_u16;
    for (byte, add) in bytes[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    let case = Case::example();
    let forged = with(&json!([entry(&a)]), "/0/signature", STANDARD.encode(bytes));
    case.put("signatures.json", signatures(&forged));
    case.verify()
        .assert_failed("signature verification failed for signer: example.a");
}

/// With the identity as public key and as R, S = 0 "signs" every message.
#[test]
fn a_small_order_key_signs_nothing() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let mut point = [0_u8; 64];
    point[0] = 1;
    let case = Case::example();
    let ring = json!({ "example.a": STANDARD.encode(&point[..32]) }).to_string();
    case.folder.write("keys.json", &ring);
    let entry = with(
        &json!([entry(&keys::example_a())]),
        "/0/signature",
        STANDARD.encode(point),
    );
    case.put("signatures.json", signatures(&entry));
    let run = case.verify_with(&digest(&ring), &[]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stderr.contains("signer: example.a"), "{run:?}");
}
