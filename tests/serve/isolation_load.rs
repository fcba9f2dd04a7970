//! Rate, queue, concurrency, connections, budgets: what one tenant uses up is its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::house::{House, shared};

/// Keeps a worker busy for a while: a search of the whole tree, or a deep hydration.
fn slow() -> serde_json::Value {
    json!({"prompt": "fix the parser, write tests, review the specification, and deploy everything ".repeat(200)})
}

#[test]
fn rate_who_calls_too_often_is_told_when_to_come_again() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "rate = { per_second = 1.0, burst = 3 }"),
        ("beta", ""),
    ]);
    let server = house.serve();
    let alpha = server.client("alpha", "caller");
    let answers: Vec<_> = (0..10).map(|_| alpha.get("/v1/receipts")).collect();
    let refused: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 429)
        .collect();
    assert!(refused.len() >= 5, "{}", refused.len());
    for answer in refused {
        assert_eq!(answer.code(), "limit");
        let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=2).contains(&after));
        assert_eq!(answer.json()["retry_after"], after);
    }
}

/// What is refused is no operation, and neither is a session that is asked for; who asks for them all the time is told the
/// same, and before a session is made.
#[test]
fn rate_requests_that_are_no_operations_are_counted_too() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "rate = { per_second = 0.01, burst = 2 }"),
        ("beta", "rate = { per_second = 0.01, burst = 2 }"),
    ]);
    let server = house.serve();
    let alpha = server.client("alpha", "caller");
    let statuses: Vec<_> = (0..10).map(|_| alpha.get("/v1/chain").status).collect();
    assert_eq!(statuses[..8], [403; 8]);
    assert_eq!(statuses[8..], [429; 2]);
    let begin = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let beta = server.client("beta", "caller");
    let accept = ("accept", "application/json, text/event-stream");
    let answers: Vec<_> = (0..10)
        .map(|_| {
            beta.send(
                "POST",
                "/mcp",
                &[accept],
                Some(begin.to_string().as_bytes()),
            )
        })
        .collect();
    assert!(answers[0].header("mcp-session-id").is_some());
    for refused in &answers[8..] {
        assert_eq!((refused.status, refused.code().as_str()), (429, "limit"));
        assert!(refused.header("retry-after").is_some());
        assert_eq!(refused.header("mcp-session-id"), None);
    }
}

#[test]
fn rate_of_one_tenant_is_not_anothers() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "rate = { per_second = 0.1, burst = 1 }"),
        ("beta", ""),
    ]);
    let server = house.serve();
    let alpha = server.client("alpha", "caller");
    let refused = (0..5)
        .filter(|_| alpha.get("/v1/receipts").status == 429)
        .count();
    assert_eq!(refused, 4);
    for _ in 0..20 {
        assert_eq!(
            server.client("beta", "caller").get("/v1/receipts").status,
            200
        );
    }
}

#[test]
fn rate_is_a_tenants_and_not_a_tokens() {
    let house = House::new();
    house.tenants(&[
        ("alpha", "rate = { per_second = 0.1, burst = 2 }"),
        ("beta", ""),
    ]);
    let server = house.serve();
    assert_eq!(
        server.client("alpha", "caller").get("/v1/receipts").status,
        200
    );
    assert_eq!(
        server
            .client("alpha", "approver")
            .get("/v1/receipts")
            .status,
        200
    );
    assert_eq!(
        server
            .client("alpha", "operator")
            .get("/v1/receipts")
            .status,
        429
    );
}

#[test]
fn queue_a_flood_of_one_tenant_does_not_starve_another() {
    let house = House::with("workers = 2");
    house.tenants(&[("alpha", "concurrency = 8\nqueue = 200"), ("beta", "")]);
    let server = house.serve();
    for tenant in ["alpha", "beta"] {
        server
            .client(tenant, "caller")
            .post("/v1/plan", &slow())
            .ok();
        server
            .client(tenant, "caller")
            .hydrate("os://agents/own.md")
            .ok();
    }
    let stop = AtomicBool::new(false);
    let flooded = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let answer = server.client("alpha", "caller").post("/v1/plan", &slow());
                    assert!(
                        matches!(answer.status, 200 | 422 | 429 | 503),
                        "{}",
                        answer.text()
                    );
                    flooded.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        let mut times = Vec::new();
        for _ in 0..10 {
            let started = Instant::now();
            server
                .client("beta", "caller")
                .hydrate("os://agents/own.md")
                .ok();
            times.push(started.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
        times.sort_unstable();
        // 24 calls of alpha wait; beta waits for one of them at most, and not for all.
        assert!(times[5] < Duration::from_secs(3), "{times:?}");
    });
    assert!(flooded.load(Ordering::Relaxed) > 0);
}

#[test]
fn queue_who_has_too_many_calls_waiting_is_refused_and_others_are_not() {
    let house = House::with("workers = 1");
    house.tenants(&[("alpha", "concurrency = 1\nqueue = 0"), ("beta", "")]);
    let server = house.serve();
    server.client("alpha", "caller").post("/v1/plan", &slow());
    let busy = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| server.client("alpha", "caller").post("/v1/plan", &slow())))
            .collect();
        let other = server
            .client("beta", "caller")
            .hydrate("os://agents/own.md");
        assert_eq!(other.status, 200, "{}", other.text());
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    let refused: Vec<_> = busy.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty(), "{busy:?}");
    assert!(
        refused
            .iter()
            .all(|answer| answer.header("retry-after") == Some("1"))
    );
}

#[test]
fn connections_of_one_tenant_are_bounded_and_others_connect() {
    use std::io::Write;
    let house = House::new();
    house.tenants(&[("alpha", "connections = 3"), ("beta", "")]);
    let server = house.serve();
    let alpha = server.client("alpha", "caller");
    let kept: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = alpha.connect();
            let token = crate::house::token("alpha", "caller");
            write!(
                stream,
                "GET /v1/receipts HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
            )
            .unwrap();
            assert_eq!(crate::client::answer(&mut stream).status, 200);
            stream
        })
        .collect();
    let refused = alpha.get("/v1/receipts");
    assert_eq!((refused.status, refused.code().as_str()), (429, "limit"));
    assert_eq!(
        server.client("beta", "caller").get("/v1/receipts").status,
        200
    );
    drop(kept);
    let until = Instant::now() + Duration::from_secs(20);
    while alpha.get("/v1/receipts").status != 200 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn events_nobody_can_take_all_streams() {
    let house = House::new();
    house.tenants(&[("alpha", "connections = 2"), ("beta", "")]);
    let server = house.serve();
    let _streams: Vec<_> = (0..2)
        .map(|_| {
            use std::io::Read;
            let mut stream =
                server
                    .client("alpha", "approver")
                    .begin("GET", "/v1/events", &[], None);
            let mut first = [0_u8; 1];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    assert_eq!(
        server
            .client("alpha", "approver")
            .get("/v1/approvals")
            .status,
        429
    );
    assert_eq!(
        server
            .client("beta", "approver")
            .get("/v1/approvals")
            .status,
        200
    );
}

#[test]
fn load_nobody_sees_what_another_uses() {
    let (_, server) = shared();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    let beta = server.client("beta", "operator");
    for path in ["/v1/receipts", "/readyz", "/healthz", "/openapi.json"] {
        let text = beta.get(path).text();
        assert!(!text.contains("alpha"), "{path}: {text}");
    }
    assert_eq!(beta.get("/metrics").status, 401);
}

#[test]
fn budgets_who_runs_out_of_them_stops_nobody_else() {
    let house = House::with("workers = 2");
    let tight = |limit: &str| {
        format!(
            "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {{read: [/os, /workspace]}}\nhost:\n  limits: {{{limit}}}\n"
        )
    };
    house.write("tight.yaml", &tight("fuel: 1000000"));
    house.tenants(&[("alpha", "policy = \"tight.yaml\""), ("beta", "")]);
    let server = house.serve();
    let calls = |tenant: &str| {
        let client = server.client(tenant, "caller");
        (0..5)
            .map(|_| client.post("/v1/plan", &slow()).status)
            .collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let starved = scope.spawn(|| calls("alpha"));
        for _ in 0..5 {
            server
                .client("beta", "caller")
                .hydrate("os://agents/own.md")
                .ok();
        }
        let starved = starved.join().unwrap();
        assert!(starved.iter().all(|status| *status != 200), "{starved:?}");
    });
    assert!(calls("beta").iter().all(|status| *status == 200));
}
