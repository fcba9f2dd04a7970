//! Usage of the compatible commands: flags, help, exit codes.

use crate::bundle::Bundle;
use crate::canonical::digest;
use crate::execution::Execution;
use crate::guests;
use crate::program::Folder;

/// Each compatible command with all that it needs.
const COMMANDS: [(&str, &[&str]); 12] = [
    (
        "verify",
        &["--bundle", "b", "--keys", "k", "--keys-digest", "d"],
    ),
    ("inspect", &["--bundle", "b"]),
    ("pack", &["--bundle", "b", "--wasm", "w", "--manifest", "m"]),
    (
        "sign",
        &["--bundle", "b", "--signer", "s", "--secret-key", "k"],
    ),
    ("archive", &["--bundle", "b", "--output", "o"]),
    ("install", &["--artifact", "a"]),
    (
        "export",
        &["agentskills", "--agent", "claude", "--scope", "repo"],
    ),
    (
        "run",
        &[
            "--bundle",
            "b",
            "--keys",
            "k",
            "--keys-digest",
            "d",
            "--policy",
            "p",
            "--input",
            "i",
            "--receipt",
            "r",
        ],
    ),
    ("verify-receipt", &["--receipt", "r"]),
    (
        "verify-registry-entry",
        &["--artifact", "a", "--sha256", "s", "--md5", "m"],
    ),
    ("experimental-validate-manifest-v1", &["--manifest", "m"]),
    ("experimental-validate-receipt-v1", &["--receipt", "r"]),
];

#[test]
fn help_and_version_succeed_on_stdout() {
    let folder = Folder::new();
    for flag in ["--help", "-h", "--version"] {
        let run = folder.run(&[flag]);
        assert_eq!(run.status, 0, "{flag}: {run:?}");
        assert!(
            !run.stdout.is_empty() && run.stderr.is_empty(),
            "{flag}: {run:?}"
        );
    }
    for (command, _) in COMMANDS {
        let run = folder.run(&[command, "--help"]);
        assert_eq!(run.status, 0, "{command}: {run:?}");
        assert!(!run.stdout.is_empty(), "{command}");
    }
}

#[test]
fn every_needed_flag_is_needed() {
    let folder = Folder::new();
    for (command, arguments) in COMMANDS {
        let start = usize::from(command == "export");
        for left_out in (start..arguments.len()).step_by(2) {
            // `run` and `verify` without `--bundle` are hydrant's own forms; `sign` may have its key from the environment.
            if arguments[left_out] == "--bundle" && ["run", "verify"].contains(&command) {
                continue;
            }
            let mut given = vec![command];
            given.extend(&arguments[..left_out]);
            given.extend(&arguments[left_out + 2..]);
            folder.run(&given).assert_usage();
        }
    }
}

#[test]
fn unknown_repeated_and_joined_flags_are_usage_errors() {
    let folder = Folder::new();
    for (command, arguments) in COMMANDS {
        let all = [&[command], arguments].concat();
        folder
            .run(&[&all[..], &["--nonsense", "x"]].concat())
            .assert_usage();
        folder
            .run(&[&all[..], &["positional"]].concat())
            .assert_usage();
        let last = &arguments[arguments.len() - 2..];
        folder.run(&[&all[..], last].concat()).assert_usage();
        let joined = format!("{}={}", last[0], last[1]);
        let start = &all[..all.len() - 2];
        folder.run(&[start, &[&joined]].concat()).assert_usage();
        folder.run(&all[..all.len() - 1]).assert_usage();
    }
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    // A command that nobody has is none of provenact's: exit 2, as for all of hydrant's own usage errors.
    for (arguments, status) in [(&["nonsense"][..], 2), (&["export", "nonsense"], 1)] {
        let run = Folder::new().run(arguments);
        assert_eq!(run.status, status, "{run:?}");
        assert!(run.stderr.to_lowercase().contains("usage:"), "{run:?}");
    }
}

/// `--mount` may be repeated, a switch may not.
#[test]
fn only_mount_may_be_repeated() {
    let execution = Execution::plain(&guests::echo("demo.echo"));
    execution.folder.write("a/x", "").write("b/x", "");
    let policy = serde_json::json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {},
        "host": {"mounts": [
            {"at": "/workspace", "dir": "@cli", "mode": "ro"}, {"at": "/data", "dir": "@cli", "mode": "ro"},
        ]},
    });
    execution.policy(&policy);
    let run = execution.run(&["--mount", "/workspace=a", "--mount", "/data=b"]);
    assert_eq!(run.status, 0, "{run:?}");
    execution
        .run(&["--print-output", "--print-output"])
        .assert_usage();
    execution
        .run(&["--output", "o", "--output", "p"])
        .assert_usage();
}

/// What fails is told on stderr, and nothing on stdout.
#[test]
fn failures_are_told_on_stderr() {
    let folder = Folder::new();
    // Nothing to export is no failure.
    for (command, arguments) in COMMANDS.into_iter().filter(|(name, _)| *name != "export") {
        let run = folder.run(&[&[command], arguments].concat());
        assert_eq!(run.status, 1, "{command}: {run:?}");
        assert!(
            run.stderr.contains("command failed: "),
            "{command}: {run:?}"
        );
        assert!(run.stdout.is_empty(), "{command}: {run:?}");
    }
}

/// Which form of `verify` it is.
#[test]
fn a_flag_of_the_bundle_form_makes_it_the_bundle_form() {
    let folder = Folder::new();
    for flags in [
        &["--keys", "k"][..],
        &["--allow-experimental"],
        &["--require-cosign"],
        &["--oci-ref", "r"],
    ] {
        folder.run(&[&["verify"], flags].concat()).assert_usage();
    }
}

/// Neither home nor cache nor network is needed to verify or run a bundle.
#[test]
fn no_environment_is_needed() {
    let execution = Execution::plain(&guests::echo("demo.echo"));
    let mut command = execution.command(&[]);
    let run = crate::program::Run::of(command.env_clear());
    assert_eq!(run.status, 0, "{run:?}");
    let bundle = Bundle::example();
    bundle.write(&execution.folder.path("b"));
    execution.folder.write("k", &bundle.ring);
    let keys_digest = digest(&bundle.ring);
    let arguments = [
        "verify",
        "--bundle",
        "b",
        "--keys",
        "k",
        "--keys-digest",
        &keys_digest,
    ];
    let mut command = execution.folder.command(&arguments);
    assert_eq!(crate::program::Run::of(command.env_clear()).status, 0);
}
