//! Prompts: workflows of the catalogue.

use serde_json::json;

use super::stdio::{Place, names};

#[test]
fn every_workflow_is_a_prompt_that_takes_a_task() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let prompts = client.all("prompts/list", "prompts");
    assert!(names(&prompts).contains(&"debugging"), "{prompts:?}");
    for prompt in &prompts {
        assert_eq!(prompt["arguments"][0]["name"], "task");
        assert_eq!(prompt["arguments"][0]["required"], true);
    }
    let got = client.result(
        "prompts/get",
        json!({ "name": "debugging", "arguments": { "task": "the parser crashes on tabs" } }),
    );
    let message = &got["messages"][0];
    assert_eq!(message["role"], "user");
    let text = message["content"]["text"].as_str().unwrap();
    assert!(text.contains("the parser crashes on tabs"), "{text}");
}

#[test]
fn a_prompt_without_its_task_or_that_is_not_there_is_an_error() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for params in [
        json!({ "name": "debugging" }),
        json!({ "name": "debugging", "arguments": { "task": 7 } }),
        json!({ "name": "no-such-workflow", "arguments": { "task": "x" } }),
    ] {
        let error = client.error("prompts/get", params);
        let code = error["code"].as_i64().unwrap();
        assert!([-32602, -32002].contains(&code), "{error}");
    }
}
