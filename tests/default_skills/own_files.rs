//! What a skill that may write must not: hydrant's own files, and changes that nobody is told of.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::desk::{Desk, finish};
use crate::fs_write_patch::{ID, request};

/// A patch that makes this file.
fn making(path: &str) -> Value {
    let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+policy = \"mine.yaml\"\n");
    request(&diff, &json!({}))
}

/// The error of a call whose home folder is elsewhere.
fn error_at_home(desk: &Desk, home: &str, request: &Value) -> Value {
    let mut command = desk.command(ID);
    command.env("HYDRANT_HOME", home);
    let run = finish(command, request.to_string().as_bytes());
    assert_eq!(run.status, 5, "{run:?}");
    let error = run.stderr.trim_end().lines().last().unwrap();
    serde_json::from_str(error).unwrap()
}

/// The home folder, by whatever path it was named, and before it was ever there.
#[test]
fn the_home_folder_below_a_mount_is_not_written() {
    let desk = Desk::writing();
    fs::create_dir(desk.path("inner")).unwrap();
    symlink(desk.path("inner"), desk.beside("link")).unwrap();
    for (home, path) in [
        (desk.path("home"), "home/hydrant.toml"),
        (desk.path("home"), "home/state/approvals.json"),
        (desk.beside("link/home"), "inner/home/hydrant.toml"),
    ] {
        let error = error_at_home(&desk, home.to_str().unwrap(), &making(path));
        assert_eq!(error["code"], "denied", "{path}: {error}");
        let capability = format!("fs.write:/workspace/{path}");
        assert_eq!(error["details"]["capability"], json!(capability));
        let text = fs::read_to_string(desk.path(path)).unwrap_or_default();
        assert!(!text.contains("mine.yaml"), "{path}: {text}");
    }
    // Beside it everything is as the policy says.
    assert_eq!(desk.ok(ID, &making("home2/x"))["applied"], true);
}

/// Compiled code is mapped, not copied: who could write it could change what runs.
#[test]
fn compiled_code_below_a_mount_is_not_written() {
    let desk = Desk::writing();
    let mut command = desk.command(ID);
    command
        .env("XDG_CACHE_HOME", desk.path("cache"))
        .env("HYDRANT_PRECOMPILED", "off");
    let run = finish(
        command,
        making("cache/hydrant/x.cwasm").to_string().as_bytes(),
    );
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("\"denied\""), "{run:?}");
    assert!(!desk.exists("cache/hydrant/x.cwasm"));
    assert!(desk.exists("cache/hydrant"), "the cache was in use");
}

#[test]
fn the_policy_in_force_is_not_written() {
    let desk = Desk::writing();
    let policy = fs::read(desk.beside("policy.json")).unwrap();
    desk.write("policy.json", &policy);
    fs::remove_file(desk.beside("policy.json")).unwrap();
    let send = |request: &Value| {
        let mut command = desk
            .folder()
            .command(&["run", ID, "-", "--policy", "ws/policy.json"]);
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        finish(command, request.to_string().as_bytes())
    };
    let deletion = format!(
        "--- a/policy.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-{}\n\\ No newline at end of file\n",
        String::from_utf8(policy.clone()).unwrap()
    );
    let run = send(&request(&deletion, &json!({})));
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("\"denied\""), "{run:?}");
    assert_eq!(desk.read("policy.json"), policy);
    assert_eq!(send(&making("other.json")).status, 0);
}

/// Who could change the audit log could take back what was done.
#[test]
fn the_audit_log_below_a_mount_is_not_written() {
    let desk = Desk::writing();
    let send = |audit: &str, request: &Value| {
        let mut command = desk.command(ID);
        command.args(["--audit", audit]);
        finish(command, request.to_string().as_bytes())
    };
    let run = send("ws/audit.jsonl", &making("new"));
    assert_eq!(run.status, 0, "{run:?}");
    let log = desk.read("audit.jsonl");
    assert!(!log.is_empty());
    let text = String::from_utf8(log.clone()).unwrap();
    let line = text.lines().next().unwrap();
    let changed = format!("--- a/audit.jsonl\n+++ b/audit.jsonl\n@@ -1 +1 @@\n-{line}\n+x\n");
    let moved = "diff --git a/audit.jsonl b/moved\nsimilarity index 100%\nrename from audit.jsonl\nrename to moved\n";
    for diff in [changed.as_str(), moved] {
        let run = send("ws/audit.jsonl", &request(diff, &json!({})));
        assert_eq!(run.status, 5, "{run:?}");
        assert!(run.stderr.contains("\"denied\""), "{run:?}");
        assert!(desk.read("audit.jsonl").starts_with(&log), "{diff}");
    }
    // Where the log lies elsewhere, it is a file like others.
    let run = send("audit.jsonl", &request(moved, &json!({})));
    assert_eq!(run.status, 0, "{run:?}");
    assert!(desk.exists("moved") && !desk.exists("audit.jsonl"));
}

/// A call that is stopped when its changes are made says that they are.
#[test]
fn a_call_that_is_stopped_after_its_changes_says_so() {
    let desk = Desk::writing();
    let host = json!({"mounts": desk.mounts("rw"), "limits": {"output_bytes": 20}});
    let ceiling = json!({"fs": {"read": ["/workspace"], "write": ["/workspace"]}});
    desk.policy(&ceiling, &host);
    let run = desk.send(ID, making("new").to_string().as_bytes());
    assert_eq!(run.status, 5, "{run:?}");
    let error: Value = serde_json::from_str(run.stderr.trim_end()).unwrap();
    assert_eq!(error["code"], "output_too_large", "{error}");
    assert_eq!(error["details"], json!({"files_changed": true}));
    assert!(desk.exists("new"));
    // One that changed nothing does not.
    let dry = request(
        "--- /dev/null\n+++ b/other\n@@ -0,0 +1 @@\n+x\n",
        &json!({"dry_run": true}),
    );
    let run = desk.send(ID, dry.to_string().as_bytes());
    let error: Value = serde_json::from_str(run.stderr.trim_end()).unwrap();
    assert_eq!(error.get("details"), None, "{error}");
    assert!(!desk.exists("other"));
}

/// A limit on the size of files is an error of the write, and not the end of the program without a word.
#[test]
fn a_limit_on_files_is_an_error_that_is_told() {
    let desk = Desk::writing();
    desk.write("f", "x\n");
    let large = "y".repeat(100_000);
    let diff = format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+{large}\n");
    let plain = desk.command(ID);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 100; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(plain.get_current_dir().unwrap())
        .env_clear()
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    for (name, value) in plain.get_envs() {
        limited.env(name, value.unwrap());
    }
    // The code is compiled and kept before the limit holds.
    desk.ok(
        ID,
        &request(
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+z\n",
            &json!({"dry_run": true}),
        ),
    );
    let request = request(&diff, &json!({})).to_string();
    let run = finish(limited, request.as_bytes());
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("\"code\":\"io\""), "{run:?}");
    assert_eq!(desk.read("f"), b"x\n");
}
