//! Without a policy file: git for `git.status` and `git.diff`, in the jail, and no other process.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::desk::{Desk, finish};
use crate::program::Run;
use crate::repository::Repository;

/// A call under the default policy, with the desk's workspace.
fn call(desk: &Desk, skill: &str, request: &Value) -> Run {
    call_in(desk, skill, request, &["--mount", "/workspace=ws"])
}

fn call_in(desk: &Desk, skill: &str, request: &Value, options: &[&str]) -> Run {
    let mut command = desk
        .folder()
        .command(&[&["run", skill, "-"], options].concat());
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command, request.to_string().as_bytes())
}

fn error(run: &Run) -> Value {
    assert_eq!(run.status, 5, "{run:?}");
    serde_json::from_str(run.stderr.trim_end().lines().last().unwrap()).unwrap()
}

#[test]
fn git_status_and_git_diff_need_no_policy_file() {
    let repository = Repository::with(&[("a", "1\n")]);
    repository.desk.write("a", "2\n").write("new", "");
    let status = call(&repository.desk, "git.status", &json!({}));
    assert_eq!(status.status, 0, "{status:?}");
    assert_eq!(status.json()["unstaged"], json!(["a"]));
    assert_eq!(status.json()["untracked"], json!(["new"]));
    for target in ["working", "commit"] {
        let request = match target {
            "commit" => json!({"target": "commit", "commit": "HEAD"}),
            _ => json!({ "target": target }),
        };
        let diff = call(&repository.desk, "git.diff", &request);
        assert_eq!(diff.status, 0, "{target}: {diff:?}");
        let expected = if target == "working" {
            "-1\n+2\n"
        } else {
            "+1\n"
        };
        let text = diff.json()["diff"].as_str().unwrap().to_owned();
        assert!(text.contains(expected), "{target}: {text}");
    }
}

/// A repository whose configuration names programs: none is started, and nothing in it changes.
#[test]
fn a_hostile_repository_starts_nothing_and_is_not_written() {
    let repository = Repository::with(&[("a", "1\n"), (".gitattributes", "* diff=x filter=y\n")]);
    repository.desk.write("a", "2\n");
    let program = repository.desk.script(
        "canary",
        "#!/bin/sh\ntouch ../canary canary /tmp/canary\ncat\n",
    );
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.y.clean",
    ] {
        repository.config(key, &program);
    }
    let before = repository.state();
    for (skill, request) in [
        ("git.status", json!({})),
        ("git.diff", json!({"target": "working"})),
    ] {
        let run = call(&repository.desk, skill, &request);
        assert!(matches!(run.status, 0 | 5), "{skill}: {run:?}");
    }
    assert_eq!(repository.state(), before);
    assert!(!repository.desk.exists("canary") && !repository.desk.beside("canary").exists());
}

#[test]
fn no_other_process_starts_and_nothing_is_written() {
    let repository = Repository::with(&[("a", "1\n")]);
    let head = repository.head();
    let rows = [
        json!(["ls"]),
        json!(["sh", "-c", "id"]),
        json!(["git", "--no-pager", "log"]),
        json!(["git", "commit", "--allow-empty", "-m", "x"]),
        json!(["git", "-c", "core.pager=id", "--no-pager", "status"]),
    ];
    for argv in rows {
        let run = call(
            &repository.desk,
            "shell.exec_safe",
            &json!({ "argv": argv }),
        );
        assert_eq!(error(&run)["code"], "denied", "{argv}: {run:?}");
    }
    let patch = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";
    let run = call(
        &repository.desk,
        "fs.write_patch",
        &json!({ "unified_diff": patch }),
    );
    assert_eq!(error(&run)["code"], "denied", "{run:?}");
    assert!(!repository.desk.exists("new"));
    assert_eq!(repository.head(), head);
}

/// A git that lies in the working directory is what somebody put there.
#[test]
fn a_git_within_the_workspace_is_not_started() {
    let desk = Desk::bare();
    let run = call_in(
        &desk,
        "git.status",
        &json!({}),
        &["--mount", "/workspace=/usr"],
    );
    let error = error(&run);
    assert_eq!(error["code"], "not_found", "{run:?}");
    assert_eq!(error["details"], json!({"reason": "program"}));
    // And all else works there.
    let run = call_in(
        &desk,
        "fs.read_tree",
        &json!({"max_depth": 1}),
        &["--mount", "/workspace=/usr"],
    );
    assert_eq!(run.status, 0, "{run:?}");
}
