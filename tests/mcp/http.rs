//! A session over streamable HTTP: one request of HTTP for each message, the answer in a stream of events.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::house::{MONITOR, Server};

/// What every client accepts.
pub(crate) const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// The first message of a session.
pub(crate) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }})
}

pub(crate) struct Session {
    client: Client,
    pub(crate) id: String,
    next: u64,
}

impl Session {
    pub(crate) fn begin(client: Client) -> Self {
        let answer = post(&client, &[], &initialize().to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let session = Self {
            client,
            id,
            next: 0,
        };
        session.notify("notifications/initialized", json!({}));
        session
    }

    /// The same session, asked for with another token.
    pub(crate) fn with(&self, client: Client) -> Self {
        Self {
            client,
            id: self.id.clone(),
            next: 1_000,
        }
    }

    pub(crate) fn send(&self, method: &str, body: Option<&[u8]>) -> Answer {
        let headers = [ACCEPT, ("mcp-session-id", self.id.as_str())];
        self.client.send(method, "/mcp", &headers, body)
    }

    pub(crate) fn post(&self, body: &str) -> Answer {
        post(&self.client, &[("mcp-session-id", self.id.as_str())], body)
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let answer = self.post(&message.to_string());
        assert_eq!(answer.status, 202, "{}", answer.text());
    }

    /// Sends a request, and leaves its events to be read.
    pub(crate) fn open(&mut self, method: &str, params: Value) -> (u64, Events) {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        let headers = [ACCEPT, ("mcp-session-id", self.id.as_str())];
        let body = message.to_string();
        let stream = self
            .client
            .begin("POST", "/mcp", &headers, Some(body.as_bytes()));
        (self.next, Events(BufReader::new(stream)))
    }

    /// The whole answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let (id, mut events) = self.open(method, params);
        loop {
            let event = events.next().expect("an answer");
            if event["id"] == id {
                return event;
            }
        }
    }

    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_none(), "{answer}");
        answer["error"].clone()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.result("tools/call", params)
    }

    pub(crate) fn ping(&mut self) {
        assert_eq!(self.result("ping", json!({})), json!({}));
    }
}

/// Events, as they come.
pub(crate) struct Events(BufReader<TcpStream>);

impl Iterator for Events {
    type Item = Value;

    /// The next message; none at the end of the stream.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        // Lines of the head, of the chunks' lengths and of events without a message are passed over.
        while self.0.read_line(&mut line).unwrap() > 0 {
            if let Some(data) = line.strip_prefix("data:")
                && let Ok(message) = serde_json::from_str(data.trim())
            {
                return Some(message);
            }
            line.clear();
        }
        None
    }
}

pub(crate) fn post(client: &Client, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = [&[ACCEPT], headers].concat();
    client.send("POST", "/mcp", &headers, Some(body.as_bytes()))
}

/// A call that computes until it is stopped, or its fuel is used up: seconds later, on any machine.
pub(crate) fn long_call() -> Value {
    json!({ "name": "data_filter", "arguments": {
        "op": "filter", "path": "reduce range(1000000000000) as $i (0; . + 1)", "null-input": true, "input-b64": "",
    }})
}

/// A number of the metrics.
pub(crate) fn metric(server: &Server, beginning: &str) -> Option<u64> {
    let text = server.with_token(Some(MONITOR)).get("/metrics").text();
    let line = text.lines().find(|line| line.starts_with(beginning))?;
    line.rsplit(' ').next()?.parse().ok()
}

pub(crate) fn wait_until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
