//! The component `extract.text`: the text of HTML, Markdown and PDF.
//!
//! A document is bytes in the request, a file or what a URL answers. Nothing in it is followed, loaded or run. It is what a
//! stranger made: where it asks for more than a bound allows, the answer is an error that names the bound, or what was read so
//! far with a note.

mod document;
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
use kit::host::{Fetch, ReadFiles};

use crate::document::{Document, Kind};
use crate::request::Request;

kit::component!(crate::describe, crate::run);

/// Returns what the component says of itself.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// Answers one call: a request in JSON, answered in JSON.
///
/// # Errors
/// `invalid_request`, `unsupported`, `malformed` and `too_large`; of a path or a URL also what reading or fetching fails with.
pub fn run(host: &mut (impl ReadFiles + Fetch), request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let Request {
        content_type,
        source,
        max_bytes,
    } = Request::parse(request)?;
    let Document { kind, bytes } = Document::get(host, source, content_type.as_deref())?;
    let response = match kind {
        Kind::Html(charset) => html::extract(&bytes, charset.as_deref(), max_bytes)?,
        Kind::Markdown(charset) => markdown::extract(&bytes, charset.as_deref(), max_bytes)?,
        Kind::Pdf => pdf::extract(bytes, max_bytes)?,
    };
    serde_json::to_vec(&response).map_err(|error| SkillError::new("internal", &error.to_string()))
}
