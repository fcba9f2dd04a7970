use super::*;
use crate::vectors::{self, MANIFEST_HASH, PUBLIC_A, SIGNATURE_A, SIGNATURE_B};

fn entry(signer: &str, algorithm: &str, signature: &str) -> SignatureEntry {
    SignatureEntry {
        signer: signer.to_owned(),
        algorithm: algorithm.to_owned(),
        signature: signature.to_owned(),
    }
}

fn check(entry: &SignatureEntry) -> Result<PublicKey, SignatureError> {
    verify_entry(entry, MANIFEST_HASH.as_bytes(), &vectors::ring())
}

fn of_a(signature: &str) -> Result<PublicKey, SignatureError> {
    check(&entry("example.a", ALGORITHM, signature))
}

#[test]
fn an_honest_signature_answers_its_key() {
    assert_eq!(of_a(SIGNATURE_A).unwrap().to_base64(), PUBLIC_A);
}

/// Each of these entries has the faults of all after it too.
#[test]
fn algorithm_key_base64_length_and_signature_are_checked_in_this_order() {
    for (entry, expected) in [
        (
            entry("x\n", "Ed25519\n", "!"),
            r"unsupported signature algorithm: Ed25519\u{a}",
        ),
        (
            entry("x\n", ALGORITHM, "!"),
            r"missing public key for signer: x\u{a}",
        ),
        (entry("example.a", ALGORITHM, "!"), "base64 decode failed"),
        (
            entry("example.a", ALGORITHM, "AAAA"),
            "invalid signature bytes",
        ),
        (
            entry("example.a", ALGORITHM, SIGNATURE_B),
            "signature verification failed for signer: example.a",
        ),
    ] {
        let message = check(&entry).unwrap_err().to_string();
        assert!(
            message.starts_with(expected),
            "{message} without {expected}"
        );
    }
}

#[test]
fn base64_has_padding_no_white_space_and_no_unused_bits() {
    for bad in [
        SIGNATURE_A.trim_end_matches('=').to_owned(),
        format!("{SIGNATURE_A}\n"),
        format!(" {SIGNATURE_A}"),
        SIGNATURE_A.replace("ERW", "E\nRW"),
        SIGNATURE_A.replace("Dg==", "Dh=="),
        SIGNATURE_A.replace('/', "_").replace('+', "-"),
    ] {
        let error = of_a(&bad).unwrap_err();
        assert!(
            matches!(error, SignatureError::Base64(_)),
            "{bad:?}: {error}"
        );
    }
}

#[test]
fn a_signature_has_64_bytes() {
    for bytes in [0, 63, 65, 128] {
        let error = of_a(&STANDARD.encode(vec![1; bytes])).unwrap_err();
        assert!(
            matches!(error, SignatureError::Length(_)),
            "{bytes}: {error}"
        );
    }
}

#[test]
fn every_byte_of_signature_and_message_counts() {
    let signature = STANDARD.decode(SIGNATURE_A).unwrap();
    for at in 0..64 {
        let mut flipped = signature.clone();
        flipped[at] ^= 1;
        let error = of_a(&STANDARD.encode(flipped)).unwrap_err();
        assert!(
            matches!(error, SignatureError::Verification(_)),
            "{at}: {error}"
        );
    }
    let entry = entry("example.a", ALGORITHM, SIGNATURE_A);
    for message in [
        MANIFEST_HASH.split_at(7).1,
        &format!("{MANIFEST_HASH}\n"),
        "",
    ] {
        assert!(verify_entry(&entry, message.as_bytes(), &vectors::ring()).is_err());
    }
}

/// Both vectors were computed outside, from the example key A and its manifest hash.
#[test]
fn verification_is_strict() {
    // S + L in place of S: the same signature by the equation, malleable without knowing the key.
    let second_s =
        "7h7cBluOw/9PnLeP8ERW2wVs/r6Rhyepck0skeZyhUEZSc1bkijBP0Nc3tv7gWlYQKy1MN+N9Ow9Tc8ZGfZyHg==";
    // R is the neutral point and S fits: the equation holds, so only strictness refuses it.
    let small_r =
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB2CS3vFwZpCvsptL4W1AabdlpjaN8BYvcYrQl2Qm4tDw==";
    for bad in [second_s, small_r] {
        let error = of_a(bad).unwrap_err();
        assert!(matches!(error, SignatureError::Verification(_)), "{error}");
    }
    let lax = |signature: &str| {
        use ed25519_dalek::Verifier as _;
        let key = vectors::secret('A').public();
        let key = ed25519_dalek::VerifyingKey::from_bytes(key.as_bytes()).unwrap();
        let bytes = STANDARD.decode(signature).unwrap().try_into().unwrap();
        let signature = ed25519_dalek::Signature::from_bytes(&bytes);
        key.verify(MANIFEST_HASH.as_bytes(), &signature).is_ok()
    };
    assert!(
        lax(SIGNATURE_A) && lax(small_r),
        "the vector must hold by the equation"
    );
}
