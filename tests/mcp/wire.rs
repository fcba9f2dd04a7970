//! The protocol itself: how a session begins and ends, and what is no request.

use serde_json::json;

use super::stdio::{Client, Place};

#[test]
fn a_session_begins_with_the_version_that_the_client_asks_for() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let place = Place::new();
        let mut client = Client::start(&mut place.command(&[]));
        let result = client.initialize(version);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "hydrant");
        for capability in ["tools", "resources", "prompts"] {
            assert!(result["capabilities"][capability].is_object(), "{result}");
        }
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    }
}

#[test]
fn a_version_nobody_knows_is_answered_with_one_that_the_server_knows() {
    let place = Place::new();
    let mut client = Client::start(&mut place.command(&[]));
    let result = client.initialize("1999-12-31");
    assert_ne!(result["protocolVersion"], "1999-12-31");
    assert!(result["protocolVersion"].as_str().unwrap() >= "2024-11-05");
}

#[test]
fn every_line_that_is_no_message_is_answered_with_why() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let long = format!("\"{}\"", "x".repeat(17 << 20));
    for (line, code, id) in [
        ("{", -32700, json!(null)),
        ("nothing", -32700, json!(null)),
        ("\u{1}\u{7f}", -32700, json!(null)),
        (&long, -32700, json!(null)),
        ("null", -32600, json!(null)),
        ("[]", -32600, json!(null)),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":7}",
            -32600,
            json!("q"),
        ),
        ("{\"id\":4,\"method\":\"ping\"}", -32600, json!(4)),
    ] {
        client.send_line(line);
        let answer = client.receive();
        let shown = &line[..line.len().min(60)];
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer["id"], id, "{shown}: {answer}");
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn params_of_another_form_are_said_to_be_the_fault() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for (method, params) in [
        ("tools/call", json!({ "name": "hydrate", "arguments": [] })),
        ("tools/call", json!({ "name": 7 })),
        ("tools/call", json!([])),
        ("resources/read", json!({})),
        (
            "prompts/get",
            json!({ "name": "debugging", "arguments": [] }),
        ),
    ] {
        let error = client.error(method, params.clone());
        assert_eq!(error["code"], -32602, "{method} {params}: {error}");
    }
    assert_eq!(client.error("tools/nothing", json!({}))["code"], -32601);
}

#[test]
fn what_is_no_request_does_not_end_the_session() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for line in [
        "",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{1}\u{7f}",
        &"x".repeat(100_000),
    ] {
        client.send_line(line);
    }
    client.notify("notifications/nothing", json!({}));
    let error = client.error("tools/nothing", json!({}));
    assert_eq!(error["code"], -32601);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let place = Place::new();
    assert!(place.client(&[]).end().success());
    // Even one that never said anything.
    assert!(Client::start(&mut place.command(&[])).end().success());
}
