//! Policy documents and their layers, as `run --bundle` shows them.

use serde_json::{Value, json};

use crate::canonical::canonical_digest;
use crate::execution::Execution;
use crate::guests;
use crate::program::Run;

const DRAFT: [&str; 3] = ["--receipt-format", "v1-draft", "--allow-experimental"];

fn policy(ceiling: Value, host: Option<Value>) -> Value {
    let mut policy =
        json!({"version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling});
    if let Some(host) = host {
        policy["host"] = host;
    }
    policy
}

fn hash(policy: &Value) -> String {
    let mut ceiling = json!({
        "env": null, "exec": null, "fs": null, "kv": null, "net": null, "queue": null, "random": null,
        "time": null,
    });
    for (name, value) in policy["capability_ceiling"].as_object().unwrap() {
        ceiling[name] = value.clone();
        let verbs: &[&str] = match name.as_str() {
            "fs" | "kv" => &["read", "write"],
            "queue" => &["publish", "consume"],
            _ => &[],
        };
        for verb in verbs {
            let present = value.get(*verb).cloned().unwrap_or(Value::Null);
            ceiling[name][*verb] = present;
        }
    }
    let mut preimage = json!({
        "version": 1, "trusted_signers": policy["trusted_signers"], "capability_ceiling": ceiling,
    });
    if let Some(host) = policy.get("host") {
        preimage["host"] = host.clone();
    }
    canonical_digest(&preimage)
}

fn reader() -> Execution {
    let wasm = guests::reading("demo.echo", "/workspace/note.txt", 1);
    let ceiling = json!({"fs": {"read": ["/workspace"]}});
    let execution = Execution::new(&wasm, &[("fs.read", "/workspace")], &ceiling);
    execution
        .folder
        .write("data/note.txt", "outer")
        .write("data/inner/note.txt", "inner");
    execution.folder.write("other/note.txt", "other");
    execution.policy(&mounted("data", "ro"));
    execution
}

/// A policy that reads `/workspace` from this directory.
fn mounted(dir: &str, mode: &str) -> Value {
    let host = json!({"mounts": [{"at": "/workspace", "dir": dir, "mode": mode}]});
    policy(json!({"fs": {"read": ["/workspace"]}}), Some(host))
}

/// `run` with a tenant or run layer.
fn layered(execution: &Execution, flag: &str, layer: &Value) -> Run {
    execution.folder.write("layer.json", layer.to_string());
    execution.run(&[flag, "layer.json", "--output", "output"])
}

/// Every layer that is present must agree.
#[test]
fn a_layer_only_takes_away() {
    for flag in ["--tenant", "--grant"] {
        let execution = reader();
        let open = policy(json!({"fs": {"read": ["/workspace"]}}), None);
        let run = layered(&execution, flag, &open);
        assert_eq!(
            (run.status, execution.folder.text("output")),
            (0, "outer".to_owned()),
            "{run:?}"
        );
        let run = layered(&execution, flag, &policy(json!({}), None));
        run.assert_failed("capability denied: fs.read:/workspace");
        // A wider layer does not widen the policy.
        execution.policy(&policy(json!({}), None));
        let wide = policy(json!({"fs": {"read": ["/"]}, "exec": true}), None);
        layered(&execution, flag, &wide).assert_failed("capability denied: fs.read:/workspace");
    }
}

#[test]
fn every_layer_names_the_signers_it_trusts() {
    let execution = reader();
    let mut stranger = policy(json!({"fs": {"read": ["/workspace"]}}), None);
    stranger["trusted_signers"] = json!(["somebody"]);
    let run = layered(&execution, "--tenant", &stranger);
    run.assert_failed("no trusted signer declared in manifest.signers");
}

#[test]
fn a_layer_narrows_a_mount_and_never_moves_it() {
    for flag in ["--tenant", "--grant"] {
        let execution = reader();
        let run = layered(&execution, flag, &mounted("data/inner", "ro"));
        assert_eq!(
            (run.status, execution.folder.text("output")),
            (0, "inner".to_owned()),
            "{run:?}"
        );
        for (dir, mode) in [("other", "ro"), ("data", "rw"), (".", "ro")] {
            let run = layered(&execution, flag, &mounted(dir, mode));
            assert_eq!(run.status, 1, "{flag} {dir} {mode}: {run:?}");
            assert!(!execution.folder.exists("output"), "{flag} {dir} {mode}");
        }
        let host = json!({"mounts": [{"at": "/more", "dir": "data", "mode": "ro"}]});
        let more = policy(json!({"fs": {"read": ["/workspace", "/more"]}}), Some(host));
        assert_eq!(
            layered(&execution, flag, &more).status,
            1,
            "an `at` of its own"
        );
        // Mounts without this one: not mounted.
        let none = policy(
            json!({"fs": {"read": ["/workspace"]}}),
            Some(json!({"mounts": []})),
        );
        let run = layered(&execution, flag, &none);
        assert_eq!(
            (run.status, execution.folder.text("output")),
            (0, "\"denied\"".to_owned()),
            "{run:?}"
        );
    }
}

#[test]
fn the_smallest_limit_counts() {
    let execution = Execution::plain(&guests::looping("demo.echo"));
    let limited = |ms: u32| policy(json!({}), Some(json!({"limits": {"wall_ms": ms}})));
    for (outer, inner) in [(60_000, 200), (200, 60_000)] {
        execution.policy(&limited(outer));
        let start = std::time::Instant::now();
        layered(&execution, "--tenant", &limited(inner)).assert_failed("deadline exceeded");
        assert!(start.elapsed().as_secs() < 20);
    }
}

/// In the receipt and in the audit record; members that are present stay as parsed.
#[test]
fn the_hash_of_one_document() {
    let execution = reader();
    let document = mounted("data", "ro");
    let run = execution.run(&[&DRAFT[..], &["--audit", "audit.jsonl"]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(execution.receipt()["policy_hash"], hash(&document));
    assert_eq!(execution.audit()[0]["policy_hash"], hash(&document));
    // YAML of the same document has the same hash.
    let yaml = "version: 1\ntrusted_signers: [team.build]\ncapability_ceiling: {fs: {read: [/workspace]}}\n\
                host:\n  mounts:\n    - {at: /workspace, dir: data, mode: ro}\n";
    execution.folder.write("policy.json", yaml);
    assert_eq!(execution.run(&DRAFT).status, 0);
    assert_eq!(execution.receipt()["policy_hash"], hash(&document));
}

#[test]
fn the_hash_of_layers() {
    let execution = reader();
    let (outer, tenant) = (
        mounted("data", "ro"),
        policy(json!({"fs": {"read": ["/"]}}), None),
    );
    let grant = mounted("data/inner", "ro");
    execution
        .folder
        .write("tenant.json", tenant.to_string())
        .write("grant.json", grant.to_string());
    let of = |flags: &[&str]| {
        let run = execution.run(&[&DRAFT[..], flags].concat());
        assert_eq!(run.status, 0, "{run:?}");
        execution.receipt()["policy_hash"].clone()
    };
    let expected = |run: Value, tenant: Value| {
        canonical_digest(&json!({"policy": hash(&outer), "run": run, "tenant": tenant}))
    };
    let (tenant, grant) = (json!(hash(&tenant)), json!(hash(&grant)));
    assert_eq!(
        of(&["--tenant", "tenant.json"]),
        expected(Value::Null, tenant.clone())
    );
    assert_eq!(
        of(&["--grant", "grant.json"]),
        expected(grant.clone(), Value::Null)
    );
    assert_eq!(
        of(&["--tenant", "tenant.json", "--grant", "grant.json"]),
        expected(grant, tenant)
    );
}

/// Documents that are refused; nothing runs.
#[test]
fn what_is_no_policy() {
    let head = "version: 1\ntrusted_signers: [team.build]\n";
    let ceiling = |members: &str| format!("{head}capability_ceiling: {members}\n");
    #[rustfmt::skip]
    let rows = [
        // Syntax, and what YAML has beyond JSON.
        ("[".to_owned(), "invalid policy document"),
        (String::new(), "invalid policy document"),
        (ceiling("{exec: yes}"), "invalid policy document"),
        (ceiling("{exec: on}"), "invalid policy document"),
        (ceiling("{exec: !!bool true}"), "invalid policy document"),
        (ceiling("{fs: &a {read: [/x]}}"), "invalid policy document"),
        (ceiling("{exec: true, exec: false}"), "invalid policy document"),
        (format!("{}---\n{}", ceiling("{}"), ceiling("{}")), "invalid policy document"),
        (r#"{"version":1,"version":1,"trusted_signers":["team.build"],"capability_ceiling":{}}"#.to_owned(), "invalid policy document"),
        // Members that are not known.
        (ceiling("{exce: true}"), "invalid policy document"),
        (ceiling("{}") + "host: {mount: []}\n", "invalid policy document"),
        // Version, signers and ceiling.
        (ceiling("{}").replace("version: 1", "version: 2"), "unsupported policy version: 2"),
        (ceiling("{}").replace("[team.build]", "[]"), "policy.trusted_signers must be non-empty"),
        (ceiling("{}").replace("[team.build]", "[team.build, team.build]"), "policy constraint violation: "),
        (head.to_owned(), "invalid policy document"),
        // Values of the ceiling.
        (ceiling("{fs: {read: [x]}}"), "policy constraint violation: "),
        (ceiling("{fs: {read: [/x, /x]}}"), "policy constraint violation: "),
        (ceiling("{net: [\"https://a.b/?q\"]}"), "policy constraint violation: "),
        (ceiling("{net: [\"/path\"]}"), "policy constraint violation: "),
        (ceiling("{net: [\"https://*.a.b/\"]}"), "policy constraint violation: "),
        (ceiling("{kv: {read: [\"\"]}}"), "policy constraint violation: "),
        (ceiling("{env: [lower]}"), "policy constraint violation: "),
    ];
    let execution = Execution::plain(&guests::echo("demo.echo"));
    for (document, message) in rows {
        execution.folder.write("policy.json", &document);
        let run = execution.run(&[]);
        assert!(run.stderr.contains(message), "{document}: {run:?}");
        run.assert_failed(message);
        assert!(!execution.folder.exists("receipt.json"));
    }
    execution
        .folder
        .write("policy.json", ceiling("{exec: null}"));
    assert_eq!(execution.run(&[]).status, 0);
    execution.folder.write("policy.json", vec![b' '; 1_048_577]);
    execution
        .run(&[])
        .assert_failed("policy exceeds maximum size");
}

/// A mount whose directory has a symlink in it.
#[test]
fn a_symlinked_mount_is_refused() {
    let execution = reader();
    std::os::unix::fs::symlink(
        execution.folder.path("other"),
        execution.folder.path("link"),
    )
    .unwrap();
    execution.folder.write("other/sub/note.txt", "other");
    for dir in ["link", "link/sub", "missing", "data/note.txt"] {
        execution.policy(&mounted(dir, "ro"));
        let run = execution.run(&["--output", "output"]);
        run.assert_failed(dir.split('/').next().unwrap());
        assert!(!execution.folder.exists("output"));
    }
}
