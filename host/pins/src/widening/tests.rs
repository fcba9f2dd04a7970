use super::*;
use crate::Class;
use hydrant_base::Digest;

fn capability(text: &str) -> Capability {
    let (kind, value) = text.split_once(':').unwrap();
    Capability {
        kind: kind.to_owned(),
        value: value.to_owned(),
    }
}

fn declared(id: &str, version: &str, capabilities: &[&str]) -> Declared {
    let digest = Digest::of(format!("{id} {version} {capabilities:?}").as_bytes());
    Declared {
        pin: LockEntry {
            id: id.to_owned(),
            version: version.to_owned(),
            bundle_dir: format!("skills/{id}/{version}"),
            artifact: digest.clone(),
            manifest_hash: digest.clone(),
            keys_file: "public-keys.json".to_owned(),
            keys_digest: digest.clone(),
            signers: vec!["one".to_owned(), "two".to_owned()],
            skill_md: digest,
        },
        capabilities: Some(capabilities.iter().map(|text| capability(text)).collect()),
    }
}

/// `id@version kind:value` of everything that is wider.
fn widened(old: &[Declared], new: &[Declared]) -> Vec<String> {
    let differences = differences(old, new);
    let lines = differences.iter().flat_map(|difference| {
        let skill = difference.entry.pin.skill();
        let widened = difference.widened.iter();
        widened.map(move |capability| format!("{skill} {capability}"))
    });
    lines.collect()
}

#[test]
fn a_capability_that_the_baseline_covers_is_no_widening() {
    let old = [declared(
        "a",
        "0.1.0",
        &["fs.read:/workspace", "net.http:*"],
    )];
    let new = [declared(
        "a",
        "0.2.0",
        &["fs.read:/workspace/docs", "net.http:https://a.example/"],
    )];
    assert_eq!(widened(&old, &new), [""; 0]);
}

#[test]
fn a_wider_value_another_kind_and_a_longer_name_are_widenings() {
    let old = [declared(
        "a",
        "0.1.0",
        &["fs.read:/workspace/docs", "exec.safe:git"],
    )];
    let new = [declared(
        "a",
        "0.2.0",
        &[
            "exec.safe:*",
            "exec.safe:git",
            "fs.read:/workspace",
            "fs.read:/workspace/docs2",
            "fs.write:/workspace/docs",
        ],
    )];
    assert_eq!(
        widened(&old, &new),
        [
            "a@0.2.0 exec.safe:*",
            "a@0.2.0 fs.read:/workspace",
            "a@0.2.0 fs.read:/workspace/docs2",
            "a@0.2.0 fs.write:/workspace/docs",
        ]
    );
}

#[test]
fn a_new_skill_has_an_empty_baseline() {
    let old = [declared("b", "0.1.0", &["fs.read:/os"])];
    let new = [old[0].clone(), declared("a", "0.1.0", &["fs.read:/os"])];
    assert_eq!(widened(&old, &new), ["a@0.1.0 fs.read:/os"]);
    assert_eq!(
        widened(&old, &[old[0].clone(), declared("a", "0.1.0", &[])]),
        [""; 0]
    );
}

#[test]
fn the_baseline_is_the_highest_version_in_semver_order() {
    let old = [
        declared("a", "0.10.0", &["fs.read:/os"]),
        declared("a", "0.9.0", &["fs.read:/workspace"]),
        declared("a", "0.10.0-rc.1", &["fs.read:/workspace"]),
    ];
    let new = declared("a", "0.11.0", &["fs.read:/os", "fs.read:/workspace"]);
    assert_eq!(widened(&old, &[new]), ["a@0.11.0 fs.read:/workspace"]);
}

#[test]
fn an_entry_that_stays_as_it_is_is_never_a_widening() {
    // The baseline of the id is narrower by now, and yet nothing changes.
    let old = [
        declared("a", "0.1.0", &["fs.read:/os"]),
        declared("a", "0.2.0", &[]),
    ];
    assert_eq!(differences(&old, &old), []);
}

#[test]
fn a_baseline_whose_manifest_was_not_found_covers_nothing() {
    let mut lost = declared("a", "0.1.0", &["fs.read:/os"]);
    lost.capabilities = None;
    let new = [declared("a", "0.2.0", &["fs.read:/os"])];
    assert_eq!(widened(&[lost.clone()], &new), ["a@0.2.0 fs.read:/os"]);
    let finding = &widening_findings(&differences(&[lost], &new), Gate::Update)[0];
    assert!(
        finding.message.contains("pinned as a@0.1.0 was not found"),
        "{finding}"
    );
}

#[test]
fn the_same_version_with_other_bytes_is_repinned_against_its_own_old_manifest() {
    let old = [
        declared("a", "0.1.0", &["fs.read:/os"]),
        declared("a", "0.2.0", &["fs.read:/os", "fs.read:/workspace"]),
    ];
    let new = [
        declared("a", "0.1.0", &["fs.read:/workspace"]),
        old[1].clone(),
    ];
    let differences = differences(&old, &new);
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].change, Change::Repinned);
    assert_eq!(differences[0].widened, [capability("fs.read:/workspace")]);
    assert_eq!(differences[0].removed, [capability("fs.read:/os")]);
}

#[test]
fn another_artifact_under_the_same_manifest_hash_is_repinned() {
    let old = [declared("a", "0.1.0", &[])];
    let mut new = old.clone();
    new[0].pin.artifact = Digest::of(b"other");
    assert_eq!(differences(&old, &new)[0].change, Change::Repinned);
}

#[test]
fn every_change_is_shown_line_by_line() {
    let old = [
        declared("a", "0.1.0", &["fs.read:/os"]),
        declared("b", "0.1.0", &[]),
    ];
    let new = [declared(
        "a",
        "0.2.0",
        &["fs.read:/os/agents", "net.http:*"],
    )];
    assert_eq!(
        change_lines(&differences(&old, &new)),
        [
            "pinned a@0.2.0",
            "  a@0.2.0 + fs.read:/os/agents",
            "  a@0.2.0 + net.http:* (wider)",
            "  a@0.2.0 - fs.read:/os",
            "unpinned a@0.1.0",
            "unpinned b@0.1.0",
        ]
    );
    let mut repinned = old.clone();
    repinned[1].pin.artifact = Digest::of(b"other");
    let (is, was) = (&repinned[1].pin.artifact, &old[1].pin.artifact);
    assert_eq!(
        change_lines(&differences(&old, &repinned)),
        [format!("repinned b@0.1.0 artifact={is} was={was}")]
    );
}

/// Id, kind, value, and what would allow it.
#[test]
fn a_widening_names_id_kind_value_and_the_way_out() {
    let new = [declared("a", "0.2.0", &["net.http:*"])];
    let differences = differences(&[declared("a", "0.1.0", &[])], &new);
    let finding = &widening_findings(&differences, Gate::Update)[0];
    assert_eq!(
        finding.to_string(),
        "a@0.2.0 TW-02 widening: id=a kind=net.http value=*: no capability of a@0.1.0 covers it; \
         --allow-widen would allow it"
    );
    assert_eq!(
        finding.path.as_deref(),
        Some("skills/a/0.2.0/manifest.json")
    );
    assert_eq!(finding.class().exit_code(), 4);
    let finding = &widening_findings(&differences, Gate::Baseline)[0];
    assert_eq!((finding.row, finding.class().exit_code()), (Row::TV_32, 4));
    assert!(!finding.message.contains("--allow"), "{finding}");
}

#[test]
fn other_signers_than_those_of_the_baseline_are_a_signer_change() {
    let old = [declared("a", "0.1.0", &[])];
    let mut new = [declared("a", "0.2.0", &[]), declared("b", "0.1.0", &[])];
    // A new id has nobody to differ from.
    new[1].pin.signers = vec!["three".to_owned()];
    assert_eq!(signer_changes(&old, &new), []);
    new[0].pin.signers.push("zero".to_owned());
    let changes = signer_changes(&old, &new);
    let finding = &signer_findings(&changes, Gate::Update)[0];
    assert_eq!(
        finding.to_string(),
        "a@0.2.0 TW-04 signer change: signed by one,two,zero, the baseline by one,two; \
         --allow-signer-change would allow it"
    );
    assert_eq!(finding.class().exit_code(), 3);
    assert_eq!(signer_findings(&changes, Gate::Baseline)[0].row, Row::TV_33);
}

fn ring(keys: &[(&str, &str)]) -> KeyRing {
    let entries = keys.iter().map(|(name, signer)| {
        let key = crate::testing::key(signer).public().to_base64();
        ((*name).to_owned(), key)
    });
    let entries: std::collections::BTreeMap<_, _> = entries.collect();
    KeyRing::parse(&serde_json::to_vec(&entries).unwrap()).unwrap()
}

#[test]
fn another_key_or_a_missing_one_is_a_signer_change_and_a_new_name_is_none() {
    let old = ring(&[("one", "1"), ("two", "2")]);
    let names = ["two", "one", "one"];
    assert_eq!(
        key_changes(
            names,
            &old,
            &ring(&[("one", "1"), ("three", "3"), ("two", "2")])
        ),
        []
    );
    let changes = key_changes(names, &old, &ring(&[("one", "other")]));
    let findings = signer_findings(&changes, Gate::Update);
    assert_eq!(findings.len(), 2);
    assert!(
        findings[0].message.contains("the key of one is "),
        "{}",
        findings[0]
    );
    assert!(
        findings[1].message.contains("the key of two is none"),
        "{}",
        findings[1]
    );
    assert!(
        findings
            .iter()
            .all(|finding| finding.class() == Class::Trust)
    );
}
