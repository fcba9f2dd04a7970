//! Tiers, reasons and policies of honest answers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use hydrant_plan::Segments;
use hydrant_plan::judge::{self, reasons};

#[test]
fn wishes_above_the_limits_are_capped_and_said() {
    let mut skill = skill(KIT);
    let resources = &mut skill.operations[0].asks.resources;
    resources.insert("memory-mb".to_owned(), 100_000);
    resources.insert("pids".to_owned(), 0);
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
fn without_a_policy_the_digest_is_of_null() {
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
fn a_tier_that_a_document_asks_for_only_raises() {
    for (id, at_least) in [
        ("convert-video", 3),
        ("setup", 3),
        ("inline-code", 2),
        ("code-file", 2),
        ("packages", 3),
    ] {
        let lowered = altered(KIT, id, |operation| operation.asks.tier = Some(1));
        assert_eq!(lowered.operation.tier, at_least, "{id}");
    }
    for (asked, tier) in [(0, 1), (2, 2), (3, 3), (9, 3)] {
        let raised = altered(MOLTBOOK, "search", |operation| {
            operation.asks.tier = Some(asked);
        });
        assert_eq!(raised.operation.tier, tier, "{asked}");
    }
}

#[test]
fn a_tool_that_the_operator_knows_is_tier_2() {
    let known = checked_with(skill(KIT), &config("known_tools = ['ffmpeg', 'pip', 'sh']")).unwrap();
    let tier = |id: &str| operation(&known, id).operation.tier;
    assert_eq!(tier("convert-video"), 2);
    assert_eq!(
        operation(&known, "convert-video").operation.reasons,
        ["sandbox:shell"]
    );
    assert_eq!((tier("resize"), tier("setup"), tier("packages")), (3, 3, 3));
}

#[test]
fn reasons_follow_from_the_stages() {
    for (text, id, expected) in [
        (KIT, "convert-video", "unknown-tool:ffmpeg"),
        (KIT, "setup", "script"),
        (KIT, "setup", "script:`&&`"),
        (KIT, "inline-code", "sandbox:python"),
        (KIT, "packages", "package:python:requests"),
        (KIT, "upload", "file-read:a.pdf"),
        (MOLTBOOK, "search", "pii"),
        (MOLTBOOK, "search", "host:api.moltbook.com:443"),
        (MOLTBOOK, "search", "secret:MOLTBOOK_API_KEY"),
        (RARER, "register", "skill-requested"),
    ] {
        let reasons = operation(&checked(text), id).operation.reasons.clone();
        assert!(
            reasons.iter().any(|reason| reason == expected),
            "{id}: {reasons:?}"
        );
    }
}

#[test]
fn a_wish_for_approval_that_an_older_version_stored_still_holds() {
    let mut stored = altered(KIT, "hello", |_| {}).operation;
    let config = Config::default();
    let judge = Judge {
        config: &config,
        lacks_sandbox: &|_| false,
    };
    assert!(reasons(&stored, &judge, &|_, _| true).is_empty());
    stored.reasons = vec!["skill-requested".to_owned()];
    assert_eq!(reasons(&stored, &judge, &|_, _| true), ["skill-requested"]);
}

#[test]
fn safe_hosts_and_k_258_bound_secrets_need_no_approval() {
    let config = config("safe_hosts = ['books.example.org']");
    let skill = checked_with(skill(KIT), &config).unwrap();
    let titles = operation(&skill, "titles");
    assert!(titles.operation.reasons.is_empty());
    assert!(!titles.manifest.as_ref().unwrap().requires_approval);
    let judge = Judge {
        config: &config,
        lacks_sandbox: &|_| false,
    };
    let basic = &operation(&skill, "basic").operation;
    let bound = |name: &str, hosts: &[String]| name != "SID" && hosts == ["books.example.org:443"];
    assert_eq!(reasons(basic, &judge, &bound), ["secret:SID"]);
    assert!(reasons(basic, &judge, &|_, _| true).is_empty());
}

#[test]
fn plain_private_and_unconfined() {
    let local = altered(MOLTBOOK, "create_notebook", |operation| {
        request(operation).url = Segments::literal("http://127.0.0.1:8080/");
    });
    let reasons = &local.operation.reasons;
    assert!(reasons.contains(&"plain-http".to_owned()), "{reasons:?}");
    assert!(reasons.contains(&"private-host".to_owned()), "{reasons:?}");

    let config = config("allow_private = ['api.moltbook.com:443']");
    let named = altered_with(MOLTBOOK, "search", &config, |_| {});
    assert!(named.operation.reasons.contains(&"private-host".to_owned()));

    let titles = || {
        let operations = skill(KIT).operations.into_iter();
        let mut titles = operations
            .into_iter()
            .find(|operation| operation.id == "titles")
            .unwrap();
        if let Some(Stage::TextTransform { tool, .. }) = titles.stages.last_mut() {
            *tool = "sed".to_owned();
        }
        titles
    };
    let default = Config::default();
    let judged = |lacks_sandbox| {
        let judge = Judge {
            config: &default,
            lacks_sandbox,
        };
        let none = BTreeMap::new();
        let load = judge::Load {
            base_url: None,
            constants: &none,
            files: &none,
            mapping_version: "1",
            is_command: false,
        };
        judge::judge(titles(), load, &judge)
    };
    assert_eq!(judged(&|_| false).tier, 1);
    let without = judged(&|tool| tool == "sed");
    assert_eq!(without.tier, 2);
    let reasons = &without.reasons;
    assert!(
        reasons.contains(&"no-tool-sandbox".to_owned()),
        "{reasons:?}"
    );
}

#[test]
fn only_tier_1_is_granted_by_policy() {
    let declared = altered(KIT, "hello", |operation| operation.asks.tier = Some(2));
    assert_eq!(declared.operation.reasons, ["skill-requested"]);
    assert!(
        operation(&checked(KIT), "hello")
            .operation
            .reasons
            .is_empty()
    );
}
