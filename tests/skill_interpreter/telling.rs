//! What a person is told: of operations that can never run, of names that look like others, of secrets that protect nothing,
//! and without what a terminal would obey.

use serde_json::{Value, json};

use crate::house::{House, capability, list, shown};

/// A right-to-left override and a zero-width space.
const HIDDEN: &str = "in\u{202e}voice\u{200b}";

fn operation(name: &str, input: &str) -> String {
    format!(
        "  - name: {name}\n    method: POST\n    endpoint: https://api.example.com/{name}\n    input:\n      value: {input}\n"
    )
}

fn diagnostics(loaded: &Value, code: &str) -> Vec<Value> {
    let mut all = list(&loaded["diagnostics"]);
    all.retain(|diagnostic| diagnostic["code"] == code);
    all
}

#[test]
fn operations_that_can_never_run_are_unusable_from_the_load_on() {
    let house = House::new();
    let document = [
        "name: broken\noperations:\n".to_owned(),
        operation("whole", "{type: string}"),
        operation("loop", "{$ref: '#/properties/value'}"),
        operation("tree", "{type: array, items: {$ref: '#/properties/value'}}"),
        operation("pattern", "{type: string, pattern: '(x{999}){999}'}"),
        "  - name: filter\n    command: \"curl https://api.example.com/f | jq '.a | nothing_of_this_name'\"\n"
            .to_owned(),
    ]
    .concat();
    let loaded = house.load("broken.yaml", &document);
    for (id, code) in [
        ("broken.loop", "schema"),
        ("broken.pattern", "schema"),
        ("broken.filter", "json-filter"),
    ] {
        let row = capability(&loaded, id);
        assert_eq!(row["status"], "unusable", "{row}");
        assert_eq!(row["code"], code, "{row}");
        assert!(!diagnostics(&loaded, code).is_empty());
        let entry = shown(&house, "broken", id);
        assert!(!entry["error"]["message"].as_str().unwrap().is_empty());
    }
    for id in ["broken.whole", "broken.tree"] {
        assert_eq!(capability(&loaded, id)["status"], "pending");
    }
    let pending = list(&house.ok(&["approvals", "list", "--status", "pending"]));
    assert_eq!(pending.len(), 2);
    assert_eq!(
        house.denied("broken", "filter", &json!({}))["code"],
        "json-filter"
    );
}

#[test]
fn ids_of_several_scripts_are_marked() {
    let house = House::new();
    // The second letter is Cyrillic.
    let document = format!(
        "name: p\u{0430}yments\noperations:\n{}",
        operation("send", "{type: string}")
    );
    let loaded = house.load("looks.yaml", &document);
    assert_eq!(diagnostics(&loaded, "mixed-scripts").len(), 1, "{loaded}");
    let listed = house.ok(&["skill", "list"]);
    assert_eq!(
        listed["skills"][0]["capabilities"][0]["mixed-scripts"],
        true
    );
    let pending = house.ok(&["approvals", "list"]);
    let notes = pending[0]["notes"].to_string();
    assert!(notes.contains("several scripts"), "{notes}");
    let plain = [
        "gr\u{00f6}\u{00df}e",
        "\u{043f}\u{043e}\u{0433}\u{043e}\u{0434}\u{0430}",
        "\u{5929}\u{6c17}\u{4e88}\u{5831}\u{306e}",
    ];
    for (index, id) in plain.into_iter().enumerate() {
        let document = format!(
            "name: {id}\noperations:\n{}",
            operation("send", "{type: string}")
        );
        let loaded = house.load(&format!("plain{index}.yaml"), &document);
        assert!(diagnostics(&loaded, "mixed-scripts").is_empty(), "{loaded}");
    }
}

#[test]
fn a_secret_that_protects_nothing_is_warned_about() {
    let house = House::new();
    house.load(
        "whole.yaml",
        &format!(
            "name: whole\noperations:\n{}",
            operation("send", "{type: string}")
        ),
    );
    let set = |skill: &str, value: &str| {
        let run = house.fed(&["secrets", "set", "TOKEN", "--skill", skill], value);
        assert_eq!(run.status, 0, "{run:?}");
        serde_json::from_str::<Value>(&run.stdout).unwrap()["warnings"].to_string()
    };
    assert_eq!(set("whole", "long enough"), "null");
    assert!(set("whole", "short").contains("fewer than 6 bytes"));
    assert!(set("absent", "long enough").contains("no skill absent is loaded"));
}

#[test]
fn messages_hold_nothing_that_a_terminal_obeys() {
    let house = House::new();
    let hidden = |text: &str| text.contains('\u{202e}') || text.contains('\u{200b}');
    for arguments in [
        ["skill", "show", HIDDEN, "--format", "text"],
        ["skill", "show", HIDDEN, "--format", "json"],
        ["skill", "load", HIDDEN, "--format", "text"],
        ["skill", HIDDEN, "x", "--format", "text"],
        ["verify", "--root", HIDDEN, "--format", "text"],
        ["inspect", HIDDEN, "--bundle", "x", "y"],
        ["run", HIDDEN, "{}", "--format", "text"],
    ] {
        let run = house.folder().run(&arguments);
        assert_ne!(run.status, 0, "{run:?}");
        assert!(!hidden(&run.stderr), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("202e"), "{arguments:?}: {}", run.stderr);
    }
    // For programs it is the same text.
    let error = house.error(&["skill", "show", HIDDEN, "--format", "json"]);
    assert!(
        error["message"].as_str().unwrap().contains(HIDDEN),
        "{error}"
    );
}
