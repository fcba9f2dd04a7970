//! Digests and canonical JSON, written a second time: the tests compare the
//! binary with these, so they share no code with it.

use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes.as_ref())))
}

/// Canonical JSON (RFC 8785), for the values that occur here: no fractions.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by_key(|name| name.encode_utf16().collect::<Vec<u16>>());
            let members: Vec<String> = names
                .into_iter()
                .map(|name| format!("{}:{}", quoted(name), canonical(&members[name])))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

pub(crate) fn canonical_digest(value: &Value) -> String {
    digest(canonical(value))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control < ' ' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// The form of written files: two spaces, members as given, no final newline.
pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(value).unwrap()
}

/// [`pretty`] and a final line feed: the lock, its signature and the ring.
pub(crate) fn pretty_line(value: &Value) -> Vec<u8> {
    let mut bytes = pretty(value);
    bytes.push(b'\n');
    bytes
}

/// The value at a member, replaced; for tests that spoil one thing.
pub(crate) fn with(value: &Value, pointer: &str, new: impl Into<Value>) -> Value {
    let mut value = value.clone();
    *value.pointer_mut(pointer).expect("the member exists") = new.into();
    value
}

/// The member names of an object, in the order they have in the text.
pub(crate) fn members(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}
