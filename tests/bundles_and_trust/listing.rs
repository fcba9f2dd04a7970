//! `describe`, `skills`, `keys digest`.

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::canonical::{digest, members};
use crate::guests;
use crate::keys;
use crate::program::Folder;
use crate::root::{ECHO, RING, Root, echo, reader};

fn root() -> Root {
    Root::of(vec![reader("demo.reader", "0.1.0"), echo("0.1.0")])
}

fn policy(root: &Root, tools: &str) {
    let policy = json!({
        "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {}, "host": {"tools": tools},
    });
    root.folder.write("../policy.json", policy.to_string());
}

const FIXED: [&str; 6] = [
    "--root",
    ".",
    "--policy",
    "../policy.json",
    "--format",
    "json",
];

#[test]
fn describe_answers_with_the_description_and_the_version() {
    let root = root();
    policy(&root, "describe");
    let one = root.run(&[&["describe", ECHO][..], &FIXED].concat());
    assert_eq!(one.status, 0, "{one:?}");
    let mut expected: Value = serde_json::from_str(&guests::description(ECHO)).unwrap();
    expected["version"] = json!("0.1.0");
    assert_eq!(one.json(), expected);
    assert_eq!(
        members(&one.json()).last(),
        Some(&"version"),
        "added at the end"
    );
    let versioned = root.run(&[&["describe", "demo.echo@0.1.0"][..], &FIXED].concat());
    assert_eq!(versioned.json(), expected);
    let all = root.run(&[&["describe"][..], &FIXED].concat()).json();
    let names: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["demo.echo", "demo.reader"]);
}

#[test]
fn under_skip_nothing_is_instantiated() {
    let root = root();
    policy(&root, "skip");
    let all = root.run(&[&["describe"][..], &FIXED].concat()).json();
    let expected = json!([
        {"name": "demo.echo", "version": "0.1.0"}, {"name": "demo.reader", "version": "0.1.0"},
    ]);
    assert_eq!(all, expected);
    let one = root.run(&[&["describe", ECHO][..], &FIXED].concat()).json();
    assert_eq!(one, expected[0]);
    // A policy that says nothing of it does not forbid it.
    let bare = json!({"version": 1, "trusted_signers": ["team.build"], "capability_ceiling": {}});
    root.folder.write("../policy.json", bare.to_string());
    let described = root.run(&[&["describe", ECHO][..], &FIXED].concat()).json();
    assert!(described["input_schema"].is_object(), "{described}");
}

#[test]
fn a_pin_that_fails_is_not_described() {
    let root = root();
    policy(&root, "describe");
    root.folder.write("skills/demo.echo/0.1.0/skill.wasm", "x");
    let run = root.run(&[&["describe", ECHO][..], &FIXED].concat());
    assert_eq!(run.status, 2, "{run:?}");
    let other = root.run(&[&["describe", "demo.reader"][..], &FIXED].concat());
    assert_eq!(other.status, 0, "{other:?}");
    root.folder.write(RING, "{}");
    for command in ["describe", "skills"] {
        let run = root.run(&[command, "--root", "."]);
        assert_eq!(run.status, 3, "{command}: {run:?}");
        assert!(run.stdout.is_empty(), "{command}: {run:?}");
    }
}

/// `describe` of a skill that loops ends by its own budget.
#[test]
fn describe_ends() {
    let wasm = guests::describing("(loop $again (br $again))", &guests::description(ECHO));
    let root = Root::of(vec![
        reader("demo.reader", "0.1.0"),
        Bundle::new((ECHO, "0.1.0"), &wasm, &[], &keys::team()),
    ]);
    policy(&root, "describe");
    let start = std::time::Instant::now();
    let run = root.run(&[&["describe", ECHO][..], &FIXED].concat());
    assert_ne!(run.status, 0, "{run:?}");
    assert!(start.elapsed().as_secs() < 10);
    let other = root.run(&[&["describe", "demo.reader"][..], &FIXED].concat());
    assert_eq!(other.status, 0, "{other:?}");
}

#[test]
fn skills_lists_what_is_pinned() {
    let root = root();
    let run = root.run(&["skills", "--root", ".", "--format", "json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let listed = run.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2);
    let (first, second) = (&listed[0], &listed[1]);
    assert!(members(first).contains(&"id"), "{first}");
    assert_eq!(
        (&first["id"], &second["id"]),
        (&json!("demo.echo"), &json!("demo.reader"))
    );
    assert_eq!(first["version"], "0.1.0");
    assert!(
        first.get("description").is_some() && first.get("capabilities").is_some(),
        "{first}"
    );
    assert!(
        second["capabilities"].to_string().contains("/workspace"),
        "{second}"
    );
    let text = root.run(&["skills", "--root", "."]);
    let at = |name: &str| {
        text.stdout
            .find(name)
            .unwrap_or_else(|| panic!("{name}: {text:?}"))
    };
    assert!(at("demo.echo") < at("demo.reader"));
}

#[test]
fn the_digest_of_a_ring() {
    let folder = Folder::new();
    let ring = keys::ring(&keys::team());
    folder.write("keys.json", &ring);
    let run = folder.ok(&["keys", "digest", "keys.json"]);
    assert_eq!(run.stdout.trim_end(), digest(ring));
    assert_eq!(folder.run(&["keys", "digest", "none.json"]).status, 1);
}
