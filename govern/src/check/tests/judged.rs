//! Tiers, reasons and policies of honest answers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use hydrant_plan::Segments;

#[test]
fn k_323_wishes_above_the_limits_are_capped_and_said() {
    let mut skill = skill(KIT);
    let resources = &mut skill.operations[0].policy.as_mut().unwrap().resources;
    resources.insert("memory-mb".to_owned(), 100_000.into());
    resources.insert("pids".to_owned(), 0.into());
    resources.shift_remove("cpu-seconds");
    let checked = checked_with(skill, &config("limits = {cpu_seconds = 10}")).unwrap();
    let operation = operation(&checked, "convert-video");
    let policy = operation.operation.policy.as_ref().unwrap();
    let resources = Value::Object(policy.resources.clone());
    assert_eq!(
        resources,
        serde_json::json!({"cpu-seconds": 10, "memory-mb": 512, "wall-clock-ms": 30_000, "pids": 0, "output-bytes": 52_428_800})
    );
    let entries: Vec<&str> = operation
        .operation
        .policy_sources
        .iter()
        .map(|source| source.entry.as_str())
        .collect();
    assert!(
        entries.contains(&"memory-mb 512: capped, 100000 was asked for"),
        "{entries:?}"
    );
    let manifest = operation.manifest.as_ref().unwrap();
    assert_eq!(manifest.sandbox_policy.as_ref(), Some(policy));
    assert_eq!(
        operation.policy_digest,
        policy_digest(&operation.operation).unwrap()
    );
    assert_eq!(operation.policy_digest, manifest.policy_digest);
}

#[test]
fn k_217_without_a_policy_the_digest_is_of_null() {
    let skill = checked(MOLTBOOK);
    let none = operation(&skill, "search");
    assert_eq!(
        none.policy_digest,
        digest::of_bytes(b"hydrant.policy.v1\nnull")
    );
    assert_ne!(
        operation(&skill, "run_analysis").policy_digest,
        none.policy_digest
    );
    assert_eq!(skill.digest, "sha256:00");
}

#[test]
fn k_04_tiers_are_raised_and_never_lowered() {
    for (id, at_least) in [
        ("convert-video", 3),
        ("setup", 3),
        ("inline-code", 2),
        ("code-file", 2),
        ("packages", 3),
    ] {
        let lowered = forged(KIT, id, |operation| operation.tier = 1).unwrap();
        assert_eq!(operation(&lowered, id).tier, at_least, "{id}");
    }
    let raised = forged(MOLTBOOK, "search", |operation| operation.tier = 3).unwrap();
    assert_eq!(operation(&raised, "search").tier, 3);
    // K-234: an operator's known tool may stay at 2, where the interpreter says so too.
    let mut known = skill(KIT);
    known.operations[0].tier = 2;
    let base = known.base_url.clone();
    known.operations[0].digest =
        operation_digest(&known.operations[0], base.as_deref(), &BTreeMap::new(), "1").unwrap();
    let known = checked_with(known, &config("known_tools = ['ffmpeg']")).unwrap();
    assert_eq!(operation(&known, "convert-video").tier, 2);
    assert_eq!(operation(&known, "resize").tier, 3);
}

#[test]
fn k_04_reasons_are_derived_although_the_interpreter_gives_none() {
    for (text, id, expected) in [
        (KIT, "convert-video", "unknown-tool:ffmpeg"),
        (KIT, "setup", "script"),
        (KIT, "inline-code", "sandbox:python"),
        (KIT, "upload", "file-read:a.pdf"),
        (MOLTBOOK, "search", "pii"),
        (MOLTBOOK, "search", "host:api.moltbook.com:443"),
        (MOLTBOOK, "search", "secret:MOLTBOOK_API_KEY"),
    ] {
        let silent = forged(text, id, |operation| operation.reasons.clear()).unwrap();
        let reasons = &operation(&silent, id).reasons;
        assert!(
            reasons.iter().any(|reason| reason == expected),
            "{id}: {reasons:?}"
        );
    }
    let unchanged = checked(KIT);
    for checked in &unchanged.operations {
        if checked.operation.status == Status::Ok {
            assert_eq!(
                checked.reasons, checked.operation.reasons,
                "{}",
                checked.capability
            );
        }
    }
}

#[test]
fn k_256_safe_hosts_and_k_258_bound_secrets_need_no_approval() {
    let config = config("safe_hosts = ['books.example.org']");
    let skill = checked_with(skill(KIT), &config).unwrap();
    let titles = operation(&skill, "titles");
    assert!(titles.reasons.is_empty());
    assert!(!titles.manifest.as_ref().unwrap().requires_approval);
    let judge = Judge {
        config: &config,
        lacks_sandbox: &|_| false,
    };
    let basic = &operation(&skill, "basic").operation;
    let bound = |name: &str, hosts: &[String]| name != "SID" && hosts == ["books.example.org:443"];
    assert_eq!(judge.reasons(basic, &bound), ["secret:SID"]);
    assert!(judge.reasons(basic, &|_, _| true).is_empty());
}

#[test]
fn k_263_plain_private_and_unconfined() {
    let local = forged(MOLTBOOK, "create_notebook", |operation| {
        operation.hosts = vec!["127.0.0.1:8080".to_owned()];
        operation.reasons.clear();
        request(operation).url = Segments::literal("http://127.0.0.1:8080/");
    })
    .unwrap();
    let reasons = &operation(&local, "create_notebook").reasons;
    assert!(reasons.contains(&"plain-http".to_owned()), "{reasons:?}");
    assert!(reasons.contains(&"private-host".to_owned()), "{reasons:?}");

    let config = config("allow_private = ['api.moltbook.com:443']");
    let named = checked_with(skill(MOLTBOOK), &config).unwrap();
    assert!(
        operation(&named, "search")
            .reasons
            .contains(&"private-host".to_owned())
    );

    // K-171
    let mut titles = skill(KIT)
        .operations
        .into_iter()
        .find(|operation| operation.id == "titles")
        .unwrap();
    if let Some(Stage::TextTransform { tool, .. }) = titles.stages.last_mut() {
        *tool = "sed".to_owned();
    }
    let default = Config::default();
    let judge = |lacks_sandbox| Judge {
        config: &default,
        lacks_sandbox,
    };
    assert_eq!(judge(&|_| false).tier(&titles), 1);
    assert_eq!(judge(&|tool| tool == "sed").tier(&titles), 2);
    let reasons = judge(&|_| true).reasons(&titles, &|_, _| false);
    assert!(
        reasons.contains(&"no-tool-sandbox".to_owned()),
        "{reasons:?}"
    );
}

#[test]
fn k_257_only_tier_1_is_granted_by_policy() {
    let declared = forged(KIT, "hello", |operation| operation.tier = 2).unwrap();
    assert_eq!(operation(&declared, "hello").reasons, ["skill-requested"]);
    assert!(operation(&checked(KIT), "hello").reasons.is_empty());
}
