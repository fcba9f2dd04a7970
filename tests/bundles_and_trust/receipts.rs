//! v1-draft receipts, recomputed here, and what `verify-receipt` accepts.

use serde_json::{Value, json};

use crate::canonical::{canonical_digest, digest, members, pretty, with};
use crate::execution::Execution;
use crate::guests;
use crate::program::{Folder, Run};

const DRAFT: [&str; 3] = ["--receipt-format", "v1-draft", "--allow-experimental"];

/// The hash, `attestations` being present as null.
fn receipt_hash(receipt: &Value) -> String {
    let mut preimage = receipt.clone();
    let object = preimage.as_object_mut().unwrap();
    object.shift_remove("receipt_hash");
    object.entry("attestations").or_insert(Value::Null);
    canonical_digest(&preimage)
}

fn result_digest(receipt: &Value) -> String {
    canonical_digest(&json!({
        "caps_used": receipt["caps_used"], "code": receipt["result"]["code"],
        "outputs_hash": receipt["outputs_hash"], "status": receipt["result"]["status"],
    }))
}

/// A policy without `host` and its hash, computed here.
fn policy_hash() -> String {
    canonical_digest(&json!({
        "version": 1, "trusted_signers": ["team.build"],
        "capability_ceiling": {
            "env": null, "exec": null, "fs": null, "kv": null, "net": null, "queue": null,
            "random": null, "time": null,
        },
    }))
}

fn success() -> (Execution, Value) {
    let execution = Execution::plain(&guests::echo("demo.echo"));
    let run = execution.run(&DRAFT);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.stdout, execution.ok_line());
    let receipt = execution.receipt();
    (execution, receipt)
}

/// Every member, and every hash computed here.
#[test]
fn every_hash_of_a_v1_receipt_can_be_recomputed() {
    let (execution, receipt) = success();
    let names = [
        "schema_version",
        "artifact",
        "manifest_hash",
        "policy_hash",
        "bundle_hash",
        "inputs_hash",
        "outputs_hash",
        "runtime_version_digest",
        "result_digest",
        "caps_requested",
        "caps_granted",
        "caps_used",
        "result",
        "runtime",
        "started_at",
        "finished_at",
        "timestamp_strategy",
        "receipt_hash",
    ];
    assert_eq!(members(&receipt), names);
    assert_eq!(execution.folder.read("receipt.json"), pretty(&receipt));
    let bundle = &execution.bundle;
    let runtime =
        json!({"name": "hydrant", "version": env!("CARGO_PKG_VERSION"), "profile": "component-v0"});
    let expected = json!({
        "schema_version": "1.0.0-draft", "artifact": bundle.artifact(),
        "manifest_hash": bundle.manifest_hash(), "policy_hash": policy_hash(),
        "bundle_hash": bundle.bundle_hash(), "inputs_hash": digest("{}"), "outputs_hash": digest("{}"),
        "runtime_version_digest": canonical_digest(&runtime), "result_digest": result_digest(&receipt),
        "caps_requested": [], "caps_granted": [], "caps_used": [], "runtime": runtime,
        "timestamp_strategy": "local_untrusted_unix_seconds", "receipt_hash": receipt_hash(&receipt),
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(receipt[name], *value, "{name}");
    }
    assert_eq!(
        (&receipt["result"]["status"], &receipt["result"]["code"]),
        (&json!("success"), &json!("ok"))
    );
    assert!(receipt["finished_at"].as_u64().unwrap() >= receipt["started_at"].as_u64().unwrap());
    let run = execution
        .folder
        .run(&["verify-receipt", "--receipt", "receipt.json"]);
    run.assert_line(&format!(
        "OK verify-receipt artifact={} receipt=receipt.json schema=1.0.0-draft",
        bundle.artifact(),
    ));
}

/// Capabilities by kind and value; the profile of a core module.
#[test]
fn capabilities_are_listed_and_sorted() {
    let wasm = guests::bare("(result i32) (i32.const 5)");
    let capabilities = [("time.now", "true"), ("env", "B"), ("env", "A")];
    let ceiling = json!({"time": true, "env": ["A", "B"]});
    let execution = Execution::new(&wasm, &capabilities, &ceiling);
    assert_eq!(execution.run(&DRAFT).status, 0);
    let receipt = execution.receipt();
    let listed = json!(["env:A", "env:B", "time.now:true"]);
    assert_eq!(
        (&receipt["caps_requested"], &receipt["caps_granted"]),
        (&listed, &listed)
    );
    assert_eq!(receipt["caps_used"], json!([]));
    assert_eq!(receipt["runtime"]["profile"], "provenact-core-v0");
    assert_eq!(receipt["receipt_hash"], receipt_hash(&receipt));
}

/// A failed execution has a receipt that says so.
#[test]
fn a_failed_execution_has_a_failure_receipt() {
    let empty = digest("");
    let skill_error = digest(r#"{"code":"not_found","message":"gone"}"#);
    let written = "(drop (call $output_write (i32.const 0) (i32.const 4))) (i32.const 9)";
    #[rustfmt::skip]
    let rows = [
        (guests::failing("demo.echo", "not_found", "gone"), "skill_error", skill_error),
        (guests::trapping("demo.echo"), "trap", empty.clone()),
        (guests::core("text", "", written), "nonzero_return", digest("text")),
        (guests::bare("(result i32) (i32.const -1)"), "nonzero_return", digest("-1")),
        (guests::bare("(unreachable)"), "trap", empty.clone()),
        (guests::bare("(loop $l (br $l))"), "fuel_exhausted", empty.clone()),
        (guests::core("", "", "(drop (call $time_now_unix)) (i32.const 0)"), "capability_denied", empty.clone()),
        (guests::assemble(r#"(module (import "env" "f" (func)) (func (export "run")))"#), "instantiation_failed", empty),
    ];
    for (wasm, code, outputs_hash) in rows {
        let execution = Execution::plain(&wasm);
        let receipt = execution.failure(&["--output", "output"]);
        assert_eq!(receipt["result"]["status"], "failure", "{code}");
        assert_eq!(receipt["result"]["code"], code);
        assert_eq!(receipt["outputs_hash"], outputs_hash, "{code}");
        assert_eq!(receipt["result_digest"], result_digest(&receipt), "{code}");
        assert_eq!(receipt["receipt_hash"], receipt_hash(&receipt), "{code}");
        let message = receipt["result"]["message"].as_str().unwrap_or_default();
        assert!(message.chars().count() <= 512, "{code}");
        let place = execution.folder.path("");
        assert!(
            !message.contains("0x") && !message.contains(place.to_str().unwrap()),
            "{message}"
        );
        assert!(!execution.folder.exists("output"));
        assert_eq!(
            execution
                .folder
                .run(&["verify-receipt", "--receipt", "receipt.json"])
                .status,
            0
        );
    }
}

/// Limits have codes of their own.
#[test]
fn limits_have_codes() {
    let limited = |wasm: &[u8], limits: Value| {
        let execution = Execution::plain(wasm);
        execution.policy(&json!({
            "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {},
            "host": {"limits": limits},
        }));
        execution.failure(&[])["result"]["code"].clone()
    };
    let looping = guests::looping("demo.echo");
    assert_eq!(limited(&looping, json!({"wall_ms": 100})), "timeout");
    assert_eq!(limited(&looping, json!({"fuel": 1000})), "fuel_exhausted");
    assert_eq!(
        limited(&guests::echo("demo.echo"), json!({"output_bytes": 1})),
        "output_too_large"
    );
}

/// What never started has no receipt.
#[test]
fn a_failure_before_execution_has_none() {
    let execution = Execution::new(
        &guests::echo("demo.echo"),
        &[("fs.read", "/workspace")],
        &json!({}),
    );
    execution
        .run(&DRAFT)
        .assert_failed("capability denied: fs.read:/workspace");
    assert!(!execution.folder.exists("receipt.json"));
}

#[test]
fn the_draft_needs_its_flag() {
    let execution = Execution::plain(&guests::echo("demo.echo"));
    let run = execution.run(&["--receipt-format", "v1-draft"]);
    run.assert_failed("receipt format 'v1-draft' requires --allow-experimental");
    assert!(!execution.folder.exists("receipt.json"));
    assert_eq!(execution.run(&["--receipt-format", "v2"]).status, 1);
    assert_eq!(execution.run(&["--receipt-format", "v0"]).status, 0);
}

fn check(command: &str, receipt: &Value) -> Run {
    let folder = Folder::new();
    folder.write("r.json", pretty(receipt));
    folder.run(&[command, "--receipt", "r.json"])
}

/// A receipt with another value, its hash made right again.
fn rehashed(receipt: &Value, pointer: &str, value: impl Into<Value>) -> Value {
    let mut changed = with(receipt, pointer, value);
    changed["receipt_hash"] = json!(receipt_hash(&changed));
    changed
}

#[test]
fn the_shape_of_a_v1_receipt() {
    let (_, receipt) = success();
    #[rustfmt::skip]
    let rows = [
        ("/caps_used", json!([""])), ("/caps_requested", json!([""])), ("/caps_granted", json!([""])),
        ("/result/code", json!("")), ("/runtime/name", json!("")), ("/runtime/version", json!("")),
        ("/result/status", json!("maybe")), ("/finished_at", json!(1)),
        ("/timestamp_strategy", json!("trusted")),
    ];
    for (pointer, value) in rows {
        let changed = rehashed(&receipt, pointer, value);
        let run = check("experimental-validate-receipt-v1", &changed);
        run.assert_failed("invalid draft field: ");
        check("verify-receipt", &changed).assert_failed("");
    }
    let attested = rehashed_with_attestation(&receipt, "x");
    assert_eq!(check("verify-receipt", &attested).status, 0);
    let nameless = rehashed_with_attestation(&receipt, "");
    let run = check("experimental-validate-receipt-v1", &nameless);
    run.assert_failed("invalid draft field: ");
}

fn rehashed_with_attestation(receipt: &Value, kind: &str) -> Value {
    let mut attested = receipt.clone();
    attested["attestations"] = json!([{"type": kind, "value": "v"}]);
    attested["receipt_hash"] = json!(receipt_hash(&attested));
    attested
}

/// Shape only, the hash may be wrong; `verify-receipt` looks at the hash.
#[test]
fn integrity_is_the_business_of_verify_receipt() {
    let (_, receipt) = success();
    let changed = with(&receipt, "/started_at", 1);
    let run = check("experimental-validate-receipt-v1", &changed);
    let artifact = receipt["artifact"].as_str().unwrap();
    run.assert_line(&format!(
        "OK experimental-validate-receipt-v1 artifact={artifact} status=success"
    ));
    check("verify-receipt", &changed).assert_failed("digest mismatch");
    // Without the null the hash is that of another document.
    let mut preimage = receipt.clone();
    preimage
        .as_object_mut()
        .unwrap()
        .shift_remove("receipt_hash");
    let wrong = with(&receipt, "/receipt_hash", canonical_digest(&preimage));
    check("verify-receipt", &wrong).assert_failed("digest mismatch");
    let bad = with(&receipt, "/artifact", "sha256:x");
    check("verify-receipt", &bad).assert_failed("");
    check("verify-receipt", &json!({})).assert_failed("");
    let mut more = receipt;
    more["extra"] = json!(1);
    check("verify-receipt", &more).assert_failed("");
}

/// The worked example through the binary; a signer `example.a` and that ceiling.
#[test]
fn the_worked_policy_hash() {
    use crate::bundle::Bundle;
    use crate::keys;
    let mut execution = Execution::plain(&guests::echo("demo.echo"));
    let signers = [keys::example_a()];
    let wasm = guests::echo("demo.echo");
    execution.bundle = Bundle::new(("demo.echo", "0.1.0"), &wasm, &[], &signers);
    execution.bundle.write(&execution.folder.path("bundle"));
    execution.folder.write("keys.json", &execution.bundle.ring);
    execution.policy(&json!({
        "capability_ceiling": {"fs": {"read": ["/workspace"]}, "exec": true},
        "version": 1, "trusted_signers": ["example.a"],
    }));
    let run = execution.run(&DRAFT);
    assert_eq!(run.status, 0, "{run:?}");
    let hash = "sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066";
    assert_eq!(execution.receipt()["policy_hash"], hash);
}
