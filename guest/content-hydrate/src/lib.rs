//! The component `content.hydrate`: RFC 0020 Content Hydration, all of its parsing and deciding.
//!
//! It resolves URIs, reads front matter, lists, orders and describes what a document depends on, and writes
//! the answer. It has no effects of its own: what it reads, fetches and runs goes through the hostcalls of
//! [`kit::host`]. Natively the same code serves tests, benchmarks and fuzzers. The same request with the same
//! answers gives the same bytes.

mod budget;
mod checksum;
mod code;
mod cycles;
mod hydration;
mod lenient;
mod link;
mod object;
mod payload;
mod reading;
mod reason;
mod reference;
mod request;
mod search;
mod skill;
mod tool;
pub mod uri;

#[cfg(test)]
mod tests;

use kit::host::{Fetch, ReadFiles, RunCommands};
use object::Layout;

pub use code::Code;
pub use kit::{SkillError, host};
pub use request::{Format, Request};

/// The hostcalls of hydration.
pub trait Effects: ReadFiles + Fetch + RunCommands {}

impl<T: ReadFiles + Fetch + RunCommands> Effects for T {}

kit::component!(crate::describe, crate::run);

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered as [`hydrate`] does.
///
/// # Errors
///
/// `invalid_request`, and those of [`hydrate`].
pub fn run(effects: &mut impl Effects, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    hydrate(effects, &Request::parse(request)?)
}

/// Hydrates one resource: the payload in compact JSON without a final newline, or the document's bytes.
///
/// # Errors
///
/// `invalid_request` when the URI is empty or the depth out of range; `budget_exceeded` when more was read
/// or has to be kept than a hydration may. Of the link and v2 forms also `fetch_failed`,
/// `unsupported_scheme` and `parse_error`: there is no document to link.
pub fn hydrate(effects: &mut impl Effects, request: &Request) -> Result<Vec<u8>, SkillError> {
    request.check()?;
    let answer = hydration::hydrate(effects, request)?;
    match request.format {
        Format::Json => payload::write(&answer, request),
        Format::Link => link::write(answer, Layout::List),
        Format::V2 => link::write(answer, Layout::Mapping),
    }
}
