//! The seed's YAML canonical form and its twins, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{error, load, operation, skill};
use serde_json::{Value, json};

const YAML: &str = include_str!("fixtures/moltbook.yaml");

/// The skill without what differs between formats, and between lines of two texts.
fn comparable(mut skill: Value) -> Value {
    skill["format"] = Value::Null;
    for operation in skill["operations"].as_array_mut().unwrap() {
        operation["line"] = Value::Null;
        for member in ["policy-sources", "asks"] {
            operation.as_object_mut().unwrap().remove(member);
        }
    }
    skill["diagnostics"] = Value::Null;
    skill
}

#[test]
fn the_canonical_form_is_three_operations() {
    let skill = skill("https://moltbook.com/skill.yaml", YAML);
    assert_eq!(skill["id"], "moltbook");
    assert_eq!(skill["version"], "1.0.0");
    assert_eq!(skill["format"], "yaml");
    assert_eq!(skill["data-classifications"], json!(["pii.user_query"]));
    let ids: Vec<&str> = skill["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["search", "create_notebook", "run_analysis"]);

    let search = operation(&skill, "search");
    let stage = &search["stages"][0];
    assert_eq!(stage["kind"], "http");
    assert_eq!(stage["method"], "POST");
    assert_eq!(search["hosts"], json!(["api.moltbook.com:443"]));
    assert_eq!(search["tier"], 1);
    assert_eq!(search["status"], "ok");
    assert_eq!(search["confidence"], 1.0);
    assert_eq!(search["line"], 11);
    let requires = search["requires"].as_array().unwrap();
    assert!(requires.contains(&json!("secret:MOLTBOOK_API_KEY")));
    assert_eq!(
        search["input-schema"],
        json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
            "required": ["query"],
            "additionalProperties": false
        })
    );
    assert_eq!(
        search["output-schema"]["properties"]["results"],
        json!({"type": "array", "items": {"type": "object"}})
    );
    let reasons = search["reasons"].as_array().unwrap();
    for reason in [
        "host:api.moltbook.com:443",
        "secret:MOLTBOOK_API_KEY",
        "pii",
    ] {
        assert!(reasons.contains(&json!(reason)), "{reasons:?}");
    }

    let create = operation(&skill, "create_notebook");
    assert_eq!(create["stages"][0]["kind"], "http");
    assert_eq!(create["secrets"], json!([]));

    let analysis = operation(&skill, "run_analysis");
    assert_eq!(analysis["stages"][0]["kind"], "sandbox");
    assert_eq!(analysis["stages"][0]["runtime"], "python");
    assert_eq!(analysis["tier"], 2);
    assert_eq!(
        analysis["policy"]["network"],
        json!({"egress": ["api.moltbook.com:443"]})
    );
}

#[test]
fn json_and_the_bare_mapping_are_the_same_skill() {
    let yaml = skill("https://moltbook.com/skill.yaml", YAML);
    let json = include_str!("fixtures/moltbook.json");
    let wrapped = skill("https://moltbook.com/skill.json", json);
    assert_eq!(wrapped["format"], "json");
    let bare: Value = serde_json::from_str(json).unwrap();
    let bare = serde_json::to_string(&bare["skill"]).unwrap();
    let bare = skill("https://moltbook.com/skill.json", &bare);
    let unindented: String = YAML
        .lines()
        .skip(1)
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect();
    let bare_yaml = skill("https://moltbook.com/skill.yaml", &unindented);
    let expected = comparable(yaml);
    for other in [wrapped, bare, bare_yaml] {
        assert_eq!(comparable(other), expected);
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let one = load("https://moltbook.com/skill.yaml", YAML, json!({})).unwrap();
    let other = load("https://moltbook.com/skill.yaml", YAML, json!({})).unwrap();
    assert_eq!(one, other);
    let digest = |answer: &Value| {
        let digest = answer["skill"]["operations"][0]["digest"].as_str();
        digest.unwrap().to_owned()
    };
    assert!(digest(&one).starts_with("sha256:"));
    // A base is part of it, the text around an operation is not.
    let based = load(
        "https://moltbook.com/skill.yaml",
        YAML,
        json!({"base-url": "https://other.example"}),
    );
    assert_ne!(digest(&one), digest(&based.unwrap()));
    let described = YAML.replace("Search notebooks by query", "Find something");
    let described = load("https://moltbook.com/skill.yaml", &described, json!({}));
    assert_eq!(digest(&one), digest(&described.unwrap()));
}

#[test]
fn documents_that_a_predecessor_took_otherwise() {
    let url = "https://example.org/skill.yaml";
    assert_eq!(error(url, "title: x\nitems: [1]\n")["code"], "not-a-skill");
    let wrong = error(url, "name: x\noperations: 5\n");
    assert_eq!(wrong["code"], "schema");
    assert_eq!(wrong["path"], "operations");
    assert_eq!(
        wrong["message"],
        "operations: expected list or map, got integer"
    );
    let text = "name: x\noperations:\n  - name: a\n    endpoint: https://api.example.org/a\n    input_schema:\n      type: object\n      required: [q]\n      properties: {q: {type: string, minLength: 2}}\n";
    let skill = skill(url, text);
    assert_eq!(
        operation(&skill, "a")["input-schema"],
        json!({
            "type": "object",
            "properties": {"q": {"type": "string", "minLength": 2}},
            "required": ["q"],
            "additionalProperties": false
        })
    );
}
