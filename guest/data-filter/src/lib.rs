//! The component `data.filter`: jq programs and text tools over bytes, without files, environment or clock.
//!
//! The governor runs the filters of an operation's pipeline here (`… | jq -r .name | head -3`). The program is what a
//! document says and the bytes are what a service answered: both come from strangers. What bounds a program that does not
//! end is the fuel of the call.

mod jq;
mod request;
mod text;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hydrant_plan::failure::Failure;
use kit::SkillError;
use kit::host::Host;
use serde_json::{Value, json};

use crate::request::Request;

kit::component!(crate::describe, crate::run_in_host);

/// Output of a program or a tool, in bytes, at most.
const OUTPUT_BYTES: usize = 10 << 20;

/// What the component says of itself: name, description and the schemas of its requests and answers.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// Answers one request: `{"ok": true, "output-b64": …}`, `{"ok": true, "built-in": false}` for a text tool that is not built
/// in with these arguments, or `{"ok": false, "error": …}` for a program that fails.
///
/// # Errors
///
/// `invalid_request` for a malformed request, an unknown `op`, or input that is no base64.
pub fn run(request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let output = match Request::parse(request)? {
        Request::Filter(filter) => {
            let input = decoded(&filter.input_b64)?;
            jq::run(&filter, &input).map(Some)
        }
        Request::Transform(transform) => {
            let input = decoded(&transform.input_b64)?;
            Ok(text::run(&transform.tool, &transform.args, &input))
        }
    };
    let answer = match output {
        Ok(Some(bytes)) if bytes.len() > OUTPUT_BYTES => {
            refusal(&Failure::exceeded("bytes of output", OUTPUT_BYTES))
        }
        Ok(Some(bytes)) => {
            json!({"ok": true, "built-in": true, "output-b64": STANDARD.encode(bytes)})
        }
        Ok(None) => json!({"ok": true, "built-in": false}),
        Err(failure) => refusal(&failure),
    };
    kit::json::response(&answer)
}

fn decoded(input_b64: &str) -> Result<Vec<u8>, SkillError> {
    let input = STANDARD.decode(input_b64);
    input.map_err(|_| request::invalid("input-b64: no base64"))
}

fn refusal(failure: &Failure) -> Value {
    json!({"ok": false, "error": failure})
}

#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "what the component exports")
)]
fn run_in_host(_: &mut Host, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    run(request)
}
