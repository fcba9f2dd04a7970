//! What a caller of `map` sees: the commands of the examples.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::panic,
    reason = "a wrong answer fails the test"
)]

#[path = "../../../tests/requests/judged.rs"]
mod judged;
mod registry;
mod rows;
mod tiers;

use serde_json::{Value, json};

/// The answer to a request.
fn answer(request: &Value) -> Value {
    let answer = crate::run(request.to_string().as_bytes()).unwrap();
    judged::judged(serde_json::from_slice(&answer).unwrap(), request)
}

/// The answer to a command without a context.
fn map(command: &str) -> Value {
    let answer = answer(&json!({"op": "map", "command": command}));
    assert_eq!(answer["ok"], true, "{command}: {answer}");
    answer
}

/// The code and the message of a refusal.
fn refused(command: &str) -> (String, String) {
    let answer = answer(&json!({"op": "map", "command": command}));
    assert_eq!(answer["ok"], false, "{command}: {answer}");
    let error = &answer["error"];
    (
        error["code"].as_str().unwrap().to_owned(),
        error["message"].as_str().unwrap().to_owned(),
    )
}

/// Codes of the diagnostics.
fn codes(answer: &Value) -> Vec<&str> {
    let diagnostics = answer["diagnostics"].as_array().unwrap();
    diagnostics
        .iter()
        .map(|each| each["code"].as_str().unwrap())
        .collect()
}

fn has(list: &Value, entry: &str) -> bool {
    list.as_array().unwrap().iter().any(|each| each == entry)
}
