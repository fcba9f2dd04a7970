//! Programs and the `.git` of a workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::machine::Machine;

/// git itself, as the user of the workspace.
fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {stderr}");
}

/// A repository with one commit and a change that is not committed.
fn repository(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    git(directory, &["init", "-q", "-b", "main"]);
    fs::write(directory.join("a"), "1\n").unwrap();
    git(directory, &["add", "a"]);
    git(directory, &["commit", "-qm", "first"]);
    fs::write(directory.join("a"), "2\n").unwrap();
}

/// A policy with `/workspace` as it is, and these rules of `host.process`.
fn policy(machine: &Machine, rules: Value, jail: &str) -> String {
    let path = machine.home().join("policy.json");
    let text = json!({
        "version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
        "capability_ceiling": {"fs": {"read": ["/workspace"], "write": ["/workspace"]}, "exec": true},
        "host": {
            "mounts": [{"at": "/workspace", "dir": machine.work(), "mode": "rw"}],
            "process": rules, "jail": {"process": jail},
        },
    });
    fs::write(&path, text.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn any_git() -> Value {
    json!([{"program": "git", "args": [["..."]], "cwd": ["/workspace"]}])
}

fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a script that may write there, and start what it needs for that.
fn script(machine: &Machine, script: &str, writable: &[&str]) {
    let mut rules = vec![json!({
        "program": "sh", "args": [["-c", script]], "cwd": ["/workspace"], "writable": writable,
    })];
    for name in ["mv", "rm", "mkdir", "touch"] {
        rules.push(json!({"program": name, "args": [["--version"]], "cwd": ["/workspace"]}));
    }
    let policy = policy(machine, json!(rules), "required");
    let request = json!({"argv": ["sh", "-c", script]}).to_string();
    let output = machine.run(&["run", "shell.exec_safe", &request, "--policy", &policy]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_program_leaves_every_git_folder_as_it_is() {
    let attack = "cd /workspace; for git in .git deep/er/.git; do \
                  echo x > $git/hooks/post-checkout; echo x >> $git/config; mv $git $git.old; done; \
                  mv deep deeper; mkdir -p deep/er/.git/hooks; touch beside; true";
    let nested = "deep/er/.git";
    for (named, changed) in [(false, false), (true, true)] {
        let machine = Machine::new();
        repository(&machine.work());
        repository(&machine.work().join("deep/er"));
        let config = |git: &str| fs::read(machine.work().join(git).join("config")).ok();
        let before = [".git", nested].map(config);
        let mut writable = vec!["/workspace"];
        if named {
            writable.extend(["/workspace/.git", "/workspace/deep/er/.git"]);
        }
        script(&machine, attack, &writable);
        assert!(machine.work().join("beside").exists());
        // Nothing holds the directories above what the policy names.
        let nested = if named { "deeper/er/.git" } else { nested };
        for (git, before) in [".git", nested].into_iter().zip(before) {
            assert_eq!(config(git) != before, changed, "{git}");
            let hook = machine.work().join(git).join("hooks/post-checkout");
            assert_eq!(hook.exists(), changed, "{git}");
        }
    }
}

/// Nothing can be mounted over a link, so that nothing around it is written either.
#[test]
fn a_git_folder_behind_a_link_is_not_written() {
    let attack =
        "echo x >> /workspace/data/config; rm /workspace/.git; touch /workspace/beside; true";
    let machine = Machine::new();
    repository(&machine.work());
    fs::rename(machine.work().join(".git"), machine.work().join("data")).unwrap();
    symlink("data", machine.work().join(".git")).unwrap();
    let before = fs::read(machine.work().join("data/config")).unwrap();
    script(&machine, attack, &["/workspace"]);
    assert_eq!(
        fs::read(machine.work().join("data/config")).unwrap(),
        before
    );
    assert!(machine.work().join(".git").is_symlink());
    fs::remove_file(machine.work().join(".git")).unwrap();
    script(&machine, attack, &["/workspace", "/workspace/data"]);
    assert_ne!(
        fs::read(machine.work().join("data/config")).unwrap(),
        before,
        "control"
    );
}

/// What git shows of the last commit, and how long that took.
fn shown(machine: &Machine, jail: &str) -> (Output, Duration) {
    let policy = policy(machine, any_git(), jail);
    let started = Instant::now();
    let request = json!({"target": "commit"}).to_string();
    let output = machine.run(&["run", "git.diff", &request, "--policy", &policy]);
    (output, started.elapsed())
}

/// The part of the repository that each attack moves to where the link, or the file of alternates, then leads.
fn lead(machine: &Machine, part: &str, to: &Path) {
    let git = machine.work().join(".git");
    fs::create_dir_all(to).unwrap();
    match part {
        "alternates" | "relative alternates" => {
            fs::rename(git.join("objects"), to.join("objects")).unwrap();
            fs::create_dir_all(git.join("objects/info")).unwrap();
            let mut named = to.join("objects");
            if part != "alternates" {
                let above = Path::new("../../..");
                named = above.join(
                    named
                        .strip_prefix(machine.home().canonicalize().unwrap())
                        .unwrap(),
                );
            }
            let text = format!("{}\n", named.display());
            fs::write(git.join("objects/info/alternates"), text).unwrap();
        }
        part => {
            let name = Path::new(part).file_name().unwrap();
            fs::rename(git.join(part), to.join(name)).unwrap();
            symlink(to.join(name), git.join(part)).unwrap();
        }
    }
}

#[test]
fn a_part_of_a_repository_that_lies_outside_is_refused_before_git_starts() {
    for part in [
        "objects",
        "objects/pack",
        "packed-refs",
        "alternates",
        "relative alternates",
    ] {
        for (inside, jail) in [(true, "unjailed"), (false, "unjailed"), (false, "required")] {
            let machine = Machine::new();
            repository(&machine.work());
            git(&machine.work(), &["gc", "-q"]);
            let home = machine.home().canonicalize().unwrap();
            let to = home.join(if inside {
                "work/elsewhere"
            } else {
                "elsewhere"
            });
            lead(&machine, part, &to);
            let (output, _) = shown(&machine, jail);
            let said = said(&output);
            if inside {
                assert!(said.contains("+1"), "control: {part}: {said}");
            } else {
                assert!(!output.status.success(), "{part} {jail}: {said}");
                assert!(
                    said.contains("denied") && !said.contains("+1"),
                    "{part} {jail}: {said}"
                );
            }
        }
    }
}

#[test]
fn a_fifo_in_a_git_folder_makes_nobody_wait() {
    let machine = Machine::new();
    repository(&machine.work());
    let (output, _) = shown(&machine, "required");
    assert!(said(&output).contains("+1"), "control: {}", said(&output));
    for name in [
        "HEAD",
        "config",
        "index",
        "packed-refs",
        "refs/heads/main",
        "objects/info/alternates",
        "info/exclude",
    ] {
        let place = machine.work().join(".git").join(name);
        let aside = machine.home().join("aside");
        let moved = fs::rename(&place, &aside).is_ok();
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&place)
                .status()
                .unwrap()
                .success()
        );
        for jail in ["required", "unjailed"] {
            let (output, took) = shown(&machine, jail);
            assert!(!output.status.success(), "{name} {jail}: {}", said(&output));
            assert!(took < Duration::from_secs(10), "{name} {jail}: {took:?}");
        }
        fs::remove_file(&place).unwrap();
        if moved {
            fs::rename(&aside, &place).unwrap();
        }
    }
}

/// A work tree names its repository, which may have any name, in a file.
#[test]
fn a_repository_of_another_name_is_left_as_it_is() {
    let attack = "echo x >> /workspace/bare/config; touch /workspace/beside; true";
    for (named, changed) in [
        (vec!["/workspace"], false),
        (vec!["/workspace", "/workspace/bare"], true),
    ] {
        let machine = Machine::new();
        git(&machine.work(), &["init", "-q", "--bare", "bare"]);
        let config = || fs::read(machine.work().join("bare/config")).unwrap();
        let before = config();
        script(&machine, attack, &named);
        assert!(machine.work().join("beside").exists());
        assert_eq!(config() != before, changed, "{named:?}");
    }
}

#[test]
fn a_diff_that_failed_says_what_git_said() {
    let machine = Machine::new();
    repository(&machine.work());
    let (output, _) = shown(&machine, "required");
    assert!(said(&output).contains("+1"), "control: {}", said(&output));
    fs::write(machine.work().join(".git/index"), "junk").unwrap();
    for jail in ["required", "unjailed"] {
        let policy = policy(&machine, any_git(), jail);
        let request = json!({"target": "working"}).to_string();
        let output = machine.run(&["run", "git.diff", &request, "--policy", &policy]);
        assert!(
            said(&output).contains("fatal: "),
            "{jail}: {}",
            said(&output)
        );
    }
}
