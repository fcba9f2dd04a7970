//! What the server takes: sizes, times, connections. Whoever keeps to none of them is answered or cut off, never waited for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, answer};
use crate::house::{House, Server, shared, token};

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let house = House::with("request_bytes = 2048");
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let large = json!({"uri": "x".repeat(4096)});
    let refused = client.post("/v1/hydrate", &large);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (413, "too-large")
    );
    // Without a length, as much is read and no more.
    let mut stream = client.connect();
    let token = token("alpha", "caller");
    write!(
        stream,
        "POST /v1/hydrate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    .unwrap();
    for _ in 0..64 {
        if write!(stream, "400\r\n{}\r\n", "x".repeat(1024)).is_err() {
            break;
        }
    }
    assert_eq!(answer(&mut stream).status, 413);
}

#[test]
fn a_body_is_an_object_and_no_list_of_its_members() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let listed = json!(["os://agents/own.md", "json", 1, false, false]);
    for body in [listed, json!([])] {
        let refused = client.post("/v1/hydrate", &body);
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(
            refused.text().contains("no JSON object"),
            "{}",
            refused.text()
        );
    }
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let (_, server) = shared();
    let client = server.client("alpha", "caller");
    let long = "x".repeat(100_000);
    let mut stream = client.begin("GET", "/v1/skills", &[("x-long", &long)], None);
    assert_eq!(answer(&mut stream).status, 431);
    let many: Vec<(String, String)> = (0..100).map(|at| (format!("x-{at}"), "1".into())).collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut stream = client.begin("GET", "/v1/skills", &many, None);
    assert_eq!(answer(&mut stream).status, 431);
}

#[test]
fn who_sends_a_head_drop_by_drop_is_cut_off() {
    let house = House::with("header_timeout = \"500ms\"");
    let server = house.serve();
    let mut stream = Client::new(server.address, None).connect();
    let started = Instant::now();
    let mut sent = 0;
    for byte in b"GET /v1/skills HTTP/1.1\r\nhost: localhost\r\n"
        .iter()
        .cycle()
    {
        if stream.write_all(&[*byte]).is_err() || started.elapsed() > Duration::from_secs(20) {
            break;
        }
        sent += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{sent} bytes");
}

#[test]
fn who_sends_nothing_is_cut_off() {
    let house = House::with("header_timeout = \"500ms\"");
    let server = house.serve();
    let mut stream = Client::new(server.address, None).connect();
    let started = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn who_sends_a_body_drop_by_drop_is_answered_408() {
    let house = House::with("body_timeout = \"500ms\"");
    let server = house.serve();
    let mut stream = server.client("alpha", "caller").connect();
    let token = token("alpha", "caller");
    write!(
        stream,
        "POST /v1/hydrate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 1000\r\n\r\n{{"
    )
    .unwrap();
    let refused = answer(&mut stream);
    assert_eq!((refused.status, refused.code().as_str()), (408, "timeout"));
}

/// A connection of a tenant, on which something was asked.
fn of_tenant(server: &Server) -> TcpStream {
    let mut stream = server.client("alpha", "caller").connect();
    let token = token("alpha", "caller");
    write!(
        stream,
        "GET /v1/skills HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    assert_eq!(answer(&mut stream).status, 200);
    stream
}

#[test]
fn connections_too_many_are_told_so_at_once() {
    let house = House::with("connections = 4");
    let server = house.serve();
    let client = server.client("alpha", "caller");
    let held: Vec<_> = (0..4).map(|_| of_tenant(&server)).collect();
    let started = Instant::now();
    let refused = client.get("/v1/skills");
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(started.elapsed() < Duration::from_secs(10));
    drop(held);
    let until = Instant::now() + Duration::from_secs(20);
    while client.get("/healthz").status != 200 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn idle_connections_without_a_token_shut_nobody_out() {
    let house = House::with("connections = 8");
    let server = house.serve();
    let mut own: Vec<_> = (0..4).map(|_| of_tenant(&server)).collect();
    let anybody = Client::new(server.address, None);
    let mut idle: Vec<_> = (0..40).map(|_| anybody.connect()).collect();
    // One that has begun a request and does not end it is idle as well.
    idle[39].write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    for _ in 0..20 {
        assert_eq!(anybody.get("/healthz").status, 200);
    }
    // The oldest made room, and none of a tenant.
    assert_eq!(idle[0].read(&mut [0]).unwrap_or(0), 0);
    for own in &mut own {
        own.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
        assert_eq!(answer(own).status, 200);
    }
}

#[test]
fn a_body_that_is_announced_too_large_is_refused_before_it_comes() {
    let house = House::with("request_bytes = 2048");
    let server = house.serve();
    for expects in ["", "expect: 100-continue\r\n"] {
        let mut stream = server.client("alpha", "caller").connect();
        let token = token("alpha", "caller");
        write!(
            stream,
            "POST /v1/hydrate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{expects}\
             content-length: 4096\r\n\r\n"
        )
        .unwrap();
        let refused = answer(&mut stream);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (413, "too-large")
        );
    }
}

#[test]
fn a_header_that_decides_is_there_once() {
    let (_, server) = shared();
    let (own, other) = (token("alpha", "caller"), token("beta", "caller"));
    for (path, twice) in [
        ("/v1/skills", format!("authorization: Bearer {other}")),
        ("/v1/skills", format!("authorization: Bearer {own}")),
        ("/v1/skills", "host: other.example".to_owned()),
        ("/healthz", "host: other.example".to_owned()),
        ("/mcp", "host: other.example".to_owned()),
    ] {
        let mut stream = Client::new(server.address, None).connect();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {own}\r\n{twice}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let refused = answer(&mut stream);
        assert_eq!(refused.status, 400, "{path} {twice}: {}", refused.text());
    }
}

#[test]
fn a_name_that_was_pointed_to_this_machine_reaches_nothing() {
    let (_, server) = shared();
    let own = token("alpha", "operator");
    for path in [
        "/v1/skills",
        "/healthz",
        "/mcp",
        "/openapi.json",
        "/console",
    ] {
        let mut stream = Client::new(server.address, None).connect();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: evil.example:{}\r\nauthorization: Bearer {own}\r\nconnection: close\r\n\r\n",
            server.address.port()
        )
        .unwrap();
        let refused = answer(&mut stream);
        assert_eq!(refused.status, 421, "{path}: {}", refused.text());
        assert_eq!(refused.code(), "foreign-host", "{path}");
    }
}

#[test]
fn a_part_of_a_list_has_one_entry_to_a_thousand() {
    let (_, server) = shared();
    let client = server.client("alpha", "operator");
    for list in ["receipts", "resources", "chain"] {
        for limit in ["0", "1001", "70000", "-1", "x", ""] {
            let refused = client.get(&format!("/v1/{list}?limit={limit}"));
            assert_eq!(refused.status, 400, "{list} {limit}: {}", refused.text());
        }
        for limit in ["1", "1000"] {
            let listed = client.get(&format!("/v1/{list}?limit={limit}"));
            assert_eq!(listed.status, 200, "{list} {limit}: {}", listed.text());
        }
    }
}

#[test]
fn what_is_no_http_is_no_harm() {
    let (_, server) = shared();
    for bytes in [
        &b"\0\0\0\0"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let mut stream = Client::new(server.address, None).connect();
        stream.write_all(bytes).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(
            rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"),
            "{rest:?}"
        );
    }
    assert_eq!(
        Client::new(server.address, None).get("/healthz").status,
        200
    );
}

/// Without it, what nobody vouches for is compiled where the tenants' calls run.
#[test]
fn a_machine_without_a_jail_is_told_so() {
    let house = House::new();
    let check = house.command(&["serve", "--check"]);
    let with_jail = house.command(&["serve", "--check"]).output().unwrap();
    let said = String::from_utf8_lossy(&with_jail.stderr).into_owned();
    assert!(
        with_jail.status.success() && !said.contains("no jail"),
        "{said}"
    );
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let mut without = Command::new("/usr/bin/unshare");
    without
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(check.get_program())
        .args(check.get_args())
        .env_clear()
        .envs(
            check
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(check.get_current_dir().unwrap());
    let checked = without.output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(
        said.contains("no jail") && said.contains("hydrant doctor"),
        "{checked:?}"
    );
}

#[test]
fn a_configuration_that_is_wrong_says_where() {
    for (lines, named) in [
        ("workers = 0", "workers"),
        ("listn = \"127.0.0.1:1\"", "listn"),
        ("queue_timeout = \"soon\"", "queue_timeout"),
        ("otlp_endpoint = \"file:///x\"", "otlp_endpoint"),
    ] {
        let house = House::with(lines);
        let checked = house.command(&["serve", "--check"]).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(
            !checked.status.success() && said.contains(named),
            "{lines}: {said}"
        );
    }
}
