//! What is asked only when the operator says against what.

use std::fs;

use crate::testing::{ONE, Scratch, TWO, component, content, rows};
use crate::{Baseline, Class, Options, Root, Verification};
use hydrant_policy::Policy;

/// Verifies against a policy with these trusted signers and this ceiling.
fn under_policy(scratch: &Scratch, signers: &str, ceiling: &str) -> Verification {
    let text = format!("version: 1\ntrusted_signers: [{signers}]\ncapability_ceiling: {ceiling}\n");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.yaml");
    fs::write(&file, text).unwrap();
    let policy = Policy::load(&file, &[]).unwrap();
    let options = Options {
        policy: Some(&policy),
        ..Options::default()
    };
    scratch.verify_with(&options, &content())
}

fn asked(verification: &Verification, row: &str) -> bool {
    verification
        .findings
        .evaluated()
        .any(|(_, asked)| asked.id() == row)
}

#[test]
fn the_policy_must_trust_a_signer() {
    let scratch = Scratch::new();
    let verification = under_policy(&scratch, ONE, "{fs: {read: [/os]}}");
    assert_eq!(rows(&verification), [""; 0]);
    assert!(asked(&verification, "TV-30") && asked(&verification, "TV-31"));
    let verification = under_policy(&scratch, "somebody", "{fs: {read: [/os]}}");
    let [finding] = verification.findings.found() else {
        panic!("{:?}", verification.findings);
    };
    assert_eq!((finding.row.id(), finding.class()), ("TV-30", Class::Trust));
    assert!(
        finding
            .message
            .contains("no trusted signer declared in manifest.signers")
    );
    assert_eq!(
        finding.path.as_deref(),
        Some("skills/a.skill/0.1.0/manifest.json")
    );
}

#[test]
fn every_capability_is_within_the_ceiling() {
    let scratch = Scratch::new();
    for ceiling in ["{}", "{fs: {read: [/workspace]}}", "{fs: {write: [/os]}}"] {
        let verification = under_policy(&scratch, TWO, ceiling);
        let [finding] = verification.findings.found() else {
            panic!("{ceiling}: {:?}", verification.findings);
        };
        assert_eq!(
            (finding.row.id(), finding.class()),
            ("TV-31", Class::Policy)
        );
        assert_eq!(finding.message, "capability denied: fs.read:/os");
    }
}

/// An unreadable manifest is said once, by the row that reads it.
#[test]
fn is_not_asked_without_a_manifest() {
    let scratch = Scratch::new();
    scratch.remove("skills/a.skill/0.1.0/manifest.json");
    let verification = under_policy(&scratch, "somebody", "{}");
    assert_eq!(rows(&verification), ["a.skill@0.1.0 TV-11"]);
    assert!(!asked(&verification, "TV-30") && !asked(&verification, "TV-31"));
    let scratch = Scratch::new();
    scratch.remove("skills/a.skill/0.1.0/signatures.json");
    let verification = under_policy(&scratch, "somebody", "{fs: {read: [/os]}}");
    assert!(!asked(&verification, "TV-30") && asked(&verification, "TV-31"));
}

#[test]
fn are_asked_against_a_baseline() {
    let (old, new) = (Scratch::new(), Scratch::new());
    let wasm = component(&["hydrant:host/fs-read@0.1.0", "hydrant:host/fetch@0.1.0"]);
    let against = |old: &Scratch, new: &Scratch| {
        let baseline = Baseline::open(old.directory()).unwrap();
        let options = Options {
            baseline: Some(&baseline),
            ..Options::default()
        };
        new.verify_with(&options, &content())
    };
    let verification = against(&old, &new);
    assert_eq!(rows(&verification), [""; 0]);
    assert!(asked(&verification, "TV-32") && asked(&verification, "TV-33"));
    new.bundle("a.skill", "0.1.0", &wasm, &["fs.read:/os", "net.http:*"]);
    new.pin(&[("a.skill", "0.1.0")]);
    let verification = against(&old, &new);
    assert_eq!(rows(&verification), ["a.skill@0.1.0 TV-32"]);
    assert_eq!(verification.findings.exit_code(), 4);
    // The other way round nothing is wider.
    assert_eq!(rows(&against(&new, &old)), [""; 0]);
}

#[test]
fn a_rebuild_gives_the_pinned_bytes() {
    let scratch = Scratch::new();
    let rebuilt = tempfile::tempdir().unwrap();
    let against = || {
        let rebuilt = Root::open(rebuilt.path()).unwrap();
        let options = Options {
            rebuilt: Some(&rebuilt),
            ..Options::default()
        };
        scratch.verify_with(&options, &content())
    };
    let only = |verification: &Verification, said: &str| {
        let [finding] = verification.findings.found() else {
            panic!("{:?}", verification.findings);
        };
        assert_eq!((finding.row.id(), finding.class()), ("TV-34", Class::Drift));
        assert!(finding.message.contains(said), "{finding}");
    };
    only(&against(), "the rebuilt a.skill-0.1.0.wasm does not exist");
    let file = rebuilt.path().join("a.skill-0.1.0.wasm");
    fs::write(&file, component(&[])).unwrap();
    only(
        &against(),
        "the rebuilt a.skill-0.1.0.wasm is not the pinned artifact",
    );
    fs::write(&file, scratch.read("skills/a.skill/0.1.0/skill.wasm")).unwrap();
    assert_eq!(rows(&against()), [""; 0]);
    assert!(asked(&against(), "TV-34"));
}
