//! Section 26 as a user sees it: the commands, the component, a service.

use serde_json::{Value, json};

use crate::house::{House, list, string};
use crate::recorder::{Recorder, Reply};

/// Registers, asks a person, then searches with the key that it got.
fn document(server: &Recorder) -> String {
    format!(
        "name: one
operations:
- name: register
  method: POST
  endpoint: {0}
  input: {{handle: {{type: string, required: true}}}}
- name: search
  endpoint: {1}
  auth: {{type: bearer, env_var: ONE_KEY}}
onboarding:
  steps:
  - id: sign-up
    type: api_call
    operation: register
    params: {{handle: '{{{{user_input}}}}'}}
    store: [{{from: key, to: 'secret:ONE_KEY', requires_approval: false}}]
  - id: confirm
    type: human_action
    depends_on: [sign-up]
    action: {{title: Confirm, required_response: {{type: object, required: [code]}}}}
    store: [{{from: code, to: 'memory:code'}}]
",
        server.url("/register"),
        server.url("/search")
    )
}

fn pending(house: &House, kind: &str) -> String {
    let all = list(&house.ok(&["approvals", "list", "--status", "pending"]));
    let found: Vec<&Value> = all.iter().filter(|one| one["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{all:?}");
    string(&found[0]["id"])
}

#[test]
fn from_the_load_to_the_first_call() {
    let server = Recorder::new(|_| Reply::json(&json!({"key": "k-99887766", "user": "u"})));
    let house = House::beside(&[&server]);
    let loaded = house.load("one.yaml", &document(&server));
    assert_eq!(loaded["onboarding"], "needs-setup");
    house.approve_all();
    let denied = house.denied("one", "search", &json!({}));
    assert_eq!(denied["code"], "onboarding-required");
    assert!(string(&denied["hint"]).contains("hydrant skill onboard one"));

    let told = house.ok(&["skill", "onboard", "one", "--input", "\"ann\""]);
    assert_eq!(told["state"], "pending-human-action", "{told}");
    assert_eq!(server.only().json(), json!({"handle": "ann"}));
    let id = pending(&house, "human-action");
    let failure = house.error(&["approvals", "approve", &id]);
    assert!(string(&failure["hint"]).contains("--response"), "{failure}");
    let failure = house.error(&["approvals", "approve", &id, "--response", "{}"]);
    assert_eq!(failure["code"], "invalid-input");
    let run = house.fed(
        &["approvals", "approve", &id, "--response", "-"],
        "{\"code\":\"c-1\"}",
    );
    assert_eq!(run.status, 0, "{run:?}");

    let told = house.ok(&["skill", "onboard", "one"]);
    assert_eq!(told["state"], "pending-secret-approval", "{told}");
    let id = pending(&house, "secret-write");
    house.ok(&["approvals", "approve", &id]);
    assert_eq!(
        house.ok(&["skill", "show", "one"])["onboarding-progress"]["state"],
        "operational"
    );
    house.execute("one", "search", &json!({}));
    let requests = server.requests();
    assert_eq!(
        requests[1].header("authorization"),
        Some("Bearer k-99887766")
    );
    assert_eq!(requests.len(), 2);
    assert!(!json!(house.chain()).to_string().contains("k-99887766"));
    house.assert_whole_chain();
}

/// Agents go on with it, and decide nothing.
#[test]
fn agents_see_what_a_person_has_to_do() {
    let server = Recorder::new(|_| Reply::json(&json!({"key": "k-99887766"})));
    let house = House::beside(&[&server]);
    house.load("one.yaml", &document(&server));
    house.approve_all();
    let answers = house.syscall(&[
        (
            "ccos.skill.onboard",
            json!({"skill": "one", "user-input": "ann"}),
        ),
        (
            "ccos.skill.onboard",
            json!({"skill": "one", "response": {"code": "c-1"}}),
        ),
        ("ccos.skill.onboard", json!({"skill": "two"})),
    ]);
    let told = &answers[0]["payload"];
    assert_eq!(told["state"], "pending-human-action", "{told}");
    assert_eq!(
        told["steps"][0]["output"]["json"]["key"],
        json!({"secret-ref": "secret:ONE_KEY"})
    );
    assert!(told["steps"][1]["approval-id"].is_string());
    assert_eq!(answers[1]["payload"]["code"], "invalid-request");
    assert_eq!(answers[2]["payload"]["code"], "unknown-skill");
    assert!(!json!(answers).to_string().contains("k-99887766"));
}
