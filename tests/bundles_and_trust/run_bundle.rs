//! `run --bundle`: order, output, what survives a failure.

use std::os::unix::fs::symlink;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::canonical::{canonical_digest, digest, members, pretty, with};
use crate::execution::Execution;
use crate::guests;
use crate::keys;
use crate::program::mode;

fn echo() -> Execution {
    Execution::plain(&guests::echo("demo.echo"))
}

#[test]
fn a_successful_run_writes_a_v0_receipt() {
    let execution = echo();
    execution.folder.write("input", r#"{"a":  1}"#);
    let run = execution.run(&[]);
    assert_eq!(
        (run.status, &run.stdout),
        (0, &execution.ok_line()),
        "{run:?}"
    );
    let receipt = execution.receipt();
    let names = [
        "artifact",
        "inputs_hash",
        "outputs_hash",
        "caps_used",
        "timestamp",
        "receipt_hash",
    ];
    assert_eq!(members(&receipt), names);
    assert_eq!(execution.folder.read("receipt.json"), pretty(&receipt));
    assert_eq!(mode(&execution.folder.path("receipt.json")), 0o600);
    let expected = json!({
        "artifact": execution.bundle.artifact(), "inputs_hash": digest(r#"{"a":  1}"#),
        "outputs_hash": digest(r#"{"a":  1}"#), "caps_used": [], "timestamp": receipt["timestamp"],
    });
    assert_eq!(receipt["receipt_hash"], canonical_digest(&expected));
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(receipt[name], *value, "{name}");
    }
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    assert!(now - receipt["timestamp"].as_u64().unwrap() < 600);
    assert_eq!(
        execution
            .folder
            .run(&["verify-receipt", "--receipt", "receipt.json"])
            .status,
        0
    );
}

#[test]
fn the_output_is_delivered() {
    let execution = echo();
    execution.folder.write("input", b"\0\xff\n");
    let run = execution.run(&["--output", "output"]);
    assert_eq!(run.stdout, execution.ok_line());
    assert_eq!(execution.folder.read("output"), b"\0\xff\n");
    assert_eq!(mode(&execution.folder.path("output")), 0o600);

    execution.folder.write("input", "text");
    let run = execution.run(&["--print-output", "--output", "output"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "text"), "{run:?}");
    assert!(run.stderr.contains(&execution.ok_line()), "{run:?}");
    assert_eq!(execution.folder.text("output"), "text");
}

/// Nothing: no receipt, no output, no OK line.
#[test]
fn a_failing_component_leaves_nothing() {
    #[rustfmt::skip]
    let rows = [
        (guests::failing("demo.echo", "not_found", "gone"),
            r#"skill failed: skill_error {"code":"not_found","message":"gone"}"#),
        (guests::trapping("demo.echo"), "wasm execution failed"),
    ];
    for (wasm, message) in rows {
        let execution = Execution::plain(&wasm);
        let run = execution.run(&["--output", "output", "--print-output"]);
        run.assert_failed(message);
        assert!(run.stdout.is_empty(), "{run:?}");
        assert!(!run.stderr.contains("OK run"));
        assert!(!execution.folder.exists("receipt.json") && !execution.folder.exists("output"));
    }
}

/// A code that hydrant does not have.
#[test]
fn another_code_is_internal() {
    let execution = Execution::plain(&guests::failing("demo.echo", "my_own", "x"));
    let run = execution.run(&[]);
    run.assert_failed(r#"skill failed: skill_error {"code":"internal","#);
    assert!(
        run.stderr.contains(r#""details":{"code":"my_own"}"#),
        "{run:?}"
    );
}

/// A component cannot run for ever.
#[test]
fn a_looping_component_is_stopped() {
    let execution = Execution::plain(&guests::looping("demo.echo"));
    let policy = |limits: Value| {
        json!({
            "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {},
            "host": {"limits": limits},
        })
    };
    execution.policy(&policy(json!({"wall_ms": 200})));
    execution
        .run(&[])
        .assert_failed("wasm execution failed: deadline exceeded");
    execution.policy(&policy(json!({"fuel": 100_000})));
    execution
        .run(&[])
        .assert_failed("wasm execution failed: fuel exhausted");
}

#[test]
fn the_entrypoint_of_a_component_is_run() {
    let mut execution = echo();
    execution.bundle.manifest["entrypoint"] = json!("main");
    execution.bundle.sign(&keys::team());
    execution.bundle.write(&execution.folder.path("bundle"));
    execution.run(&[]).assert_failed("entrypoint not found");
}

/// At whichever step a run fails, no earlier receipt or output survives.
#[test]
fn no_earlier_receipt_survives() {
    type Spoil = fn(&Execution);
    #[rustfmt::skip]
    let rows: [(Spoil, &str); 5] = [
        (|e| e.folder.put("bundle/skill.wasm", "x"), "digest mismatch"),
        (|e| e.folder.put("keys.json", "{}"), "public keys digest mismatch"),
        (|e| e.folder.put("policy.json", "["), "invalid policy document"),
        (|e| std::fs::remove_file(e.folder.path("input")).unwrap(), ""),
        (|e| std::fs::remove_dir_all(e.folder.path("bundle")).unwrap(), ""),
    ];
    for (spoil, message) in rows {
        let execution = echo();
        assert_eq!(execution.run(&["--output", "output"]).status, 0);
        spoil(&execution);
        execution
            .run(&["--output", "output"])
            .assert_failed(message);
        assert!(!execution.folder.exists("receipt.json"), "{message}");
        assert!(!execution.folder.exists("output"), "{message}");
    }
}

/// What is not an earlier receipt is not removed.
#[test]
fn links_directories_and_inputs_are_not_removed() {
    assert_eq!(echo().run(&[]).status, 0);
    let execution = echo();
    execution.folder.write("victim", "mine");
    symlink(
        execution.folder.path("victim"),
        execution.folder.path("receipt.json"),
    )
    .unwrap();
    execution.run(&[]).assert_failed("");
    assert_eq!(execution.folder.text("victim"), "mine");
    assert!(execution.folder.exists("receipt.json"));

    let execution = echo();
    execution.folder.write("output/x", "mine");
    execution.run(&["--output", "output"]).assert_failed("");
    assert_eq!(execution.folder.text("output/x"), "mine");

    for file in [
        "input",
        "policy.json",
        "keys.json",
        "bundle/skill.wasm",
        "./bundle/../input",
    ] {
        let execution = echo();
        let before = execution.folder.read(file);
        execution.run(&["--output", file]).assert_failed("");
        assert_eq!(execution.folder.read(file), before, "{file}");
    }
    let execution = echo();
    execution
        .run(&["--output", "receipt.json"])
        .assert_failed("");
}

/// The audit line comes last, so a run that cannot be recorded leaves nothing.
#[test]
fn a_run_that_cannot_be_recorded_leaves_nothing() {
    assert_eq!(echo().run(&[]).status, 0);
    let execution = echo();
    execution.folder.write("audit/x", "");
    execution
        .run(&["--audit", "audit", "--output", "output"])
        .assert_failed("");
    assert!(!execution.folder.exists("receipt.json") && !execution.folder.exists("output"));
    let execution = echo();
    execution
        .run(&["--output", "input/output"])
        .assert_failed("");
    assert!(!execution.folder.exists("receipt.json"));
}

/// The first failure in the order of the checks is the one that is reported.
#[test]
fn the_order_of_the_checks() {
    let wasm = guests::reading("demo.echo", "/workspace/note.txt", 1);
    let execution = Execution::new(&wasm, &[("fs.read", "/workspace")], &json!({}));
    let policy = |trusted: &str, ceiling: Value| json!({"version": 1, "trusted_signers": [trusted], "capability_ceiling": ceiling});
    // From the last step to the first, each failing before the ones already broken.
    execution
        .run(&[])
        .assert_failed("capability denied: fs.read:/workspace");
    execution.policy(&policy("somebody", json!({})));
    execution
        .run(&[])
        .assert_failed("no trusted signer declared in manifest.signers");
    execution.policy(&json!({"version": 2}));
    let bad_policy = execution.run(&[]);
    bad_policy.assert_failed("");
    assert!(
        !bad_policy.stderr.contains("trusted signer"),
        "{bad_policy:?}"
    );
    let wrong = with(&execution.bundle.signatures, "/signatures", json!([]));
    execution
        .folder
        .write("bundle/signatures.json", pretty(&wrong));
    execution.run(&[]).assert_failed("signature set is empty");
    execution.folder.write("bundle/skill.wasm", "x");
    execution.run(&[]).assert_failed("digest mismatch");
    execution.folder.write("bundle/manifest.json", "{");
    execution.run(&[]).assert_failed("invalid manifest JSON");
}

/// Capabilities against each layer are in `layers`; here it is signatures.
#[test]
fn a_trusted_signer_must_have_signed() {
    let mut execution = echo();
    execution.bundle.sign(&[keys::release()]);
    execution.bundle.write(&execution.folder.path("bundle"));
    execution
        .run(&[])
        .assert_failed("no trusted signer present in signatures.json");
}

#[test]
fn the_input_is_bounded() {
    let execution = echo();
    let input = std::fs::File::create(execution.folder.path("input")).unwrap();
    input.set_len(16_777_217).unwrap();
    execution
        .run(&[])
        .assert_failed("input exceeds maximum size (16777217 bytes > 16777216 bytes)");
}

#[test]
fn a_component_reads_what_the_policy_mounts() {
    let wasm = guests::reading("demo.echo", "/workspace/note.txt", 1);
    let ceiling = json!({"fs": {"read": ["/workspace"]}});
    let execution = Execution::new(&wasm, &[("fs.read", "/workspace")], &ceiling);
    execution.folder.write("data/note.txt", "a note");
    let policy = |dir: &str| {
        json!({
            "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling,
            "host": {"mounts": [{"at": "/workspace", "dir": dir, "mode": "ro"}]},
        })
    };
    execution.policy(&policy("data"));
    assert_eq!(execution.output(&[]), b"a note");
    assert_eq!(execution.receipt()["caps_used"], json!(["fs.read"]));
    execution.policy(&policy("@cli"));
    assert_eq!(execution.output(&["--mount", "/workspace=data"]), b"a note");
    execution.run(&[]).assert_failed("/workspace");
    // No mounts, nothing to read.
    execution.policy(&json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling,
    }));
    assert_eq!(execution.output(&[]), b"\"denied\"");
}
