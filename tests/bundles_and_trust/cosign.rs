//! The cosign flags, with a program of the test's own in the place of cosign.

use std::os::unix::fs::PermissionsExt;

use crate::bundle::Bundle;
use crate::canonical::digest;
use crate::program::{Folder, Run};

const VALUES: [(&str, &str); 4] = [
    ("--oci-ref", "registry/skill:1"),
    ("--cosign-key", "key.pub"),
    ("--cosign-cert-identity", "me"),
    ("--cosign-cert-oidc-issuer", "https://issuer"),
];

/// A folder with the example and a cosign that notes its arguments and exits with this code.
fn example(status: i32) -> Folder {
    let folder = Folder::new();
    let bundle = Bundle::example();
    bundle.write(&folder.path("b"));
    folder.write("keys.json", &bundle.ring);
    let note = folder.argument("arguments");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{note}'\nexit {status}\n");
    folder.write("cosign", script);
    std::fs::set_permissions(folder.path("cosign"), PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

fn verify(folder: &Folder, flags: &[&str]) -> Run {
    let digest = digest(Bundle::example().ring);
    let mut command = folder.command(&["verify", "--bundle", "b", "--keys", "keys.json"]);
    command.args(["--keys-digest", &digest]).args(flags);
    Run::of(command.env("PROVENACT_COSIGN_BIN", folder.path("cosign")))
}

fn all() -> Vec<&'static str> {
    VALUES
        .iter()
        .flat_map(|(name, value)| [*name, *value])
        .collect()
}

#[test]
fn one_flag_demands_all_in_order() {
    let folder = example(0);
    for (present, _) in VALUES.iter().enumerate() {
        let (name, value) = VALUES[present];
        // The first of the others is what is missed.
        let missing = VALUES[usize::from(present == 0)].0;
        let message = format!("{missing} is required when cosign verification is configured");
        verify(&folder, &[name, value]).assert_failed(&message);
    }
    let message = "--oci-ref is required when cosign verification is configured";
    verify(&folder, &["--require-cosign"]).assert_failed(message);
    assert!(!folder.exists("arguments"));
}

#[test]
fn cosign_gets_its_arguments_and_its_answer_counts() {
    let folder = example(0);
    let run = verify(&folder, &all());
    assert_eq!(run.status, 0, "{run:?}");
    let expected = "verify\n--key\nkey.pub\n--certificate-identity\nme\n\
                    --certificate-oidc-issuer\nhttps://issuer\nregistry/skill:1\n";
    assert_eq!(folder.text("arguments"), expected);
    let run = verify(&example(1), &all());
    run.assert_failed("cosign verify failed for registry/skill:1");
}

/// Cosign comes last.
#[test]
fn cosign_is_not_asked_about_a_bundle_that_fails() {
    let folder = example(0);
    folder.write("b/skill.wasm", "x");
    verify(&folder, &all()).assert_failed("digest mismatch");
    assert!(!folder.exists("arguments"));
}
