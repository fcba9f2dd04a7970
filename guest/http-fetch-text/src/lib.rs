//! The component `http.fetch_text`: fetches a text from a URL.
//!
//! The host checks the URL, every redirect and every address, and reads no more than is asked for. What comes
//! back is decided here: whether it is text, in which encoding, and where it is cut.

mod request;
#[cfg(test)]
mod tests;
mod text;

use kit::SkillError;
use kit::fetch::fetch_error;
use kit::host::Fetch;
use serde::Serialize;

use request::Request;

/// The response of a call.
#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    final_url: &'a str,
    status: u16,
    mime: &'a str,
    text: &'a str,
    bytes: usize,
    truncated: bool,
}

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call. Every final status is an answer.
///
/// # Errors
/// `invalid_request`; `denied` of the URL or the target of a redirect; `unsupported` for another scheme, a type
/// that is no text, a charset or content encoding that cannot be read; `too_large`, `timeout` and `network`.
pub fn run(host: &mut impl Fetch, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let outcome = host.send_one(request.hostcall())?;
    let response = outcome.map_err(|failure| fetch_error(&failure))?;
    let text = text::of(&response)?;
    kit::json::response(&Answer {
        url: &request.url,
        final_url: &response.url,
        status: response.status,
        mime: &text.mime,
        text: &text.content,
        bytes: text.bytes,
        truncated: text.truncated,
    })
}

kit::component!(crate::describe, crate::run);
