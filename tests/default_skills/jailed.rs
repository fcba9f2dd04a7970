//! Programs in the jail, from outside. What each layer stops is tried in `tests/escape`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::desk::{Desk, finish};
use crate::repository::Repository;

const ID: &str = "shell.exec_safe";

/// `sh` with these scripts, in the jail; `further` goes into its rule.
fn scripted(scripts: &[&str], further: &Value) -> Desk {
    let desk = Desk::bare();
    with_rules(&desk, scripts, further, &json!({}));
    desk
}

fn with_rules(desk: &Desk, scripts: &[&str], further: &Value, host: &Value) {
    let arguments: Vec<_> = scripts.iter().map(|script| json!(["-c", script])).collect();
    let mut rule = json!({"program": "sh", "args": arguments, "cwd": ["/workspace"]});
    for (name, value) in further.as_object().unwrap() {
        rule[name] = value.clone();
    }
    let helper =
        |name: &str| json!({"program": name, "args": [["--version"]], "cwd": ["/workspace"]});
    let mut section = json!({
        "mounts": desk.mounts("rw"),
        "process": [rule, helper("cat"), helper("ls"), helper("touch"), helper("sleep"), helper("setsid"), helper("curl"), helper("mv"), helper("mkdir")],
    });
    let mut ceiling = json!({
        "fs": {"read": ["/workspace", "/os"], "write": ["/workspace"]}, "exec": true,
    });
    for (name, value) in host.as_object().unwrap() {
        if name == "net" {
            ceiling["net"] = json!(
                value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|rule| rule["url"].clone())
                    .collect::<Vec<_>>()
            );
        }
        section[name] = value.clone();
    }
    desk.policy(&ceiling, &section);
}

fn run(desk: &Desk, script: &str) -> Value {
    desk.ok(ID, &json!({"argv": ["sh", "-c", script]}))
}

/// A child sees the mounts at their virtual paths, and of the host nothing but the system.
#[test]
fn a_child_sees_the_mounts_and_the_system() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "secret").unwrap();
    let real = secret.path().display();
    let look =
        format!("pwd; cat inside; cat {real} /etc/shadow; ls /home /root; echo $HOME $TMPDIR");
    let desk = scripted(&[&look], &json!({}));
    desk.write("inside", "seen\n");
    let answer = run(&desk, &look);
    assert_eq!(
        answer["stdout"], "/workspace\nseen\n/tmp /tmp\n",
        "{answer}"
    );
    let stderr = answer["stderr"].as_str().unwrap();
    assert_eq!(stderr.matches("No such file").count(), 4, "{stderr}");
    assert!(!answer.to_string().contains("\"secret"), "{answer}");
}

/// Nothing but what the rule names can be written, and of that nothing of hydrant's own.
#[test]
fn a_child_writes_where_its_rule_says() {
    let write = "touch /workspace/no; touch out/yes; echo x > /tmp/t && cat /tmp/t; touch /usr/no; touch home/state/no";
    let desk = scripted(&[write], &json!({"writable": ["/workspace/out"]}));
    fs::create_dir_all(desk.path("out")).unwrap();
    let answer = run(&desk, write);
    assert_eq!(answer["stdout"], "x\n", "{answer}");
    assert!(desk.exists("out/yes") && !desk.exists("no"));
    assert!(!fs::exists("/tmp/t").unwrap());
}

#[test]
fn the_home_folder_is_not_written_though_it_is_writable() {
    let write = "echo x > /workspace/home/hydrant.toml; echo y > /workspace/home/state/new; echo z > /workspace/beside";
    let desk = scripted(&[write], &json!({"writable": ["/workspace"]}));
    fs::create_dir_all(desk.path("home/state")).unwrap();
    let mut command = desk.command(ID);
    command.env("HYDRANT_HOME", desk.path("home"));
    let request = json!({"argv": ["sh", "-c", write]}).to_string();
    let run = finish(command, request.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    assert!(desk.exists("beside"));
    assert!(!desk.exists("home/hydrant.toml") && !desk.exists("home/state/new"));
}

/// Nor by another name, where it is mounted twice.
#[test]
fn the_home_folder_is_not_written_through_a_bind_mount() {
    let write = "echo x > /workspace/alias/new; echo y > /workspace/beside";
    for (bound, written) in [("home/state", false), ("elsewhere", true)] {
        let desk = scripted(&[write], &json!({"writable": ["/workspace"]}));
        let home = desk.beside("home");
        for directory in [
            home.join("state"),
            desk.beside("elsewhere"),
            desk.path("alias"),
        ] {
            fs::create_dir_all(directory).unwrap();
        }
        let mut command = desk.command(ID);
        command.env("HYDRANT_HOME", &home);
        let (from, to) = (desk.beside(bound), desk.path("alias"));
        let bind = format!("mount --bind '{}' '{}'", from.display(), to.display());
        let request = json!({"argv": ["sh", "-c", write]}).to_string();
        let run = finish(in_namespaces(&command, "-Urm", &bind), request.as_bytes());
        assert_eq!(run.status, 0, "{run:?}");
        assert_eq!(from.join("new").exists(), written, "{run:?}");
        assert_eq!(desk.exists("beside"), written, "{run:?}");
    }
}

/// Nor are the directories above them moved away.
#[test]
fn the_policy_is_not_replaced_by_moving_its_directory() {
    let swap = "mv /workspace/conf /workspace/old; mkdir -p /workspace/conf; echo new > /workspace/conf/policy.json; echo x > /workspace/conf/beside";
    let desk = scripted(&[swap], &json!({"writable": ["/workspace"]}));
    fs::create_dir_all(desk.path("conf")).unwrap();
    fs::copy(desk.beside("policy.json"), desk.path("conf/policy.json")).unwrap();
    let policy = desk.read("conf/policy.json");
    let mut command = desk
        .folder()
        .command(&["run", ID, "-", "--policy", "ws/conf/policy.json"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = finish(
        command,
        json!({"argv": ["sh", "-c", swap]}).to_string().as_bytes(),
    );
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(desk.read("conf/policy.json"), policy);
    assert!(desk.exists("conf/beside") && !desk.exists("old"));
}

/// Who can replace a link, can replace what it leads to: where one leads to the policy, nothing is opened for writing.
#[test]
fn a_link_to_the_policy_is_not_replaced() {
    let swap =
        "rm /workspace/link.json; echo new > /workspace/link.json; echo x > /workspace/beside";
    let desk = scripted(&[swap], &json!({"writable": ["/workspace"]}));
    // Out of the mount, and within it.
    for target in [desk.beside("policy.json"), desk.path("inner.json")] {
        fs::copy(desk.beside("policy.json"), desk.path("inner.json")).unwrap();
        let _ = fs::remove_file(desk.path("link.json"));
        std::os::unix::fs::symlink(target, desk.path("link.json")).unwrap();
        let mut command = desk
            .folder()
            .command(&["run", ID, "-", "--policy", "ws/link.json"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let run = finish(
            command,
            json!({"argv": ["sh", "-c", swap]}).to_string().as_bytes(),
        );
        assert_eq!(run.status, 0, "{run:?}");
        assert!(desk.path("link.json").is_symlink());
        assert!(!desk.exists("beside"));
    }
}

/// A mount inside another one that has no directory of its name hides nothing else.
#[test]
fn mounts_in_mounts() {
    let look = "pwd; ls /os /os/inner";
    let desk = scripted(&[look], &json!({}));
    fs::create_dir(desk.beside("inner")).unwrap();
    fs::write(desk.beside("inner/deep"), "").unwrap();
    fs::write(desk.beside("os/flat"), "").unwrap();
    let mut mounts = desk.mounts("rw");
    let inner = json!({"at": "/os/inner", "dir": desk.beside("inner"), "mode": "ro"});
    mounts.as_array_mut().unwrap().push(inner);
    for (exists, expected) in [
        (false, "/workspace\n/os:\nflat\n"),
        (true, "/workspace\n/os:\nflat\ninner\n\n/os/inner:\ndeep\n"),
    ] {
        if exists {
            fs::create_dir(desk.beside("os/inner")).unwrap();
        }
        with_rules(&desk, &[look], &json!({}), &json!({"mounts": mounts}));
        assert_eq!(run(&desk, look)["stdout"], expected);
    }
}

/// A directory behind a link in its mount is the one that it leads to; a rule for the link is none for that.
#[test]
fn links_in_a_mount_are_followed() {
    let script = "pwd; echo x > made; true";
    let answered = |writable: &str| {
        let desk = scripted(&[script], &json!({"writable": [writable]}));
        fs::create_dir(desk.path("sub")).unwrap();
        desk.link("sub", "link");
        let request = json!({"argv": ["sh", "-c", script], "cwd": "link"});
        let answer = desk.ok(ID, &request);
        assert_eq!(answer["stdout"], "/workspace/sub\n", "{answer}");
        desk.exists("sub/made")
    };
    assert!(answered("/workspace/sub"));
    assert!(!answered("/workspace/link"));
}

/// What is brought along is not executed, nor what no rule names.
#[test]
fn a_child_starts_the_programs_of_the_policy_and_nothing_else() {
    let start = "cat inside; ./brought; cp brought /tmp/b 2>/dev/null; head -c1 inside; perl -e 1";
    let desk = scripted(&[start], &json!({}));
    desk.write("inside", "seen\n");
    desk.write_with_mode("brought", b"#!/bin/sh\necho ran\n", 0o755);
    let answer = run(&desk, start);
    assert_eq!(answer["stdout"], "seen\n", "{answer}");
    let stderr = answer["stderr"].as_str().unwrap();
    assert!(stderr.matches("Permission denied").count() >= 2, "{stderr}");
}

/// Without `network` there is none, also not to this machine; with it only what `host.net` names.
#[test]
fn the_network_is_what_the_policy_says() {
    let (allowed, other) = (server(), server());
    let ask = format!(
        "curl -sS -m 5 http://{allowed}/ || echo failed; curl -sS -m 5 http://{other}/ || echo failed; curl -sS -m 5 --noproxy 127.0.0.1 http://{allowed}/ || echo failed"
    );
    let desk = scripted(&[&ask], &json!({}));
    let answer = run(&desk, &ask);
    assert_eq!(answer["stdout"], "failed\nfailed\nfailed\n", "{answer}");
    let net = json!({"net": [{"url": format!("http://{allowed}/"), "methods": ["GET"]}]});
    with_rules(&desk, &[&ask], &json!({"network": true}), &net);
    let answer = run(&desk, &ask);
    let stdout = answer["stdout"].as_str().unwrap();
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines.first(), Some(&"hello"), "{answer}");
    assert!(!stdout.contains("hello\nhello"), "{answer}");
    assert_eq!(lines.last(), Some(&"failed"), "{answer}");
}

/// Nothing of it is left, whatever it did to outlive its end.
#[test]
fn nothing_outlives_a_child() {
    let leave = "setsid sleep 31.4159 & sleep 0.2; echo begun";
    let desk = scripted(&[leave], &json!({}));
    let answer = run(&desk, leave);
    assert_eq!(answer["stdout"], "begun\n", "{answer}");
    let processes = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    let processes = String::from_utf8_lossy(&processes.stdout).into_owned();
    assert!(
        processes.contains("ps -eo args") && !processes.contains("sleep 31.4159"),
        "{processes}"
    );
}

/// TERM, two seconds, KILL. In the jail and outside of it, and for all that the program has started.
#[test]
fn a_program_whose_time_is_up_may_end_by_itself() {
    // The shell's child gets the signal as well, and takes a while.
    let tidies = "sh -c 'trap \"sleep 0.3; echo tidied\" TERM; echo began; sleep 60 & wait'";
    let deaf = "trap '' TERM; echo began; while :; do sleep 1; done";
    for jail in ["required", "unjailed"] {
        let desk = Desk::bare();
        let host = json!({"jail": {"process": jail}});
        with_rules(&desk, &[tidies, deaf], &json!({}), &host);
        for (script, stdout, least, most) in [
            (tidies, "began\ntidied\n", 1_000, 2_500),
            (deaf, "began\n", 2_900, 6_000),
        ] {
            let request = json!({"argv": ["sh", "-c", script], "timeout_ms": 1_000});
            let answer = desk.ok(ID, &request);
            assert_eq!(answer["timed_out"], true, "{jail} {answer}");
            assert_eq!(answer["exit_code"], 124, "{jail} {answer}");
            assert_eq!(answer["stdout"], stdout, "{jail} {answer}");
            let took = answer["duration_ms"].as_u64().unwrap();
            assert!((least..most).contains(&took), "{jail} {answer}");
        }
    }
}

/// What is left behind by a program that has ended is not given any time.
#[test]
fn what_a_program_leaves_behind_is_killed_at_once() {
    let leaves = "(trap '' TERM; sleep 60; echo late) & echo ended";
    let desk = scripted(&[leaves], &json!({}));
    let answer = run(&desk, leaves);
    assert_eq!(answer["stdout"], "ended\n", "{answer}");
    assert!(answer["duration_ms"].as_u64().unwrap() < 1_500, "{answer}");
}

/// Of all processes in the jail together.
#[test]
fn memory_and_processes_are_limited() {
    let memory = "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done";
    let desk = Desk::bare();
    let limits = json!({"limits": {"process_memory_bytes": 67_108_864, "process_pids": 16}});
    with_rules(&desk, &[memory], &json!({}), &limits);
    let answer = run(&desk, memory);
    assert_eq!(answer["timed_out"], false, "{answer}");
    assert_ne!(answer["exit_code"], 0, "{answer}");
    let processes = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 20 & done; wait; echo all";
    with_rules(&desk, &[processes], &json!({}), &limits);
    let answer = run(&desk, processes);
    assert_eq!(answer["timed_out"], false, "{answer}");
    assert!(
        !answer["stdout"].as_str().unwrap().contains("all"),
        "{answer}"
    );
    assert!(answer["duration_ms"].as_u64().unwrap() < 15_000, "{answer}");
}

/// The record tells a jailed child from one that is not.
#[test]
fn a_jailed_child_is_not_recorded_as_unjailed() {
    let desk = scripted(&["exit 0"], &json!({}));
    let receipt = desk.beside("receipt.json");
    let mut command = desk.command(ID);
    command.arg("--receipt").arg(&receipt).stdin(Stdio::piped());
    let request = json!({"argv": ["sh", "-c", "exit 0"]}).to_string();
    let run = finish(command, request.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    let receipt: Value = serde_json::from_slice(&fs::read(receipt).unwrap()).unwrap();
    assert_eq!(receipt["caps_used"], json!(["exec.safe"]), "{receipt}");
}

/// The command in namespaces of its own, once `first` has succeeded there.
fn in_namespaces(command: &Command, which: &str, first: &str) -> Command {
    let mut within = Command::new("unshare");
    within.args([which, "sh", "-c", &format!("{first} && exec \"$0\" \"$@\"")]);
    within.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        within.env(name, value.unwrap_or_default());
    }
    if let Some(directory) = command.get_current_dir() {
        within.current_dir(directory);
    }
    within
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    within
}

/// Where no user namespace can be made, nothing is started.
#[test]
fn without_namespaces_nothing_starts() {
    let desk = scripted(&["touch ran"], &json!({"writable": ["/workspace"]}));
    let no_more = "echo 0 > /proc/sys/user/max_user_namespaces";
    let without = in_namespaces(&desk.command(ID), "-Ur", no_more);
    let request = json!({"argv": ["sh", "-c", "touch ran"]}).to_string();
    let run = finish(without, request.as_bytes());
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("\"reason\":\"confinement\""), "{run:?}");
    assert!(!desk.exists("ran"));
}

/// What a repository makes git start is not executed even where nothing else stands in the way.
#[test]
fn git_in_the_jail_reads_and_does_nothing_else() {
    let repository = Repository::with(&[("a", "1\n"), (".gitattributes", "* filter=x diff=x\n")]);
    let fired = repository.desk.path("fired").display().to_string();
    for name in ["filter.x.clean", "diff.x.textconv", "core.fsmonitor"] {
        repository.git(&[
            "config",
            name,
            &format!("touch /workspace/fired {fired}; cat"),
        ]);
    }
    repository.desk.write("a", "2\n");
    let status = repository.desk.ok("git.status", &json!({}));
    assert_eq!(status["unstaged"], json!(["a"]), "{status}");
    let diff = repository.desk.ok("git.diff", &json!({}));
    assert!(
        diff["diff"].as_str().unwrap().contains("-1\n+2\n"),
        "{diff}"
    );
    assert!(!repository.desk.exists("fired"));
}

/// A server on this machine that answers `hello`.
fn server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n",
            );
        }
    });
    address
}
