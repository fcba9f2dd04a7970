//! Core modules: how a run ends, and the limits that end it.

use serde_json::{Value, json};

use crate::core_modules::{get, granted, reading};
use crate::execution::Execution;
use crate::guests::{bare, core};
use crate::program::Folder;

#[test]
fn the_entrypoint_and_the_imports() {
    let none = crate::guests::assemble(r#"(module (func (export "main")))"#);
    Execution::plain(&none)
        .run(&[])
        .assert_failed("entrypoint not found");
    let typed = bare("(param i32) (result i32) (i32.const 0)");
    Execution::plain(&typed)
        .run(&[])
        .assert_failed("entrypoint not found");
    for (module, name) in [
        ("wasi_snapshot_preview1", "fd_write"),
        ("env", "f"),
        ("provenact", "exec"),
    ] {
        let text = format!(r#"(module (import "{module}" "{name}" (func)) (func (export "run")))"#);
        let execution = Execution::plain(&crate::guests::assemble(&text));
        execution
            .run(&[])
            .assert_failed("wasm instantiation failed");
    }
}

#[test]
fn what_a_return_value_means() {
    let output = |run: &str| Execution::plain(&bare(run)).output(&[]);
    assert_eq!(output("(result i32) (i32.const 42)"), b"42");
    assert_eq!(output(""), b"");
    let negative = Execution::plain(&bare("(result i32) (i32.const -3)"));
    let run = negative.run(&["--output", "output"]);
    run.assert_failed("skill failed: nonzero_return -3: ");
    assert!(!negative.folder.exists("receipt.json") && !negative.folder.exists("output"));
    assert!(!format!("{run:?}").contains("OK run"));
    // It could have answered otherwise, so a value is a failure.
    let said = "(drop (call $output_write (i32.const 0) (i32.const 5))) (i32.const 1)";
    let run = Execution::plain(&core("a\n\u{1b}b", "", said)).run(&[]);
    run.assert_failed(r"skill failed: nonzero_return 1: a\u{a}\u{1b}b");
}

#[test]
fn fuel_and_traps() {
    let looping = bare("(loop $again (br $again))");
    Execution::plain(&looping)
        .run(&[])
        .assert_failed("wasm execution failed: fuel exhausted");
    let trap = Execution::plain(&bare("(unreachable)")).run(&[]);
    trap.assert_failed("wasm execution failed");
    assert!(!trap.stderr.contains("0x"), "no addresses: {trap:?}");
}

/// A host call is not free of the deadline.
#[test]
fn the_deadline_holds_inside_a_host_call() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let wasm = core(&url, "", &get("http_fetch", &url));
    let execution = granted(Folder::new(), &wasm, "net.http", &url);
    execution.policy(&json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {"net": [url]},
        "host": {"limits": {"wall_ms": 300}},
    }));
    let start = std::time::Instant::now();
    execution
        .run(&[])
        .assert_failed("wasm execution failed: deadline exceeded");
    assert!(start.elapsed().as_secs() < 5);
}

/// Memory is bounded, and so is the output.
#[test]
fn memory_is_bounded() {
    let grow = bare("(result i32) (i32.add (i32.const 1) (memory.grow (i32.const 128)))");
    assert_eq!(
        Execution::plain(&grow).output(&[]),
        b"0",
        "8 MiB in all: growing fails"
    );
    let big = crate::guests::assemble(r#"(module (memory 129) (func (export "run")))"#);
    Execution::plain(&big)
        .run(&[])
        .assert_failed("wasm instantiation failed");
}

/// A core module sees the ceiling only; mounts of the policy are not for it.
#[test]
fn mounts_are_not_for_core_modules() {
    let folder = Folder::new();
    folder.write("data/note.txt", "x");
    let path = "/workspace/note.txt";
    let ceiling: Value = json!({"fs": {"read": ["/workspace"]}});
    let execution = Execution::in_folder(
        folder,
        &reading(path),
        &[("fs.read", "/workspace")],
        &ceiling,
    );
    execution.policy(&json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling,
        "host": {"mounts": [{"at": "/workspace", "dir": "data", "mode": "ro"}]},
    }));
    let run = execution.run(&["--output", "output"]);
    assert_eq!(run.status, 1, "{run:?}");
    let reasons = [
        "skill failed: nonzero_return 7",
        "wasm execution failed: capability denied: fs.read:",
    ];
    assert!(
        reasons.iter().any(|reason| run.stderr.contains(reason)),
        "{run:?}"
    );
}
