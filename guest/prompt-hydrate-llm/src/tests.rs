#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use kit::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use serde_json::{Value, json};

use super::*;

/// Answers once, and keeps what it was asked.
struct Server {
    asked: Vec<HttpRequest>,
    answer: Result<HttpResponse, FetchFailure>,
}

impl Fetch for Server {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        self.asked.extend(requests.iter().cloned());
        vec![self.answer.clone()]
    }
}

fn answering(status: u16, body: &str) -> Server {
    Server {
        asked: Vec::new(),
        answer: Ok(HttpResponse {
            status,
            url: String::new(),
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
            truncated: false,
            unread: false,
        }),
    }
}

fn request(dialect: &str) -> Value {
    json!({
        "dialect": dialect, "base_url": "https://llm.example/api/", "model": "m",
        "max_output_tokens": 1500, "temperature": 0, "system": "SYSTEM", "user": "USER",
        "timeout_ms": 5000
    })
}

fn call(server: &mut Server, request: &Value) -> Value {
    let answer = run(server, request.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

fn body(server: &Server) -> Value {
    serde_json::from_slice(server.asked[0].body.as_deref().unwrap()).unwrap()
}

#[test]
fn the_openai_dialect() {
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "{}"}}]});
    let mut server = answering(200, &answer.to_string());
    assert_eq!(call(&mut server, &request("openai")), json!({"text": "{}"}));
    assert_eq!(
        server.asked[0].url,
        "https://llm.example/api/chat/completions"
    );
    assert_eq!(server.asked[0].max_redirects, 0);
    assert_eq!(server.asked[0].max_bytes, 262_144);
    assert_eq!(
        body(&server),
        json!({"model": "m", "max_tokens": 1500, "temperature": 0.0, "messages": [
            {"role": "system", "content": "SYSTEM"}, {"role": "user", "content": "USER"}]})
    );
}

#[test]
fn the_anthropic_dialect() {
    let answer = json!({"content": [{"type": "text", "text": "{"}, {"type": "thinking", "thinking": "x"},
        {"type": "text", "text": "}"}]});
    let mut server = answering(200, &answer.to_string());
    assert_eq!(
        call(&mut server, &request("anthropic")),
        json!({"text": "{}"})
    );
    let asked = &server.asked[0];
    assert_eq!(asked.url, "https://llm.example/api/v1/messages");
    let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
    assert!(asked.headers.contains(&version));
    assert_eq!(
        body(&server),
        json!({"model": "m", "max_tokens": 1500, "temperature": 0.0, "system": "SYSTEM",
            "messages": [{"role": "user", "content": "USER"}]})
    );
}

#[test]
fn what_is_left_out_is_not_sent_and_a_schema_only_where_it_is_known() {
    let mut request = request("openai");
    request["temperature"] = Value::Null;
    request["json_schema"] = json!(true);
    let mut server = answering(200, "{}");
    call(&mut server, &request);
    assert!(body(&server).get("temperature").is_none());
    assert_eq!(body(&server)["response_format"]["type"], "json_schema");
    request["dialect"] = json!("anthropic");
    let mut server = answering(200, "{}");
    call(&mut server, &request);
    assert!(body(&server).get("response_format").is_none());
}

#[test]
fn a_second_request_holds_the_failed_checks() {
    let mut request = request("anthropic");
    request["retry"] = json!({"reply": "BAD", "failed": ["13 items", "no CHECKPOINT"]});
    let mut server = answering(200, "{}");
    call(&mut server, &request);
    let messages = body(&server)["messages"].clone();
    assert_eq!(messages[1], json!({"role": "assistant", "content": "BAD"}));
    let again = messages[2]["content"].as_str().unwrap();
    assert!(again.contains("- 13 items\n- no CHECKPOINT"), "{again}");
}

/// Only what could go better another time may be asked again.
#[test]
fn every_failure_says_whether_asking_again_could_help() {
    for (status, text, retry) in [
        (500, "{}", true),
        (503, "", true),
        (429, "{}", false),
        (401, "{}", false),
        (302, "", false),
        (204, "", false),
        (200, "sesame", true),
        (200, "{\"choices\":[]}", true),
        (
            200,
            "{\"choices\":[{\"message\":{\"content\":\" \"}}]}",
            true,
        ),
        (
            200,
            "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"sesame\"}}]}",
            false,
        ),
        (200, "{\"choices\":[{\"message\":{\"content\":\"ses", true),
    ] {
        let answer = call(&mut answering(status, text), &request("openai"));
        assert_eq!(
            answer["failed"]["retry"],
            json!(retry),
            "{status} {text}: {answer}"
        );
        assert!(!answer.to_string().contains("sesame"), "{answer}");
    }
    let refusal = call(
        &mut answering(200, "{\"content\":[],\"stop_reason\":\"refusal\"}"),
        &request("anthropic"),
    );
    assert_eq!(refusal["failed"]["retry"], json!(false));
    for reason in [FetchError::Denied, FetchError::Timeout, FetchError::Connect] {
        let mut server = answering(200, "");
        server.answer = Err(FetchFailure {
            reason,
            url: "https://llm.example/".to_owned(),
        });
        let answer = call(&mut server, &request("openai"));
        assert_eq!(answer["failed"]["retry"], json!(false), "{reason:?}");
    }
}

#[test]
fn a_request_of_another_form_is_refused() {
    let mut server = answering(200, "{}");
    for (member, value) in [
        ("dialect", json!("gopher")),
        ("temperature", json!(3)),
        ("timeout_ms", json!(0)),
        ("max_output_tokens", json!(0)),
        ("more", json!(1)),
        ("user", Value::Null),
    ] {
        let mut request = request("openai");
        request[member] = value;
        let error = run(&mut server, request.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{member}");
    }
    assert!(server.asked.is_empty());
}

#[test]
fn it_describes_itself_in_closed_schemas() {
    let description: Value = serde_json::from_str(describe()).unwrap();
    for schema in ["input_schema", "output_schema"] {
        assert_eq!(description[schema]["additionalProperties"], false);
    }
    let properties = description["input_schema"]["properties"]
        .as_object()
        .unwrap();
    let mut all = request("openai");
    all["json_schema"] = json!(false);
    all["retry"] = Value::Null;
    for member in all.as_object().unwrap().keys() {
        assert!(properties.contains_key(member), "{member}");
    }
}
