//! The signatures of a lock, with worked values.

use super::*;
use crate::lock::document::worked;
use crate::vectors::{ring, secret};

const SIGNATURE_A: &str =
    "AlOHm4mA/QJ5iEKe0oZ0eKyay3Mik7C1H/a099kSBLC6qmNAkXYbVkk+mtZL7UGA7jXjf3pW3RirLqO29B27CQ==";
const SIGNATURE_B: &str =
    "h5pUtBRWvuECyS2gtHKBqeP0+lWD8hA4/ee+KRLWCQ2PIAmvY0k+0r1Mu4j9ew5XoQJpWclmLO3zv2vLgnrkCQ==";

fn lock() -> Digest {
    Digest::of(&worked().to_bytes())
}

fn entry(signer: &str, signature: &str) -> SignatureEntry {
    SignatureEntry {
        signer: signer.to_owned(),
        algorithm: "ed25519".to_owned(),
        signature: signature.to_owned(),
    }
}

fn of(entries: &[SignatureEntry]) -> LockSignatures {
    LockSignatures {
        entries: entries.to_vec(),
    }
}

fn both() -> LockSignatures {
    of(&[
        entry("example.a", SIGNATURE_A),
        entry("example.b", SIGNATURE_B),
    ])
}

#[test]
fn the_message_is_87_bytes_with_its_domain() {
    let message = LockSignatures::message(&lock());
    assert_eq!(message.len(), 87);
    let text = String::from_utf8(message).unwrap();
    assert_eq!(text, format!("hydrant-lock-v1\n{}", lock()));
}

#[test]
fn the_worked_signatures_verify_and_come_out_of_signing() {
    both().verify(&lock(), &ring(), 2).unwrap();
    let mut signatures = LockSignatures::default();
    signatures.sign("example.b", &secret('B'), &lock());
    signatures.sign("example.a", &secret('A'), &lock());
    assert_eq!(signatures.entries(), both().entries());
    // Signing again replaces.
    signatures.sign("example.b", &secret('B'), &lock());
    assert_eq!(signatures.entries(), both().entries());
}

#[test]
fn a_bundle_signature_is_no_lock_signature() {
    let bare = secret('A').sign(lock().as_str().as_bytes());
    let signatures = of(&[entry("example.a", &bare)]);
    let error = signatures.verify(&lock(), &ring(), 1).unwrap_err();
    assert!(
        matches!(error, LockSignatureError::Signature { .. }),
        "{error}"
    );
}

#[test]
fn the_file_has_one_form() {
    let expected = format!(
        "[\n  {{\n    \"signer\": \"example.a\",\n    \"algorithm\": \"ed25519\",\n    \"signature\": \"{SIGNATURE_A}\"\n  }}\n]\n"
    );
    let bytes = of(&[entry("example.a", SIGNATURE_A)]).to_bytes();
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    let bytes = both().to_bytes();
    assert_eq!(
        LockSignatures::parse(&bytes).unwrap().entries(),
        both().entries()
    );
    let text = String::from_utf8(bytes).unwrap();
    for other in [
        text.trim_end().to_owned(),
        format!("{text}\n"),
        text.replace("  ", " "),
        text.replace("\": ", "\":"),
        text.replacen("example", "\\u0065xample", 1),
    ] {
        let error = LockSignatures::parse(other.as_bytes()).unwrap_err();
        assert!(
            matches!(error, LockSignatureError::Form),
            "{other}: {error}"
        );
    }
}

#[test]
fn other_members_orders_and_algorithms_are_refused() {
    let text = String::from_utf8(both().to_bytes()).unwrap();
    for (old, new) in [
        ("{", "{\"extra\": 1,"),
        ("\"signer\":", "\"signer\": \"x\", \"signer\":"),
        ("\"algorithm\": \"ed25519\",", ""),
        ("\"ed25519\"", "1"),
        ("[", "{"),
    ] {
        let bad = text.replacen(old, new, 1);
        let error = LockSignatures::parse(bad.as_bytes()).unwrap_err();
        assert!(
            matches!(error, LockSignatureError::Json(_)),
            "{new}: {error}"
        );
    }
    let [a, b] = [
        entry("example.a", SIGNATURE_A),
        entry("example.b", SIGNATURE_B),
    ];
    for bad in [[b, a.clone()], [a.clone(), a.clone()]] {
        let error = LockSignatures::parse(&of(&bad).to_bytes()).unwrap_err();
        assert!(matches!(error, LockSignatureError::Order(_)), "{error}");
    }
    let other = SignatureEntry {
        algorithm: "ed25519ph\u{1b}".to_owned(),
        ..a
    };
    let error = LockSignatures::parse(&of(&[other]).to_bytes()).unwrap_err();
    assert!(matches!(error, LockSignatureError::Algorithm(_)), "{error}");
    assert!(!error.to_string().contains('\u{1b}'));
}

#[test]
fn every_entry_must_verify_not_only_enough_of_them() {
    let good = [
        entry("example.a", SIGNATURE_A),
        entry("example.b", SIGNATURE_B),
    ];
    for (bad, said) in [
        (
            entry("example.c", SIGNATURE_A),
            "missing public key for signer",
        ),
        (
            entry("example.b", SIGNATURE_A),
            "signature verification failed for signer",
        ),
        (entry("example.b", "!"), "base64 decode failed"),
        (entry("example.b", "AAAA"), "invalid signature bytes"),
    ] {
        let signatures = of(&[good[0].clone(), bad.clone()]);
        let error = signatures
            .verify(&lock(), &ring(), 1)
            .unwrap_err()
            .to_string();
        let expected = format!("lock signature of {}: {said}", bad.signer);
        assert!(error.starts_with(&expected), "{error} without {expected}");
    }
    let other = Digest::of(b"another lock");
    assert!(of(&good).verify(&other, &ring(), 2).is_err());
}

#[test]
fn too_few_signers_are_refused() {
    let one = of(&[entry("example.a", SIGNATURE_A)]);
    for (signatures, minimum) in [
        (LockSignatures::default(), 1),
        (one.clone(), 2),
        (both(), 3),
    ] {
        let error = signatures.verify(&lock(), &ring(), minimum).unwrap_err();
        assert!(
            matches!(error, LockSignatureError::TooFew { minimum: said, .. } if said == minimum),
            "{error}"
        );
    }
    one.verify(&lock(), &ring(), 1).unwrap();
}

/// Two names with one key are one signer, though a ring with two such names is refused as well.
#[test]
fn one_key_under_two_names_counts_once() {
    let key_a = ring().get("example.a").unwrap().to_base64();
    let ring = format!(r#"{{"example.a":"{key_a}","example.z":"{key_a}"}}"#);
    let ring = KeyRing::parse(ring.as_bytes()).unwrap();
    let signatures = of(&[
        entry("example.a", SIGNATURE_A),
        entry("example.z", SIGNATURE_A),
    ]);
    let error = signatures.verify(&lock(), &ring, 2).unwrap_err();
    assert!(
        matches!(error, LockSignatureError::TooFew { actual: 1, .. }),
        "{error}"
    );
}

#[test]
fn only_signatures_over_the_same_bytes_are_kept() {
    let mut signatures = of(&[
        entry("example.a", SIGNATURE_A),
        entry("example.b", SIGNATURE_A),
    ]);
    signatures.retain_valid(&lock(), &ring());
    assert_eq!(signatures.entries(), [entry("example.a", SIGNATURE_A)]);
    signatures.retain_valid(&Digest::of(b"another lock"), &ring());
    assert_eq!(signatures.entries(), []);
}
