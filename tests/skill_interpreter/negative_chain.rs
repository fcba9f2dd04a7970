//! The causal chain.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::house::{House, string};
use crate::program::mode;

const SKILL: &str =
    "name: one\noperations:\n- name: ping\n  endpoint: https://a.example.org/ping\n";

/// A home whose chain has some records.
fn house() -> House {
    let house = House::new();
    house.load("one.yaml", SKILL);
    house.denied("one", "ping", &json!({}));
    house.ok(&["skill", "unload", "one"]);
    house
}

fn segment(house: &House) -> PathBuf {
    house.state().join("chain/000001.jsonl")
}

fn lines(house: &House) -> Vec<String> {
    let text = fs::read_to_string(segment(house)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn put(house: &House, lines: &[String]) {
    fs::write(
        segment(house),
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    )
    .unwrap();
}

/// The report of `audit verify` on a damaged chain.
fn damage(house: &House) -> Value {
    let run = house.folder().run(&["audit", "verify"]);
    assert_eq!(run.status, 1, "{run:?}");
    let report = run.json();
    assert_eq!(report["ok"], false, "{report}");
    report
}

#[test]
fn every_member_of_a_record_counts() {
    let house = house();
    let whole = lines(&house);
    let record: Value = serde_json::from_str(&whole[2]).unwrap();
    assert_eq!(record["seq"], 3);
    for (name, value) in record.as_object().unwrap() {
        let mut changed = record.clone();
        changed[name] = match value {
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::Null => json!("x"),
            Value::String(text) => json!(format!("{text}x")),
            _ => json!(null),
        };
        let mut other = whole.clone();
        other[2] = changed.to_string();
        put(&house, &other);
        let report = damage(&house);
        assert_eq!(report["first-bad-seq"], 3, "{name}: {report}");
    }
    put(&house, &whole);
    house.assert_whole_chain();
}

#[test]
fn the_same_on_another_machine_and_only_canonical() {
    let house = house();
    let report = house.ok(&["audit", "verify"]);
    let other = House::new();
    let (from, to) = (house.state(), other.folder().home());
    fs::create_dir_all(&to).unwrap();
    let copied = Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .status()
        .unwrap();
    assert!(copied.success());
    assert_eq!(other.ok(&["audit", "verify"]), report);
    // The same members in another order are another text.
    let mut all = lines(&house);
    let record: Value = serde_json::from_str(&all[1]).unwrap();
    let mut turned = serde_json::Map::new();
    for (name, value) in record.as_object().unwrap().iter().rev() {
        turned.insert(name.clone(), value.clone());
    }
    all[1] = Value::Object(turned).to_string();
    put(&house, &all);
    let report = damage(&house);
    assert_eq!(report["first-bad-seq"], 2, "{report}");
    assert_eq!(report["reason"], "malformed", "{report}");
}

#[test]
fn a_digest_of_inputs_tells_nothing_without_the_key() {
    const SAY: &str = "name: one\noperations:\n- {name: say, command: echo a}\n";
    let digests = || {
        let house = House::new();
        house.load("one.yaml", SAY);
        house.approve_all();
        house.execute("one", "say", &json!({}));
        house.execute("one", "say", &json!({}));
        let digest = |record: Value| string(&record["inputs-digest"]);
        let calls = house.events("capability-call");
        calls.into_iter().map(digest).collect::<Vec<_>>()
    };
    let [here, there] = [digests(), digests()];
    // The same within a chain, and of no use for another one.
    assert_eq!((here.len(), &here[0]), (2, &here[1]));
    assert_ne!(here[0], there[0]);
    assert!(here[0].starts_with("hmac-sha256:"), "{here:?}");
}

#[test]
fn one_chain_over_processes_loads_and_unloads() {
    let house = house();
    for _ in 0..3 {
        house.load("one.yaml", SKILL);
        house.ok(&["skill", "unload", "one"]);
        house.syscall(&[(
            "ccos.skill.execute",
            json!({"skill": "one", "operation": "ping"}),
        )]);
    }
    let chain = house.chain();
    assert!(chain.len() > 10);
    let mut before = "0".repeat(64);
    for (index, record) in chain.iter().enumerate() {
        assert_eq!(record["seq"], json!(index + 1));
        assert_eq!(record["prev"], before.as_str());
        before = record["hash"].as_str().unwrap().to_owned();
    }
    house.assert_whole_chain();
}

#[test]
fn removed_inserted_and_exchanged_records() {
    let house = house();
    let whole = lines(&house);
    let mut removed = whole.clone();
    removed.remove(1);
    let mut doubled = whole.clone();
    doubled.insert(1, whole[1].clone());
    let mut exchanged = whole.clone();
    exchanged.swap(1, 2);
    let rest = whole[1..].to_vec();
    for damaged in [removed, doubled, exchanged, rest] {
        put(&house, &damaged);
        damage(&house);
    }
}

#[test]
fn a_chain_that_was_cut_off() {
    let house = house();
    let whole = lines(&house);
    for left in [whole.len() - 1, 1, 0] {
        put(&house, &whole[..left]);
        let report = damage(&house);
        let reason = report["reason"].as_str().unwrap();
        assert!(
            ["truncated", "head", "witness"].contains(&reason),
            "{report}"
        );
    }
}

#[test]
fn a_signature_with_another_key() {
    let (house, other) = (house(), house());
    fs::copy(
        other.state().join("audit.pub"),
        house.state().join("audit.pub"),
    )
    .unwrap();
    let report = damage(&house);
    assert_eq!(report["reason"], "signature", "{report}");
}

#[test]
fn a_damaged_chain_stops_every_call() {
    for at in ["first", "last"] {
        let house = House::new();
        house.load(
            "one.yaml",
            "name: one\noperations:\n- {name: say, command: echo a}\n",
        );
        house.execute("one", "say", &json!({}));
        let mut all = lines(&house);
        let index = if at == "first" { 0 } else { all.len() - 1 };
        all[index] = all[index].replace("\"event\":\"", "\"event\":\"x");
        put(&house, &all);
        damage(&house);
        let error = house.denied("one", "say", &json!({}));
        assert_eq!(error["code"], "audit-unavailable", "{at}");
        assert_eq!(
            house.code(&["skill", "load", "one.yaml"]),
            "audit-unavailable",
            "{at}"
        );
        let answer = &house.syscall(&[("one.say", json!({}))])[0];
        assert_eq!(
            answer["payload"]["code"], "audit-unavailable",
            "{at}: {answer}"
        );
    }
}

#[test]
fn an_anchor_finds_what_was_rolled_back() {
    let house = house();
    let anchor = house.ok(&["audit", "show"])["anchor"].clone();
    let anchor = anchor.as_str().unwrap();
    house.ok(&["audit", "verify", "--anchor", anchor]);
    let (seq, hash) = anchor.split_once(':').unwrap();
    let next: u64 = seq.parse::<u64>().unwrap() + 1;
    for wrong in [
        format!("{next}:{hash}"),
        format!("{seq}:{}", "0".repeat(64)),
    ] {
        let run = house.folder().run(&["audit", "verify", "--anchor", &wrong]);
        assert_eq!(run.status, 1, "{run:?}");
    }
}

#[test]
fn show_since_and_by_capability() {
    let house = house();
    let all = house.chain();
    let since = house.ok(&["audit", "show", "--since", "2"]);
    assert_eq!(since["records"].as_array().unwrap()[..], all[2..]);
    let of_it = house.ok(&["audit", "show", "--capability", "One.Ping"]);
    let events: Vec<&Value> = of_it["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| &record["event"])
        .collect();
    assert!(events.contains(&&json!("skill-loaded")), "{events:?}");
    assert!(events.contains(&&json!("capability-denied")), "{events:?}");
}

#[test]
fn every_record_has_every_member() {
    let house = house();
    let names: Vec<Vec<String>> = house
        .chain()
        .iter()
        .map(|record| record.as_object().unwrap().keys().cloned().collect())
        .collect();
    for name in [
        "v",
        "seq",
        "ts",
        "event",
        "session",
        "run",
        "client",
        "capability",
        "operation",
        "derived-from",
        "line",
        "skill-digest",
        "op-digest",
        "policy-digest",
        "delegated-to",
        "approval",
        "call-seq",
        "inputs-digest",
        "outputs-digest",
        "resources-consumed",
        "outcome",
        "code",
        "prev",
        "hash",
        "sig",
    ] {
        assert!(
            names
                .iter()
                .all(|given| given.iter().any(|one| one == name)),
            "{name}"
        );
    }
    assert!(names.iter().all(|given| *given == names[0]));
    // The files are the operator's alone.
    let state = house.state();
    for file in ["chain/000001.jsonl", "chain/HEAD", "audit.key"] {
        assert_eq!(mode(&state.join(file)), 0o600, "{file}");
    }
}
