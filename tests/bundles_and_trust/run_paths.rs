//! Where `run ID` may leave its output and receipt, and what it must leave alone.

use crate::execution::Execution;
use crate::guests;
use crate::root::{ECHO, LOCK, Root};
use crate::run_pinned::run;

/// Nothing that the run reads is replaced, by whatever name.
#[test]
fn no_file_that_a_pinned_run_reads_is_replaced() {
    let root = Root::new();
    assert_eq!(run(&root, &[ECHO, "{}"]).status, 0);
    root.folder.write("../request.json", "{}");
    root.folder
        .write("../grant.json", root.folder.read("../policy.json"));
    let files = [
        "../policy.json",
        "../grant.json",
        "../request.json",
        LOCK,
        "skills/demo.echo/0.1.0/skill.wasm",
    ];
    for file in files {
        let before = root.folder.read(file);
        for flag in ["--output", "--receipt"] {
            let arguments = [
                ECHO,
                "@../request.json",
                "--grant",
                "../grant.json",
                flag,
                file,
            ];
            let refused = run(&root, &arguments);
            assert_eq!(refused.status, 1, "{flag} {file}: {refused:?}");
            assert!(refused.stderr.contains("refusing to write"), "{refused:?}");
            assert_eq!(root.folder.read(file), before, "{flag} {file}");
        }
    }
    // Nor is anything added to the root: it would be an extra file.
    let refused = run(
        &root,
        &[ECHO, "--receipt", "skills/demo.echo/0.1.0/receipt.json"],
    );
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(!root.folder.exists("skills/demo.echo/0.1.0/receipt.json"));
}

/// The audit record is not replaced either, whether it is there already or not.
#[test]
fn the_audit_record_is_no_place_for_a_receipt() {
    let root = Root::new();
    for _ in 0..2 {
        let refused = run(
            &root,
            &[ECHO, "--audit", "../a.jsonl", "--receipt", "../a.jsonl"],
        );
        assert_eq!(refused.status, 1, "{refused:?}");
        root.folder.write("../a.jsonl", "");
    }
    let execution = Execution::plain(&guests::echo("demo.echo"));
    execution.folder.write("receipt.json", "before");
    let run = execution.run(&["--audit", "receipt.json"]);
    run.assert_failed("refusing to write the receipt");
    assert_eq!(execution.folder.text("receipt.json"), "before");
}

/// An empty variable counts as absent.
#[test]
fn an_empty_variable_does_not_hide_the_configuration() {
    let root = Root::new();
    assert_eq!(run(&root, &[ECHO, "{}"]).status, 0);
    root.folder
        .write("../audit.toml", "audit = \"configured.jsonl\"");
    let mut command = root.command(&[
        "run",
        ECHO,
        "--root",
        ".",
        "--policy",
        "../policy.json",
        "--config",
        "../audit.toml",
    ]);
    let done = command.env("HYDRANT_AUDIT", "").output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(root.folder.exists("../configured.jsonl"));
}

/// What the working directory holds has nothing to do with the pins.
#[test]
fn verifying_does_not_depend_on_the_working_directory() {
    let root = Root::new();
    let elsewhere = root.folder.path("../elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink("/nowhere", elsewhere.join("os")).unwrap();
    let here = root.folder.argument("");
    for command in ["verify", "skills"] {
        let digest = root.keys_digest();
        let arguments = [command, "--root", &here, "--keys-digest", &digest];
        let done = root
            .command(&arguments)
            .current_dir(&elsewhere)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}
