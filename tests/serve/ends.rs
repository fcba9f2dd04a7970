//! How the service ends: told to, or killed.

use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::house::{House, foreign, pending, token};

#[test]
fn told_to_end_it_answers_what_runs_and_ends_well() {
    let house = House::new();
    let mut server = house.serve();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    let client = server.client("alpha", "caller");
    let prompt = json!({"prompt": "review the specification ".repeat(2000)});
    let mut running = client.begin("POST", "/v1/plan", &[], Some(prompt.to_string().as_bytes()));
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let answered = crate::client::answer(&mut running);
    assert!(matches!(answered.status, 200 | 422), "{}", answered.text());
    assert!(server.ended().success());
}

/// Whoever stands before the service learns that it ends while what runs comes to its end.
#[test]
fn while_it_ends_it_says_that_it_is_not_ready() {
    let house = House::new();
    let mut server = house.serve();
    let anybody = server.with_token(None);
    assert_eq!(anybody.get("/readyz").status, 200);
    // A request that is not complete is one that the server does not drop.
    let body = json!({"uri": "os://agents/own.md"}).to_string();
    let token = token("alpha", "caller");
    let mut running = anybody.connect();
    write!(
        running,
        "POST /v1/hydrate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nexpect: 100-continue\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    // The server waits for the body.
    let mut goes_on = [0_u8; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    running.read_exact(&mut goes_on).unwrap();
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    server.signal(Signal::TERM);
    let until = Instant::now() + Duration::from_secs(20);
    while anybody.get("/readyz").status != 503 {
        assert!(Instant::now() < until, "it says that it is ready");
    }
    assert_eq!(anybody.get("/healthz").status, 200);
    let refused = server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "overloaded")
    );
    running.write_all(body.as_bytes()).unwrap();
    let answered = crate::client::answer(&mut running);
    assert!(matches!(answered.status, 200 | 503), "{}", answered.text());
    assert!(server.ended().success());
}

#[test]
fn told_to_end_it_ends_streams_too() {
    let house = House::new();
    let mut server = house.serve();
    let mut stream = server
        .client("alpha", "approver")
        .begin("GET", "/v1/events", &[], None);
    let mut first = [0_u8; 1];
    stream.read_exact(&mut first).unwrap();
    server.signal(Signal::INT);
    assert!(server.ended().success());
}

#[test]
fn a_call_whose_client_went_away_gives_its_place_back() {
    let house = House::with("workers = 1");
    house.tenants(&[("alpha", "concurrency = 1"), ("beta", "")]);
    let server = house.serve();
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
    let prompt = json!({"prompt": "review the specification ".repeat(5000)}).to_string();
    for _ in 0..8 {
        let stream = server.client("alpha", "caller").begin(
            "POST",
            "/v1/plan",
            &[],
            Some(prompt.as_bytes()),
        );
        std::thread::sleep(Duration::from_millis(20));
        drop(stream);
    }
    let answered = server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md");
    assert_eq!(answered.status, 200, "{}", answered.text());
}

/// Everything that was answered as done is there after a kill.
#[test]
fn killed_under_load_it_loses_nothing_that_it_answered() {
    let house = House::new();
    let mut server = house.serve();
    let ids: Vec<String> = (0..6)
        .map(|at| pending(&server, "alpha", &format!("killed-{at}")))
        .collect();
    let (receipts, decided, loaded) = (
        Mutex::new(Vec::new()),
        Mutex::new(Vec::new()),
        Mutex::new(Vec::new()),
    );
    let stop = AtomicBool::new(false);
    let run = json!({"path": "/workspace/own.txt"});
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let client = server.client("alpha", "caller");
                    let ran = std::panic::catch_unwind(|| {
                        client.post("/v1/skills/fs.read_text/run", &run)
                    });
                    let Ok(ran) = ran else { return };
                    if let Some(id) = ran.header("hydrant-receipt") {
                        receipts.lock().unwrap().push(id.to_owned());
                    }
                }
            });
        }
        scope.spawn(|| {
            for id in &ids {
                let client = server.client("alpha", "approver");
                let path = format!("/v1/approvals/{id}/approve");
                let body = json!({"scope": "until-changed"});
                let answer = std::panic::catch_unwind(|| client.post(&path, &body));
                match answer {
                    Ok(answer)
                        if answer.status == 200
                            && serde_json::from_slice::<serde_json::Value>(&answer.body)
                                .is_ok() =>
                    {
                        decided.lock().unwrap().push(id.clone());
                    }
                    _ => return,
                }
            }
        });
        scope.spawn(|| {
            for at in 0..1000 {
                let client = server.client("beta", "caller");
                let name = format!("loaded-{at}");
                let answer =
                    std::panic::catch_unwind(|| client.post("/v1/capabilities", &foreign(&name)));
                match answer {
                    Ok(answer) if answer.status == 200 => loaded.lock().unwrap().push(name),
                    _ => return,
                }
            }
        });
        std::thread::sleep(Duration::from_millis(1500));
        server.signal(Signal::KILL);
        stop.store(true, Ordering::Relaxed);
    });
    server.ended();
    drop(server);
    let server = house.serve();
    let (caller, approver) = (
        server.client("alpha", "caller"),
        server.client("alpha", "approver"),
    );
    let receipts = receipts.into_inner().unwrap();
    assert!(!receipts.is_empty());
    for id in receipts {
        let receipt = caller.get(&format!("/v1/receipts/{id}"));
        assert!(receipt.ok()["receipt_hash"].is_string());
    }
    let decided = decided.into_inner().unwrap();
    assert!(!decided.is_empty());
    for id in decided {
        let shown = approver.get(&format!("/v1/approvals/{id}")).ok();
        assert!(shown.to_string().contains("approved"), "{shown}");
    }
    for name in loaded.into_inner().unwrap() {
        let path = format!("/v1/capabilities/{name}");
        assert_eq!(server.client("beta", "caller").get(&path).status, 200);
    }
    for client in [approver, server.client("beta", "approver")] {
        assert_eq!(client.get("/v1/chain?verify=true").ok()["verified"], true);
    }
}
