//! What a caller sees.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::panic,
    reason = "a wrong answer fails the test"
)]

mod describe;
mod hostile;
mod html;
mod limits;
mod markdown;
mod pdf;
mod pdf_damage;
mod properties;
mod writer;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const REPORT: &[u8] = include_bytes!("../../tests/fixtures/report.pdf");
const COLUMNS: &[u8] = include_bytes!("../../tests/fixtures/columns.pdf");
const OBJECT_STREAMS: &[u8] = include_bytes!("../../tests/fixtures/object_streams.pdf");
const LINEAR: &[u8] = include_bytes!("../../tests/fixtures/linear.pdf");
const ENCRYPTED: &[u8] = include_bytes!("../../tests/fixtures/encrypted.pdf");

/// Calls the component.
fn call(
    content_type: &str,
    input: &[u8],
    max_bytes: Option<usize>,
) -> Result<Value, kit::SkillError> {
    let mut request = json!({"content_type": content_type, "bytes_b64": STANDARD.encode(input)});
    if let Some(max_bytes) = max_bytes {
        request["max_bytes"] = max_bytes.into();
    }
    let response = crate::run(request.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&response).unwrap())
}

/// The text of an input.
fn text(content_type: &str, input: &[u8]) -> String {
    let response = call(content_type, input, None).unwrap();
    response["text"].as_str().unwrap().to_owned()
}

/// Code and reason of the error for an input.
fn error(content_type: &str, input: &[u8]) -> (&'static str, String) {
    let error = call(content_type, input, None).unwrap_err();
    let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
    (
        error.code(),
        details["reason"].as_str().unwrap_or_default().to_owned(),
    )
}

/// Runs on a stack of half of what a component has.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(512 * 1_024);
    thread.spawn(run).unwrap().join().unwrap()
}
