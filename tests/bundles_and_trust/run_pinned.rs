//! `run ID`: a pinned skill of a root.

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::canonical::{digest, with};
use crate::guests;
use crate::keys;
use crate::program::Run;
use crate::root::{ECHO, LOCK, RING, Root, SIGNATURE, echo, reader};

fn skill(wasm: &[u8]) -> Root {
    Root::of(vec![Bundle::new((ECHO, "0.1.0"), wasm, &[], &keys::team())])
}

/// A policy that trusts the team; the default policy trusts hydrant's own signers only.
fn policy(root: &Root, ceiling: &Value, host: &Value) {
    let policy = json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling, "host": host,
    });
    root.folder.write("../policy.json", policy.to_string());
}

/// `run` in this root, whose policy trusts the team unless the test wrote another.
pub(crate) fn run(root: &Root, arguments: &[&str]) -> Run {
    if !root.folder.exists("../policy.json") {
        policy(root, &json!({}), &json!({}));
    }
    let fixed = ["--root", ".", "--policy", "../policy.json"];
    root.run(&[&["run"], arguments, &fixed].concat())
}

#[test]
fn a_pinned_skill_answers_on_stdout() {
    let root = Root::new();
    let response = run(&root, &[ECHO, r#"{"a":[1,2]}"#, "--format", "json"]);
    assert_eq!(response.status, 0, "{response:?}");
    assert_eq!(response.json(), json!({"a": [1, 2]}));
    let text = run(&root, &[ECHO, r#"{"a":[1,2]}"#]);
    assert_eq!(
        text.json(),
        json!({"a": [1, 2]}),
        "laid out, and still JSON"
    );
    let default = run(&root, &[ECHO, "--format", "json"]);
    assert_eq!(default.json(), json!({}));
}

/// `@FILE`, `-`, `--output`, `--receipt`.
#[test]
fn requests_and_where_the_answer_goes() {
    let root = Root::new();
    root.folder.write("../request.json", r#"{"from": "file"}"#);
    let arguments = [
        ECHO,
        "@../request.json",
        "--output",
        "../output",
        "--receipt",
        "../receipt.json",
    ];
    let response = run(&root, &arguments);
    assert_eq!(response.status, 0, "{response:?}");
    assert_eq!(root.folder.text("../output"), r#"{"from": "file"}"#);
    let receipt = root.folder.json("../receipt.json");
    assert_eq!(receipt["artifact"], root.bundles[0].artifact());
    assert_eq!(receipt["inputs_hash"], digest(r#"{"from": "file"}"#));

    let mut command = root.command(&[
        "run",
        ECHO,
        "-",
        "--root",
        ".",
        "--policy",
        "../policy.json",
    ]);
    command
        .args(["--output", "../output"])
        .stdin(std::fs::File::open(root.folder.path("../request.json")).unwrap());
    assert_eq!(Run::of(&mut command).status, 0);
    assert_eq!(root.folder.text("../output"), r#"{"from": "file"}"#);
}

/// The highest version in SemVer order, or the one named.
#[test]
fn which_version() {
    let of = |version: &str| {
        let wasm = guests::echo_variant(ECHO, version);
        Bundle::new((ECHO, version), &wasm, &[], &keys::team())
    };
    let root = Root::of(vec![of("0.10.0"), of("0.9.0"), of("0.10.0-rc.1")]);
    let artifact = |id: &str| {
        let done = run(&root, &[id, "{}", "--receipt", "../receipt.json"]);
        assert_eq!(done.status, 0, "{done:?}");
        root.folder.json("../receipt.json")["artifact"].clone()
    };
    assert_eq!(artifact("demo.echo"), of("0.10.0").artifact());
    assert_eq!(artifact("demo.echo@0.9.0"), of("0.9.0").artifact());
    for unknown in ["demo.echo@1.0.0", "demo.none", "../demo.echo", ""] {
        let refused = run(&root, &[unknown, "{}"]);
        assert_ne!(refused.status, 0, "{unknown}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
    }
}

/// 5 when the skill failed; the error JSON is what is told.
#[test]
fn a_failing_skill_is_exit_5() {
    let failed = run(
        &skill(&guests::failing(ECHO, "not_found", "gone")),
        &[ECHO, "{}"],
    );
    assert_eq!(failed.status, 5, "{failed:?}");
    let output = format!("{}{}", failed.stdout, failed.stderr);
    assert!(
        output.contains("not_found") && output.contains("gone"),
        "{output}"
    );
    let trap = run(&skill(&guests::trapping(ECHO)), &[ECHO, "{}"]);
    assert_eq!(trap.status, 5, "{trap:?}");
    let root = skill(&guests::looping(ECHO));
    policy(&root, &json!({}), &json!({"limits": {"wall_ms": 200}}));
    let looping = run(&root, &[ECHO, "{}"]);
    assert_eq!(looping.status, 5, "{looping:?}");
}

/// No v0 receipt of a failure, no earlier one either.
#[test]
fn a_failed_call_leaves_no_receipt() {
    let root = skill(&guests::trapping(ECHO));
    root.folder.write("../receipt.json", "an earlier one");
    let failed = run(
        &root,
        &[
            ECHO,
            "{}",
            "--receipt",
            "../receipt.json",
            "--output",
            "../output",
        ],
    );
    assert_eq!(failed.status, 5, "{failed:?}");
    assert!(!root.folder.exists("../receipt.json") && !root.folder.exists("../output"));
    let root = Root::new();
    root.folder
        .write("../receipt.json", "an earlier one")
        .write(RING, "{}");
    assert_eq!(
        run(&root, &[ECHO, "--receipt", "../receipt.json"]).status,
        3
    );
    assert!(!root.folder.exists("../receipt.json"), "a pin that fails");
}

/// A failed pin, by its class; nothing runs.
#[test]
fn a_failed_pin_has_the_class_of_its_row() {
    type Spoil = fn(&Root);
    #[rustfmt::skip]
    let rows: [(Spoil, i32, &str); 7] = [
        (|r| r.folder.put(RING, "{}"), 3, "TV-02"),
        (|r| r.folder.put(SIGNATURE, "[]"), 3, "TV-04"),
        (|r| r.folder.put(LOCK, "{}"), 3, "TV-04"),
        (|r| r.write_lock_bytes(b"{}\n"), 2, "TV-05"),
        (|r| r.folder.put("skills/demo.echo/0.1.0/skill.wasm", "x"), 2, "TV-12"),
        (|r| r.folder.put("skills/demo.echo/0.1.0/extra", "x"), 2, "TV-21"),
        (|r| r.folder.put("skills/demo.echo/0.1.0/public-keys.json", "x"), 3, "TV-13"),
    ];
    for (spoil, status, row) in rows {
        let root = Root::new();
        spoil(&root);
        let refused = run(&root, &[ECHO, "{}"]);
        assert_eq!(refused.status, status, "{row}: {refused:?}");
        assert!(refused.stderr.contains(row), "{row}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
    }
    let wasm = guests::reading(ECHO, "/workspace/x", 1);
    let undeclared = run(&skill(&wasm), &[ECHO, "{}"]);
    assert_eq!(undeclared.status, 4, "{undeclared:?}");
    let anchored = run(&Root::new(), &[ECHO, "{}", "--keys-digest", &digest("x")]);
    assert_eq!(anchored.status, 3, "{anchored:?}");
}

/// Only the entry that is asked for.
#[test]
fn another_entry_may_be_broken() {
    let root = Root::of(vec![echo("0.1.0"), reader("demo.reader", "0.1.0")]);
    root.folder
        .write("skills/demo.reader/0.1.0/skill.wasm", "x");
    let response = run(&root, &[ECHO, "{}"]);
    assert_eq!(response.status, 0, "{response:?}");
    let refused = run(&root, &["demo.reader", "{}"]);
    assert_eq!(refused.status, 2, "{refused:?}");
}

#[test]
fn an_untrusted_signer_is_exit_3() {
    let root = Root::new();
    let stranger = json!({"version": 1, "trusted_signers": ["x"], "capability_ceiling": {}});
    root.folder.write("../policy.json", stranger.to_string());
    let refused = run(&root, &[ECHO, "{}"]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("no trusted signer declared in manifest.signers")
    );
}

/// The default policy trusts hydrant's own signers.
#[test]
fn the_default_policy_does_not_trust_another_team() {
    let root = Root::new();
    let refused = root.run(&["run", ECHO, "{}", "--root", "."]);
    assert_eq!(refused.status, 3, "{refused:?}");
}

/// A denied capability is dropped, the skill starts, and the operation answers `denied`.
#[test]
fn a_denied_capability_is_dropped_and_the_skill_starts() {
    let root = Root::of(vec![reader("demo.reader", "0.1.0")]);
    root.folder.write("../data/note.txt", "\"a note\"");
    let mounts = json!({"mounts": [{"at": "/workspace", "dir": root.folder.argument("../data"), "mode": "ro"}]});
    let draft: &[&str] = &[
        "--receipt",
        "../r.json",
        "--receipt-format",
        "v1-draft",
        "--allow-experimental",
    ];
    policy(&root, &json!({"fs": {"read": ["/workspace"]}}), &mounts);
    let allowed = run(&root, &[&["demo.reader", "{}"][..], draft].concat());
    assert_eq!(allowed.json(), json!("a note"), "{allowed:?}");
    assert_eq!(
        root.folder.json("../r.json")["caps_granted"],
        json!(["fs.read:/workspace"])
    );
    policy(&root, &json!({}), &mounts);
    let denied = run(&root, &[&["demo.reader", "{}"][..], draft].concat());
    assert_eq!(
        (denied.status, denied.json()),
        (0, json!("denied")),
        "{denied:?}"
    );
    assert_eq!(root.folder.json("../r.json")["caps_granted"], json!([]));
    assert_eq!(
        root.folder.json("../r.json")["caps_requested"],
        json!(["fs.read:/workspace"])
    );
}

/// The root's own ring is never the anchor; a root is used only when it is asked for.
#[test]
fn a_root_above_is_not_used_unasked() {
    let root = Root::new();
    policy(&root, &json!({}), &json!({}));
    let embedded = root.run(&["run", ECHO, "{}", "--policy", "../policy.json"]);
    assert_ne!(
        embedded.status, 0,
        "demo.echo is not embedded: {embedded:?}"
    );
    let foreign = root.folder.run(&[
        "run",
        ECHO,
        "{}",
        "--root",
        ".",
        "--policy",
        "../policy.json",
    ]);
    assert_eq!(foreign.status, 3, "no anchor was given: {foreign:?}");
}

/// Issue 3, point 4: a changed file is noticed although the compiled code is in the cache.
#[test]
fn the_cache_of_compiled_code_does_not_hide_a_change() {
    let root = Root::new();
    assert_eq!(run(&root, &[ECHO, "{}"]).status, 0);
    let mut wasm = root.bundles[0].wasm.clone();
    *wasm.last_mut().unwrap() ^= 1;
    root.folder.write("skills/demo.echo/0.1.0/skill.wasm", wasm);
    assert_eq!(run(&root, &[ECHO, "{}"]).status, 2);
    // The lock alone, changed to say so and not signed anew.
    let lock = with(&root.lock(), "/skills/0/artifact", digest("x"));
    root.folder
        .write(LOCK, crate::canonical::pretty_line(&lock));
    assert_eq!(run(&root, &[ECHO, "{}"]).status, 3);
}
