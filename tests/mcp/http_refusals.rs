//! Requests that are none: without a token, of pages, for other hosts, too large, too slow, or no messages.

use std::io::Write;

use serde_json::json;

use crate::client::answer;
use crate::house::{House, shared, token};
use crate::http::{ACCEPT, Session, initialize, post};

#[test]
fn without_a_known_token_nothing_is_read() {
    let (_, server) = shared();
    for client in [
        server.with_token(None),
        server.with_token(Some("hyd_nobodys")),
        server.with_token(Some("")),
    ] {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let answer = client.send(method, "/mcp", &[ACCEPT], None);
            assert_eq!(answer.status, 401, "{method}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert_eq!(answer.code(), "unauthenticated");
        }
    }
    // Before the body, whatever that is.
    let client = server.with_token(None);
    let mut stream = client.connect();
    stream
        .write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n")
        .unwrap();
    assert_eq!(answer(&mut stream).status, 401);
}

#[test]
fn pages_and_other_hosts_are_refused() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let first = initialize().to_string();
    for origin in [
        "https://evil.example",
        "http://localhost:1",
        "null",
        "",
        "file://",
    ] {
        let answer = post(&client, &[("origin", origin)], &first);
        assert_eq!(answer.status, 403, "{origin}: {}", answer.text());
        assert!(answer.header("mcp-session-id").is_none());
    }
    let own = format!("http://{}", server.address);
    assert_eq!(post(&client, &[("origin", &own)], &first).status, 200);
    // A name that somebody points to this address.
    for host in ["evil.example", "localhost.evil.example:80", "0x7f.1"] {
        let mut stream = client.connect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{first}",
            token("alpha", "caller"),
            first.len(),
        );
        stream.write_all(head.as_bytes()).unwrap();
        let answer = answer(&mut stream);
        assert_eq!(answer.status, 421, "{host}: {}", answer.text());
        assert!(answer.header("mcp-session-id").is_none());
    }
}

#[test]
fn pages_of_an_origin_that_the_configuration_names_may_ask_and_read() {
    let house = House::with("origins = [\"https://tools.example.org\"]");
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let first = initialize().to_string();
    let named = ("origin", "https://tools.example.org");
    // A browser asks first, without the token.
    let asks = [
        named,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    let allowed = server.with_token(None).send("OPTIONS", "/mcp", &asks, None);
    assert_eq!(allowed.status, 200, "{}", allowed.text());
    assert_eq!(allowed.header("access-control-allow-origin"), Some(named.1));
    let headers = allowed.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("authorization"), "{headers}");
    let answer = post(&client, &[named], &first);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("access-control-allow-origin"), Some(named.1));
    for other in [
        "https://tools.example.org:8443",
        "http://tools.example.org",
        "https://example.org",
    ] {
        let answer = post(&client, &[("origin", other)], &first);
        assert_eq!(answer.status, 403, "{other}: {}", answer.text());
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(post(&server.with_token(None), &[named], &first).status, 401);
    let wrong = House::with("origins = [\"https://tools.example.org/\"]");
    let checked = wrong.command(&["serve", "--check"]).output().unwrap();
    let message = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(
        !checked.status.success() && message.contains("origins"),
        "{message}"
    );
}

#[test]
fn a_body_that_cannot_be_read_and_params_of_another_form_are_told_apart() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let mut session = Session::begin(server.client("alpha", "caller"));
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
    ] {
        for answer in [post(&client, &[], body), session.post(body)] {
            assert_eq!(answer.status, 400, "{body}: {}", answer.text());
            assert_eq!(
                answer.json()["error"]["code"],
                code,
                "{body}: {}",
                answer.text()
            );
        }
    }
    let arguments = json!({ "name": "hydrate", "arguments": [] });
    assert_eq!(session.error("tools/call", arguments)["code"], -32602);
}

#[test]
fn what_is_no_message_is_an_error_of_the_client_and_ends_no_session() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let mut session = Session::begin(server.client("alpha", "caller"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (opening, closing) = ("[".repeat(10_000), "]".repeat(10_000));
    let deep_member = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"hydrate\",\"arguments\":{{\"uri\":{opening}{closing}}}}}}}"
    );
    let long_id = json!({ "jsonrpc": "2.0", "id": "x".repeat(100_000), "method": "nothing" });
    for body in [
        "",
        "{",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
        "\u{feff}{}",
        "\u{0}",
        &deep,
        &deep_member,
    ] {
        let shown = &body[..body.len().min(80)];
        for answer in [post(&client, &[], body), session.post(body)] {
            assert!(
                (400..500).contains(&answer.status),
                "{shown}: {} {}",
                answer.status,
                answer.text()
            );
        }
    }
    // Not UTF-8.
    let answer = client.send("POST", "/mcp", &[ACCEPT], Some(b"\xff\xfe{}"));
    assert!((400..500).contains(&answer.status), "{}", answer.text());
    // Messages, but none that a session begins with.
    for body in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    ] {
        let answer = post(&client, &[], &body.to_string());
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.text()
        );
    }
    let answer = session.post(&long_id.to_string());
    assert!(answer.status < 500, "{}", answer.text());
    assert_eq!(session.error("nothing", json!({}))["code"], -32601);
    session.ping();
}

#[test]
fn headers_that_are_wrong_are_refused() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let first = initialize().to_string();
    let mut stream = client.begin(
        "POST",
        "/mcp",
        &[("accept", "text/html")],
        Some(first.as_bytes()),
    );
    assert_eq!(answer(&mut stream).status, 406);
    let version = ("mcp-protocol-version", "1999-12-31");
    assert_eq!(post(&client, &[version], &first).status, 400);
    for session in ["", "x", "../../x", &"x".repeat(5_000)] {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let answer = post(&client, &[("mcp-session-id", session)], &ping);
        assert!(
            (400..500).contains(&answer.status),
            "{session}: {}",
            answer.text()
        );
    }
    assert_eq!(client.send("PUT", "/mcp", &[ACCEPT], None).status, 405);
}

#[test]
fn a_body_has_a_size_and_a_time() {
    let house = House::with("request_bytes = 65536\nbody_timeout = \"1s\"");
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let mut message = initialize();
    message["params"]["clientInfo"]["name"] = "x".repeat(70_000).into();
    let message = message.to_string();
    let answered = post(&client, &[], &message);
    assert_eq!(answered.status, 413, "{}", answered.text());
    assert_eq!(answered.code(), "too-large");
    // Its length not said before.
    let head = |rest: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n{rest}\r\n\r\n",
            server.address,
            token("alpha", "caller"),
        )
    };
    let mut stream = client.connect();
    let chunked = format!(
        "{}{:x}\r\n{message}\r\n0\r\n\r\n",
        head("transfer-encoding: chunked"),
        message.len()
    );
    let _ = stream.write_all(chunked.as_bytes());
    assert_eq!(answer(&mut stream).status, 413);
    // Who says the rest tomorrow.
    let mut stream = client.connect();
    stream
        .write_all(head("content-length: 1000").as_bytes())
        .unwrap();
    stream.write_all(b"{\"jsonrpc\"").unwrap();
    let answered = answer(&mut stream);
    assert_eq!(answered.status, 408, "{}", answered.text());
}
