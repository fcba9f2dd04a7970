//! Words are what the real shell makes of them: whatever is mapped as an argument vector, bash reads with the same words.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::{Value, json};

/// Pieces of words. None of them makes a shell run anything, whatever stands beside it.
const PIECES: [&str; 26] = [
    "a", "b1", " ", "  ", "\t", "'", "\"", "\\", "\\\\", "\\'", "\\\"", "'a b'", "\"c d\"", "''",
    "\"\"", "\\ ", "\\\n", "#", " #", "=", "-", "$'x\\ty'", "$'\\''", "é", "\u{a0}", "\r",
];

/// The words of a mapped command; none if it is mapped to something else.
fn mapped(words: &str) -> Option<Vec<String>> {
    let request = json!({"op": "map", "command": format!("boxctl {words}")}).to_string();
    let answer: Value =
        serde_json::from_slice(&skill_interpreter::run(request.as_bytes()).unwrap()).unwrap();
    let argv = answer["operations"][0]["stages"][0]["program"]["argv"].as_array()?;
    let text = |segments: &Value| -> Option<String> {
        segments
            .as_array()?
            .iter()
            .map(|segment| segment["lit"].as_str())
            .collect()
    };
    argv.iter().skip(1).map(text).collect()
}

/// The words that bash reads; none if there is no bash, or it refuses them.
fn read_by_bash(words: &str) -> Option<Vec<String>> {
    let text = format!("f() {{ printf '%s\\0' \"$#\" \"$@\"; }}\nf {words}");
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &text])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut read = text.split_terminator('\0').map(str::to_owned);
    let count: usize = read.next()?.parse().ok()?;
    Some(read.take(count).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_are_those_of_bash(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..10)) {
        let words = pieces.concat();
        if let (Some(ours), Some(theirs)) = (mapped(&words), read_by_bash(&words)) {
            prop_assert_eq!(ours, theirs, "{:?}", words);
        }
    }
}
