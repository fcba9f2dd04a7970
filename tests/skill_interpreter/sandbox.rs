//! What runs in the jail of a sandbox stage.

use std::fs;

use serde_json::json;

use crate::house::{House, capability, code, shown, string};
use crate::program::Run;
use crate::recorder::Recorder;

/// A skill with this command as its only operation `run`, approved.
fn tool(operation: &str) -> House {
    let house = House::new();
    house.load(
        "one.yaml",
        &format!("name: one\noperations:\n- name: run\n{operation}"),
    );
    house.approve_all();
    house
}

#[test]
fn an_invented_tool_is_pending_and_then_not_there() {
    let house = House::new();
    let loaded = house.load(
        "one.yaml",
        "name: one\noperations:\n- {name: run, command: frobnicate a}\n",
    );
    let row = capability(&loaded, "one.run");
    assert_eq!(
        (&row["tier"], &row["status"]),
        (&json!(3), &json!("pending"))
    );
    // Two things.
    assert_eq!(
        (&row["available"], &row["missing"]),
        (&json!(false), &json!(["tool:frobnicate"]))
    );
    assert_eq!(
        code(&house.denied("one", "run", &json!({}))),
        "approval-required"
    );
    house.approve_all();
    assert_eq!(
        code(&house.denied("one", "run", &json!({}))),
        "tool-unavailable"
    );
}

#[test]
fn an_approved_tool_sees_no_environment_and_no_shell() {
    let house = tool("  command: printenv\n");
    let mut command = house.folder().command(&["skill", "execute", "one", "run"]);
    let run = Run::of(command.env("OUTSIDE", "seen"));
    assert_eq!(run.status, 0, "{run:?}");
    let output = string(&run.json()["output"]["stdout"]);
    let mut names: Vec<&str> = output
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR", "TZ"], "{output}");
}

#[test]
fn metacharacters_reach_no_shell() {
    let house = tool("  command: basename {x}\n");
    for text in [
        "; touch pwned $(id) `id` && echo",
        "$HOME",
        "* ? [a]",
        "'\"\\",
    ] {
        let result = house.execute("one", "run", &json!({"x": text}));
        assert_eq!(result["output"]["stdout"], format!("{text}\n"), "{result}");
        assert_eq!(result["output"]["files"], json!([]));
    }
}

#[test]
fn code_that_opens_a_socket_reaches_nothing() {
    let server = Recorder::content();
    let (host, port) = server
        .pair()
        .split_once(':')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let script = format!(
        "  runtime: python\n  script: |\n    import socket, os\n    for f in (lambda: socket.create_connection(('{host}', {port}), \
         1), lambda: open('/etc/shadow').read(), lambda: os.listdir('/home'), lambda: os.listdir('/root'), lambda: \
         open('/usr/x', 'w')):\n        try:\n            f(); print('reached')\n        except OSError as e: print('refused')\n"
    );
    let house = tool(&script);
    let result = house.execute("one", "run", &json!({}));
    assert_eq!(
        result["output"]["stdout"],
        "refused\n".repeat(5),
        "{result}"
    );
    assert_eq!(result["output"]["end"], "exit");
    assert_eq!(server.requests(), []);
    let shown = shown(&house, "one", "one.run");
    assert_eq!(shown["tier"], 2);
    assert_eq!(shown["reasons"], json!(["sandbox:python"]));
}

#[test]
fn a_jail_that_this_kernel_cannot_make() {
    let house = tool("  command: printenv\n");
    house.govern("landlock_min_abi = 99\n");
    assert_eq!(
        code(&house.denied("one", "run", &json!({}))),
        "jail-unavailable"
    );
}

#[test]
fn a_shell_runs_in_the_jail_alone_whatever_a_policy_says() {
    let house =
        tool("  command: readlink /proc/self/ns/net && readlink /proc/self/ns/mnt && id -u\n");
    // `unjailed` is for other processes.
    let policy = json!({"version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
        "capability_ceiling": {}, "host": {"jail": {"process": "unjailed"}}});
    house.folder().put("policy.json", policy.to_string());
    let execute = [
        "skill",
        "execute",
        "one",
        "run",
        "{}",
        "--policy",
        "policy.json",
    ];
    let output = string(&house.ok(&execute)["output"]["stdout"]);
    let lines: Vec<&str> = output.lines().collect();
    let [net, mount, user] = lines[..] else {
        panic!("{output}")
    };
    for (name, inside) in [("net", net), ("mnt", mount)] {
        let own = fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
        assert_eq!(inside.split(':').next(), Some(name));
        assert_ne!(own.to_str(), Some(inside));
    }
    assert_eq!(user, "65534");
}

/// What a command names as a file of data, a caller may give; what would be code not.
#[test]
fn a_tool_finds_the_files_that_its_command_names() {
    let house = tool("  command: wc -c input.txt\n");
    let file = |name: &str| json!({"files": {name: {"content-b64": "aGVsbG8="}}});
    let result = house.execute("one", "run", &file("input.txt"));
    assert_eq!(
        string(&result["output"]["stdout"]),
        "5 input.txt\n",
        "{result}"
    );
    let missing = house.execute("one", "run", &json!({}));
    assert_eq!(missing["status"], "error", "{missing}");
    for (command, name) in [
        ("wc -c input.txt", "other.txt"),
        ("wc -c run.sh", "run.sh"),
        ("wc -c site.yml", "site.yml"),
    ] {
        let house = tool(&format!("  command: {command}\n"));
        let error = house.denied("one", "run", &file(name));
        assert_eq!(code(&error), "invalid-input", "{name}: {error}");
    }
}
