//! Spans: what a collector on the loopback is sent, and what it is not told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::house::{House, secret_of, token};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Paths and bodies of what was sent.
type Heard = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// Answers every request with `{}`, and keeps its head and body.
struct Collector {
    endpoint: String,
    heard: Heard,
}

impl Collector {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let heard: Heard = Arc::default();
        let kept = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    while let Some(request) = request(&mut stream) {
                        kept.lock().unwrap().push(request);
                        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
                        stream.write_all(answer.as_bytes()).unwrap();
                    }
                });
            }
        });
        Self { endpoint, heard }
    }

    /// Every span that came, and all text of the requests.
    fn spans(&self) -> (Vec<Value>, String) {
        let (mut spans, mut text) = (Vec::new(), String::new());
        for (head, body) in self.heard.lock().unwrap().iter() {
            assert!(head.starts_with("POST /v1/traces "), "{head}");
            text += head;
            text += std::str::from_utf8(body).unwrap();
            let sent: Value = serde_json::from_slice(body).unwrap();
            for resource in sent["resourceSpans"].as_array().unwrap() {
                for scope in resource["scopeSpans"].as_array().unwrap() {
                    spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
                }
            }
        }
        (spans, text)
    }
}

/// One request; none at the end of the connection.
fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 16 * 1024];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length: usize = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, length)| length.trim().parse().unwrap());
            let body = &bytes[end + 4..];
            if body.len() >= length {
                return Some((head, body[..length].to_vec()));
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(amount) => bytes.extend_from_slice(&chunk[..amount]),
        }
    }
}

fn attribute(span: &Value, key: &str) -> Value {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    let value = &found.unwrap_or_else(|| panic!("no {key}: {span}"))["value"];
    value.as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn each_call_is_a_span_of_its_callers_trace() {
    let collector = Collector::new();
    let house = House::with(&format!("otlp_endpoint = \"{}\"", collector.endpoint));
    let mut server = house.serve();
    let client = server.client("alpha", "caller");
    let traced = format!("00-{TRACE}-{PARENT}-01");
    let body = br#"{"uri":"os://agents/own.md"}"#;
    let answer = client.send(
        "POST",
        "/v1/hydrate",
        &[("traceparent", &traced)],
        Some(body),
    );
    assert_eq!(answer.status, 200);
    let refused = client.get("/v1/skills/no.such/");
    assert_eq!(refused.status, 404);
    assert_eq!(client.get("/v1/skills/no.such").status, 404);
    server.signal(rustix::process::Signal::TERM);
    assert!(server.ended().success());
    let until = Instant::now() + Duration::from_secs(30);
    let (spans, text) = loop {
        let (spans, text) = collector.spans();
        if spans.len() >= 2 || Instant::now() > until {
            break (spans, text);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let hydrated = spans
        .iter()
        .find(|span| attribute(span, "hydrant.operation") == "hydrate")
        .unwrap_or_else(|| panic!("{spans:?}"));
    assert_eq!(hydrated["traceId"], TRACE);
    assert_eq!(hydrated["parentSpanId"], PARENT);
    assert_eq!(attribute(hydrated, "hydrant.tenant"), "alpha");
    assert_eq!(attribute(hydrated, "hydrant.outcome"), "done");
    let failed = spans
        .iter()
        .find(|span| attribute(span, "hydrant.outcome") == "unknown-skill")
        .unwrap_or_else(|| panic!("{spans:?}"));
    assert_ne!(failed["traceId"], TRACE);
    // Nothing of requests, answers or tokens.
    for told in [
        &secret_of("alpha"),
        &token("alpha", "caller"),
        "own.md",
        "no.such",
    ] {
        assert!(!text.contains(told), "{told}: {text}");
    }
}

#[test]
fn a_collector_that_is_not_there_hinders_nobody() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let house = House::with(&format!("otlp_endpoint = \"http://{address}/v1/traces\""));
    let mut server = house.serve();
    for _ in 0..5 {
        server
            .client("alpha", "caller")
            .hydrate("os://agents/own.md")
            .ok();
    }
    server.signal(rustix::process::Signal::TERM);
    assert!(server.ended().success());
}
