//! The audit record and the observation lines.

use serde_json::{Value, json};

use crate::canonical::{digest, members, pretty, with};
use crate::execution::Execution;
use crate::guests;
use crate::program::mode;

pub(crate) const AUDIT: [&str; 2] = ["--audit", "audit.jsonl"];

fn zeros() -> String {
    format!("sha256:{}", "0".repeat(64))
}

pub(crate) fn echo() -> Execution {
    Execution::plain(&guests::echo("demo.echo"))
}

/// `reading` a file that no mount holds, this often, under a ceiling that allows it.
fn denied(times: u32) -> Execution {
    let wasm = guests::reading("demo.echo", "/workspace/note.txt", times);
    let ceiling = json!({"fs": {"read": ["/workspace"]}});
    Execution::new(&wasm, &[("fs.read", "/workspace")], &ceiling)
}

#[test]
fn a_successful_run_is_one_line() {
    let execution = echo();
    let run = execution.run(&[&AUDIT[..], &["--context", "tenant:1"]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    let text = execution.folder.text("audit.jsonl");
    assert_eq!(mode(&execution.folder.path("audit.jsonl")), 0o600);
    let lines = execution.audit();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(text, format!("{line}\n"), "compact");
    let all = [
        "schema_version",
        "timestamp",
        "request_id",
        "tool_digest",
        "policy_hash",
        "receipt_hash",
        "decision",
        "reason",
        "context_id",
        "runtime_profile",
        "signer_ids",
        "caps_requested",
        "caps_granted",
        "caps_used",
        "input_hash",
        "output_hash",
    ];
    let present = members(line);
    assert_eq!(present[..8], all[..8]);
    let expected: Vec<&str> = all
        .into_iter()
        .filter(|name| present.contains(name))
        .collect();
    assert_eq!(present, expected, "no others, in this order");
    assert_eq!(
        (&line["decision"], &line["reason"]),
        (&json!("allow"), &json!("verified_execution_success"))
    );
    assert_eq!(line["schema_version"], "1.0.0");
    assert_eq!(line["tool_digest"], execution.bundle.artifact());
    assert_eq!(line["receipt_hash"], execution.receipt()["receipt_hash"]);
    assert_eq!(line["context_id"], "tenant:1");
    let timestamp = line["timestamp"].as_str().unwrap();
    assert_eq!(
        (
            timestamp.len(),
            &timestamp[10..11],
            &timestamp[19..20],
            &timestamp[23..]
        ),
        (24, "T", ".", "Z")
    );
    let id = line["request_id"]
        .as_str()
        .unwrap()
        .strip_prefix("req_")
        .unwrap();
    let alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    assert!(
        id.len() == 26 && id.chars().all(|c| alphabet.contains(c)),
        "{id}"
    );
    for (name, value) in [("input_hash", digest("{}")), ("output_hash", digest("{}"))] {
        assert!(line.get(name).is_none_or(|found| *found == value), "{line}");
    }
}

/// They are appended, and each call has an id of its own.
#[test]
fn lines_are_appended() {
    let execution = echo();
    execution.folder.write("audit.jsonl", "");
    for _ in 0..3 {
        assert_eq!(execution.run(&AUDIT).status, 0);
    }
    let lines = execution.audit();
    assert_eq!(lines.len(), 3);
    assert_ne!(lines[0]["request_id"], lines[1]["request_id"]);
}

#[test]
fn a_failed_execution_is_recorded_with_its_code() {
    #[rustfmt::skip]
    let rows = [
        (guests::failing("demo.echo", "not_found", "x"), "execution_failed:skill_error:not_found"),
        (guests::trapping("demo.echo"), "execution_failed:trap"),
        (guests::bare("(result i32) (i32.const -1)"), "execution_failed:nonzero_return"),
    ];
    for (wasm, reason) in rows {
        let execution = Execution::plain(&wasm);
        assert_eq!(execution.run(&AUDIT).status, 1);
        let lines = execution.audit();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(
            (&lines[0]["decision"], &lines[0]["reason"]),
            (&json!("allow"), &json!(reason))
        );
        assert_eq!(
            lines[0]["receipt_hash"],
            zeros(),
            "v0 has no receipt of a failure"
        );
    }
}

#[test]
fn what_was_refused_is_recorded_with_its_step() {
    type Spoil = fn(&Execution);
    #[rustfmt::skip]
    let rows: [(Spoil, &str); 11] = [
        (|e| std::fs::remove_file(e.folder.path("bundle/skill.wasm")).unwrap(), "verification_failed:read"),
        (|e| e.folder.put("bundle/manifest.json", "{"), "verification_failed:manifest"),
        (|e| e.folder.put("bundle/signatures.json", "{"), "verification_failed:signatures"),
        (|e| e.folder.put("bundle/skill.wasm", "x"), "verification_failed:artifact"),
        (|e| e.folder.put("bundle/signatures.json",
            pretty(&with(&e.bundle.signatures, "/manifest_hash", digest("x")))), "verification_failed:manifest_hash"),
        (|e| e.folder.put("keys.json", "{}"), "verification_failed:keys_digest"),
        (|e| e.folder.put("bundle/signatures.json",
            pretty(&with(&e.bundle.signatures, "/signatures", json!([])))), "verification_failed:signature"),
        (|e| e.folder.put("bundle/signatures.json",
            pretty(&with(&e.bundle.signatures, "/signatures/0/signature", "AAAA"))), "verification_failed:signature"),
        (|e| e.folder.put("policy.json", "["), "policy_invalid"),
        (|e| e.policy(&json!({"version": 1, "trusted_signers": ["x"], "capability_ceiling": {}})), "untrusted_signer"),
        (|e| std::fs::remove_file(e.folder.path("policy.json")).unwrap(), "policy_invalid"),
    ];
    for (spoil, reason) in rows {
        let execution = echo();
        spoil(&execution);
        assert_eq!(execution.run(&AUDIT).status, 1);
        let lines = execution.audit();
        assert_eq!(lines.len(), 1, "{reason}: {lines:?}");
        let line = &lines[0];
        assert_eq!(
            (&line["decision"], &line["reason"]),
            (&json!("deny"), &json!(reason))
        );
        assert_eq!(line["receipt_hash"], zeros());
        if reason == "policy_invalid" {
            assert_eq!(line["policy_hash"], zeros());
        }
        if reason == "verification_failed:read" {
            assert_eq!(line["tool_digest"], zeros());
        }
    }
    let execution = Execution::new(&guests::echo("demo.echo"), &[("fs.read", "/x")], &json!({}));
    assert_eq!(execution.run(&AUDIT).status, 1);
    assert_eq!(
        execution.audit()[0]["reason"],
        "capability_denied:fs.read:/x"
    );
}

#[test]
fn each_refused_operation_is_a_line_up_to_100() {
    let execution = denied(3);
    assert_eq!(execution.run(&AUDIT).status, 0);
    let lines = execution.audit();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in &lines {
        assert_eq!(line["request_id"], lines[0]["request_id"]);
    }
    let denials = lines.iter().filter(|line| line["decision"] == "deny");
    let reason = json!("capability_denied:fs.read:/workspace/note.txt");
    assert_eq!(denials.filter(|line| line["reason"] == reason).count(), 3);
    let last = lines.last().unwrap();
    assert_eq!(
        last["reason"], "verified_execution_success",
        "the final line"
    );

    let many = denied(150);
    assert_eq!(many.run(&AUDIT).status, 0);
    let reasons: Vec<Value> = many
        .audit()
        .iter()
        .map(|line| line["reason"].clone())
        .collect();
    assert_eq!(reasons.iter().filter(|r| **r == reason).count(), 100);
    assert_eq!(
        reasons
            .iter()
            .filter(|r| **r == "capability_denied:more")
            .count(),
        1
    );
    assert_eq!(reasons.len(), 102);
}

/// Neither contents nor host paths.
#[test]
fn only_hashes_and_virtual_names_are_recorded() {
    let execution = echo();
    execution.folder.write("input", "a-very-secret-input");
    assert_eq!(execution.run(&AUDIT).status, 0);
    execution.folder.write("bundle/skill.wasm", "x");
    assert_eq!(execution.run(&AUDIT).status, 1);
    let text = execution.folder.text("audit.jsonl");
    assert!(!text.contains("a-very-secret-input"));
    assert!(
        !text.contains(
            execution
                .folder
                .path("")
                .parent()
                .unwrap()
                .to_str()
                .unwrap()
        ),
        "{text}"
    );
}
