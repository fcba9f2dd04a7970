use super::*;
use crate::vectors::{self, ARTIFACT, KEYS_DIGEST, MANIFEST, SIGNATURE_A, SIGNATURE_B};
use std::os::unix::fs::symlink;

/// A change to the files of the worked example, and what refuses it.
fn refusal(manifest: &str, signatures: &str, wasm: &[u8]) -> (Step, String) {
    let files = BundleFiles {
        wasm: wasm.to_vec().into(),
        manifest: manifest.as_bytes().to_vec().into(),
        signatures: Some(signatures.as_bytes().to_vec().into()),
    };
    let verified = Bundle::open(files, Experimental::Refused)
        .and_then(|bundle| bundle.verify_with(vectors::ring_json().as_bytes(), KEYS_DIGEST));
    let error = verified.unwrap_err();
    (error.step(), error.to_string())
}

fn open() -> Bundle {
    Bundle::open(vectors::files(), Experimental::Refused).unwrap()
}

/// The example signatures with `entries` in place of both entries.
fn signatures_with(entries: &str) -> String {
    let json = vectors::signatures_json();
    let start = json.find("[{").unwrap();
    format!("{}[{entries}]}}", json.get(..start).unwrap())
}

fn entry(signer: &str, signature: &str) -> String {
    format!(r#"{{"signer":"{signer}","algorithm":"ed25519","signature":"{signature}"}}"#)
}

#[test]
fn the_worked_example_verifies() {
    let verified = open().verify(&vectors::ring()).unwrap();
    assert_eq!(verified.artifact().as_str(), ARTIFACT);
    assert_eq!(verified.manifest_hash().as_str(), vectors::MANIFEST_HASH);
    assert_eq!(verified.wasm().bytes(), vectors::WASM);
    assert_eq!(verified.form(), WasmForm::Component);
    assert_eq!(verified.manifest().name, "example.null");
    assert_eq!(verified.signatures().signers(), ["example.a", "example.b"]);
}

#[test]
fn each_fault_is_found_at_its_step_with_its_message() {
    let good = vectors::signatures_json();
    let wasm = &vectors::WASM;
    let other = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    let draft = MANIFEST.replacen('{', r#"{"schema_version":"2","#, 1);
    let draft_hash = Manifest::parse(draft.as_bytes()).unwrap().hash();
    let for_draft = good.replace(vectors::MANIFEST_HASH, draft_hash.as_str());
    for (manifest, signatures, wasm, step, message) in [
        (
            &*MANIFEST.replace("run", "ru\\n"),
            &*good,
            &wasm[..],
            Step::ManifestHash,
            "signatures.manifest_hash must equal canonical manifest hash",
        ),
        ("{}", &good, wasm, Step::Manifest, "invalid manifest JSON"),
        (
            MANIFEST,
            "{}",
            wasm,
            Step::Signatures,
            "invalid signatures JSON",
        ),
        (
            MANIFEST,
            &good.replace("example.b", "example.a"),
            wasm,
            Step::Signatures,
            "duplicate signature entry for signer: example.a",
        ),
        (
            MANIFEST,
            &good.replace(ARTIFACT, other),
            wasm,
            Step::Artifact,
            "manifest.artifact must equal signatures.artifact",
        ),
        (
            MANIFEST,
            &good,
            b"other",
            Step::Artifact,
            "digest mismatch: expected sha256:24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29, got sha256:d9298a10",
        ),
        (
            &draft,
            &for_draft,
            wasm,
            Step::Schema,
            "unsupported manifest schema version: 2",
        ),
        (
            MANIFEST,
            &signatures_with(""),
            wasm,
            Step::Signature,
            "signature set is empty",
        ),
        (
            MANIFEST,
            &good.replacen("ed25519", "rsa", 1),
            wasm,
            Step::Signature,
            "unsupported signature algorithm: rsa",
        ),
        (
            MANIFEST,
            &good.replacen("example.a", "example.c", 1),
            wasm,
            Step::Signature,
            "missing public key for signer: example.c",
        ),
        (
            MANIFEST,
            &good.replace(SIGNATURE_B, "!"),
            wasm,
            Step::Signature,
            "base64 decode failed",
        ),
        (
            MANIFEST,
            &good.replace(SIGNATURE_B, "AAAA"),
            wasm,
            Step::Signature,
            "invalid signature bytes",
        ),
        (
            MANIFEST,
            &good.replace(SIGNATURE_B, SIGNATURE_A),
            wasm,
            Step::Signature,
            "signature verification failed for signer: example.b",
        ),
    ] {
        let (actual_step, actual) = refusal(manifest, signatures, wasm);
        assert!(actual.starts_with(message), "{actual} without {message}");
        assert_eq!(actual_step, step, "{actual}");
    }
}

/// A bundle with every fault at once; each is mended in turn, so that the next one shows.
#[test]
fn the_first_of_many_faults_is_reported() {
    let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let manifest = |artifact: &str, version: &str| {
        MANIFEST.replace(ARTIFACT, artifact).replacen(
            '{',
            &format!("{{\"schema_version\":{version},"),
            1,
        )
    };
    let hash = |text: &str| Manifest::parse(text.as_bytes()).unwrap().hash().to_string();
    let signatures = |artifact: &str, hash: &str, entries: &str| {
        format!(r#"{{"artifact":"{artifact}","manifest_hash":"{hash}","signatures":[{entries}]}}"#)
    };
    let faulty = manifest(&digest("1"), "\"2\"");
    let mended = manifest(ARTIFACT, "\"2\"");
    let (zero, one) = (digest("0"), digest("1"));
    let stages = [
        ("{", "{".to_owned(), Step::Manifest),
        (&*faulty, "{".to_owned(), Step::Signatures),
        (&faulty, signatures(&zero, &zero, ""), Step::Artifact),
        (&faulty, signatures(&one, &zero, ""), Step::ManifestHash),
        (
            &faulty,
            signatures(&one, &hash(&faulty), ""),
            Step::Artifact,
        ),
        (
            &mended,
            signatures(ARTIFACT, &hash(&mended), ""),
            Step::Schema,
        ),
        (
            MANIFEST,
            signatures(ARTIFACT, vectors::MANIFEST_HASH, ""),
            Step::Signature,
        ),
    ];
    for (manifest, signatures, step) in stages {
        let (actual, message) = refusal(manifest, &signatures, &vectors::WASM);
        assert_eq!(actual, step, "{message}");
    }
    let steps = |ring: &[u8], digest: &str| {
        let error = open().verify_with(ring, digest).unwrap_err();
        (error.step(), error.to_string())
    };
    let not_a_ring = Digest::of(b"[]");
    assert_eq!(steps(b"[]", "x").0, Step::KeysDigest);
    let (step, message) = steps(b"[]", KEYS_DIGEST);
    assert_eq!(step, Step::KeysDigest);
    assert!(
        message.starts_with("public keys digest mismatch"),
        "{message}"
    );
    let (step, message) = steps(b"[]", not_a_ring.as_str());
    assert_eq!(step, Step::Keys);
    assert!(message.starts_with("invalid keys JSON"), "{message}");
}

#[test]
fn a_draft_manifest_opens_only_when_asked_for() {
    let draft = MANIFEST.replacen('{', r#"{"schema_version":"1.0.0-draft","#, 1);
    let hash = Manifest::parse(draft.as_bytes()).unwrap().hash();
    let signatures = vectors::signatures_json().replace(vectors::MANIFEST_HASH, hash.as_str());
    let files = BundleFiles {
        manifest: draft.into_bytes().into(),
        signatures: Some(signatures.into_bytes().into()),
        ..vectors::files()
    };
    assert!(Bundle::open(files.clone(), Experimental::Allowed).is_ok());
    let error = Bundle::open(files, Experimental::Refused).unwrap_err();
    assert_eq!(error.step(), Step::Schema);
    assert!(error.to_string().contains("requires --allow-experimental"));
}

#[test]
fn a_valid_signature_of_a_signer_the_manifest_does_not_name_is_refused() {
    let manifest = MANIFEST.replace(r#","example.b""#, "");
    let hash = Manifest::parse(manifest.as_bytes()).unwrap().hash();
    let entries = ['A', 'B'].map(|letter| {
        let signer = format!("example.{}", letter.to_ascii_lowercase());
        entry(
            &signer,
            &vectors::secret(letter).sign(hash.as_str().as_bytes()),
        )
    });
    let signatures =
        signatures_with(&entries.join(",")).replace(vectors::MANIFEST_HASH, hash.as_str());
    let (step, message) = refusal(&manifest, &signatures, &vectors::WASM);
    assert_eq!(step, Step::Signature);
    assert_eq!(
        message,
        "signature signer is not declared in manifest.signers: example.b"
    );
}

#[test]
fn one_valid_signature_is_enough() {
    let files = BundleFiles {
        signatures: Some(
            signatures_with(&entry("example.b", SIGNATURE_B))
                .into_bytes()
                .into(),
        ),
        ..vectors::files()
    };
    let bundle = Bundle::open(files, Experimental::Refused).unwrap();
    assert!(bundle.verify(&vectors::ring()).is_ok());
}

#[test]
fn signatures_are_required() {
    let files = BundleFiles {
        signatures: None,
        ..vectors::files()
    };
    let error = Bundle::open(files, Experimental::Refused).unwrap_err();
    assert_eq!(
        (error.step(), error.to_string()),
        (Step::Read, "bundle has no signatures.json".to_owned())
    );
}

#[test]
fn the_wasm_is_opaque_and_its_form_is_what_it_begins_with() {
    assert_eq!(WasmForm::of(&vectors::WASM), WasmForm::Component);
    assert_eq!(WasmForm::of(b"\0asm\x01\0\0\0rest"), WasmForm::CoreModule);
    for other in [
        &b""[..],
        b"\0asm",
        b"\0asm\x02\0\0\0",
        b"\0asm\x0d\0\0\0",
        b"\x7fELF\0\0\0\0",
    ] {
        assert_eq!(WasmForm::of(other), WasmForm::Other);
    }
}

fn written(directory: &Path) {
    std::fs::write(directory.join("skill.wasm"), vectors::WASM).unwrap();
    std::fs::write(directory.join("manifest.json"), MANIFEST).unwrap();
    std::fs::write(
        directory.join("signatures.json"),
        vectors::signatures_json(),
    )
    .unwrap();
}

#[test]
fn a_directory_is_read_and_what_does_not_belong_to_it_is_ignored() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    std::fs::write(directory.path().join("provenance.json"), "{").unwrap();
    std::fs::create_dir(directory.path().join("more")).unwrap();
    let files = BundleFiles::read(directory.path()).unwrap();
    assert!(Bundle::open(files, Experimental::Refused).is_ok());
    std::fs::write(directory.path().join("bundle-meta.json"), "{}").unwrap();
    std::fs::remove_file(directory.path().join("signatures.json")).unwrap();
    let files = BundleFiles::read(directory.path()).unwrap();
    assert!(files.signatures.is_none());
}

#[test]
fn wasm_and_manifest_are_required() {
    for name in ["skill.wasm", "manifest.json"] {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path());
        std::fs::remove_file(directory.path().join(name)).unwrap();
        let error = BundleFiles::read(directory.path()).unwrap_err();
        assert_eq!(error.step(), Step::Read);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn files_over_their_limits_are_not_read() {
    for (name, limit) in [
        ("skill.wasm", MAX_WASM_BYTES),
        ("manifest.json", MAX_JSON_BYTES),
        ("signatures.json", MAX_JSON_BYTES),
        ("bundle-meta.json", MAX_JSON_BYTES),
    ] {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path());
        let file = std::fs::File::create(directory.path().join(name)).unwrap();
        file.set_len(limit).unwrap();
        assert!(BundleFiles::read(directory.path()).is_ok(), "{name}");
        file.set_len(limit + 1).unwrap();
        let message = BundleFiles::read(directory.path()).unwrap_err().to_string();
        let expected = format!(
            "{name} exceeds maximum size ({} bytes > {limit} bytes)",
            limit + 1
        );
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn a_linked_file_is_read_and_a_directory_in_its_place_is_not() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    let [real, wasm] = ["real.wasm", "skill.wasm"].map(|name| directory.path().join(name));
    std::fs::rename(&wasm, &real).unwrap();
    symlink(&real, &wasm).unwrap();
    assert!(BundleFiles::read(directory.path()).is_ok());
    std::fs::create_dir(directory.path().join("bundle-meta.json")).unwrap();
    let error = BundleFiles::read(directory.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("bundle-meta.json: not a regular file"),
        "{error}"
    );
}

#[test]
fn steps_are_named_in_lower_snake_case() {
    let names = [
        Step::Read,
        Step::Manifest,
        Step::Signatures,
        Step::Artifact,
        Step::ManifestHash,
        Step::Schema,
        Step::KeysDigest,
        Step::Keys,
        Step::Signature,
        Step::Cosign,
    ];
    assert_eq!(
        names.map(|step| step.to_string()).join(" "),
        "read manifest signatures artifact manifest_hash schema keys_digest keys signature cosign"
    );
}
