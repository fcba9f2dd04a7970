//! The component `extract.text`: the text of HTML, Markdown and PDF (TS-131 to TS-140).
//!
//! It has no effects: a document is bytes in the request, and nothing in it is followed, loaded or run (TS-140).
//! A document is what a stranger made. Every step takes time about linear in its size, memory is bounded, nothing
//! recurses as deep as the input says, and what goes beyond a bound is an error that names it.

mod error;
mod html;
mod markdown;
mod output;
mod pdf;
mod request;
mod response;

#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::Host;

use crate::request::{Kind, Request};

kit::component!(crate::describe, crate::run_in_host);

/// What the component says of itself (TS-07).
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered in JSON.
///
/// # Errors
///
/// `invalid_request`, `unsupported`, `malformed` and `too_large`, as TS-131 and TS-139 say.
pub fn run(request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let Request {
        kind,
        input,
        max_bytes,
    } = Request::parse(request)?;
    let response = match kind {
        Kind::Html(charset) => html::extract(&input, charset.as_deref(), max_bytes)?,
        Kind::Markdown(charset) => markdown::extract(&input, charset.as_deref(), max_bytes)?,
        Kind::Pdf => pdf::extract(&input, max_bytes)?,
    };
    serde_json::to_vec(&response).map_err(|error| SkillError::new("internal", &error.to_string()))
}

#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "what the component exports")
)]
fn run_in_host(_: &mut Host, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    run(request)
}
