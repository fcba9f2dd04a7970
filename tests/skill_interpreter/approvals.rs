//! The life of an approval on the command line.

use serde_json::{Value, json};

use crate::house::{House, capability, code, list, string};
use crate::recorder::Recorder;

fn document(server: &Recorder) -> String {
    format!(
        "name: one\noperations:\n- name: ping\n  endpoint: {}\n- name: tool\n  command: frobnicate a\n",
        server.url("/ping")
    )
}

fn house(server: &Recorder) -> House {
    let house = House::beside(&[server]);
    house.load("one.yaml", &document(server));
    house
}

fn pending(house: &House, capability: &str) -> String {
    let all = list(&house.ok(&["approvals", "list", "--status", "pending"]));
    let found = all.iter().find(|one| one["capability"] == capability);
    string(&found.unwrap_or_else(|| panic!("{capability} is not in {all:?}"))["id"])
}

fn status(house: &House, id: &str) -> Value {
    house.ok(&["approvals", "show", id])["status"].clone()
}

fn ping(house: &House) -> String {
    code(&house.denied("one", "ping", &json!({})))
}

/// One request, with all its reasons.
#[test]
fn a_request_tells_its_whole_subject() {
    let server = Recorder::content();
    let house = house(&server);
    let shown = house.ok(&["approvals", "show", &pending(&house, "one.ping")]);
    assert_eq!(shown["kind"], "capability");
    assert_eq!(shown["skill-id"], "one");
    assert_eq!(shown["hosts"], json!([server.pair()]));
    assert_eq!(shown["tier"], 1);
    assert_eq!(shown["manifest"]["id"], "one.ping");
    let id = string(&shown["id"]);
    assert!(id.len() == 35 && id.starts_with("ap-"), "{id}");
    let reasons = list(&shown["reasons"]);
    assert!(
        reasons.contains(&json!(format!("host:{}", server.pair()))),
        "{reasons:?}"
    );
    for name in ["skill-digest", "op-digest", "policy-digest"] {
        assert!(string(&shown[name]).starts_with("sha256:"), "{name}");
    }
    for name in ["requested-at", "expires-at"] {
        let time = string(&shown[name]);
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
}

#[test]
fn tier_3_warns_and_needs_a_scope() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.tool");
    let shown = house.ok(&["approvals", "show", &id]);
    assert_eq!(shown["warning"], "Unknown tool requires full sandbox");
    assert_eq!(shown["policy"]["network"]["egress"], "none");
    assert!(shown["derivation"].is_array(), "{shown}");
    house.error(&["approvals", "approve", &id]);
    assert_eq!(status(&house, &id), "pending");
    house.ok(&["approvals", "approve", &id, "--scope", "once"]);
    assert_eq!(status(&house, &id), "approved");
}

#[test]
fn once_is_for_one_call() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "approve", &id, "--scope", "once"]);
    house.execute("one", "ping", &json!({}));
    assert_eq!(status(&house, &id), "consumed");
    assert_eq!(ping(&house), "approval-required");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_call_that_is_refused_before_does_not_consume() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "approve", &id, "--scope", "once"]);
    let error = house.denied("one", "ping", &json!({"other": 1}));
    assert_eq!(code(&error), "invalid-input");
    assert_eq!(status(&house, &id), "approved");
}

#[test]
fn a_terminal_state_stays() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "deny", &id, "--reason", "not today"]);
    let shown = house.ok(&["approvals", "show", &id]);
    assert_eq!(shown["reason"], "not today");
    house.error(&["approvals", "approve", &id]);
    house.error(&["approvals", "revoke", &id]);
    assert_eq!(status(&house, &id), "denied");
    let other = pending(&house, "one.tool");
    house.error(&["approvals", "revoke", &other]);
    assert_eq!(status(&house, &other), "pending");
    for (id, expected) in [
        ("ap-00000000000000000000000000000000", "unknown-approval"),
        ("nothing", "invalid-request"),
    ] {
        assert_eq!(house.code(&["approvals", "approve", id]), expected);
    }
}

#[test]
fn one_new_request_after_a_denial() {
    let server = Recorder::content();
    let house = house(&server);
    let denied = pending(&house, "one.ping");
    house.ok(&["approvals", "deny", &denied]);
    let ask = || {
        house.syscall(&[("ccos.approval.request", json!({"capability": "one.ping"}))])[0]["payload"]
            .clone()
    };
    let first = ask();
    assert_eq!(first["status"], "pending", "{first}");
    assert_ne!(first["approval-id"], denied.as_str());
    // It grants nothing, and answers the pending one again.
    assert_eq!(ask()["approval-id"], first["approval-id"]);
    assert_eq!(ping(&house), "approval-required");
    house.ok(&["approvals", "deny", &string(&first["approval-id"])]);
    let third = ask();
    assert_ne!(third["approval-id"], denied.as_str());
    assert_eq!(server.requests(), []);
}

#[test]
fn what_was_revoked_is_asked_for_anew() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "approve", &id]);
    house.ok(&["approvals", "revoke", &id]);
    let refused = house.error(&["approvals", "approve", &id]);
    let hint = string(&refused["hint"]);
    assert!(
        hint.contains("hydrant approvals request one.ping"),
        "{refused}"
    );
    let asked = house.ok(&["approvals", "request", "one.ping", "--reason", "again"]);
    let anew = string(&asked["approval-id"]);
    assert_eq!(
        (asked["status"].as_str(), anew == id),
        (Some("pending"), false)
    );
    house.ok(&["approvals", "approve", &anew]);
    house.execute("one", "ping", &json!({}));
    assert_eq!(
        house.code(&["approvals", "request", "one.none"]),
        "unknown-operation"
    );
}

#[test]
fn a_stale_request_cannot_be_approved() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.load("one.yaml", &document(&server).replace("/ping", "/pong"));
    let code = house.code(&["approvals", "approve", &id]);
    assert!(
        code == "approval-stale" || code == "invalid-request",
        "{code}"
    );
    assert_eq!(status(&house, &id), "superseded");
    assert_eq!(ping(&house), "approval-required");
}

#[test]
fn what_changed_since_the_last_grant() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "approve", &id]);
    house.load("one.yaml", &document(&server).replace("/ping", "/pong"));
    let new = house.ok(&["approvals", "show", &pending(&house, "one.ping")]);
    assert_eq!(new["previous"], id.as_str(), "{new}");
    assert!(new["difference"].to_string().contains("/pong"), "{new}");
}

#[test]
fn unload_ends_grants_unless_they_are_kept() {
    let server = Recorder::content();
    let house = house(&server);
    house.approve_all();
    house.ok(&["skill", "unload", "one"]);
    assert_eq!(ping(&house), "capability-removed");
    let loaded = house.load("one.yaml", &document(&server));
    assert_eq!(capability(&loaded, "one.ping")["status"], "pending");
    house.approve_all();
    house.ok(&["skill", "unload", "one", "--keep-approvals"]);
    assert_eq!(ping(&house), "capability-removed");
    let loaded = house.load("one.yaml", &document(&server));
    assert_eq!(capability(&loaded, "one.ping")["status"], "approved");
    house.execute("one", "ping", &json!({}));
    // Another document at the same place.
    house.ok(&["skill", "unload", "one", "--keep-approvals"]);
    let loaded = house.load("one.yaml", &document(&server).replace("/ping", "/pong"));
    assert_eq!(capability(&loaded, "one.ping")["status"], "pending");
}

#[test]
fn a_safe_host_needs_nobody() {
    let server = Recorder::content();
    let pair = server.pair();
    let house = House::with(&format!(
        "allow_private = ['{pair}']\nsafe_hosts = ['{pair}']\n"
    ));
    let loaded = house.load("one.yaml", &document(&server));
    let row = capability(&loaded, "one.ping").clone();
    let reasons = house.ok(&["skill", "show", "one"])["capabilities"][0]["reasons"].clone();
    // A private host and plain http are reasons of their own.
    assert_eq!(row["status"], "pending", "{row}");
    assert!(!reasons.to_string().contains("host:127"), "{reasons}");
    let text = "name: two\noperations:\n- name: say\n  command: echo hello\n";
    let loaded = house.load("two.yaml", text);
    assert_eq!(capability(&loaded, "two.say")["status"], "approved");
    house.execute("two", "say", &json!({}));
}

#[test]
fn every_transition_is_recorded() {
    let server = Recorder::content();
    let house = house(&server);
    let id = pending(&house, "one.ping");
    house.ok(&["approvals", "approve", &id]);
    house.ok(&["approvals", "revoke", &id, "--reason", "over"]);
    let other = pending(&house, "one.tool");
    house.ok(&["approvals", "deny", &other]);
    for (event, id) in [
        ("approval-granted", &id),
        ("approval-revoked", &id),
        ("approval-denied", &other),
    ] {
        let records = house.events(event);
        assert_eq!(records.len(), 1, "{event}");
        assert_eq!(records[0]["approval"], id.as_str(), "{event}");
    }
    assert_eq!(house.events("approval-requested").len(), 2);
    house.assert_whole_chain();
}

#[test]
fn generations() {
    let server = Recorder::content();
    let house = house(&server);
    let first = house.ok(&["skill", "list"])["generation"].as_u64().unwrap();
    house.load(
        "two.yaml",
        "name: two\noperations:\n- {name: say, command: echo a}\n",
    );
    let since = house.ok(&["skill", "list", "--since", &first.to_string()]);
    assert_eq!(since["added"], json!(["two.say"]), "{since}");
    assert_eq!(since["removed"], json!([]));
    let second = since["generation"].as_u64().unwrap();
    assert!(second > first);
    house.ok(&["skill", "unload", "two"]);
    let since = house.ok(&["skill", "list", "--since", &second.to_string()]);
    assert_eq!(since["removed"], json!(["two.say"]), "{since}");
}

/// What a program reads may be code, so it is shown, and so is a change of it.
#[test]
fn what_a_document_gives_a_program_to_read_is_shown() {
    let house = House::new();
    let text = |code: &str| {
        format!(
            "name: one\noperations:\n- name: run\n  command: |\n    python3 -c 'import sys; exec(sys.stdin.read())' <<'EOF'\n    \
             {code}\n    EOF\n- name: pick\n  command: jq .a <<< '{code}'\n"
        )
    };
    let loaded = house.load("one.yaml", &text("print(1)"));
    for id in ["one.run", "one.pick"] {
        let approval = string(&capability(&loaded, id)["approval-id"]);
        let shown = house.ok(&["approvals", "show", &approval]);
        assert!(
            shown["manifest"].to_string().contains("print(1)"),
            "{id}: {shown}"
        );
    }
    house.approve_all();
    let loaded = house.load("one.yaml", &text("print(2)"));
    for id in ["one.run", "one.pick"] {
        let approval = string(&capability(&loaded, id)["approval-id"]);
        let shown = house.ok(&["approvals", "show", &approval]);
        let difference = shown["difference"].to_string();
        assert!(
            difference.contains("print(1)") && difference.contains("print(2)"),
            "{id}: {shown}"
        );
    }
}

/// A number is sent with all its digits, so all of them are covered.
#[test]
fn another_large_number_is_another_operation() {
    let house = House::new();
    let text = |number: u64| {
        format!(
            "name: one\noperations:\n- name: read\n  endpoint: https://api.example.org/{{id}}\n  input: {{id: {{type: integer, \
             enum: [{number}]}}}}\n- name: pick\n  command: \"echo 1 | jq --argjson id {number} '$id'\"\n"
        )
    };
    house.load("one.yaml", &text(1_234_567_890_123_456_700));
    house.approve_all();
    let loaded = house.load("one.yaml", &text(1_234_567_890_123_456_799));
    assert_eq!(
        loaded["delta"]["changed"],
        json!(["read", "pick"]),
        "{loaded}"
    );
}
