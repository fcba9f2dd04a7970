//! Calls over HTTP: answers, progress, cancelling, and what a connection that breaks leaves.

use std::time::Duration;

use serde_json::json;

use crate::house::{House, shared};
use crate::http::{ACCEPT, Session, long_call, metric, wait_until};
use crate::stdio::problem;

#[test]
fn what_is_offered_over_one_transport_is_offered_over_the_other() {
    let (_, server) = shared();
    let mut session = Session::begin(server.client("alpha", "caller"));
    let hydrated = session.call("hydrate", json!({ "uri": "os://agents/own.md" }));
    assert_eq!(
        hydrated["structuredContent"]["metadata"]["uri"],
        "os://agents/own.md"
    );
    let ran = session.call("fs_read_text", json!({ "path": "/os/skills/one.md" }));
    let receipt = ran["_meta"]["hydrant/receipt"].as_str().unwrap();
    let known = server
        .client("alpha", "caller")
        .get(&format!("/v1/receipts/{receipt}"));
    assert_eq!(known.status, 200, "{}", known.text());
    let prompts = session.result("prompts/list", json!({}));
    assert!(prompts.to_string().contains("\"debugging\""), "{prompts}");
    let got = session.result(
        "prompts/get",
        json!({ "name": "debugging", "arguments": { "task": "tabs crash it" } }),
    );
    assert!(got.to_string().contains("tabs crash it"), "{got}");
}

#[test]
fn an_operation_with_a_secret_is_for_clients_that_are_elsewhere_too() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/skills/library.yaml"
    );
    let text = std::fs::read_to_string(file).unwrap();
    let asked = |house: &House| {
        let server = house.serve();
        let mut session = Session::begin(server.client("alpha", "caller"));
        let loaded = session.call("skill_load", json!({ "text": text, "id": "library" }));
        assert_eq!(loaded["isError"], false, "{loaded}");
        let arguments =
            json!({ "skill": "library", "operation": "search", "params": { "query": "whales" } });
        let client = server.client("alpha", "caller");
        let over_http = client.post(
            "/v1/capabilities/library/search",
            &json!({ "query": "whales" }),
        );
        (
            problem(&session.call("skill_execute", arguments)),
            over_http.json(),
        )
    };
    // The approval decides.
    let (mcp, http) = asked(&House::new());
    assert_eq!(mcp["code"], "approval-required", "{mcp}");
    assert_eq!(http["code"], "approval-required", "{http}");
    // Unless the operator lets no client outside of a jail use one, which holds for all of them.
    let (mcp, http) = asked(&House::new().governed("jailed_clients = {http = \"secrets\"}"));
    for refused in [mcp, http] {
        assert_eq!(refused["code"], "client-not-jailed", "{refused}");
        let hint = refused["hint"].as_str().unwrap();
        assert!(
            hint.contains("http = \"warn\"") && hint.contains("next start"),
            "{hint}"
        );
    }
}

#[test]
fn a_cancelled_call_stops_and_gives_its_place_back() {
    let house = House::with("workers = 1");
    let server = house.serve();
    let mut session = Session::begin(server.client("alpha", "caller"));
    let (id, mut events) = session.open("tools/call", long_call());
    wait_until("it runs", Duration::from_secs(60), || {
        metric(&server, "hydrant_calls_running") == Some(1)
    });
    session.notify("notifications/cancelled", json!({ "requestId": id }));
    let cancelled = "hydrant_calls_total{tenant=\"alpha\",operation=\"run\",outcome=\"cancelled\"}";
    wait_until("it is cancelled", Duration::from_secs(30), || {
        metric(&server, cancelled) == Some(1)
    });
    wait_until("it stops", Duration::from_secs(30), || {
        metric(&server, "hydrant_calls_running") == Some(0)
    });
    let read = session.call("fs_read_text", json!({ "path": "/os/skills/one.md" }));
    assert_eq!(read["isError"], false, "{read}");
    assert!(
        events.all(|event| event["id"] != id),
        "a cancelled request is answered"
    );
}

#[test]
fn a_call_that_waits_for_its_turn_is_cancelled_as_well() {
    let house = House::with("workers = 1");
    let server = house.serve();
    let mut session = Session::begin(server.client("alpha", "caller"));
    let (runs, _events) = session.open("tools/call", long_call());
    wait_until("it runs", Duration::from_secs(60), || {
        metric(&server, "hydrant_calls_running") == Some(1)
    });
    let (waits, _waiting) = session.open("tools/call", long_call());
    wait_until("it waits", Duration::from_secs(30), || {
        metric(&server, "hydrant_calls_waiting") == Some(1)
    });
    session.notify("notifications/cancelled", json!({ "requestId": waits }));
    wait_until("it waits no more", Duration::from_secs(30), || {
        metric(&server, "hydrant_calls_waiting") == Some(0)
    });
    session.notify("notifications/cancelled", json!({ "requestId": runs }));
}

#[test]
fn no_client_cancels_the_call_of_another() {
    let house = House::new();
    let server = house.serve();
    let mut own = Session::begin(server.client("alpha", "caller"));
    let (id, _events) = own.open("tools/call", long_call());
    wait_until("it runs", Duration::from_secs(60), || {
        metric(&server, "hydrant_calls_running") == Some(1)
    });
    for (tenant, role) in [("alpha", "caller"), ("beta", "caller")] {
        let other = Session::begin(server.client(tenant, role));
        other.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(metric(&server, "hydrant_calls_running"), Some(1));
    own.notify("notifications/cancelled", json!({ "requestId": id }));
}

#[test]
fn progress_comes_in_the_stream_of_the_call() {
    let (_, server) = shared();
    let mut session = Session::begin(server.client("beta", "caller"));
    let mut call = long_call();
    call["_meta"] = json!({ "progressToken": 7 });
    let (id, mut events) = session.open("tools/call", call);
    let told = events.next().unwrap();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"]["progressToken"], 7);
    session.notify("notifications/cancelled", json!({ "requestId": id }));
}

#[test]
fn who_lost_the_connection_goes_on_reading_what_still_runs() {
    let (_, server) = shared();
    let client = server.client("beta", "caller");
    let mut session = Session::begin(client.clone());
    let mut call = long_call();
    call["_meta"] = json!({ "progressToken": 7 });
    let (_, mut events) = session.open("tools/call", call);
    events.next().unwrap();
    drop(events);
    // The stream of the second request of HTTP that had one; its first event.
    let mut resumed = None;
    for number in 0..4 {
        let last = format!("0/{number}");
        let headers = [
            ACCEPT,
            ("mcp-session-id", session.id.as_str()),
            ("last-event-id", last.as_str()),
        ];
        let answer = client.begin("GET", "/mcp", &headers, None);
        answer
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut text = [0_u8; 4096];
        let mut stream = answer;
        let mut seen = String::new();
        while let Ok(amount) = std::io::Read::read(&mut stream, &mut text) {
            if amount == 0 {
                break;
            }
            seen.push_str(&String::from_utf8_lossy(&text[..amount]));
            if seen.contains("notifications/progress") {
                resumed = Some(number);
                break;
            }
        }
        if resumed.is_some() {
            break;
        }
    }
    assert!(resumed.is_some(), "the stream cannot be resumed");
    assert_eq!(session.send("DELETE", None).status, 202);
}
