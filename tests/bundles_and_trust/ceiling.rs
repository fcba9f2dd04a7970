//! The static evaluation of declared capabilities against a ceiling, as
//! `run --bundle` decides it before anything is executed, and documents that the host members refuse.

use serde_json::{Value, json};

use crate::execution::Execution;
use crate::guests;

/// Whether a core module that declares this runs under this ceiling; if not, the message is checked.
fn allows(kind: &str, value: &str, ceiling: &Value) -> bool {
    let wasm = guests::bare("(result i32) (i32.const 0)");
    let execution = Execution::new(&wasm, &[(kind, value)], ceiling);
    let run = execution.run(&[]);
    if run.status != 0 {
        run.assert_failed(&format!("capability denied: {kind}:{value}"));
        assert!(!execution.folder.exists("receipt.json"));
    }
    run.status == 0
}

fn check(rows: &[(&str, &str, Value, bool)]) {
    for (kind, value, ceiling, expected) in rows {
        assert_eq!(
            allows(kind, value, ceiling),
            *expected,
            "{kind}:{value} in {ceiling}"
        );
    }
}

#[test]
fn directories_are_compared_by_segments() {
    let tmp = json!({"fs": {"read": ["/tmp"]}});
    let slashes = json!({"fs": {"read": ["//tmp//a/"]}});
    let write = json!({"fs": {"write": ["/tmp"]}});
    check(&[
        ("fs.read", "/tmp", tmp.clone(), true),
        ("fs.read", "/tmp/", tmp.clone(), true),
        ("fs.read", "/tmp//a", tmp.clone(), true),
        ("fs.read", "/tmp2", tmp.clone(), false),
        ("fs.read", "/", tmp.clone(), false),
        ("fs.read", "/tmp/../etc", tmp.clone(), false),
        ("fs.read", "/tmp/./a", tmp.clone(), false),
        ("fs.read", "tmp", tmp.clone(), false),
        ("fs.read", "", tmp.clone(), false),
        ("fs.read", "/tmp/a/b", slashes, true),
        (
            "fs.read",
            "/any/where",
            json!({"fs": {"read": ["/"]}}),
            true,
        ),
        ("fs.write", "/tmp", tmp, false),
        ("fs.read", "/tmp", write.clone(), false),
        ("fs.write", "/tmp/a", write, true),
        ("fs.read", "/tmp", json!({}), false),
        ("fs.read", "/tmp", json!({"fs": null}), false),
    ]);
}

#[test]
fn url_prefixes() {
    let net = json!({"net": ["https://docs.example.org/guide"]});
    let port = json!({"net": ["https://docs.example.org:8443/"]});
    check(&[
        (
            "net.http",
            "https://docs.example.org/guide",
            net.clone(),
            true,
        ),
        (
            "net.http",
            "https://DOCS.example.org:443/guide/",
            net.clone(),
            true,
        ),
        (
            "net.http",
            "https://docs.example.org/guide/a",
            net.clone(),
            true,
        ),
        (
            "net.http",
            "https://docs.example.org/guide?q=1",
            net.clone(),
            true,
        ),
        (
            "net.http",
            "https://docs.example.org/guide2",
            net.clone(),
            false,
        ),
        ("net.http", "https://docs.example.org/", net.clone(), false),
        (
            "net.http",
            "http://docs.example.org/guide",
            net.clone(),
            false,
        ),
        (
            "net.http",
            "https://docs.example.org:8443/guide",
            net.clone(),
            false,
        ),
        (
            "net.http",
            "https://user@docs.example.org/guide",
            net.clone(),
            false,
        ),
        ("net.http", "https://evil.org/guide", net.clone(), false),
        (
            "net.http",
            "https://docs.example.org.evil.org/guide",
            net.clone(),
            false,
        ),
        (
            "net.http",
            "https://docs.example.org/guide#f",
            net.clone(),
            false,
        ),
        (
            "net.http",
            "https://docs.example.org/guide/%2e%2e/x",
            net.clone(),
            false,
        ),
        (
            "net.http",
            "https://docs.example.org/guide\\x",
            net.clone(),
            false,
        ),
        ("net.http", "not a url", net.clone(), false),
        ("net.http", "*", net, false),
        ("net.http", "https://docs.example.org:8443/x", port, true),
        (
            "net.http",
            "https://docs.example.org/",
            json!({"net": []}),
            false,
        ),
    ]);
}

#[test]
fn the_other_kinds() {
    check(&[
        ("env", "HOME", json!({"env": ["HOME"]}), true),
        ("env", "HOME2", json!({"env": ["HOME"]}), false),
        ("env", "home", json!({"env": ["HOME"]}), false),
        ("exec", "true", json!({"exec": true}), true),
        ("exec", "yes", json!({"exec": true}), false),
        ("exec", "true", json!({"exec": false}), false),
        ("exec.safe", "git", json!({"exec": true}), true),
        ("exec.safe", "", json!({"exec": true}), false),
        ("exec.safe", "git", json!({}), false),
        ("time.now", "x", json!({"time": true}), true),
        ("time.now", "", json!({"time": true}), false),
        ("random.bytes", "x", json!({"random": true}), true),
        ("random.bytes", "x", json!({"time": true}), false),
        ("kv.read", "a", json!({"kv": {"read": ["a"]}}), true),
        ("kv.read", "ab", json!({"kv": {"read": ["a"]}}), false),
        ("kv.read", "any", json!({"kv": {"read": ["*"]}}), true),
        ("kv.write", "a", json!({"kv": {"read": ["a"]}}), false),
        (
            "queue.publish",
            "t",
            json!({"queue": {"publish": ["t"]}}),
            true,
        ),
        (
            "queue.consume",
            "t",
            json!({"queue": {"publish": ["t"]}}),
            false,
        ),
        ("fs.list", "/", json!({"fs": {"read": ["/"]}}), false),
        ("no.such.kind", "x", json!({"exec": true}), false),
    ]);
}

/// The first of several stops the run just as well.
#[test]
fn any_denied_capability_stops_the_run() {
    let wasm = guests::bare("(result i32) (i32.const 0)");
    let capabilities = [("time.now", "true"), ("random.bytes", "true")];
    let execution = Execution::new(&wasm, &capabilities, &json!({"time": true}));
    execution
        .run(&[])
        .assert_failed("capability denied: random.bytes:true");
}

/// Host members that are refused.
#[test]
fn host_members_are_checked_when_the_policy_is_loaded() {
    let mount = |at: &str, mode: &str| json!({"mounts": [{"at": at, "dir": "data", "mode": mode}]});
    let process = |member: &str, value: Value| {
        let mut rule = json!({"program": "git", "args": [["status"]], "cwd": ["/workspace"]});
        rule[member] = value;
        json!({"process": [rule], "mounts": [{"at": "/workspace", "dir": "data", "mode": "ro"}]})
    };
    #[rustfmt::skip]
    let rows = [
        mount("workspace", "ro"), mount("/Workspace", "ro"),
        mount("/a/b", "ro"), mount("/", "ro"), mount("/a", "wo"),
        json!({"mounts": [{"at": "/a", "dir": "data"}]}),
        json!({"mounts": [
            {"at": "/a", "dir": "data", "mode": "ro"}, {"at": "/a", "dir": "data", "mode": "ro"}]}),
        json!({"mounts": [{"at": "/a", "url": "https://docs.example.org/"}]}),
        process("args", json!([])), process("args", json!("status")),
        process("cwd", json!([])),
        process("env", json!({"lower": "x"})), process("network", json!("yes")),
        process("writable", json!(["/workspace"])),
        json!({"limits": {"wall_ms": 0}}), json!({"limits": {"wall_ms": -1}}),
        json!({"limits": {"wall_ms": 660_001}}), json!({"limits": {"hostcalls": 5_000_001}}),
        json!({"limits": {"unknown": 1}}),
        json!({"tools": "maybe"}),
        json!({"discovery": {"run": ["/workspace"]}}),
        json!({"discovery": {"runners": {".exe": ["wine"]}}}),
        json!({"jail": {"process": "none"}}),
        json!({"tls_roots": ["missing.pem"]}),
    ];
    let execution = Execution::plain(&guests::echo("demo.echo"));
    execution.folder.write("data/x", "");
    let ceiling = json!({"exec": true, "fs": {"read": ["/"], "write": ["/"]}});
    let policy = |host: &Value, ceiling: &Value| {
        execution.policy(&json!({
            "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling, "host": host,
        }));
        execution.run(&[])
    };
    for host in rows {
        let run = policy(&host, &ceiling);
        assert_eq!(run.status, 1, "{host}: {run:?}");
        assert!(!execution.folder.exists("receipt.json"), "{host}");
    }
    let good = policy(&mount("/workspace", "rw"), &ceiling);
    assert_eq!(good.status, 0, "{good:?}");
    for flag in ["exec", "time", "random"] {
        assert_eq!(
            policy(&json!({}), &json!({ flag: "true" })).status,
            1,
            "{flag}"
        );
    }
    let run = json!({"discovery": {"run": ["/os"]}});
    policy(&run, &json!({})).assert_failed("policy constraint violation: ");
}
