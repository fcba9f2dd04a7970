use super::*;
use crate::vectors::{self, KEYS_DIGEST, PUBLIC_A, PUBLIC_B};
use hydrant_base::Digest;
use std::os::unix::fs::symlink;
use std::path::Path;

fn ring(json: &str) -> Result<KeyRing, KeyError> {
    KeyRing::parse(json.as_bytes())
}

fn refusal(json: &str) -> String {
    ring(json).unwrap_err().to_string()
}

/// A ring of a root: names and keys in the order given, in the written form.
fn pins_ring(entries: &[(&str, &str)]) -> String {
    let lines: Vec<_> = entries
        .iter()
        .map(|(name, key)| format!("  \"{name}\": \"{key}\""))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn pins_refusal(json: &str, min_signers: usize) -> String {
    let ring = ring(json).unwrap();
    ring.check_pins_form(min_signers).unwrap_err().to_string()
}

fn own_key(number: u8) -> String {
    let seed = STANDARD.encode([200 + number; 32]);
    SecretKey::parse(seed.as_bytes())
        .unwrap()
        .public()
        .to_base64()
}

#[test]
fn a_ring_is_one_flat_object_and_may_hold_more_than_is_needed() {
    let ring = ring(&vectors::ring_json()).unwrap();
    assert_eq!(ring.names().collect::<Vec<_>>(), ["example.a", "example.b"]);
    assert_eq!(ring.get("example.a").unwrap().to_base64(), PUBLIC_A);
    assert_eq!(ring.get("example.c"), None);
    assert_eq!(ring.bytes(), vectors::ring_json().as_bytes());
    assert_eq!(KeyRing::parse(b" {} ").unwrap().names().count(), 0);
}

#[test]
fn every_entry_must_decode() {
    let entry = |key: &str| format!(r#"{{"a":"{PUBLIC_A}","b\n":"{key}"}}"#);
    let unpadded = PUBLIC_B.trim_end_matches('=');
    // The last two bits of a 32-byte key's last character are unused.
    let unused_bits = PUBLIC_B.replace("8=", "9=");
    let spaced = format!(" {PUBLIC_B}");
    let url_alphabet = PUBLIC_B.replace('/', "_");
    for bad in ["!", unpadded, &unused_bits, &spaced, &url_alphabet] {
        assert_eq!(
            refusal(&entry(bad)),
            r"invalid base64 key for signer: b\u{a}",
            "{bad}"
        );
    }
    for bytes in [0, 31, 33] {
        let bad = STANDARD.encode(vec![7; bytes]);
        assert_eq!(
            refusal(&entry(&bad)),
            r"invalid key length for signer: b\u{a}"
        );
    }
    // No point of the curve has 2 as its second coordinate.
    let mut off_the_curve = [0; 32];
    off_the_curve[0] = 2;
    assert_eq!(
        refusal(&entry(&STANDARD.encode(off_the_curve))),
        r"invalid key bytes for signer: b\u{a}"
    );
}

#[test]
fn other_json_is_no_ring() {
    for bad in [
        "",
        "[]",
        r#"{"a":1}"#,
        r#"{"a":{}}"#,
        &format!(r#"{{"a":"{PUBLIC_A}","a":"{PUBLIC_A}"}}"#),
        &format!(r#"{{"a":"{PUBLIC_A}"}} {{}}"#),
    ] {
        assert!(refusal(bad).starts_with("invalid keys JSON: "), "{bad}");
    }
    let large = format!("{}{{}}", " ".repeat(1_048_575));
    assert_eq!(
        refusal(&large),
        "public-keys.json exceeds maximum size (1048577 bytes > 1048576 bytes)"
    );
    assert!(ring(large.split_at(1).1).is_ok());
}

#[test]
fn keys_of_small_order_and_second_encodings_are_refused() {
    let mut minus_one = [0xff; 32];
    (minus_one[0], minus_one[31]) = (0xec, 0x7f);
    // p and p + 1 are second encodings of 0 and 1; p + 3 of 3, a point of large order.
    let [mut p, mut p_and_1, mut p_and_3] = [minus_one; 3];
    (p[0], p_and_1[0], p_and_3[0]) = (0xed, 0xee, 0xf0);
    let mut one = [0; 32];
    one[0] = 1;
    let mut three = [0; 32];
    three[0] = 3;
    let mut negative_zero = [0; 32];
    negative_zero[31] = 0x80;
    let order_8 = "JuiVj8KyJ7BFw/SJ8u+Y8NXfrAXTxjM5sTgCiG1T/AU=";
    let order_8 = STANDARD.decode(order_8).unwrap().try_into().unwrap();
    for bad in [
        [0; 32],
        negative_zero,
        one,
        minus_one,
        order_8,
        p,
        p_and_1,
        p_and_3,
    ] {
        let json = format!(r#"{{"a":"{}"}}"#, STANDARD.encode(bad));
        assert_eq!(
            refusal(&json),
            "invalid key bytes for signer: a",
            "{bad:02x?}"
        );
    }
    assert!(PublicKey::from_bytes(&three).is_some());
}

#[test]
fn the_digest_is_checked_before_the_ring_is_parsed() {
    let json = vectors::ring_json();
    assert!(KeyRing::open(json.as_bytes(), KEYS_DIGEST).is_ok());
    let open = |bytes: &[u8], digest: &str| KeyRing::open(bytes, digest).unwrap_err().to_string();
    for bad in [
        "",
        vectors::ring().digest().hex(),
        &KEYS_DIGEST.to_uppercase(),
        "sha256:\n",
    ] {
        let message = open(b"not JSON", bad);
        assert!(
            message.starts_with("invalid --keys-digest format"),
            "{message}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
    let actual = Digest::of(b"not JSON");
    assert_eq!(
        open(b"not JSON", KEYS_DIGEST),
        format!("public keys digest mismatch (expected {KEYS_DIGEST}, got {actual})")
    );
    assert!(open(b"not JSON", actual.as_str()).starts_with("invalid keys JSON"));
}

#[test]
fn white_space_counts() {
    let json = vectors::ring_json();
    for changed in [
        format!("{json}\n"),
        json.trim_end().to_owned(),
        json.replace("  ", " "),
    ] {
        let error = KeyRing::open(changed.as_bytes(), KEYS_DIGEST).unwrap_err();
        assert!(matches!(error, KeyError::DigestMismatch { .. }), "{error}");
    }
}

#[test]
fn a_root_s_ring_has_one_written_form() {
    let (one, other) = (own_key(0), own_key(1));
    let good = pins_ring(&[("hydrant.build", &one), ("hydrant.release", &other)]);
    assert!(ring(&good).unwrap().check_pins_form(2).is_ok());
    let unsorted = pins_ring(&[("hydrant.release", &other), ("hydrant.build", &one)]);
    for changed in [
        unsorted,
        good.trim_end().to_owned(),
        format!("{good}\n"),
        good.replace("  ", "\t"),
        good.replace('\n', "\r\n"),
        good.replace("hydrant.build", "hydrant\\u002ebuild"),
    ] {
        assert_eq!(
            pins_refusal(&changed, 2),
            "ring is not written with sorted names, 2 spaces of indent and a final newline"
        );
    }
}

#[test]
fn a_root_s_ring_has_at_least_min_signers() {
    let key = own_key(0);
    let one = pins_ring(&[("a", &key)]);
    assert!(ring(&one).unwrap().check_pins_form(1).is_ok());
    assert_eq!(
        pins_refusal(&one, 2),
        "ring has 1 signers, at least 2 are needed"
    );
}

#[test]
fn names_are_short_and_lower_case() {
    let (one, other) = (own_key(0), own_key(1));
    let longest = "z".repeat(64);
    assert!(
        ring(&pins_ring(&[("0-._a", &one), (&longest, &other)]))
            .unwrap()
            .check_pins_form(2)
            .is_ok()
    );
    for bad in ["", "A", ".a", "_a", "a b", "a/b", &"z".repeat(65)] {
        let message = pins_refusal(&pins_ring(&[(bad, &one), ("zz", &other)]), 2);
        assert_eq!(message, format!("invalid signer name in ring: {bad}"));
    }
}

#[test]
fn two_names_never_share_a_key() {
    let key = own_key(0);
    assert_eq!(
        pins_refusal(&pins_ring(&[("a", &key), ("b", &key)]), 2),
        "signers a and b share one key"
    );
}

#[test]
fn publicly_known_keys_are_refused_for_a_root_only() {
    let counting: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
    // The secret keys of RFC 8032, section 7.1.
    let rfc_8032 = [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    ];
    let mut known: Vec<String> = rfc_8032
        .iter()
        .map(|hex| {
            let byte =
                |at: usize| u8::from_str_radix(hex.get(2 * at..2 * at + 2).unwrap(), 16).unwrap();
            std::array::from_fn::<u8, 32, _>(byte)
        })
        .chain([counting])
        .map(|seed| SecretKey::parse(STANDARD.encode(seed).as_bytes()).unwrap())
        .map(|key| key.public().to_base64())
        .collect();
    assert_eq!(known[5], "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
    known.extend([PUBLIC_A.to_owned(), PUBLIC_B.to_owned()]);
    for key in known {
        let json = pins_ring(&[("a", &own_key(0)), ("b", &key)]);
        assert_eq!(pins_refusal(&json, 2), "key of signer b is publicly known");
    }
}

#[test]
fn a_secret_key_is_the_base64_of_its_seed_with_white_space_around_it() {
    use base64::Engine as _;
    let seed = STANDARD.encode([9; 32]);
    let key = SecretKey::parse(format!(" \t{seed}\r\n").as_bytes()).unwrap();
    assert_eq!(
        key.public(),
        SecretKey::parse(seed.as_bytes()).unwrap().public()
    );
    for bad in [
        "",
        "!",
        seed.split_at(1).1,
        &format!("{seed}\n{seed}"),
        &seed.replace('=', ""),
    ] {
        let message = SecretKey::parse(bad.as_bytes()).unwrap_err().to_string();
        let expected = if bad.is_empty() {
            "invalid secret key length (expected 32 bytes)"
        } else {
            "invalid base64 secret key"
        };
        assert_eq!(message, expected);
    }
    assert_eq!(
        SecretKey::parse(b"\xff").unwrap_err().to_string(),
        "invalid base64 secret key"
    );
    for bytes in [31, 33, 64] {
        assert_eq!(
            SecretKey::parse(STANDARD.encode(vec![9; bytes]).as_bytes())
                .unwrap_err()
                .to_string(),
            "invalid secret key length (expected 32 bytes)"
        );
    }
}

#[test]
fn a_secret_key_file_has_at_most_16384_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.key");
    let seed = STANDARD.encode([9; 32]);
    std::fs::write(&path, format!("{seed}{}", " ".repeat(16_384 - seed.len()))).unwrap();
    assert!(SecretKey::read(&path).is_ok());
    std::fs::write(&path, " ".repeat(16_385)).unwrap();
    let message = SecretKey::read(&path).unwrap_err().to_string();
    assert!(message.starts_with("secret-key exceeds maximum size (16385 bytes > 16384 bytes)"));
}

#[test]
fn secret_bytes_appear_neither_in_debug_output_nor_in_errors() {
    let seed = STANDARD.encode([9; 32]);
    let key = SecretKey::parse(seed.as_bytes()).unwrap();
    assert_eq!(
        format!("{key:?}"),
        format!("SecretKey of {}", key.public().to_base64())
    );
    let broken = seed.replace('=', "!");
    let error = SecretKey::parse(broken.as_bytes()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(seed.split_at(8).0));
}

#[test]
fn a_signing_key_lies_under_its_signer_s_name() {
    let directory = Path::new("/keys");
    assert_eq!(
        signing_key_path(directory, "hydrant.build").unwrap(),
        Path::new("/keys/hydrant.build.key")
    );
    for bad in ["", "..", "../a", "a/b", "/etc/a", "a\0"] {
        let error = signing_key_path(directory, bad).unwrap_err().to_string();
        assert!(error.starts_with("invalid manifest signer: "), "{error}");
    }
}

#[test]
fn a_directory_of_keys_inside_the_root_is_refused_by_whichever_way() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    let inside = root.join("keys");
    let beside = directory.path().join("root-keys");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir(&beside).unwrap();
    symlink(&inside, beside.join("link")).unwrap();
    symlink(&root, directory.path().join("alias")).unwrap();
    assert!(refuse_inside(&root, &beside).is_ok());
    assert!(refuse_inside(&inside, &root).is_ok());
    for (root, keys) in [
        (root.clone(), inside.clone()),
        (root.clone(), root.clone()),
        (root.clone(), beside.join("link")),
        (directory.path().join("alias"), inside),
        (root.clone(), beside.join("../root/keys")),
    ] {
        let error = refuse_inside(&root, &keys).unwrap_err();
        assert!(matches!(error, KeyError::InsideRoot { .. }), "{error}");
    }
    assert!(matches!(
        refuse_inside(&root, &root.join("none")),
        Err(KeyError::File(_))
    ));
}
