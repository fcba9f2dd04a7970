//! The records of the chain, computed again from the text of the chapter and not by the governor's own code.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use hydrant_govern::chain::Event;
use hydrant_govern::governor::{Shown, verify};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::house::{API, House, ready};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a record, computed here: over `prev` and the canonical bytes without `hash` and `sig`.
fn hash(record: &Value) -> String {
    let mut body = record.clone();
    let members = body.as_object_mut().unwrap();
    members.remove("hash");
    members.remove("sig");
    let prev = members["prev"].as_str().unwrap().to_owned();
    let mut text = format!("hydrant.chain.v1\n{prev}\n").into_bytes();
    text.extend(serde_json_canonicalizer::to_vec(&body).unwrap());
    hex(&Sha256::digest(text))
}

fn lines(house: &House) -> Vec<String> {
    let text = fs::read_to_string(house.state().join("chain/000001.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A chain of loads, approvals, calls and denials.
fn house() -> House {
    let house = ready("");
    house.execute("one", "read", json!({"q": "a"})).unwrap();
    house.execute("one", "read", json!({})).unwrap_err();
    house.execute("one", "open", json!({})).unwrap();
    house
}

#[test]
fn of_a_chain_that_is_long_no_more_is_kept_than_is_asked_for() {
    let house = house();
    let all = house.chain();
    let most = Shown {
        since: Some(2),
        most: Some(3),
        ..Shown::default()
    };
    let shown = house.governor.chain(&most, &|| false).unwrap();
    assert_eq!(shown["records"].as_array().unwrap()[..], all[2..5]);
    let last = all.last().unwrap();
    let anchor = format!("{}:{}", last["seq"], last["hash"].as_str().unwrap());
    assert_eq!(shown["anchor"], anchor.as_str());
}

#[test]
fn hash_and_signature_are_those_of_the_chapter() {
    let house = house();
    let key = fs::read_to_string(house.state().join("audit.pub")).unwrap();
    let key: [u8; 32] = STANDARD.decode(key.trim()).unwrap().try_into().unwrap();
    let key = VerifyingKey::from_bytes(&key).unwrap();
    let mut prev = "0".repeat(64);
    let lines = lines(&house);
    assert!(lines.len() > 10);
    for line in lines {
        let record: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(record["prev"], prev.as_str());
        assert_eq!(record["hash"], hash(&record), "{line}");
        prev = record["hash"].as_str().unwrap().to_owned();
        let signature: [u8; 64] = STANDARD
            .decode(record["sig"].as_str().unwrap())
            .unwrap()
            .try_into()
            .unwrap();
        let signed = format!("hydrant.sig.v1\n{prev}");
        key.verify_strict(signed.as_bytes(), &Signature::from_bytes(&signature))
            .unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&record).unwrap(), line);
    }
}

#[test]
fn c3_fields_that_read_the_same_together_do_not_hash_the_same() {
    let house = house();
    let segment = house.state().join("chain/000001.jsonl");
    let whole = lines(&house);
    let at = whole
        .iter()
        .position(|line| line.contains("\"capability-call\""))
        .unwrap();
    let record: Value = serde_json::from_str(&whole[at]).unwrap();
    // A character goes over the border of two fields that stand side by side.
    for (left, right) in [
        ("capability", "derived-from"),
        ("event", "inputs-digest"),
        ("operation", "outcome"),
        ("run", "session"),
    ] {
        let mut moved = record.clone();
        let mut text = record[left].as_str().unwrap().to_owned();
        let last = text.pop().unwrap();
        moved[right] = json!(format!("{last}{}", record[right].as_str().unwrap()));
        moved[left] = json!(text);
        let joined = |record: &Value| {
            format!(
                "{}{}",
                record[left].as_str().unwrap(),
                record[right].as_str().unwrap()
            )
        };
        assert_eq!(joined(&moved), joined(&record));
        assert_ne!(hash(&moved), hash(&record));
        let mut changed = whole.clone();
        changed[at] = serde_json_canonicalizer::to_string(&moved).unwrap();
        fs::write(
            &segment,
            changed
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        )
        .unwrap();
        let report = verify(&house.state(), None).unwrap();
        assert_eq!(
            (&report["ok"], &report["reason"], &report["first-bad-seq"]),
            (&json!(false), &json!("hash"), &json!(at + 1))
        );
    }
}

#[test]
fn digests_of_inputs_and_outputs_are_keyed() {
    let digests = |house: &House| {
        let call = house.events("capability-call").remove(0);
        let executed = house.events("capability-executed").remove(0);
        (
            call["inputs-digest"].as_str().unwrap().to_owned(),
            executed["outputs-digest"].as_str().unwrap().to_owned(),
        )
    };
    let (one, other) = (house(), house());
    for digest in [digests(&one), digests(&other)] {
        for text in [digest.0, digest.1] {
            let digits = text.strip_prefix("hmac-sha256:").unwrap();
            assert_eq!(digits.len(), 64);
            assert_ne!(
                digits,
                hex(&Sha256::digest(br#"{"q":"a"}"#)),
                "anybody could guess it"
            );
        }
    }
    // Another home has another key; in one home the same input has one digest, another input another.
    assert_ne!(digests(&one), digests(&other));
    one.execute("one", "read", json!({"q": "a"})).unwrap();
    one.execute("one", "read", json!({"q": "b"})).unwrap();
    let of_read: Vec<Value> = one
        .events("capability-call")
        .into_iter()
        .filter(|record| record["capability"] == "one.read")
        .map(|record| record["inputs-digest"].clone())
        .collect();
    assert_eq!(of_read[0], of_read[1]);
    assert_ne!(of_read[0], of_read[2]);
}

#[test]
fn events_have_these_names() {
    for name in [
        "skill-loaded",
        "skill-reloaded",
        "skill-unloaded",
        "skill-rejected",
        "capability-registered",
        "capability-updated",
        "capability-removed",
        "approval-requested",
        "approval-granted",
        "approval-denied",
        "approval-expired",
        "approval-revoked",
        "approval-superseded",
        "capability-call",
        "capability-executed",
        "capability-denied",
        "secret-injected",
        "secret-echo",
        "secret-captured",
        "budget-warning",
        "budget-exhausted",
        "budget-extended",
        "redirect-denied",
        "egress-denied",
        "jail-started",
        "jail-finished",
        "chain-recovered",
        "onboarding-step",
    ] {
        let event: Event =
            serde_json::from_value(json!(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(json!(event), name);
    }
}

#[test]
fn no_record_holds_a_secret_a_header_a_body_or_text_of_a_document() {
    let house = House::new();
    house.load(&format!(
        "name: one\ninstructions: words-of-the-document\noperations:\n- name: read\n  method: POST\n  endpoint: {API}/read\n  \
         headers: {{X-Plain: value-of-a-header}}\n  input: {{q: string}}\n  auth: {{type: bearer, env_var: TOKEN}}\n"
    ));
    house.secret("TOKEN", "one", "t-112233445566");
    house.approve_all();
    house.servers_say(json!({"words": "of-the-response"}));
    house
        .execute("one", "read", json!({"q": "value-of-an-input"}))
        .unwrap();
    assert_eq!(
        house.sent()[0].body.as_deref(),
        Some(br#"{"q":"value-of-an-input"}"#.as_slice())
    );
    let text = lines(&house).join("\n");
    for held in [
        "words-of-the-document",
        "value-of-a-header",
        "t-112233445566",
        "of-the-response",
        "value-of-an-input",
    ] {
        assert!(!text.contains(held), "{held}");
    }
}
