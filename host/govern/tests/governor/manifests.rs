//! What an approver reads of an operation, why approval is needed, and that what was read is what
//! runs.

use std::collections::BTreeSet;

use hydrant_govern::failure::Code;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::house::{API, House, operator};

/// The manifest of an operation of the skill `my-books`.
fn manifest(house: &House, operation: &str) -> Value {
    let shown = house.governor.show(&operator(), "my-books").unwrap();
    let all = shown["capabilities"].as_array().unwrap();
    let found = all
        .iter()
        .find(|one| one["id"] == format!("my-books.{operation}"));
    found.unwrap_or_else(|| panic!("{operation} is not in {all:?}"))["manifest"].clone()
}

fn books(operations: &str) -> House {
    let house = House::new();
    house.load(&format!(
        "id: my-books\nname: My books\nversion: 3.1\n{operations}"
    ));
    house
}

fn operations() -> String {
    format!(
        "operations:\n- name: find_one\n  description: Finds a book.\n  endpoint: {API}/find\n  auth: {{type: bearer, env_var: \
         B_TOKEN}}\n- name: plain\n  endpoint: {API}/plain\n- name: both\n  command: curl {API}/a | jq .a\n- name: tool\n  \
         description: Draws it.\n  command: frobnicate a\n- name: count\n  runtime: python\n  script: print(1)\n- name: \
         save\n  command: curl -o out.json {API}/a\n"
    )
}

#[test]
fn names_versions_and_descriptions() {
    let house = books(&operations());
    for (operation, name, description) in [
        ("find_one", "My Books Find One", "Finds a book."),
        ("plain", "My Books Plain", "Plain"),
        (
            "tool",
            "Tool (Sandboxed)",
            "Draws it. - REQUIRES SANDBOX APPROVAL",
        ),
        (
            "count",
            "Count (Sandboxed)",
            "Count - REQUIRES SANDBOX APPROVAL",
        ),
    ] {
        let manifest = manifest(&house, operation);
        assert_eq!(manifest["id"], format!("my-books.{operation}"));
        assert_eq!(manifest["version"], "3.1");
        assert_eq!(
            (&manifest["name"], &manifest["description"]),
            (&json!(name), &json!(description))
        );
    }
}

#[test]
fn effects_secrets_trust_and_policy() {
    let house = books(&format!("effects: [speech]\n{}", operations()));
    let effects = |operation: &str| -> BTreeSet<String> {
        let effects = manifest(&house, operation)["effects"].clone();
        effects
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap().to_owned())
            .collect()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(effects("find_one"), set(&["network-egress", "speech"]));
    assert_eq!(
        effects("save"),
        set(&["network-egress", "fs-write", "speech"])
    );
    assert!(effects("tool").contains("process"));
    let find = manifest(&house, "find_one");
    assert_eq!(find["requires-secret"], json!(["B_TOKEN"]));
    assert_eq!(find["trust-tier"], "pending");
    // A policy for sandboxed operations only.
    for (operation, has_policy) in [
        ("find_one", false),
        ("both", false),
        ("save", false),
        ("tool", true),
        ("count", true),
    ] {
        assert_eq!(
            manifest(&house, operation)["sandbox-policy"].is_object(),
            has_policy,
            "{operation}"
        );
    }
    house.approve_all();
    assert_eq!(manifest(&house, "find_one")["trust-tier"], "granted");
}

#[test]
fn estimates_are_summed_over_requests_and_are_the_policy_of_a_sandbox() {
    let house = books(&operations());
    let estimate = |operation: &str| manifest(&house, operation)["estimated-resources"].clone();
    assert_eq!(
        estimate("plain"),
        json!({"network-bytes": 10000, "wall-clock-ms": 2000})
    );
    assert_eq!(
        estimate("both"),
        json!({"network-bytes": 10000, "wall-clock-ms": 2000})
    );
    assert_eq!(
        estimate("tool"),
        manifest(&house, "tool")["sandbox-policy"]["resources"]
    );
}

#[test]
fn tiers_and_the_reason_of_a_runtime() {
    let house = books(&operations());
    let of = |operation: &str| {
        let manifest = manifest(&house, operation);
        let reasons = manifest["reasons"].as_array().unwrap().clone();
        (manifest["tier"].as_u64().unwrap(), reasons)
    };
    assert_eq!((of("plain").0, of("both").0), (1, 1));
    assert_eq!((of("count").0, of("save").0), (2, 2));
    assert_eq!(of("tool").0, 3);
    // The approval shows policy and limits.
    assert_eq!(of("count").1, ["sandbox:python"]);
    let request = house
        .pending()
        .into_iter()
        .find(|one| one["capability"] == "my-books.count")
        .unwrap();
    let request = house
        .governor
        .approval(request["id"].as_str().unwrap())
        .unwrap();
    assert_eq!(request["policy"]["network"], json!({"egress": "none"}));
    assert_eq!(request["policy"]["resources"]["memory-mb"], 512);
    assert_eq!(request["warning"], Value::Null);
    // What core capabilities are is no operation's tier.
    for operation in ["plain", "both", "count", "save", "tool"] {
        assert!(of(operation).0 >= 1, "{operation}");
    }
}

#[test]
fn one_request_for_a_capability_lists_all_its_reasons() {
    let house = books(&format!(
        "data_class: pii\napproval: {{required: true}}\noperations:\n- name: send\n  command: |\n    curl -F doc=@a.pdf {API}/up -H \
         \"Authorization: Bearer $B_TOKEN\" -o \
         out.bin\n"
    ));
    let pending = house.pending();
    assert_eq!(pending.len(), 1);
    let reasons: BTreeSet<&str> = pending[0]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    assert_eq!(
        reasons,
        BTreeSet::from([
            "file-read:a.pdf",
            "file-write:out.bin",
            "host:api.example.org:443",
            "pii",
            "secret:B_TOKEN",
            "skill-requested",
        ])
    );
    // A Tier 1 delegate lends no trust: every reason stands although its only stage is a core capability.
    let house = books(&format!(
        "data_class: pii\noperations:\n- name: get\n  endpoint: {API}/a\n"
    ));
    assert_eq!(manifest(&house, "get")["tier"], 1);
    assert_eq!(
        house.code("my-books", "get", json!({})),
        Code::ApprovalRequired
    );
}

#[test]
fn no_host_is_safe_unless_the_operator_says_so() {
    let text = format!("id: my-books\nname: x\noperations:\n- name: get\n  endpoint: {API}/a\n");
    let house = House::new();
    let loaded = house.load(&text);
    assert_eq!(loaded["capabilities"][0]["status"], "pending");
    // By policy, and asked again at every call.
    let house = house.again("safe_hosts = ['api.example.org']");
    assert!(house.execute("my-books", "get", json!({})).is_ok());
    let house = house.again("");
    assert_eq!(
        house.code("my-books", "get", json!({})),
        Code::ApprovalRequired
    );
}

#[test]
fn a_secret_is_new_for_another_host() {
    let text = |host: &str| {
        format!(
            "id: my-books\nname: x\noperations:\n- name: get\n  endpoint: https://{host}/a\n  auth: {{type: bearer, env_var: \
             B_TOKEN}}\n"
        )
    };
    let house = House::with("safe_hosts = ['*.example.org']");
    house.load(&text("a.example.org"));
    house.secret("B_TOKEN", "my-books", "t-112233445566");
    assert_eq!(
        manifest(&house, "get")["reasons"],
        json!(["secret:B_TOKEN"])
    );
    house.approve_all();
    assert!(house.execute("my-books", "get", json!({})).is_ok());
    house.load(&text("b.example.org"));
    assert_eq!(
        manifest(&house, "get")["reasons"],
        json!(["secret:B_TOKEN"])
    );
    assert_eq!(
        house.code("my-books", "get", json!({})),
        Code::ApprovalRequired
    );
    assert_eq!(house.sent().len(), 1);
}

#[test]
fn a_policy_is_frozen_by_its_digest() {
    let text = |memory: u64| {
        format!(
            "id: my-books\nname: x\noperations:\n- name: count\n  runtime: python\n  script: print(1)\n  sandbox: {{resources: \
             {{memory_mb: {memory}}}}}\n"
        )
    };
    let house = House::new();
    house.load(&text(128));
    let before = manifest(&house, "count");
    let policy = serde_json_canonicalizer::to_vec(&before["sandbox-policy"]).unwrap();
    let digest: String = Sha256::digest([b"hydrant.policy.v1\n".as_slice(), &policy].concat())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(before["policy-digest"], format!("sha256:{digest}"));
    house.approve_all();
    let granted = house.governor.approvals(Some("approved")).unwrap()[0].clone();
    assert_eq!(granted["policy-digest"], before["policy-digest"]);
    // No jail here: what is asked for after the grant is the jail.
    assert_eq!(
        house.code("my-books", "count", json!({})),
        Code::JailUnavailable
    );
    // More memory, the same code.
    let loaded = house.load(&text(256));
    assert_eq!(loaded["delta"]["changed"], json!(["count"]));
    let after = manifest(&house, "count");
    assert_eq!(after["sandbox-policy"]["resources"]["memory-mb"], 256);
    assert_ne!(after["policy-digest"], before["policy-digest"]);
    assert_eq!(
        house.code("my-books", "count", json!({})),
        Code::ApprovalRequired
    );
    let granted = house
        .governor
        .approval(granted["id"].as_str().unwrap())
        .unwrap();
    assert_eq!(granted["status"], "superseded");
}

#[test]
fn a_tool_that_is_missing_here_changes_no_status() {
    let house = books(&operations());
    let shown = house.governor.show(&operator(), "my-books").unwrap();
    let tool = shown["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "my-books.tool")
        .unwrap()
        .clone();
    assert_eq!(
        (&tool["status"], &tool["available"]),
        (&json!("pending"), &json!(false)),
        "{tool}"
    );
    house.approve_all();
    let shown = house.governor.show(&operator(), "my-books").unwrap();
    let tool = shown["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "my-books.tool")
        .unwrap()
        .clone();
    assert_eq!(
        (&tool["status"], &tool["available"]),
        (&json!("approved"), &json!(false)),
        "{tool}"
    );
}
