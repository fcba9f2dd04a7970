//! Worked values, from which every byte of the formats follows, and fixtures made of them.

use hydrant_base::{Digest, canonical_digest, canonical_json};
use sha2::{Digest as _, Sha256};

use super::keys::{KeyRing, SecretKey};
use super::{Bundle, BundleFiles, Experimental, Manifest, Signatures};

pub(crate) const PUBLIC_A: &str = "ikGUnmwWk4dKGDdhofcz0sZ+h7zkiSUZ8knyAUpSC1c=";
pub(crate) const PUBLIC_B: &str = "faMDdjeCjCpUXU7ti+Apqzme7qC+ogPUlhJ4jG37M/8=";
pub(crate) const KEYS_DIGEST: &str =
    "sha256:6e8529f1924eb18cafe396f348854afa8ef24bd18c511ef4727d12799c79426b";
pub(crate) const WASM: [u8; 8] = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
pub(crate) const ARTIFACT: &str =
    "sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29";
pub(crate) const MANIFEST: &str = r#"{"artifact":"sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29","capabilities":[{"kind":"fs.read","value":"/workspace"}],"entrypoint":"run","name":"example.null","signers":["example.a","example.b"],"version":"0.1.0"}"#;
pub(crate) const MANIFEST_HASH: &str =
    "sha256:714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467";
pub(crate) const SIGNATURE_A: &str =
    "7h7cBluOw/9PnLeP8ERW2wVs/r6Rhyepck0skeZyhUEsddf+d8Wu52y/5jgdiIpDQKy1MN+N9Ow9Tc8ZGfZyDg==";
pub(crate) const SIGNATURE_B: &str =
    "Uvbkh5/2W+eLqm8X4EipfXeJUg1uo6YC3ioVUmqS7SLG2nb9sndrmiWfy6GWeCI2np6GH2nrCAFxDNlq3ZbECQ==";
const SIGNATURES_HASH: &str =
    "sha256:28564e0136513af2a3f5ba62ac620c60ea1970dd20f4f7af79370637139b6086";
const BUNDLE_HASH: &str = "sha256:0cf84783212988509a7235d5dbd5859b2c1a30aff2eaa23e5932539df3f386b3";
const RECEIPT_HASH: &str =
    "sha256:1a7a277e16ba8d2acf9678a44f352ab6ea0396e7742346e1624127ef75423832";
const LOCK_DIGEST: &str = "sha256:57456a1f5be7313730cb3a6f650bdf25bb6348e4b1ee8c1b6bf2044d4edfbd45";
const LOCK_SIGNATURE_A: &str =
    "AlOHm4mA/QJ5iEKe0oZ0eKyay3Mik7C1H/a099kSBLC6qmNAkXYbVkk+mtZL7UGA7jXjf3pW3RirLqO29B27CQ==";
const LOCK_SIGNATURE_B: &str =
    "h5pUtBRWvuECyS2gtHKBqeP0+lWD8hA4/ee+KRLWCQ2PIAmvY0k+0r1Mu4j9ew5XoQJpWclmLO3zv2vLgnrkCQ==";

/// The key that `hydrant example key <letter>` hashes to.
pub(crate) fn secret(letter: char) -> SecretKey {
    use base64::Engine as _;
    let seed = Sha256::digest(format!("hydrant example key {letter}"));
    let text = base64::engine::general_purpose::STANDARD.encode(seed);
    SecretKey::parse(text.as_bytes()).unwrap()
}

pub(crate) fn ring_json() -> String {
    format!("{{\n  \"example.a\": \"{PUBLIC_A}\",\n  \"example.b\": \"{PUBLIC_B}\"\n}}\n")
}

pub(crate) fn ring() -> KeyRing {
    KeyRing::open(ring_json().as_bytes(), KEYS_DIGEST).unwrap()
}

pub(crate) fn manifest() -> Manifest {
    Manifest::parse(MANIFEST.as_bytes()).unwrap()
}

pub(crate) fn signatures_json() -> String {
    let entry = |signer, signature| {
        format!(r#"{{"signer":"{signer}","algorithm":"ed25519","signature":"{signature}"}}"#)
    };
    format!(
        r#"{{"artifact":"{ARTIFACT}","manifest_hash":"{MANIFEST_HASH}","signatures":[{},{}]}}"#,
        entry("example.a", SIGNATURE_A),
        entry("example.b", SIGNATURE_B)
    )
}

pub(crate) fn files() -> BundleFiles {
    BundleFiles {
        wasm: WASM.to_vec().into(),
        manifest: MANIFEST.as_bytes().into(),
        signatures: Some(signatures_json().into_bytes().into()),
    }
}

#[test]
fn the_example_seeds_have_the_example_public_keys() {
    assert_eq!(secret('A').public().to_base64(), PUBLIC_A);
    assert_eq!(secret('B').public().to_base64(), PUBLIC_B);
}

#[test]
fn the_digest_of_the_ring_is_over_its_bytes() {
    assert_eq!(ring().digest().as_str(), KEYS_DIGEST);
}

#[test]
fn the_artifact_is_the_digest_of_the_component_preamble() {
    assert_eq!(Digest::of(&WASM).as_str(), ARTIFACT);
}

#[test]
fn the_manifest_preimage_and_hash() {
    assert_eq!(canonical_json(&manifest()), MANIFEST.as_bytes());
    assert_eq!(manifest().hash().as_str(), MANIFEST_HASH);
}

#[test]
fn a_signature_is_over_the_71_characters_of_the_manifest_hash() {
    assert_eq!(secret('A').sign(MANIFEST_HASH.as_bytes()), SIGNATURE_A);
    assert_eq!(secret('B').sign(MANIFEST_HASH.as_bytes()), SIGNATURE_B);
    assert_eq!(SIGNATURE_A.len(), 88);
}

#[test]
fn the_hashes_of_signatures_and_bundle() {
    let signatures = Signatures::parse(signatures_json().as_bytes()).unwrap();
    assert_eq!(signatures.hash().as_str(), SIGNATURES_HASH);
    let bundle = Bundle::open(files(), Experimental::Refused).unwrap();
    assert_eq!(bundle.bundle_hash().as_str(), BUNDLE_HASH);
}

#[test]
fn the_hash_of_a_v0_receipt() {
    let hashed = serde_json::json!({
        "artifact": ARTIFACT,
        "caps_used": ["fs.read"],
        "inputs_hash": Digest::of(b"{}"),
        "outputs_hash": Digest::of(b"ok"),
        "timestamp": 1_767_225_600_u64,
    });
    assert_eq!(canonical_digest(&hashed).as_str(), RECEIPT_HASH);
}

#[test]
fn the_digest_and_the_signatures_of_a_lock() {
    let empty = Digest::of(b"");
    let lock = format!(
        r#"{{
  "schema_version": "1.0.0",
  "generated_at": "2026-01-01T00:00:00.000Z",
  "substrate_pin": {{
    "repo": "hydrant",
    "commit": "{}"
  }},
  "skills": [
    {{
      "id": "example.null",
      "version": "0.1.0",
      "bundle_dir": "skills/example.null/0.1.0",
      "artifact": "{ARTIFACT}",
      "manifest_hash": "{MANIFEST_HASH}",
      "keys_file": "public-keys.json",
      "keys_digest": "{KEYS_DIGEST}",
      "signers": [
        "example.a",
        "example.b"
      ],
      "skill_md": "{empty}"
    }}
  ]
}}
"#,
        "0".repeat(40)
    );
    let digest = Digest::of(lock.as_bytes());
    assert_eq!((lock.len(), digest.as_str()), (805, LOCK_DIGEST));
    let message = format!("hydrant-lock-v1\n{digest}");
    assert_eq!(message.len(), 87);
    assert_eq!(secret('A').sign(message.as_bytes()), LOCK_SIGNATURE_A);
    assert_eq!(secret('B').sign(message.as_bytes()), LOCK_SIGNATURE_B);
}
