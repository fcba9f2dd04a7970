//! Numbers are sent as they were written.

use std::process::Output;

use serde_json::json;

use crate::service::Service;

const LONG: &str = "12345678901234567890123456789";

/// A skill whose operation sends its input in path, query and body.
fn loaded() -> Service {
    let service = Service::new();
    service.load_yaml(
        "  put:\n    description: Puts.\n    endpoint: URL/items/{item}?price={price}\n    method: PUT\n    input_schema:\n      \
         type: object\n      properties: {item: {type: integer}, price: {type: number}, id: {type: integer}, list: {}}\n",
    );
    service.approve_all();
    service
}

fn error(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_sent_as_written(service: &Service) {
    let sent = service.last();
    assert_eq!(sent.target, format!("/items/{LONG}?price=0.10"));
    assert_eq!(
        String::from_utf8_lossy(&sent.body),
        format!(r#"{{"id":{LONG},"list":[1.0,1E2,{{"a":-0}}]}}"#)
    );
}

fn params() -> String {
    format!(r#"{{"item":{LONG},"price":0.10,"id":{LONG},"list":[1.0,1E2,{{"a":-0}}]}}"#)
}

#[test]
fn on_the_command_line() {
    let service = loaded();
    service.json(&["skill", "execute", "bank", "put", &params()]);
    is_sent_as_written(&service);
}

#[test]
fn over_the_syscall_stream() {
    let service = loaded();
    let call = format!(
        r#"{{"type":"command","name":"Capability.Call","payload":{{"capability":"bank.put","input":{}}}}}"#,
        params()
    );
    let output = service.fed(&["syscall"], format!("{call}\n").as_bytes());
    assert!(output.status.success(), "{output:?}");
    is_sent_as_written(&service);
}

#[test]
fn over_mcp() {
    let service = loaded();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = |id: u8, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"skill_execute","arguments":{{"skill":"bank","operation":"put","params":{params}}}}}}}"#
        )
    };
    let twice = r#"{"item":1,"price":1,"id":1,"list":[],"id":2}"#;
    let answers = service.mcp(&[
        hello.to_string(),
        ready.to_string(),
        call(2, &params()),
        call(3, twice),
    ]);
    is_sent_as_written(&service);
    let [_, written, refused] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert_ne!(written["result"]["isError"], true, "{written}");
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(service.asked(), 1);
}

#[test]
fn what_is_checked_holds_of_the_number_that_is_sent() {
    let service = Service::new();
    service.load_yaml(
        "  pay:\n    description: Pays.\n    endpoint: URL/pay\n    method: POST\n    input_schema:\n      type: object\n      \
         properties: {to: {type: number, maximum: 100}, kind: {enum: [1, 2]}}\n",
    );
    let refused = |params: &str| {
        let output = service
            .machine
            .run(&["skill", "execute", "bank", "pay", params]);
        error(&output)
    };
    // Each is the nearest double of what is allowed, and more than that.
    for params in [
        r#"{"to":100.00000000000000000001}"#,
        r#"{"kind":1.00000000000000000001}"#,
    ] {
        assert!(refused(params).contains("invalid-input"), "{params}");
    }
    // A control: what fits waits for an approval.
    for params in [r#"{"to":99.99999999999999999999}"#, r#"{"kind":1.0}"#] {
        assert!(refused(params).contains("approval-required"), "{params}");
    }
}

#[test]
fn two_calls_with_two_numbers_have_two_digests() {
    let service = loaded();
    let digest = |id: &str| {
        let params = format!(r#"{{"item":1,"price":1,"id":{id},"list":[]}}"#);
        service.json(&["skill", "execute", "bank", "put", &params]);
        let chain = service.json(&["audit", "show"]);
        let records = chain["records"].as_array().unwrap();
        let called = records
            .iter()
            .rfind(|record| record["event"] == "capability-call");
        called.unwrap()["inputs-digest"].to_string()
    };
    let [one, other, again] = [LONG, "12345678901234567890123456788", LONG].map(digest);
    assert_ne!(one, other);
    assert_eq!(one, again);
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    let service = loaded();
    let twice = r#"{"item":1,"price":1,"id":1,"list":[{"a":1,"a":2}]}"#;
    let output = service
        .machine
        .run(&["skill", "execute", "bank", "put", twice]);
    assert!(error(&output).contains("stands twice"), "{output:?}");
    assert_eq!(service.asked(), 0);
}

/// A feature of the JSON reader, which any dependency may turn on, would read these as something else.
#[test]
fn a_member_of_a_magic_name_is_sent_as_a_member() {
    let service = loaded();
    for name in ["RawValue", "Number"] {
        let list = format!(r#"{{"$serde_json::private::{name}":"1"}}"#);
        let params = format!(r#"{{"item":1,"price":1,"id":1,"list":{list}}}"#);
        service.json(&["skill", "execute", "bank", "put", &params]);
        let sent = service.last();
        assert_eq!(
            String::from_utf8_lossy(&sent.body),
            format!(r#"{{"id":1,"list":{list}}}"#)
        );
    }
}

#[test]
fn params_that_are_too_long_are_told_the_limit() {
    let service = loaded();
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(1 << 20));
    let from_file = service.machine.work().join("params.json");
    std::fs::write(&from_file, &long).unwrap();
    let output = service.fed(&["skill", "execute", "bank", "put", "-"], long.as_bytes());
    assert!(error(&output).contains("1048576 bytes"), "{output:?}");
    let output = service
        .machine
        .run(&["skill", "execute", "bank", "put", "@params.json"]);
    assert!(error(&output).contains("1048576"), "{output:?}");
}
