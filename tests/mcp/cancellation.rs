//! Long calls: a request that is cancelled stops its component, and one that goes on says so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stdio::{Client, PATIENCE, Place};

/// A call that computes for a minute and more on any machine.
fn endless() -> Value {
    json!({ "name": "data_filter", "arguments": {
        "op": "filter", "path": "reduce range(1000000000000) as $i (0; . + 1)", "null-input": true, "input-b64": "",
    }})
}

/// A client under a policy with ten times the fuel of the default one.
fn patient(place: &Place) -> Client {
    let policy = place.work().join("policy.yaml");
    let text = "\
version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:
  fs: {read: [/os]}
host:
  mounts:
    - {at: /os, dir: \"@cli\", mode: ro}
  limits: {fuel: 200000000000, wall_ms: 600000}
";
    std::fs::write(&policy, text).unwrap();
    place.client(&["--policy", policy.to_str().unwrap()])
}

/// Lines of the audit record: one for each call that ended.
fn recorded(place: &Place) -> usize {
    let record = std::fs::read_to_string(place.home().join("state/audit.jsonl"));
    record.map_or(0, |record| record.lines().count())
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processor time of a process, in ticks of a hundredth of a second.
fn used(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_cancelled_request_stops_its_component_and_has_no_answer() {
    let place = Place::new();
    let mut client = patient(&place);
    // Compiled and called once, so that what is measured is the component.
    let short = json!({ "op": "filter", "path": "1", "null-input": true, "input-b64": "" });
    assert_eq!(client.call("data_filter", short)["isError"], false);
    let before = recorded(&place);
    let id = client.begin("tools/call", endless());
    let process = client.process();
    let start = used(process);
    wait_until("the component computes", || used(process) > start + 20);
    assert_eq!(recorded(&place), before);

    let cancelled = Instant::now();
    client.notify(
        "notifications/cancelled",
        json!({ "requestId": id, "reason": "a test" }),
    );
    wait_until("the call is recorded", || recorded(&place) > before);
    // It would have computed for a minute; the rest is for a machine that does much else.
    assert!(
        cancelled.elapsed() < Duration::from_secs(20),
        "{:?}",
        cancelled.elapsed()
    );
    let end = used(process);
    std::thread::sleep(Duration::from_millis(500));
    assert!(used(process) - end < 20, "something still computes");

    // The session goes on, and the answer never comes.
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert!(
        client.aside.iter().all(|message| message["id"] != id),
        "{:?}",
        client.aside
    );
}

#[test]
fn a_client_that_goes_away_stops_what_runs_for_it() {
    let place = Place::new();
    let mut client = patient(&place);
    client.begin("tools/call", endless());
    let process = client.process();
    let start = used(process);
    wait_until("the component computes", || used(process) > start + 20);
    let begun = Instant::now();
    client.end();
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn other_calls_go_on_beside_a_long_one() {
    let place = Place::new();
    let mut client = patient(&place);
    let long = client.begin("tools/call", endless());
    let read = client.call("fs_read_text", json!({ "path": "/os/skills/knots.md" }));
    assert_eq!(read["isError"], false, "{read}");
    assert!(client.aside.iter().all(|message| message["id"] != long));
    client.notify("notifications/cancelled", json!({ "requestId": long }));
}

#[test]
fn a_client_that_wants_to_know_is_told_that_a_call_goes_on() {
    let place = Place::new();
    let mut client = patient(&place);
    let mut call = endless();
    call["_meta"] = json!({ "progressToken": "p-1" });
    let id = client.begin("tools/call", call);
    let mut last = -1.0;
    for _ in 0..3 {
        let message = client.receive();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p-1");
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{progress} after {last}");
        last = progress;
    }
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    // Who does not ask is not told.
    let quiet = client.call("fs_read_text", json!({ "path": "/os/skills/knots.md" }));
    assert_eq!(quiet["isError"], false);
}
