//! The values of the worked example: through the binary where a command shows them, and against the
//! code that the other tests make their bundles, locks and receipts with.

use serde_json::{Value, json};

use crate::bundle::{Bundle, PREAMBLE};
use crate::canonical::{canonical, canonical_digest, digest, pretty, pretty_line};
use crate::keys;
use crate::program::{Folder, mode};
use crate::root;

const RING: &str = "sha256:6e8529f1924eb18cafe396f348854afa8ef24bd18c511ef4727d12799c79426b";
const MANIFEST: &str = "sha256:714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467";
const SIGNATURE_A: &str =
    "7h7cBluOw/9PnLeP8ERW2wVs/r6Rhyepck0skeZyhUEsddf+d8Wu52y/5jgdiIpDQKy1MN+N9Ow9Tc8ZGfZyDg==";
const SIGNATURE_B: &str =
    "Uvbkh5/2W+eLqm8X4EipfXeJUg1uo6YC3ioVUmqS7SLG2nb9sndrmiWfy6GWeCI2np6GH2nrCAFxDNlq3ZbECQ==";
const LOCK: &str = "sha256:57456a1f5be7313730cb3a6f650bdf25bb6348e4b1ee8c1b6bf2044d4edfbd45";

fn ring() -> Vec<u8> {
    keys::ring(&[keys::example_a(), keys::example_b()])
}

/// The receipt of the worked example, whole.
fn receipt() -> Value {
    let mut receipt = json!({
        "artifact": digest(PREAMBLE), "inputs_hash": digest("{}"), "outputs_hash": digest("ok"),
        "caps_used": ["fs.read"], "timestamp": 1_767_225_600,
    });
    let hash = canonical_digest(&receipt);
    receipt["receipt_hash"] = json!(hash);
    receipt
}

#[test]
fn the_digest_of_the_example_ring() {
    let folder = Folder::new();
    folder.write("keys.json", ring());
    let run = folder.ok(&["keys", "digest", "keys.json"]);
    assert_eq!(run.stdout.trim_end(), RING);
}

/// The bytes of each file after `pack` and after `sign`, twice.
#[test]
fn pack_and_sign_give_the_worked_bytes() {
    let example = Bundle::example();
    assert_eq!(example.manifest_hash(), MANIFEST);
    let folder = Folder::new();
    folder.write("in.wasm", PREAMBLE);
    folder.write("in.json", example.manifest.to_string());
    folder.write("a.key", format!(" {}\n", keys::example_a().secret()));
    folder.write("b.key", keys::example_b().secret());
    let unsigned = json!({
        "artifact": digest(PREAMBLE), "manifest_hash": MANIFEST, "signatures": [],
    });
    for _ in 0..2 {
        let run = folder.run(&[
            "pack",
            "--bundle",
            "out",
            "--wasm",
            "in.wasm",
            "--manifest",
            "in.json",
        ]);
        run.assert_line("OK pack bundle=out");
        assert_eq!(folder.read("out/skill.wasm"), PREAMBLE);
        assert_eq!(folder.read("out/manifest.json"), pretty(&example.manifest));
        assert_eq!(folder.read("out/bundle-meta.json"), pretty(&example.meta));
        assert_eq!(folder.read("out/signatures.json"), pretty(&unsigned));
        assert!(
            folder
                .text("out/signatures.json")
                .contains("\"signatures\": []")
        );
        // In the wrong order: `sign` sorts.
        for (signer, key, count) in [("example.b", "b.key", 1), ("example.a", "a.key", 2)] {
            let run = folder.run(&[
                "sign",
                "--bundle",
                "out",
                "--signer",
                signer,
                "--secret-key",
                key,
            ]);
            run.assert_line(&format!(
                "OK sign bundle=out signer={signer} signatures={count}"
            ));
        }
        let signatures = folder.json("out/signatures.json");
        assert_eq!(signatures["signatures"][0]["signature"], SIGNATURE_A);
        assert_eq!(signatures["signatures"][1]["signature"], SIGNATURE_B);
        assert_eq!(
            folder.read("out/signatures.json"),
            pretty(&example.signatures)
        );
        for name in [
            "skill.wasm",
            "manifest.json",
            "signatures.json",
            "bundle-meta.json",
        ] {
            assert_eq!(mode(&folder.path("out").join(name)), 0o600, "{name}");
        }
    }
}

#[test]
fn the_worked_receipt_is_accepted_and_its_hash_counts() {
    let receipt = receipt();
    let hash = "sha256:1a7a277e16ba8d2acf9678a44f352ab6ea0396e7742346e1624127ef75423832";
    assert_eq!(receipt["receipt_hash"], hash);
    let folder = Folder::new();
    folder.write("r.json", pretty(&receipt));
    let run = folder.run(&["verify-receipt", "--receipt", "r.json"]);
    run.assert_line(&format!(
        "OK verify-receipt artifact={} receipt=r.json",
        digest(PREAMBLE)
    ));
    let mut changed = receipt;
    changed["timestamp"] = json!(1_767_225_601);
    folder.write("r.json", pretty(&changed));
    let run = folder.run(&["verify-receipt", "--receipt", "r.json"]);
    run.assert_failed("digest mismatch");
}

/// The tests' own writers give the worked values, so that a test which
/// compares the binary with them compares it with values from elsewhere.
#[test]
fn the_tests_own_writers_give_the_worked_values() {
    let example = Bundle::example();
    let preimage = concat!(
        r#"{"artifact":"sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29","#,
        r#""capabilities":[{"kind":"fs.read","value":"/workspace"}],"entrypoint":"run","name":"example.null","#,
        r#""signers":["example.a","example.b"],"version":"0.1.0"}"#
    );
    assert_eq!(canonical(&example.manifest), preimage);
    assert_eq!(digest(ring()), RING);
    assert_eq!(
        keys::example_a().public(),
        "ikGUnmwWk4dKGDdhofcz0sZ+h7zkiSUZ8knyAUpSC1c="
    );
    assert_eq!(
        keys::example_b().public(),
        "faMDdjeCjCpUXU7ti+Apqzme7qC+ogPUlhJ4jG37M/8="
    );
    assert_eq!(
        canonical_digest(&example.signatures),
        "sha256:28564e0136513af2a3f5ba62ac620c60ea1970dd20f4f7af79370637139b6086"
    );
    assert_eq!(
        example.bundle_hash(),
        "sha256:0cf84783212988509a7235d5dbd5859b2c1a30aff2eaa23e5932539df3f386b3"
    );
    let entry = json!({
        "id": "example.null", "version": "0.1.0", "bundle_dir": "skills/example.null/0.1.0",
        "artifact": digest(PREAMBLE), "manifest_hash": MANIFEST, "keys_file": "public-keys.json",
        "keys_digest": RING, "signers": ["example.a", "example.b"], "skill_md": digest(""),
    });
    let lock = pretty_line(&root::lock(&"0".repeat(40), &[entry]));
    assert_eq!((lock.len(), digest(&lock).as_str()), (805, LOCK));
    let message = keys::lock_message(&lock);
    assert_eq!(message.len(), 87);
    assert_eq!(
        keys::example_a().sign(&message),
        "AlOHm4mA/QJ5iEKe0oZ0eKyay3Mik7C1H/a099kSBLC6qmNAkXYbVkk+mtZL7UGA7jXjf3pW3RirLqO29B27CQ=="
    );
    assert_eq!(
        keys::example_b().sign(&message),
        "h5pUtBRWvuECyS2gtHKBqeP0+lWD8hA4/ee+KRLWCQ2PIAmvY0k+0r1Mu4j9ew5XoQJpWclmLO3zv2vLgnrkCQ=="
    );
}

/// The id of the host world, computed here from the WIT files.
#[test]
fn the_world_id_is_that_of_the_wit_files() {
    let run = Folder::new().run(&["world"]);
    run.assert_line(&format!("world=hydrant:host/skill id={}", root::world()));
}
