//! The steps of a call one by one: which code, that nothing was sent, and what the chain says.

use std::fs;
use std::path::Path;

use hydrant_govern::failure::Code;
use hydrant_govern::governor::{Approve, Execute};
use serde_json::{Value, json};

use crate::house::{API, House, agent, document, operator, ready};

/// The code of a call, after which nothing was sent and the denial is the last record of the chain.
fn assert_denied(house: &House, params: Value, expected: Code) {
    let before = house.sent().len();
    assert_eq!(house.code("one", "read", params), expected);
    assert_eq!(house.sent().len(), before, "{expected:?}: nothing is sent");
    let last = house.chain().pop().unwrap();
    assert_eq!(
        (
            &last["event"],
            &last["outcome"],
            &last["code"],
            &last["capability"]
        ),
        (
            &json!("capability-denied"),
            &json!("denied"),
            &json!(expected),
            &json!("one.read")
        ),
    );
}

fn good() -> Value {
    json!({"q": "x"})
}

#[test]
fn a_request_that_is_none() {
    for input in [
        json!(7),
        json!([]),
        json!({"skill": "one"}),
        json!({"skill": 1, "operation": "read"}),
        json!({"skill": "one", "operation": "read", "param": {}}),
    ] {
        assert!(Execute::read(input.clone().into()).is_err(), "{input}");
    }
}

#[test]
fn names_that_nobody_knows() {
    let house = ready("");
    for (skill, operation, expected) in [
        ("none", "read", Code::UnknownSkill),
        ("one", "none", Code::UnknownOperation),
        ("one", "two.read", Code::UnknownOperation),
        ("", "", Code::UnknownSkill),
    ] {
        assert_eq!(
            house.code(skill, operation, good()),
            expected,
            "{skill} {operation}"
        );
    }
    assert_eq!(house.events("capability-denied"), Vec::<Value>::new());
    // An alias and the whole id of a capability of that skill are names too.
    assert!(house.execute("ONE", "One.Read", good()).is_ok());
}

#[test]
fn what_was_removed_is_told_from_what_never_was() {
    let house = ready("");
    let without = document().split("- name: open").next().unwrap().to_owned();
    let loaded = house.load(&without);
    assert_eq!(loaded["delta"]["removed"], json!(["open"]));
    assert_eq!(
        house.code("one", "open", json!({})),
        Code::CapabilityRemoved
    );
    let denied = house.events("capability-denied");
    assert_eq!(denied.len(), 1);
    assert_eq!(
        (&denied[0]["capability"], &denied[0]["code"]),
        (&json!("one.open"), &json!("capability-removed"))
    );
    // Its grant does not come back with it.
    let loaded = house.load(&document());
    assert_eq!(loaded["delta"]["added"], json!(["open"]));
    assert_eq!(house.code("one", "open", json!({})), Code::ApprovalRequired);
    assert!(house.execute("one", "read", good()).is_ok());
    house.governor.unload(&operator(), "one", false).unwrap();
    assert_eq!(house.code("one", "read", good()), Code::CapabilityRemoved);
}

#[test]
fn a_call_that_runs_while_its_operation_is_removed_finishes() {
    let house = ready("");
    let other = house.beside();
    house.meanwhile(move |_| {
        other.unload(&operator(), "one", false).unwrap();
    });
    let result = house.execute("one", "read", good()).unwrap();
    assert_eq!(result["output"]["json"], json!({"ok": true}));
    assert_eq!(house.code("one", "read", good()), Code::CapabilityRemoved);
    let events: Vec<Value> = house
        .chain()
        .iter()
        .map(|record| record["event"].clone())
        .collect();
    let at = |event: &str| events.iter().position(|one| one == event).unwrap();
    assert!(
        at("capability-call") < at("skill-unloaded")
            && at("skill-unloaded") < at("capability-executed")
    );
    assert!(house.is_whole());
}

#[test]
fn what_cannot_be_used_says_why() {
    let house = House::new();
    let loaded = house.load(&format!(
        "name: one\noperations:\n- name: read\n  command: curl --proxy http://p.example {API}\n- {{name: none, description: x}}\n"
    ));
    assert_eq!(loaded["pending-approvals"], 0);
    assert_denied(&house, json!({}), Code::CurlOptionRefused);
    assert_eq!(house.code("one", "none", json!({})), Code::OpEmpty);
}

#[test]
fn each_step_and_its_code() {
    let house = ready("");
    // Over the syscall a secret needs a jail.
    let refused = house.governor.call(&agent(), "one.read", good());
    assert_eq!(refused.unwrap_err().code, Code::ClientNotJailed);
    let missing = house.execute("one", "read", json!({})).unwrap_err();
    assert_eq!(
        (missing.code, missing.missing),
        (Code::MissingInput, vec!["q".to_owned()])
    );
    assert_eq!(missing.message, "PROMPT_MISSING_INPUT: q");
    assert_denied(&house, json!({}), Code::MissingInput);
    assert_denied(&house, json!({"q": 7}), Code::InvalidInput);
    assert!(house.execute("one", "read", good()).is_ok());
    // No value any more.
    house.governor.remove_secret("TOKEN", Some("one")).unwrap();
    assert_denied(&house, good(), Code::SecretMissing);
    house.secret("TOKEN", "one", "t-112233445566");
    let house = house.again("budgets = {steps = 0}");
    assert_denied(&house, good(), Code::BudgetExhausted);
    let house = house.again("deny_hosts = ['api.example.org']");
    assert_denied(&house, good(), Code::HostDenied);
    let house = house.again("");
    for one in house
        .governor
        .approvals(Some("approved"))
        .unwrap()
        .as_array()
        .unwrap()
    {
        house
            .governor
            .revoke(&operator(), one["id"].as_str().unwrap(), None)
            .unwrap();
    }
    assert_denied(&house, good(), Code::ApprovalRevoked);
    assert!(house.is_whole());
}

#[test]
fn the_first_step_that_fails_is_the_answer() {
    // Everything is wrong at once; one thing after the other is put right.
    let wrong = "deny_hosts = ['api.example.org']\nbudgets = {steps = 0}\njailed_clients = 'all'";
    let house = House::with(wrong);
    house.load(&document());
    assert_eq!(house.code("one", "gone", json!({})), Code::UnknownOperation);
    assert_denied(&house, json!({}), Code::ClientNotJailed);
    let house = house.again(&wrong.replace("'all'", "'warn'"));
    assert_denied(&house, json!({}), Code::MissingInput);
    assert_denied(&house, good(), Code::ApprovalRequired);
    house.approve_all();
    assert_denied(&house, good(), Code::HostDenied);
    let house = house.again("budgets = {steps = 0}");
    assert_denied(&house, good(), Code::BudgetExhausted);
    let house = house.again("");
    assert_denied(&house, good(), Code::SecretMissing);
    house.secret("TOKEN", "one", "t-112233445566");
    assert!(house.execute("one", "read", good()).is_ok());
    assert_eq!(house.sent().len(), 1);
}

/// The last record on the disk.
fn last_on_disk(state: &Path) -> Value {
    let text = fs::read_to_string(state.join("chain/000001.jsonl")).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn the_call_is_on_disk_before_the_first_effect() {
    let house = ready("");
    let state = house.state();
    house.meanwhile(move |_| {
        let last = last_on_disk(&state);
        assert_eq!(
            (&last["event"], &last["capability"]),
            (&json!("capability-call"), &json!("one.read"))
        );
    });
    assert!(house.execute("one", "read", good()).is_ok());
    assert_eq!(house.sent().len(), 1);
}

#[test]
fn a_once_grant_is_used_up_before_the_call_is_written() {
    let house = House::new();
    house.load(&document());
    let request = house
        .pending()
        .into_iter()
        .find(|one| one["capability"] == "one.open")
        .unwrap();
    let id = request["id"].as_str().unwrap().to_owned();
    let once = Approve {
        scope: Some(serde_json::from_value(json!("once")).unwrap()),
        ..Approve::default()
    };
    house.governor.approve(&operator(), &id, once).unwrap();
    let other = house.beside();
    house.meanwhile(move |_| {
        assert_eq!(other.approval(&id).unwrap()["status"], "consumed");
    });
    assert!(house.execute("one", "open", json!({})).is_ok());
    assert_eq!(house.code("one", "open", json!({})), Code::ApprovalRequired);
    assert_eq!(house.sent().len(), 1);
}

#[test]
fn nothing_runs_that_cannot_be_recorded() {
    let house = ready("");
    cut_off(&house.state());
    assert_eq!(house.code("one", "read", good()), Code::AuditUnavailable);
    assert_eq!(house.sent().len(), 0);
}

/// Somebody takes the last record away.
fn cut_off(state: &Path) {
    let segment = state.join("chain/000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kept: String = lines[..lines.len() - 1]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(segment, kept).unwrap();
}

#[test]
fn what_ran_and_cannot_be_recorded_gives_no_output() {
    let house = ready("");
    house.servers_say(json!({"answer": "not to be seen"}));
    let state = house.state();
    house.meanwhile(move |_| cut_off(&state));
    let failure = house.execute("one", "read", good()).unwrap_err();
    assert_eq!(
        (failure.code, failure.executed),
        (Code::AuditUnavailable, true)
    );
    assert!(!json!(failure).to_string().contains("not to be seen"));
    assert_eq!(house.sent().len(), 1);
}

#[test]
fn the_end_of_a_call_is_recorded_before_its_output_is_given() {
    let house = ready("");
    let result = house.execute("one", "read", good()).unwrap();
    let last = last_on_disk(&house.state());
    assert_eq!(
        (&last["event"], &last["outcome"]),
        (&json!("capability-executed"), &json!("ok"))
    );
    assert_eq!(last["seq"], result["chain-seq"]);
    assert!(
        last["call-seq"].is_u64() && last["outputs-digest"].is_string(),
        "{last}"
    );
}

#[test]
fn values_are_taken_out_before_anybody_sees_the_output() {
    let house = House::new();
    house.load(&format!(
        "name: one\noperations:\n- name: login\n  method: POST\n  endpoint: {API}/login\n  returns_secret: [/token]\n  auth: {{type: \
         bearer, env_var: TOKEN}}\n"
    ));
    house.secret("TOKEN", "one", "t-112233445566");
    house.approve_all();
    house.servers_say(json!({"token": "c-5566778899", "echo": "Bearer t-112233445566"}));
    let result = house.execute("one", "login", json!({})).unwrap();
    assert_eq!(
        result["output"]["json"],
        json!({"token": {"secret-ref": "secret:ONE_TOKEN"}, "echo": "Bearer ***REDACTED***"})
    );
    // The digest of the record covers what was given, and no record holds a value.
    let chain = json!(house.chain()).to_string();
    for value in ["c-5566778899", "t-112233445566"] {
        assert!(
            !chain.contains(value) && !result.to_string().contains(value),
            "{value}"
        );
    }
    let events: Vec<Value> = house
        .chain()
        .iter()
        .map(|record| record["event"].clone())
        .collect();
    for event in ["secret-captured", "secret-echo", "secret-injected"] {
        assert!(events.contains(&json!(event)), "{event}: {events:?}");
    }
}

#[test]
fn a_denial_that_cannot_be_recorded_stays_one() {
    let house = ready("");
    let chain = house.state().join("chain");
    let records = house.chain().len();
    // The database is whole; the chain cannot be written to.
    fs::rename(chain.join("HEAD"), chain.join("HEAD.away")).unwrap();
    fs::create_dir(chain.join("HEAD")).unwrap();
    assert_eq!(house.code("one", "read", json!({})), Code::MissingInput);
    assert_eq!(house.sent().len(), 0);
    fs::remove_dir(chain.join("HEAD")).unwrap();
    fs::rename(chain.join("HEAD.away"), chain.join("HEAD")).unwrap();
    let text = fs::read_to_string(chain.join("000001.jsonl")).unwrap();
    assert!(text.lines().count() <= records + 1);
}

/// An operation with personal data that writes a file.
fn personal() -> House {
    let house = House::new();
    house.load(&format!(
        "name: one\ndata_class: pii\noperations:\n- name: fetch\n  command: curl -o people.json {API}/people\n"
    ));
    house.approve_all();
    house.servers_say(json!({"name": "Ada Lovelace"}));
    house
}

fn outputs(house: &House) -> usize {
    fs::read_dir(house.state().join("outputs")).map_or(0, Iterator::count)
}

#[test]
fn personal_data_goes_with_its_session() {
    let house = personal();
    let caller = agent();
    let result = house
        .governor
        .call(&caller, "one.fetch", json!({}))
        .unwrap();
    assert!(!result["output"].to_string().is_empty());
    assert_eq!(outputs(&house), 1, "{result}");
    assert!(!json!(house.chain()).to_string().contains("Ada"));
    house.governor.end_session(&caller);
    assert_eq!(outputs(&house), 0);
    // A command is a session of its own.
    house.execute("one", "fetch", json!({})).unwrap();
    assert_eq!(outputs(&house), 0);
    // What is not personal stays.
    let other = House::new();
    other.load(&format!(
        "name: one\noperations:\n- name: fetch\n  command: curl -o people.json {API}/people\n"
    ));
    other.approve_all();
    other.execute("one", "fetch", json!({})).unwrap();
    assert_eq!(outputs(&other), 1);
}

/// The scope of a grant that is given without one.
#[test]
fn the_approval_mode_of_a_document_is_the_default_scope() {
    for (mode, calls) in [("Once", 3), ("PerCall", 1)] {
        let house = House::new();
        house.load(&format!(
            "name: one\napproval: {{mode: {mode}}}\noperations:\n- name: open\n  endpoint: {API}/open\n"
        ));
        let pending = house.pending();
        let id = pending[0]["id"].as_str().unwrap();
        house
            .governor
            .approve(&operator(), id, Approve::default())
            .unwrap();
        let done = (0..3).take_while(|_| house.execute("one", "open", json!({})).is_ok());
        assert_eq!(done.count(), calls, "{mode}");
    }
}
