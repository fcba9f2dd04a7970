//! Sessions: whose they are, how many there may be, and how they end.

use std::io::Read;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::client::Client;
use crate::house::{House, foreign, secret_of, shared};
use crate::http::{Session, initialize, long_call, metric, post, wait_until};
use crate::stdio::problem;

#[test]
fn a_session_is_there_only_for_the_token_that_opened_it() {
    let (_, server) = shared();
    let mut own = Session::begin(server.client("alpha", "caller"));
    for (tenant, role) in [
        ("beta", "caller"),
        ("alpha", "operator"),
        ("beta", "operator"),
    ] {
        let other = own.with(server.client(tenant, role));
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let refused = [
            other.post(&ping),
            other.post(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }).to_string()),
            other.send("GET", None),
            other.send("DELETE", None),
        ];
        for answer in &refused {
            assert_eq!(answer.status, 404, "{tenant} {role}: {}", answer.text());
        }
    }
    own.ping();
    // As if there had never been one.
    assert_eq!(own.send("DELETE", None).status, 202);
    assert_eq!(own.send("DELETE", None).status, 404);
    assert_eq!(own.send("GET", None).status, 404);
}

#[test]
fn no_session_gives_a_token_the_rights_of_another() {
    let (_, server) = shared();
    let alpha = Session::begin(server.client("alpha", "caller"));
    let beta = Session::begin(server.client("beta", "caller"));
    // One's own session, the other's token, and the other way round.
    let mut mixed = beta.with(server.client("beta", "caller"));
    let read = mixed.result("resources/read", json!({ "uri": "os://agents/own.md" }));
    assert!(read.to_string().contains(&secret_of("beta")), "{read}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" }).to_string();
    assert_eq!(
        alpha
            .with(server.client("beta", "caller"))
            .post(&list)
            .status,
        404
    );
    assert_eq!(alpha.with(server.with_token(None)).post(&list).status, 401);
}

#[test]
fn thousands_of_sessions_take_no_other_tenants_and_a_bounded_memory() {
    let house = House::new();
    let server = house.serve();
    let mut beta = Session::begin(server.client("beta", "caller"));
    let first = Session::begin(server.client("alpha", "caller"));
    let open = |count: usize| {
        let client = server.client("alpha", "caller");
        for _ in 0..count {
            let answer = post(&client, &[], &initialize().to_string());
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    };
    open(300);
    let filled = server.resident_bytes();
    open(1_700);
    let after = server.resident_bytes();
    // The oldest made room, so that more of them take no more memory.
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(first.post(&ping).status, 404);
    assert!(
        after < filled + 24 * 1024 * 1024,
        "{filled} bytes, then {after}"
    );
    beta.ping();
}

#[test]
fn who_does_not_read_delays_nobody() {
    let house = House::new();
    house.tenants(&[("alpha", "concurrency = 2\nconnections = 64"), ("beta", "")]);
    house.write(
        "alpha/work/large.txt",
        &"line of a large file\n".repeat(90_000),
    );
    let server = house.serve();
    let mut alpha = Session::begin(server.client("alpha", "caller"));
    let mut unread = Vec::new();
    for _ in 0..24 {
        let read = json!({ "name": "fs_read_text", "arguments": { "path": "/workspace/large.txt", "max_bytes": 2_000_000 } });
        unread.push(alpha.open("tools/call", read));
    }
    // The work is done, and its places are free.
    wait_until("the calls end", Duration::from_secs(60), || {
        metric(&server, "hydrant_calls_running") == Some(0)
    });
    Session::begin(server.client("beta", "caller")).ping();
    let mut again = Session::begin(server.client("alpha", "caller"));
    let read = again.call("fs_read_text", json!({ "path": "/workspace/own.txt" }));
    assert_eq!(read["isError"], false, "{read}");
    // Whoever reads at last has the whole answer.
    let (id, mut events) = unread.pop().unwrap();
    let answer = events.find(|event| event["id"] == id).unwrap();
    assert_eq!(answer["result"]["isError"], false);
    assert!(answer.to_string().len() > 1_800_000);
}

#[test]
fn a_session_that_ends_stops_what_runs_for_it() {
    let house = House::new();
    // On a fast machine the fuel of the default policy is used up before the session has ended.
    house.write(
        "patient.yaml",
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {read: [/os, /workspace]}\nhost:\n  \
         mounts:\n    - {at: /os, dir: \"@cli\", mode: ro}\n    - {at: /workspace, dir: \"@cli\", mode: ro}\n  \
         limits: {fuel: 200000000000, wall_ms: 600000}\n",
    );
    let policy = house.path("patient.yaml");
    let server = house.serve_with(&["--policy", policy.to_str().unwrap()]);
    let mut session = Session::begin(server.client("alpha", "caller"));
    let (_, events) = session.open("tools/call", long_call());
    wait_until("it runs", Duration::from_secs(60), || {
        metric(&server, "hydrant_calls_running") == Some(1)
    });
    assert_eq!(session.send("DELETE", None).status, 202);
    wait_until("it is stopped", Duration::from_secs(30), || {
        metric(&server, "hydrant_calls_running") == Some(0)
    });
    drop(events);
    let cancelled = "hydrant_calls_total{tenant=\"alpha\",operation=\"run\",outcome=\"cancelled\"}";
    // It is counted when its end is written down, a moment after its place is free.
    wait_until("it is counted", Duration::from_secs(30), || {
        metric(&server, cancelled) == Some(1)
    });
}

#[test]
fn told_to_end_the_service_ends_sessions_and_their_streams() {
    let house = House::new();
    let mut server = house.serve();
    let session = Session::begin(server.client("alpha", "caller"));
    let client = server.client("alpha", "caller");
    let headers = [
        ("accept", "text/event-stream"),
        ("mcp-session-id", session.id.as_str()),
    ];
    let mut stream = client.begin("GET", "/mcp", &headers, None);
    let mut first = [0_u8; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.signal(Signal::TERM);
    assert!(server.ended().success());
}

#[test]
fn a_token_that_was_taken_away_ends_nothing_but_opens_nothing() {
    let house = House::new();
    let server = house.serve();
    let session = Session::begin(server.client("alpha", "caller"));
    house.tenants(&[("beta", "")]);
    server.signal(Signal::HUP);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    wait_until("the token is refused", Duration::from_secs(30), || {
        session.post(&ping).status == 401
    });
}

#[test]
fn a_grant_for_a_session_is_for_one_connection() {
    let house = House::new();
    let server = house.serve();
    let approve = |id: &str| {
        let approver = server.client("alpha", "approver");
        let path = format!("/v1/approvals/{id}/approve");
        approver.post(&path, &json!({ "scope": "session" })).ok();
    };
    let mut session = Session::begin(server.client("alpha", "caller"));
    let mut document = foreign("granted");
    document["id"] = "granted".into();
    let loaded = session.call("skill_load", document);
    assert_eq!(loaded["isError"], false, "{loaded}");
    let execute = |session: &mut Session| {
        let arguments = json!({ "skill": "granted", "operation": "look", "params": {} });
        let executed = session.call("skill_execute", arguments);
        problem(&executed)
    };
    let asked = execute(&mut session);
    assert_eq!(asked["code"], "approval-required", "{asked}");
    approve(asked["approval-id"].as_str().unwrap());
    // Granted: what stops it now is the policy, which lets nothing out.
    let granted = execute(&mut session);
    assert_ne!(granted["code"], "approval-required", "{granted}");
    let again = execute(&mut session);
    assert_ne!(again["code"], "approval-required", "{again}");
    let mut other = Session::begin(server.client("alpha", "caller"));
    let asked = execute(&mut other);
    assert_eq!(asked["code"], "approval-required", "{asked}");
    assert_eq!(session.send("DELETE", None).status, 202);
    let approver: Client = server.client("alpha", "approver");
    wait_until("the grant ends", Duration::from_secs(30), || {
        let all = approver.get("/v1/approvals?status=approved").ok();
        !all.to_string().contains("\"session\"")
    });
}
