//! Where the audit record goes and what happens when it cannot, and the observation lines.

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::audit::{AUDIT, echo};
use crate::canonical::members;
use crate::execution::audit_lines;
use crate::program::Run;
use crate::root::{ECHO, Root, reader};
use crate::run_pinned::run;

/// Flag before variable; `off`; no default target for compatible commands; usage errors are not recorded.
#[test]
fn where_the_record_goes() {
    let run = |flag: Option<&str>, variable: Option<&str>| {
        let execution = echo();
        let mut arguments = Vec::new();
        arguments.extend(flag.map(|file| ["--audit", file]).into_iter().flatten());
        let mut command = execution.command(&arguments);
        if let Some(file) = variable {
            command.env("HYDRANT_AUDIT", file);
        }
        assert_eq!(Run::of(&mut command).status, 0);
        let there = |path: &str| execution.folder.exists(path);
        (
            there("flag"),
            there("variable"),
            execution.folder.home().join("state/audit.jsonl").exists(),
        )
    };
    assert_eq!(run(Some("flag"), Some("variable")), (true, false, false));
    assert_eq!(run(None, Some("variable")), (false, true, false));
    assert_eq!(run(Some("off"), Some("variable")), (false, false, false));
    assert_eq!(
        run(None, None),
        (false, false, false),
        "a compatible command"
    );
    let execution = echo();
    let mut command = execution
        .folder
        .command(&["run", "--bundle", "bundle", "--nonsense"]);
    Run::of(command.env("HYDRANT_AUDIT", "variable")).assert_usage();
    assert!(!execution.folder.exists("variable"));
}

/// A symlink is no target, nor is a directory.
#[test]
fn what_cannot_be_recorded_is_not_run() {
    let execution = echo();
    execution.folder.write("victim", "");
    symlink(
        execution.folder.path("victim"),
        execution.folder.path("audit.jsonl"),
    )
    .unwrap();
    execution.run(&AUDIT).assert_failed("");
    assert_eq!(execution.folder.text("victim"), "");
    assert!(!execution.folder.exists("receipt.json"));
    std::fs::remove_file(execution.folder.path("audit.jsonl")).unwrap();
    assert_eq!(execution.run(&AUDIT).status, 0);
}

#[test]
fn a_context_has_a_form() {
    for context in ["", "a b", "a/b", &"x".repeat(129)] {
        let execution = echo();
        let run = execution.run(&[&AUDIT[..], &["--context", context]].concat());
        assert_eq!(run.status, 1, "{context:?}: {run:?}");
    }
    let longest = format!("aZ0._:-{}", "x".repeat(121));
    let run = echo().run(&[&AUDIT[..], &["--context", &longest]].concat());
    assert_eq!(run.status, 0, "{run:?}");
}

/// Own commands have a default target.
#[test]
fn a_failed_pin_is_recorded_with_its_row() {
    let root = Root::of(vec![
        reader("demo.reader", "0.1.0"),
        crate::root::echo("0.1.0"),
    ]);
    assert_eq!(run(&root, &[ECHO]).status, 0);
    let default = "../home/.hydrant/state/audit.jsonl";
    let lines = audit_lines(&root.folder, default);
    assert_eq!(
        lines.last().unwrap()["reason"],
        "verified_execution_success"
    );
    root.folder.write("skills/demo.echo/0.1.0/skill.wasm", "x");
    assert_eq!(run(&root, &[ECHO]).status, 2);
    let lines = audit_lines(&root.folder, default);
    let last = lines.last().unwrap();
    assert_eq!(last["decision"], "deny");
    let reason = last["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("pin_failed:TV-1") || reason == "verification_failed:artifact",
        "{reason}"
    );
}

/// A home that cannot be written is a warning where only the default target applies.
#[test]
fn an_unwritable_default_target_is_a_warning() {
    let root = Root::new();
    root.folder
        .write("../home/.hydrant/state", "a file in the way");
    let done = run(&root, &[ECHO]);
    assert_eq!(done.status, 0, "{done:?}");
    let warnings = done.stderr.lines().filter(|line| line.contains("audit"));
    assert_eq!(warnings.count(), 1, "{done:?}");
    let named = run(&root, &[ECHO, "--audit", "../home/.hydrant/state/x"]);
    assert_ne!(named.status, 0, "{named:?}");
}

#[test]
fn observation_lines() {
    let execution = echo();
    let observed = |mut command: std::process::Command, value: &str| {
        let run = Run::of(command.env("PROVENACT_OBS_JSON", value));
        let lines = run
            .stderr
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line.get("event").is_some())
            .collect::<Vec<Value>>()
    };
    for value in ["1", "true", "YES"] {
        let lines = observed(execution.command(&[]), value);
        let run = lines
            .iter()
            .find(|line| line["event"] == "provenact.run")
            .expect("a record");
        for member in [
            "artifact",
            "capability_count",
            "verify_ms",
            "execute_ms",
            "receipt_ms",
            "timestamp",
            "duration_ms",
        ] {
            assert!(run.get(member).is_some(), "{member}: {run}");
        }
        assert_eq!(run["status"], "ok");
        let mut sorted = members(run);
        sorted.sort_unstable();
        assert_eq!(members(run), sorted);
        let command = lines
            .iter()
            .find(|line| line["event"] == "provenact.command")
            .expect("a record");
        assert_eq!(command["command"], "run");
    }
    assert_eq!(observed(execution.command(&[]), "0"), Vec::<Value>::new());
    execution.folder.write("bundle/skill.wasm", "x");
    let lines = observed(execution.command(&[]), "1");
    assert!(
        lines
            .iter()
            .any(|line| line["status"] == "error" && line.get("error").is_some()),
        "{lines:?}"
    );
    let check = execution
        .folder
        .command(&["verify-receipt", "--receipt", "none"]);
    let lines = observed(check, "1");
    assert!(
        lines
            .iter()
            .any(|line| line["event"] == "provenact.verify_receipt"),
        "{lines:?}"
    );
}
