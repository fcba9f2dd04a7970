//! The component `prompt.hydrate.llm`: asks a language model for a plan.
//!
//! It puts two texts that `prompt.hydrate` wrote into a request of the server's dialect, sends it through the fetch
//! hostcall, and takes the reply's text out of the answer. It judges nothing: whether the reply is a plan is for
//! `prompt.hydrate` to say. The key is added by the host, to that one server, and never seen here.

mod answer;
mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::Fetch;

use request::Request;

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: the text of the reply, or the reason why there is none and whether asking again could help.
///
/// # Errors
/// `invalid_request`, and `internal` if the host gives no answer.
pub fn run(host: &mut impl Fetch, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let outcome = host.send_one(request.hostcall())?;
    kit::json::response(&answer::read(request.dialect, outcome))
}

kit::component!(crate::describe, crate::run);
