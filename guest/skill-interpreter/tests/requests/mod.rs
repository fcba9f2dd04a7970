//! Requests to the component as a host sends them, for tests.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

pub(crate) mod judged;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The answer of `load`, judged, or the code of the `skill-error`.
pub(crate) fn load_bytes(
    source_url: &str,
    content: &[u8],
    members: Value,
) -> Result<Value, String> {
    let request = load_request(source_url, content, members);
    Ok(judged::judged(answer(&request)?, &request))
}

/// A request to load a document.
pub(crate) fn load_request(source_url: &str, content: &[u8], members: Value) -> Value {
    let mut request = json!({
        "op": "load",
        "source-url": source_url,
        "content-b64": STANDARD.encode(content),
    });
    let members = members.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(members);
    request
}

/// The answer to a request as the component gives it, or the code of the `skill-error`.
pub(crate) fn answer(request: &Value) -> Result<Value, String> {
    match skill_interpreter::run(&serde_json::to_vec(request).unwrap()) {
        Ok(answer) => Ok(parse(&answer)),
        Err(error) => Err(error.code().to_owned()),
    }
}

/// An answer, however deep it is nested.
fn parse(answer: &[u8]) -> Value {
    use serde::Deserialize;
    let mut reader = serde_json::Deserializer::from_slice(answer);
    reader.disable_recursion_limit();
    Value::deserialize(&mut reader).unwrap()
}

/// The answer of `load` for a text.
pub(crate) fn load(source_url: &str, text: &str, members: Value) -> Result<Value, String> {
    load_bytes(source_url, text.as_bytes(), members)
}

/// The skill of a text that is one.
pub(crate) fn skill(source_url: &str, text: &str) -> Value {
    skill_with(source_url, text, json!({}))
}

/// The skill of a text that is one, with further members of the request.
pub(crate) fn skill_with(source_url: &str, text: &str, members: Value) -> Value {
    let answer = load(source_url, text, members).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    answer["skill"].clone()
}

/// The error of a text that is refused.
pub(crate) fn error(source_url: &str, text: &str) -> Value {
    error_with(source_url, text, json!({}))
}

/// The error of a text that is refused, with further members of the request.
pub(crate) fn error_with(source_url: &str, text: &str, members: Value) -> Value {
    let answer = load(source_url, text, members).unwrap();
    assert_eq!(answer["ok"], false, "{answer}");
    answer["error"].clone()
}

/// An operation of a skill, by id.
pub(crate) fn operation<'a>(skill: &'a Value, id: &str) -> &'a Value {
    let operations = skill["operations"].as_array().unwrap();
    let found = operations.iter().find(|operation| operation["id"] == id);
    found.unwrap_or_else(|| panic!("no operation {id}: {operations:?}"))
}

/// The codes of a skill's diagnostics.
pub(crate) fn codes(skill: &Value) -> Vec<&str> {
    let diagnostics = skill["diagnostics"].as_array().unwrap();
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic["code"].as_str().unwrap())
        .collect()
}

/// `METHOD URL` of the first request of an operation; the code of one that is unusable; the kind of another first stage.
pub(crate) fn request(operation: &Value) -> String {
    if let Some(code) = operation["code"].as_str() {
        return code.to_owned();
    }
    let stage = &operation["stages"][0];
    if stage["kind"] != "http" {
        return stage["kind"].as_str().unwrap().to_owned();
    }
    let segments = stage["url"].as_array().unwrap();
    let one = |segment: &Value| match segment["lit"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{{{}}}", segment["input"].as_str().unwrap_or("secret")),
    };
    let url: String = segments.iter().map(one).collect();
    format!("{} {url}", stage["method"].as_str().unwrap())
}

/// A skill of a harmless operation and a shell fence.
pub(crate) fn skill_of_fence(fence: &str) -> Value {
    let text = format!(
        "# Boxes\n\n## Ping\n\n```bash\ncurl https://api.example.org/ping\n```\n\n## Fence\n\n```bash\n{fence}\n```\n"
    );
    skill("https://skills.example/boxes/SKILL.md", &text)
}

/// The operations of a shell fence.
pub(crate) fn operations_of_fence(fence: &str) -> Vec<Value> {
    let skill = skill_of_fence(fence);
    let operations = skill["operations"].as_array().unwrap();
    operations.iter().skip(1).cloned().collect()
}

/// Whether a fence is one script of Tier 3, as it is written.
pub(crate) fn is_whole_script(fence: &str) -> bool {
    match operations_of_fence(fence).as_slice() {
        [one] => one["stages"][0]["program"]["script"] == format!("{fence}\n") && one["tier"] == 3,
        _ => false,
    }
}
