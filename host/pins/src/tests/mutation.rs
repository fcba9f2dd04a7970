//! No byte of a root can be changed unnoticed.

use crate::testing::Scratch;
use crate::{LOCK, LOCK_SIGNATURE, Options, RING, verify};

/// Flips a bit of every byte of `path` and says which exit codes came out; each must come with a file and a rule.
fn flip_every_byte(path: &str) -> Vec<u8> {
    let scratch = Scratch::new();
    let anchor = scratch.anchor();
    let root = scratch.root();
    let good = scratch.read(path);
    let mut codes = Vec::new();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        scratch.write(path, &bad);
        let probe = crate::testing::content();
        let verification = verify(&root, &anchor, &Options::default(), &probe);
        let found = verification.findings.found();
        assert!(!found.is_empty(), "{path} byte {at}");
        assert!(
            found.iter().all(|finding| finding.path.is_some()),
            "{found:?}"
        );
        codes.push(verification.findings.exit_code());
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn every_byte_of_ring_lock_and_lock_signature_counts() {
    for path in [RING, LOCK, LOCK_SIGNATURE] {
        assert_eq!(flip_every_byte(path), [3], "{path}");
    }
}

/// A changed byte fails one of `TV-11` to `TV-23`. One of a manifest or its signatures is drift, or makes
/// a signer one who was not declared or did not sign.
#[test]
fn every_byte_of_a_bundle_counts() {
    let bundle = "skills/a.skill/0.1.0";
    for (name, codes) in [
        ("skill.wasm", &[2][..]),
        ("manifest.json", &[2, 3]),
        ("bundle-meta.json", &[2]),
        ("public-keys.json", &[3]),
        ("signatures.json", &[2, 3]),
    ] {
        assert_eq!(
            flip_every_byte(&format!("{bundle}/{name}")),
            codes,
            "{name}"
        );
    }
    assert_eq!(flip_every_byte("skills/a.skill/SKILL.md"), [2]);
}
